// Rows that make values from nothing or from positions.
#include <math.h>

#include "tests/property/gen.h"

static void random_shape(prop_make_t *make, prop_node_t *node, int least) {
  node->nattrs = least + prop_random_below(make->random, 4 - least);
  for (int i = 0; i < node->nattrs; ++i) {
    node->attrs[i] = prop_random_below(make->random, make->program->nsizes);
  }
}

static void shape_of_attrs(const prop_program_t *program, prop_node_t *node, int count) {
  node->type = (prop_type_t){.dtype = node->dtype, .rank = count};
  for (int i = 0; i < count; ++i) {
    node->type.dims[i] = program->sizes[node->attrs[i]].value;
  }
}

static void print_shape(const prop_node_t *node, tspec_buf_t *out) {
  int dims[PROP_MAX_RANK];
  for (int i = 0; i < node->type.rank; ++i) {
    dims[i] = (int)node->type.dims[i];
  }
  prop_print_list(dims, node->type.rank, out);
}

// ---- constants ---------------------------------------------------------------------------------

enum { CONSTANT_FULL, CONSTANT_ZEROS, CONSTANT_ONES, CONSTANT_LIKE, NCONSTANTS };

static bool make_constant(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->form = prop_random_below(make->random, NCONSTANTS);
  node->dtype = prop_random_dtype(make->random);
  if (node->form == CONSTANT_LIKE) {
    node->noperands = 1;
    node->operands[0] = prop_pick(make, prop_fits_any, 0);
    return node->operands[0] >= 0;
  }
  random_shape(make, node, 0);
  node->number = node->form == CONSTANT_ZEROS  ? 0
                 : node->form == CONSTANT_ONES ? 1
                                               : prop_random_below(make->random, 5);
  node->number = node->dtype == TSPEC_DTYPE_BOOL ? node->number > 0 : node->number;
  return true;
}

static bool infer_constant(const prop_program_t *program, prop_node_t *node) {
  if (node->form == CONSTANT_LIKE) {
    node->type = prop_operand(program, node, 0)->type;
  } else {
    shape_of_attrs(program, node, node->nattrs);
  }
  return prop_set_bounds(program, node, node->number, node->number, 0);
}

static void print_constant(const prop_program_t *program, const prop_node_t *node,
                           tspec_buf_t *out) {
  static const char *const words[NCONSTANTS] = {"full(", "zeros(", "ones(", "zeros_like("};
  tspec_buf_puts(out, words[node->form]);
  if (node->form == CONSTANT_LIKE) {
    prop_print_operand(program, node, 0, out);
  } else {
    print_shape(node, out);
    if (node->form == CONSTANT_FULL) {
      tspec_buf_puts(out, ", ");
      prop_print_number(node->dtype, node->number, out);
    }
    tspec_buf_printf(out, ", %s", tspec_dtype_name(node->dtype));
  }
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_constant = {.name = "constant",
                                      .weight = 3,
                                      .make = make_constant,
                                      .infer = infer_constant,
                                      .print = print_constant};

// ---- iota: sizes, then the dim -----------------------------------------------------------------

static bool make_iota(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  random_shape(make, node, 1);
  node->attrs[node->nattrs] = prop_random_below(make->random, node->nattrs);
  ++node->nattrs;
  node->dtype = TSPEC_DTYPE_I32;
  return true;
}

static bool infer_iota(const prop_program_t *program, prop_node_t *node) {
  int rank = node->nattrs - 1;
  shape_of_attrs(program, node, rank);
  return prop_set_bounds(program, node, 0, (double)(node->type.dims[node->attrs[rank]] - 1), 0);
}

static void print_iota(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  (void)program;
  tspec_buf_puts(out, "iota(");
  print_shape(node, out);
  tspec_buf_printf(out, ", %d)", node->attrs[node->nattrs - 1]);
}

const prop_gen_t prop_gen_iota = {
    .name = "iota", .weight = 4, .make = make_iota, .infer = infer_iota, .print = print_iota};

// ---- tril, triu: k -----------------------------------------------------------------------------

static bool make_triangle(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_number_rank, 2);
  node->nattrs = 1;
  node->attrs[0] = prop_random_below(make->random, 5) - 2;
  return node->operands[0] >= 0;
}

static bool infer_triangle(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  node->type = x->type;
  return x->type.rank >= 2 &&
         prop_set_bounds(program, node, fmin(x->lo, 0), fmax(x->hi, 0), x->err);
}

static void print_triangle(const prop_program_t *program, const prop_node_t *node,
                           tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_printf(out, ", %d)", node->attrs[0]);
}

const prop_gen_t prop_gen_tril = {.name = "tril",
                                  .weight = 2,
                                  .make = make_triangle,
                                  .infer = infer_triangle,
                                  .print = print_triangle,
                                  .word = "tril"};
const prop_gen_t prop_gen_triu = {.name = "triu",
                                  .weight = 2,
                                  .make = make_triangle,
                                  .infer = infer_triangle,
                                  .print = print_triangle,
                                  .word = "triu"};

// ---- one_hot: the size -------------------------------------------------------------------------

static bool make_one_hot(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_integer, 0);
  node->nattrs = 1;
  node->attrs[0] = prop_random_below(make->random, make->program->nsizes);
  node->dtype = prop_random_dtype(make->random);
  return node->operands[0] >= 0;
}

static bool infer_one_hot(const prop_program_t *program, prop_node_t *node) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  if (type->rank == PROP_MAX_RANK) {
    return false;
  }
  node->type = *type;
  node->type.dtype = node->dtype;
  node->type.dims[node->type.rank++] = program->sizes[node->attrs[0]].value;
  return prop_set_bounds(program, node, 0, 1, 0);
}

static void print_one_hot(const prop_program_t *program, const prop_node_t *node,
                          tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_printf(out, ", %d, %s)", program->sizes[node->attrs[0]].value,
                   tspec_dtype_name(node->dtype));
}

const prop_gen_t prop_gen_one_hot = {.name = "one_hot",
                                     .weight = 2,
                                     .make = make_one_hot,
                                     .infer = infer_one_hot,
                                     .print = print_one_hot,
                                     .word = "one_hot"};
