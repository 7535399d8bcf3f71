// What the files of pass `fuse` share: kernels under construction. Private to passes/fuse*.c.
//
// A kernel walks an iteration space, the dims of one value's block, and computes atoms: single
// elements at coordinates that are affine in the walk's indices. Broadcasts, transposes, slices and
// the like are coordinates and cost nothing. An atom that another kernel, a gemm or a collective
// stores is a load; everything else is computed where it is read.
#ifndef TSPEC_PASSES_FUSE_H
#define TSPEC_PASSES_FUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/str.h"
#include "ir/program.h"
#include "passes/kernel.h"

// ---- atoms: what one iteration computes
// -----------------------------------------------------------

/// A place along one dim of a value: mul * (index of the space's dim `dim`) + add; dim -1: add.
typedef struct tspec_coord_t {
  int dim;
  int64_t mul;
  int64_t add;
} tspec_coord_t;

typedef enum tspec_atom_kind_t {
  TSPEC_ATOM_LOAD,   ///< an element of a buffer
  TSPEC_ATOM_SPLAT,  ///< one number
  TSPEC_ATOM_TABLE,  ///< an element of a constant with many values
  TSPEC_ATOM_IOTA,   ///< the global index along one dim
  TSPEC_ATOM_OP,     ///< an elementwise op on other atoms
  TSPEC_ATOM_CHOICE, ///< pad, concat: one atom inside bounds, another one outside
} tspec_atom_kind_t;

typedef struct tspec_atom_t tspec_atom_t;

/// Atoms in the order in which they can be computed. The arms of a choice are scopes of their own,
/// which see the atoms around them.
typedef struct tspec_scope_t {
  struct tspec_scope_t *parent;
  TSPEC_VEC(tspec_atom_t *) atoms;
} tspec_scope_t;

/// lo <= coord < hi.
typedef struct tspec_bound_t {
  tspec_coord_t coord;
  int64_t lo;
  int64_t hi;
} tspec_bound_t;

struct tspec_atom_t {
  tspec_atom_kind_t kind;
  tspec_value_t *value;        ///< whose element it is
  const tspec_coord_t *coords; ///< as many as the value has dims
  int nargs;
  tspec_atom_t **args; ///< op: its operands. choice: the atom inside, the atom outside
  int nbounds;
  const tspec_bound_t *bounds; ///< choice: all must hold
  tspec_scope_t *arms[2];      ///< choice: inside, outside
  double splat;                ///< splat
  uint64_t dims;               ///< of the space: those that it depends on
  int buffer;                  ///< load: index into the nest's operands
  int ssa;                     ///< its number once emitted, else -1
};

// ---- a kernel
// -------------------------------------------------------------------------------------

/// One output: every element of a value (reduce NULL), or the result of a reduce or arg_reduce op
/// over the space.
typedef struct tspec_root_t {
  tspec_value_t *value;
  const tspec_op_t *reduce;
  tspec_atom_t *atom; ///< the element to store, or the one to be reduced
} tspec_root_t;

/// How many elements: a number known now or an SSA value of type index.
typedef struct tspec_amount_t {
  int64_t value; ///< ssa < 0
  int ssa;
} tspec_amount_t;

/// Dims first .. last of the space walked as one.
typedef struct tspec_loop_t {
  int first;
  int last;
  bool reduced;
  tspec_amount_t extent;
  int index; ///< SSA value while it is open
} tspec_loop_t;

/// A kernel from its roots to its text.
typedef struct tspec_nest_t {
  tspec_program_t *program;
  tspec_arena_t *arena;       ///< for everything but what goes into the program
  const tspec_value_t *space; ///< its block is the iteration space
  TSPEC_VEC(tspec_root_t) roots;
  TSPEC_VEC(tspec_value_t *) operands; ///< buffers that are read
  tspec_scope_t *body;
  TSPEC_VEC(int64_t) args;       ///< as the kernel op's attribute
  TSPEC_VEC(int) arg_ssa;        ///< one per argument
  TSPEC_VEC(tspec_axis_t) axes;  ///< as the kernel op's attribute
  int range;                     ///< as the kernel op's attribute
  TSPEC_VEC(tspec_loop_t) loops; ///< in the order of the space's dims
  int loop_of_dim[64];           ///< -1: one element
  uint64_t reduced_dims;         ///< of the space
  tspec_buf_t text;              ///< statements of the body
  tspec_buf_t allocas;           ///< scratch memory, before the body
  tspec_buf_t globals;
  int nssa;
  int begin, end; ///< SSA values of the outer range
} tspec_nest_t;

/// True if the kernel reads `value` from memory instead of computing it.
typedef bool (*tspec_is_loaded_fn_t)(void *context, const tspec_value_t *value);

/// Builds the atoms of all roots into nest->body and collects operands. Errors: none.
void tspec_nest_build(tspec_nest_t *nest, tspec_is_loaded_fn_t is_loaded, void *context);
/// The coordinates of `op`'s operand when its result is wanted at `coords`, for ops that only place
/// elements (broadcast, transpose, slice, reshape by dims of size 1). In nest->arena.
const tspec_coord_t *tspec_nest_through(tspec_arena_t *arena, const tspec_op_t *op,
                                        const tspec_coord_t *coords);
/// True if a reshape only adds or removes whole dims of size 1.
bool tspec_reshape_is_unit(const tspec_op_t *op);
/// The coordinates of the space's own elements.
const tspec_coord_t *tspec_nest_identity(tspec_arena_t *arena, int rank);

/// Emits the kernel: fills text, args, axes, range and globals.
void tspec_nest_emit(tspec_nest_t *nest);
/// Adds the emitted kernel to the program, or finds an equal one. Returns its name.
const char *tspec_nest_intern(tspec_nest_t *nest, tspec_names_t *bodies);

// ---- emission (fuse_loops.c)
// --------------------------------------------------------------------

/// Appends one line.
void tspec_nest_line(tspec_nest_t *nest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// Appends "%N = " and the rest of the line; returns N.
int tspec_nest_let(tspec_nest_t *nest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// An index constant, as SSA value.
int tspec_nest_index(tspec_nest_t *nest, int64_t value);
int tspec_nest_amount(tspec_nest_t *nest, tspec_amount_t amount);
tspec_amount_t tspec_nest_times(tspec_nest_t *nest, tspec_amount_t a, tspec_amount_t b);
/// This rank's extent of a dim, or the global index of its first element.
tspec_amount_t tspec_nest_extent(tspec_nest_t *nest, int64_t size, const tspec_dim_t *dim);
tspec_amount_t tspec_nest_offset(tspec_nest_t *nest, int64_t size, const tspec_dim_t *dim);
/// The linear index of the element at `coords` of `value`'s block, as SSA value.
int tspec_nest_linear(tspec_nest_t *nest, const tspec_value_t *value, const tspec_coord_t *coords);
/// Opens `scf.for` over [lo, hi) of a loop; close it with tspec_nest_close.
void tspec_nest_open(tspec_nest_t *nest, int loop, int lo, int hi);
/// Closes the innermost scf.for or scf.if.
void tspec_nest_close(tspec_nest_t *nest);
/// The SSA value of the index of a loop that is open.
int tspec_loop_index(const tspec_nest_t *nest, int loop);
/// Emits those atoms of the body that need no other dims than these and are not emitted yet.
void tspec_nest_atoms(tspec_nest_t *nest, uint64_t open_dims);
/// Dims of the space that a loop walks, as a mask; those that no loop walks.
uint64_t tspec_loop_dims(const tspec_loop_t *loop);
uint64_t tspec_nest_fixed_dims(const tspec_nest_t *nest);
/// Stores the atoms of roots that are not reduced.
void tspec_nest_store_atoms(tspec_nest_t *nest);
/// Stores a register at a linear index of a root's buffer.
void tspec_nest_store(tspec_nest_t *nest, int root, int linear, int ssa);
/// Elements of the largest block.
int64_t tspec_nest_capacity(const tspec_nest_t *nest, const tspec_value_t *value);
/// Kernels without reductions (fuse_elementwise.c), and with them (fuse_reduce.c).
void tspec_nest_emit_elementwise(tspec_nest_t *nest);
void tspec_nest_emit_reduce(tspec_nest_t *nest);

// ---- scalars (fuse_scalar.c, fuse_convert.c)
// ------------------------------------------------------

/// In registers bf16 and f16 are f32 (rounded after every op), bool is i1, integers are signless.
const char *tspec_register_type(tspec_dtype_t dtype);
/// In memory bf16 is i16, bool and u8 are i8.
const char *tspec_memory_type(tspec_dtype_t dtype);
/// Bits of a register, 1 for bool.
int tspec_register_bits(tspec_dtype_t dtype);
/// From memory to register form and back.
int tspec_register_from_memory(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa);
int tspec_register_to_memory(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa);
/// A constant's element in memory form, in the low bytes.
uint64_t tspec_table_bits(tspec_dtype_t dtype, double number);
/// A number of that dtype.
int tspec_register_constant(tspec_nest_t *nest, tspec_dtype_t dtype, double number);
/// An f32 that an op has computed, rounded to bf16 or f16; other dtypes: unchanged.
int tspec_register_round(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa);
int tspec_register_convert(tspec_nest_t *nest, tspec_dtype_t from, tspec_dtype_t to, int ssa);
/// An SSA value of type index as a number of that dtype.
int tspec_register_from_index(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa);
/// An elementwise op on registers. `args` are the operands'.
int tspec_register_op(tspec_nest_t *nest, const tspec_op_t *op, const int *args);

#endif
