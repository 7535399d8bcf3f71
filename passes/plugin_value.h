// What the written form says of a value, for plugin_api.c and plugin_value.c alone.
#ifndef TSPEC_PASSES_PLUGIN_VALUE_H
#define TSPEC_PASSES_PLUGIN_VALUE_H

#include "passes/collectives.h"
#include "passes/plugin.h"

/// How a value of a whole type and a sharding (or NULL) is written at the program's level: its
/// block on rank 0 from `local` on.
MlirType tspec_plugin_written_type(tspec_plugin_run_t *run, tspec_type_t type,
                                   const tspec_sharding_t *sharding);

/// Writes type and sharding of result `index` into the op's lists.
void tspec_plugin_describe_result(tspec_plugin_run_t *run, MlirOperation op, intptr_t index,
                                  tspec_type_t type, const tspec_sharding_t *sharding);

#endif
