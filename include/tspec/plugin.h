// Passes of your own, in a shared library that `tspecc --pass-plugin=LIB[,key=value...]` loads.
// docs/adding-a-pass.md walks through one; examples/plugins has three.
//
// The library exports one function, tspec_plugin_get, and links libtspec.so, which has all that is
// declared here, in the headers of this folder's siblings (ir/base, ir/shard, ir/program.h) and in
// MLIR's C API. A pass gets the program as an MLIR module, walks it and rewrites it with that API;
// what is special about tspec (shardings, blocks, costs, places in the source) has helpers below.
// Afterwards the module is read back and verified, so a pass that breaks it is named in the error.
//
// Everything that a helper returns by pointer lives until the run ends, unless it says otherwise.
#ifndef TSPEC_PLUGIN_H
#define TSPEC_PLUGIN_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/type.h"
#include "ir/program.h"
#include "ir/shard/sharding.h"

/// Of everything in this file. tspecc refuses a library that was built for another version.
#define TSPEC_PLUGIN_ABI_VERSION 1

/// One run of a pass over a program.
typedef struct tspec_plugin_run_t tspec_plugin_run_t;
/// Where a plugin registers its passes.
typedef struct tspec_plugin_registry_t tspec_plugin_registry_t;

/// An option of a pass: --pass-plugin=LIB,key=value sets it for every pass of the library that has
/// it.
typedef struct tspec_plugin_option_t {
  const char *key;
  const char *value;   ///< the default
  const char *summary; ///< for --list-passes
} tspec_plugin_option_t;

/// Rewrites or reads the run's module. Errors: false after tspec_plugin_error.
typedef bool (*tspec_plugin_run_fn_t)(tspec_plugin_run_t *run);

/// A pass. Strings and options are borrowed as long as the library is loaded.
typedef struct tspec_plugin_pass_t {
  const char *name;    ///< as in --passes and --dump-ir=after:NAME; unlike any other pass's
  const char *summary; ///< one line for --list-passes
  const char *level;   ///< where it works: "global", "sharded", "local" or "kernels"; NULL: at each
  const char *before;  ///< a pass of tspec, or one registered earlier: without --passes, run before
                       ///< it ...
  const char *after;   ///< ... or after it. At most one of both; none: runs in --passes alone
  int noptions;
  const tspec_plugin_option_t *options;
  bool only_reads; ///< the module is not read back after it
  tspec_plugin_run_fn_t run;
} tspec_plugin_pass_t;

/// What a library is. Static storage.
typedef struct tspec_plugin_t {
  uint32_t abi_version; ///< TSPEC_PLUGIN_ABI_VERSION
  const char *name;
  /// Calls tspec_plugin_add_pass once per pass.
  void (*add_passes)(tspec_plugin_registry_t *registry);
} tspec_plugin_t;

/// The one function that a plugin exports.
const tspec_plugin_t *tspec_plugin_get(void);
#define TSPEC_PLUGIN_SYMBOL "tspec_plugin_get"

/// Registers a pass. Mistakes (a name that is taken, a place that does not exist) are reported when
/// the library is loaded.
void tspec_plugin_add_pass(tspec_plugin_registry_t *registry, const tspec_plugin_pass_t *pass);

// ---- the run -------------------------------------------------------------------------------

/// The program as a module, at its level (docs/dialect.md says what is in it). Owned by the run.
MlirModule tspec_plugin_module(tspec_plugin_run_t *run);
MlirContext tspec_plugin_context(tspec_plugin_run_t *run);
/// The same program as plain structs, as it was before the pass: for passes that only read.
const tspec_program_t *tspec_plugin_program(tspec_plugin_run_t *run);
/// "global", "sharded", "local" or "kernels".
const char *tspec_plugin_level(tspec_plugin_run_t *run);
/// The value of one of the pass's options; NULL if it has none of that key.
const char *tspec_plugin_option(tspec_plugin_run_t *run, const char *key);
/// The same as a whole number of at least 0. Errors: false after reporting what was got.
bool tspec_plugin_option_int(tspec_plugin_run_t *run, const char *key, int64_t *out_number);

/// The mesh: axes with names and sizes, major to minor.
const tspec_mesh_t *tspec_plugin_mesh(tspec_plugin_run_t *run);

// ---- ops and values ------------------------------------------------------------------------

/// Called with the entry's name. Errors: false ends the walk.
typedef bool (*tspec_plugin_visit_fn_t)(tspec_plugin_run_t *run, const char *entry,
                                        MlirOperation op, void *user);
/// Visits each op of each entry in program order, but not returns, kernels' bodies and ops that
/// only adapt types (to_any, from_any). `visit` may insert ops around the op that it gets, move or
/// destroy that one; inserted ops are not visited. Errors: false if `visit` returned false.
bool tspec_plugin_for_each_op(tspec_plugin_run_t *run, tspec_plugin_visit_fn_t visit, void *user);
/// Visits each argument of each entry likewise: `op` is the entry itself.
typedef bool (*tspec_plugin_visit_arg_fn_t)(tspec_plugin_run_t *run, const char *entry,
                                            MlirValue arg, void *user);
bool tspec_plugin_for_each_arg(tspec_plugin_run_t *run, tspec_plugin_visit_arg_fn_t visit,
                               void *user);

/// "dot" of a 'tspec.dot', the whole name of another dialect's op.
const char *tspec_plugin_op_name(tspec_plugin_run_t *run, MlirOperation op);
/// Path of the let, parameter or input ("blocks/0/h"), or NULL.
const char *tspec_plugin_value_name(tspec_plugin_run_t *run, MlirValue value);
/// True for an argument that is an input (not a parameter or state).
bool tspec_plugin_is_input(tspec_plugin_run_t *run, MlirValue value);
/// True for an argument that is a parameter or state.
bool tspec_plugin_is_param(tspec_plugin_run_t *run, MlirValue value);

/// The whole tensor's type, at every level. Errors: false after reporting (no tensor of tspec).
bool tspec_plugin_get_type(tspec_plugin_run_t *run, MlirValue value, tspec_type_t *out_type);
/// The type of the block that `rank` holds; without a sharding the whole. Sizes may be 0. Errors:
/// as above.
bool tspec_plugin_get_block_type(tspec_plugin_run_t *run, MlirValue value, int64_t rank,
                                 tspec_type_t *out_type);
/// The value's sharding into `*out_sharding`, NULL if nothing is said. Errors: false after
/// reporting.
bool tspec_plugin_get_sharding(tspec_plugin_run_t *run, MlirValue value,
                               const tspec_sharding_t **out_sharding);
/// Gives the value another sharding. A parameter's is changed in all entries and where it is
/// declared; from level local on the value's block type follows. Errors: false after reporting (one
/// that does not fit the mesh or the value's rank).
bool tspec_plugin_set_sharding(tspec_plugin_run_t *run, MlirValue value,
                               const tspec_sharding_t *sharding);
/// A sharding with dim `dim` split over the mesh axis `axis` and every other dim open. Like all
/// makers of shardings (ir/shard/sharding.h) in tspec_plugin_arena. Errors: NULL after reporting
/// (no such axis, no such dim).
const tspec_sharding_t *tspec_plugin_split_dim(tspec_plugin_run_t *run, MlirValue value, int dim,
                                               const char *axis);
/// Memory until the run ends.
tspec_arena_t *tspec_plugin_arena(tspec_plugin_run_t *run);

/// Bytes that the busiest rank sends in a collective op, as --report counts them; -1 if `op` is
/// none.
int64_t tspec_plugin_collective_bytes(tspec_plugin_run_t *run, MlirOperation op);

/// How to make an op of the dialect with one result.
typedef struct tspec_plugin_build_t {
  const char *name; ///< "convert"
  int noperands;
  const MlirValue *operands;
  int nattrs;
  const MlirNamedAttribute *attrs;  ///< its own ones (--list-ops); shardings and types are added
  tspec_type_t type;                ///< the whole result
  const tspec_sharding_t *sharding; ///< of the result; NULL at level global: nothing said
  MlirLocation location;            ///< usually that of the op that it replaces
  const char *because;              ///< why it is there, for reports ("bf16 for 'dot'"); or NULL
} tspec_plugin_build_t;
/// Makes an op before `before` and returns its result.
MlirValue tspec_plugin_insert(tspec_plugin_run_t *run, MlirOperation before,
                              const tspec_plugin_build_t *build);
/// {name = value}
MlirNamedAttribute tspec_plugin_attr(tspec_plugin_run_t *run, const char *name,
                                     MlirAttribute value);

// ---- messages ------------------------------------------------------------------------------

/// Messages at a place of the source (mlirOperationGetLocation), with its line and carets:
/// lower-case sentences without full stop. A run with errors fails. Under --strict warnings are
/// errors.
void tspec_plugin_error(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tspec_plugin_warning(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tspec_plugin_note(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// "mlp.tspec:9", or "?" for no place.
const char *tspec_plugin_place(tspec_plugin_run_t *run, MlirLocation location);

#endif
