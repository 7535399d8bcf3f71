// Programs for tests in a few lines of text, without frontend or MLIR, at any level:
//
//   level local
//   mesh x=2 y=2@10                              (y: 10 GB/s)
//   param w f32[4, 4] @ [-, x]
//   entry step                                   (optional: "main")
//   input a f32[4, 6] @ [x, -]
//   read w                                       (the parameter as an argument, value w)
//   b = transpose a perm=1,0 @ [-, x]
//   c = reduce b kind=sum dims=1 @ [-] sum(x)
//   d = all_reduce c kind=sum axes=x @ [-]
//   result d @ [-]                               (result named d, value d)
//   update w b                                   (the parameter's new value)
//
// Attributes are of the kinds that the op's row states: lists as "1,0" (none: "dims="), axes as in
// shardings ("x,y:(1)2"), shardings in braces: sharding={[x, -] sum(y)}.
#ifndef TSPEC_TESTS_SUPPORT_PROGRAM_TEXT_H
#define TSPEC_TESTS_SUPPORT_PROGRAM_TEXT_H

#include "ir/eval/dense.h"
#include "ir/program.h"

/// NULL if `diag` got an error (an op that `infer` refuses). A text that makes no sense ends the
/// test.
tspec_program_t *tspec_text_program(tspec_arena_t *arena, tspec_diag_t *diag, const char *text);
/// "f32[2, 3]", "i32".
tspec_type_t tspec_text_type(tspec_arena_t *arena, const char *text);
/// The value (of an op or argument) with that name in the program's first entry that has it.
tspec_value_t *tspec_text_value(const tspec_program_t *program, const char *name);
/// A tensor of that type from "1 2.5 nan -inf", row-major. Ownership: the caller's.
tspec_dense_t *tspec_text_dense(tspec_type_t type, const char *numbers);
/// The numbers of a tensor in that form (floats to 9 digits), in `arena`.
const char *tspec_text_numbers(tspec_arena_t *arena, const tspec_dense_t *dense);

#endif
