// Reading the body of one entry. For import.c alone.
#ifndef TSPEC_IR_MLIR_IMPORT_OP_H
#define TSPEC_IR_MLIR_IMPORT_OP_H

#include "ir/mlir/reader.h"

/// Values of the function at hand by their MlirValue. An address picks the slot, but no order of
/// anything follows from it.
typedef struct tspec_value_map_t {
  struct tspec_value_entry_t {
    const void *key;
    tspec_value_t *value;
  } *slots;
  size_t nslots; ///< a power of two, or 0
  size_t count;
} tspec_value_map_t;

void tspec_value_map_set(tspec_arena_t *arena, tspec_value_map_t *map, MlirValue key,
                         tspec_value_t *value);
/// NULL if there is none: what defines it was refused.
tspec_value_t *tspec_value_map_get(const tspec_value_map_t *map, MlirValue key);

/// Appends to `func` what `op` says. `values` knows its operands and learns its results.
/// Errors: false after reporting.
bool tspec_import_op(tspec_reader_t *reader, tspec_func_t *func, tspec_value_map_t *values,
                     MlirOperation op);

/// Checks that a value of `type` and `sharding` is written as `written`: whole, or from `local` on
/// as the block of rank 0. Errors: false after reporting at `subject`.
bool tspec_import_check_type(tspec_reader_t *reader, const tspec_subject_t *subject,
                             const tspec_value_t *value, MlirType written);

#endif
