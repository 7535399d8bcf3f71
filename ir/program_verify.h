// Private to the verifier's files: what they share.
#ifndef TSPEC_IR_PROGRAM_VERIFY_H
#define TSPEC_IR_PROGRAM_VERIFY_H

#include "ir/program.h"

typedef struct tspec_verifier_t {
  const tspec_program_t *program;
  const char *after; ///< the pass that ran, or NULL
  tspec_diag_t *diag;
  tspec_arena_t scratch;    ///< of the op in work
  tspec_arena_t *kept;      ///< of the whole program
  tspec_names_t params;     ///< by path, while a program is checked
  tspec_names_t groups;     ///< by number: the first value of each group
  tspec_names_t reshapes;   ///< local ones that are right, by types and shardings as text
  const tspec_func_t *func; ///< in work, or NULL
  const tspec_op_t *op;     ///< in work, or NULL
  bool ok;
} tspec_verifier_t;

/// Reports at the op (or function) in work; the message starts with pass, op and function.
void tspec_verifier_fail(tspec_verifier_t *verifier, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// "'h' f32[8, 16] @ [data, -]" (an unnamed value: "%7 ..."), in scratch memory.
const char *tspec_verifier_value(tspec_verifier_t *verifier, const tspec_value_t *value);
const char *tspec_verifier_axes(tspec_verifier_t *verifier, const tspec_axis_t *axes, int naxes);

/// The op's operands and result fit its factor rule, pending axes included.
void tspec_verify_factors(tspec_verifier_t *verifier, const tspec_op_t *op);
/// A collective (or make_pending) does what its operand's and result's shardings say, along its
/// axes.
void tspec_verify_collective(tspec_verifier_t *verifier, const tspec_op_t *op);

#endif
