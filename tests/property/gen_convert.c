// Elementwise rows of one operand that are no functions of numbers alone: convert, constraint,
// barrier, same_sharding, clamp.
#include <math.h>

#include "tests/property/gen.h"

// ---- convert -----------------------------------------------------------------------------------

static bool make_convert(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_any, 0);
  node->dtype = prop_random_dtype(make->random);
  return node->operands[0] >= 0;
}

static bool infer_convert(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  double lo = x->lo, hi = x->hi;
  node->type = x->type;
  node->type.dtype = node->dtype;
  if (tspec_dtype_is_float(x->type.dtype) && !tspec_dtype_is_float(node->dtype)) {
    lo = fmax(trunc(lo), tspec_dtype_min(node->dtype)); // jumps, and saturates
    hi = fmin(trunc(hi), tspec_dtype_max(node->dtype));
    if (x->err > 0) {
      return false;
    }
  }
  bool boolean = node->dtype == TSPEC_DTYPE_BOOL;
  return prop_set_bounds(program, node, boolean ? 0 : lo, boolean ? 1 : hi, x->err);
}

static void print_convert(const prop_program_t *program, const prop_node_t *node,
                          tspec_buf_t *out) {
  tspec_buf_printf(out, "%s(", tspec_dtype_name(node->dtype));
  prop_print_operand(program, node, 0, out);
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_convert = {.name = "convert",
                                     .weight = 6,
                                     .make = make_convert,
                                     .infer = infer_convert,
                                     .print = print_convert};

// ---- constraint: a let that only says where its value lies -------------------------------------

static bool make_constraint(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_any, 0);
  return node->operands[0] >= 0;
}

static bool infer_constraint(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  node->type = x->type;
  return prop_set_bounds(program, node, x->lo, x->hi, x->err);
}

static void print_constraint(const prop_program_t *program, const prop_node_t *node,
                             tspec_buf_t *out) {
  prop_print_operand(program, node, 0, out);
}

const prop_gen_t prop_gen_constraint = {.name = "constraint",
                                        .weight = 6,
                                        .make = make_constraint,
                                        .infer = infer_constraint,
                                        .print = print_constraint};

// ---- barrier, same_sharding: the first operand
// ---------------------------------------------------

static void print_barrier(const prop_program_t *program, const prop_node_t *node,
                          tspec_buf_t *out) {
  tspec_buf_puts(out, "barrier(");
  prop_print_operand(program, node, 0, out);
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_barrier = {.name = "barrier",
                                     .weight = 4,
                                     .make = make_constraint,
                                     .infer = infer_constraint,
                                     .print = print_barrier};

static bool fits_dims(const prop_type_t *type, int rank) {
  return type->rank == rank;
}

static bool make_same_sharding(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  if (!make_constraint(gen, make, node)) {
    return false;
  }
  node->noperands = 2;
  node->operands[1] = prop_pick(make, fits_dims, make->program->nodes[node->operands[0]].type.rank);
  return node->operands[1] >= 0;
}

// A function of the program gives the first of the two.
static void print_same_sharding(const prop_program_t *program, const prop_node_t *node,
                                tspec_buf_t *out) {
  tspec_buf_puts(out, "alike(");
  prop_print_operand(program, node, 0, out);
  tspec_buf_puts(out, ", ");
  prop_print_operand(program, node, 1, out);
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_same_sharding = {.name = "same_sharding",
                                           .weight = 4,
                                           .make = make_same_sharding,
                                           .infer = infer_constraint,
                                           .print = print_same_sharding};

// ---- clamp -------------------------------------------------------------------------------------

static bool make_clamp(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_number, 0);
  node->nattrs = 2;
  node->attrs[0] = prop_random_below(make->random, 2);
  node->attrs[1] = node->attrs[0] + prop_random_below(make->random, 3);
  return node->operands[0] >= 0;
}

static bool infer_clamp(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  node->type = x->type;
  return prop_set_bounds(program, node, node->attrs[0], node->attrs[1], x->err);
}

static void print_clamp(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_printf(out, ", %d, %d)", node->attrs[0], node->attrs[1]);
}

const prop_gen_t prop_gen_clamp = {.name = "clamp",
                                   .weight = 2,
                                   .make = make_clamp,
                                   .infer = infer_clamp,
                                   .print = print_clamp,
                                   .word = "clamp"};
