// A plugin of another version of the interface: only the first field is what it seems.
#include <tspec/plugin.h>

const tspec_plugin_t *tspec_plugin_get(void) {
  static const tspec_plugin_t kPlugin = {.abi_version = 999};
  return &kPlugin;
}
