// What the `kernels` level holds besides the ops that all levels share. Ops there: `kernel`,
// `gemm`, `view`, and the collectives.
//
// kernel {callee, args, range, axes}: runs a compiled loop nest. Its buffers are its operands, then
//   its results. `callee` names a tspec_kernel_t of the program (many ops may share one). `args` is
//   a flat list of TSPEC_KERNEL_ARG_INTS ints per argument: kind (as TSPEC_IMAGE_ARG_*), buffer
//   (index into operands, then results), dim, first, count; the last two select a part of `axes`:
//   the pieces of a RANK_ON argument. Buffer -1: not a buffer's dim but one of `dim` elements,
//   split over that part of `axes`. `range` is the argument that is the extent of the outer
//   parallel range, -1: the range is 0..1.
// gemm {lhs_batch, rhs_batch, lhs_contract, rhs_contract, dtype}: a dot whose operands lie as
//   tspec_image_step_t wants them: lhs dims [batch.., m.., k..] or [batch.., k.., m..], and so on.
// view {shape}: the operand's block under other dims, in the same memory: the same elements in the
//   same row-major order.
#ifndef TSPEC_PASSES_KERNEL_H
#define TSPEC_PASSES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/program.h"

/// Ints per argument in a kernel op's `args`.
#define TSPEC_KERNEL_ARG_INTS 5

/// A loop nest in upstream MLIR dialects (func, scf, arith, math, memref, vector). In the program's
/// arena, never changed. `body` is the text of one `func.func @NAME` of buffers as flat memrefs,
/// arguments as index, then %begin and %end: index. It may call `tspec_*` functions (runtime/math)
/// and read constants that `globals` (`memref.global` lines, or NULL) defines;
/// equal globals of several kernels are one.
typedef struct tspec_kernel_t {
  const char *name; ///< symbol, unique in the program: "k3_exp_add"
  const char *body;
  const char *globals;
  int nbuffers;
  int nargs; ///< without begin and end
} tspec_kernel_t;

/// The kernel with that name, or NULL.
const tspec_kernel_t *tspec_kernel_find(const tspec_program_t *program, const char *name);

/// Appends a kernel; strings are borrowed from the program's arena.
void tspec_kernel_add(tspec_program_t *program, const tspec_kernel_t *kernel);

/// All kernels as the text of one MLIR module's body: declarations of the functions they call,
/// globals, bodies, in the program's order; indented by nothing. "" if there are none. In `arena`.
const char *tspec_kernels_print(const tspec_program_t *program, tspec_arena_t *arena);

#endif
