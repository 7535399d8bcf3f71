// Reading attributes, types and shardings of a module, each with a diagnostic for what does not
// fit. For import.c, import_op.c and plugins alone.
#ifndef TSPEC_IR_MLIR_READER_H
#define TSPEC_IR_MLIR_READER_H

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

#include "ir/base/str.h"
#include "ir/program.h"

/// One import at work.
typedef struct tspec_reader_t {
  tspec_program_t *program;
  tspec_arena_t *arena; ///< of the program
  tspec_diag_t *diag;
  tspec_names_t shardings;       ///< "RANK NOTATION" -> const tspec_sharding_t *
  uint32_t file;                 ///< the module's text, or 0
  int64_t nread[TSPEC_OP_COUNT]; ///< ops read so far, by kind
} tspec_reader_t;

/// An attribute as messages name it: which one, of what, where.
typedef struct tspec_subject_t {
  const char *owner; ///< "'tspec.reduce'", "argument 1 of 'forward'"
  const char *name;  ///< of the attribute
  tspec_range_t range;
} tspec_subject_t;

/// The range and `because` of an op.
tspec_range_t tspec_read_range(tspec_reader_t *reader, MlirLocation location,
                               const char **out_because);
const char *tspec_read_text(tspec_reader_t *reader, MlirStringRef text);
/// Name of an op, "tspec.dot".
const char *tspec_read_op_name(tspec_reader_t *reader, MlirOperation op);

// Each reads an attribute that is not null. Errors: false after reporting.

bool tspec_read_string(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                       const char **out_text);
bool tspec_read_int(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                    int64_t *out_number);
bool tspec_read_ints(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                     int64_t *out_count, const int64_t **out_numbers);
bool tspec_read_floats(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                       int64_t *out_count, const double **out_numbers);
/// The notation of `#tspec.sharding<"...">` for a value of `rank` dims.
bool tspec_read_sharding(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                         int rank, const tspec_sharding_t **out_sharding);
/// A TypeAttr that holds a static tensor.
bool tspec_read_type_attr(tspec_reader_t *reader, const tspec_subject_t *subject,
                          MlirAttribute attr, tspec_type_t *out_type);
/// A static tensor of a known element type.
bool tspec_read_type(tspec_reader_t *reader, const tspec_subject_t *subject, MlirType type,
                     tspec_type_t *out_type);
/// An array of names.
bool tspec_read_strings(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                        int *out_count, const char *const **out_texts);
/// An op's own attribute of the kind that its row states; `rank` is that of a sharding's value.
bool tspec_read_attr(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                     tspec_attr_kind_t kind, int rank, tspec_attr_t *out_attr);

/// Reports that `attr` is not a `wanted` ("a string").
void tspec_read_mismatch(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                         const char *wanted);

#endif
