// auto-batch: inputs of which nothing is said are split along their first dim.
//
//   tspecc mlp.tspec --pass-plugin=libauto-batch.so[,axis=NAME]
//
// Runs before `propagate`, so that the rest of the program follows. The axis is the mesh's first
// one unless `axis` names another.
#include <string.h>
#include <tspec/plugin.h>

static bool visit(tspec_plugin_run_t *run, const char *entry, MlirValue arg, void *user) {
  (void)entry;
  const char *axis = user;
  const tspec_sharding_t *sharding = NULL;
  tspec_type_t type;
  if (!tspec_plugin_get_type(run, arg, &type) || !tspec_plugin_get_sharding(run, arg, &sharding)) {
    return false;
  }
  if (!tspec_plugin_is_input(run, arg) || sharding != NULL || type.rank == 0) {
    return true;
  }
  const tspec_sharding_t *split = tspec_plugin_split_dim(run, arg, 0, axis);
  if (split == NULL || !tspec_plugin_set_sharding(run, arg, split)) {
    return false;
  }
  tspec_plugin_note(run, mlirValueGetLocation(arg), "auto-batch: '%s' is split: %s",
                    tspec_plugin_value_name(run, arg),
                    tspec_sharding_print(tspec_plugin_arena(run), tspec_plugin_mesh(run), split));
  return true;
}

static bool run_batch(tspec_plugin_run_t *run) {
  const tspec_mesh_t *mesh = tspec_plugin_mesh(run);
  const char *axis = tspec_plugin_option(run, "axis");
  if (mesh->naxes == 0) {
    return true; // one rank
  }
  return tspec_plugin_for_each_arg(run, visit, (void *)(*axis != '\0' ? axis : mesh->axes[0].name));
}

static const tspec_plugin_option_t kOptions[] = {
    {"axis", "", "mesh axis; empty: the first one"},
};

static const tspec_plugin_pass_t kPass = {
    .name = "auto-batch",
    .summary = "splits the first dim of inputs of which nothing is said",
    .level = "global",
    .before = "propagate",
    .noptions = sizeof kOptions / sizeof *kOptions,
    .options = kOptions,
    .run = run_batch,
};

static void add_passes(tspec_plugin_registry_t *registry) {
  tspec_plugin_add_pass(registry, &kPass);
}

const tspec_plugin_t *tspec_plugin_get(void) {
  static const tspec_plugin_t kPlugin = {
      .abi_version = TSPEC_PLUGIN_ABI_VERSION,
      .name = "auto-batch",
      .add_passes = add_passes,
  };
  return &kPlugin;
}
