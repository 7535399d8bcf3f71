// The generator table: how each op of ir/ops.def is written in a program.
#ifndef TSPEC_TESTS_PROPERTY_GEN_H
#define TSPEC_TESTS_PROPERTY_GEN_H

#include "tests/property/program.h"

/// A program that is being made.
typedef struct prop_make_t {
  prop_program_t *program;
  prop_random_t *random;
  int entry;       ///< the one that ops are added to
  int first;       ///< the operand that the op is to have first, if it fits; -1: any
  bool splat_only; ///< all operands are to be splats
} prop_make_t;

typedef struct prop_gen_t {
  const char *name;
  /// An op that no program asks for: how it comes to be. The functions are NULL then.
  const char *made_by_compiler;
  int weight;   ///< how often it is tried
  bool inexact; ///< leaves the whole numbers: only in programs compared by tolerance
  /// Chooses operands and attributes. False: nothing fits.
  bool (*make)(const struct prop_gen_t *gen, prop_make_t *make, prop_node_t *node);
  /// Type and bounds of the result from those of the operands. False: they do not fit.
  bool (*infer)(const prop_program_t *program, prop_node_t *node);
  /// The right side of the let.
  void (*print)(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out);
  const char *word; ///< how it is spelt: an operator, or a function
  int detail;       ///< the op's kind, or what the row's functions want
} prop_gen_t;

/// The row of an op: one for each line of ir/ops.def; without one nothing here links.
const prop_gen_t *prop_gen_of(tspec_op_kind_t kind);
/// All rows that programs may use: those of ops, then functions that lower to several ops.
int prop_gen_count(void);
const prop_gen_t *prop_gen_at(int index);

// ---- helpers of rows

/// Whether an op of the entry may read that value: one of the entry, or a parameter.
bool prop_in_reach(const prop_make_t *make, int index);
/// A value in reach that `fits`; -1: none.
int prop_pick(prop_make_t *make, bool (*fits)(const prop_type_t *type, int detail), int detail);
/// A value of exactly that type: an earlier one, a new input, a new parameter. -1: no room.
int prop_pick_type(prop_make_t *make, const prop_type_t *type);
/// A new input or parameter of that type, a constant where only splats may be read. -1: no room.
int prop_new_leaf(prop_make_t *make, const prop_type_t *type);
/// Any dtype, most often f32.
tspec_dtype_t prop_random_dtype(prop_random_t *random);
const prop_node_t *prop_operand(const prop_program_t *program, const prop_node_t *node, int index);

/// Sets the bounds of an integer or bool result, which wraps; of a float one, whether all is still
/// exact (in programs of whole numbers) or small enough.
bool prop_set_bounds(const prop_program_t *program, prop_node_t *node, double lo, double hi,
                     double err);
/// The largest distance from 0.
double prop_node_size(const prop_node_t *node);
/// Distance of neighbouring numbers of a float dtype, relative.
double prop_dtype_epsilon(tspec_dtype_t dtype);
/// The dtype that sums of `dtype` are made in.
tspec_dtype_t prop_dtype_sum(tspec_dtype_t dtype);

/// The dims of an operand over which a reduction or a product sums; 0: none, or another op.
int prop_summed_dims(const prop_program_t *program, const prop_node_t *node, int operand,
                     int *out_dims);

bool prop_fits_any(const prop_type_t *type, int detail);
bool prop_fits_float(const prop_type_t *type, int detail);
bool prop_fits_number(const prop_type_t *type, int detail);
bool prop_fits_integer(const prop_type_t *type, int detail);
bool prop_fits_bool(const prop_type_t *type, int detail);
/// A rank of at least `detail`.
bool prop_fits_rank(const prop_type_t *type, int detail);
bool prop_fits_number_rank(const prop_type_t *type, int detail);

/// A call "word(a, b, ..)" without its closing bracket.
void prop_print_call(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out);
/// "[1, 2, 3]" of `count` attributes.
void prop_print_list(const int *values, int count, tspec_buf_t *out);
/// A literal: whole numbers for integers, true and false for bool.
void prop_print_number(tspec_dtype_t dtype, double number, tspec_buf_t *out);

#define TSPEC_OP(id, ...) extern const prop_gen_t prop_gen_##id;
#include "ir/ops.def"
#undef TSPEC_OP
// functions that lower to several ops
extern const prop_gen_t prop_gen_mean, prop_gen_logsumexp, prop_gen_softmax, prop_gen_tril,
    prop_gen_triu, prop_gen_clamp, prop_gen_one_hot;

#endif
