// Names that the written form of programs uses beside the ops' own attributes. Export and import
// share them.
#ifndef TSPEC_IR_MLIR_NAMES_H
#define TSPEC_IR_MLIR_NAMES_H

// on the module
#define TSPEC_NAME_LEVEL "tspec.level" ///< "global", "sharded", "local", "kernels"
#define TSPEC_NAME_NAME "tspec.name"   ///< of the program, an argument or a result

// on arguments and results of functions
#define TSPEC_NAME_KIND "tspec.kind"         ///< "input", "param", "state", "result"
#define TSPEC_NAME_SHARDING "tspec.sharding" ///< #tspec.sharding<"...">
#define TSPEC_NAME_GLOBAL                                                                          \
  "tspec.global" ///< the whole type where the block of rank 0 differs from it
#define TSPEC_NAME_OFFSET "tspec.offset" ///< bytes in the arena
#define TSPEC_NAME_VALUE                                                                           \
  "tspec.value" ///< the name of the value itself where it differs from the slot's
#define TSPEC_NAME_FREE "tspec.free"         ///< unit: nothing was said of where a result lies
#define TSPEC_NAME_PLACE "tspec.place"       ///< where a result is declared
#define TSPEC_NAME_ARENA "tspec.arena_bytes" ///< on a function

// on ops, one element per result; `unit` stands for "none"
#define TSPEC_NAME_SHARDINGS "shardings"
#define TSPEC_NAME_NAMES "names"
#define TSPEC_NAME_GLOBALS "global"
#define TSPEC_NAME_OFFSETS "offsets"
#define TSPEC_NAME_PLACES "places" ///< where the value is declared, if not where the op stands
#define TSPEC_NAME_SPELLING "spelling"

// module-level ops
#define TSPEC_NAME_MESH "tspec.mesh"
#define TSPEC_NAME_PARAM "tspec.param"
#define TSPEC_NAME_EXPECT "tspec.expect"
#define TSPEC_NAME_TO_ANY "tspec.to_any"
#define TSPEC_NAME_FROM_ANY "tspec.from_any"

#endif
