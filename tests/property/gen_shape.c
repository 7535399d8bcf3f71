// Rows that move elements, and rows that make them from nothing.
#include <math.h>
#include <string.h>

#include "tests/property/gen.h"

static bool keep_bounds(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  return prop_set_bounds(program, node, x->lo, x->hi, x->err);
}

static int random_size(prop_make_t *make) {
  return prop_random_below(make->random, make->program->nsizes);
}

// ---- broadcast_to: leading sizes, then per dim of the operand a size or -1 ----------------------

static bool make_broadcast(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  int x = prop_pick(make, prop_fits_any, 0);
  if (x < 0) {
    return false;
  }
  const prop_type_t *type = &make->program->nodes[x].type;
  node->noperands = 1;
  node->operands[0] = x;
  int lead = prop_random_below(make->random, 3);
  node->attrs[node->nattrs++] = lead;
  for (int i = 0; i < lead; ++i) {
    node->attrs[node->nattrs++] = random_size(make);
  }
  for (int i = 0; i < type->rank; ++i) {
    bool stretch = type->dims[i] == 1 && prop_random_chance(make->random, 70);
    node->attrs[node->nattrs++] = stretch ? random_size(make) : -1;
  }
  return true;
}

static bool infer_broadcast(const prop_program_t *program, prop_node_t *node) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  int lead = node->attrs[0];
  if (node->nattrs != 1 + lead + type->rank || lead + type->rank > PROP_MAX_RANK) {
    return false;
  }
  node->type = (prop_type_t){.dtype = type->dtype, .rank = lead + type->rank};
  for (int i = 0; i < node->type.rank; ++i) {
    int size = node->attrs[1 + i];
    int64_t old = i < lead ? 1 : type->dims[i - lead];
    node->type.dims[i] = size < 0 ? old : program->sizes[size].value;
    if (old != 1 && size >= 0) {
      return false;
    }
  }
  return keep_bounds(program, node);
}

static void print_shape(const prop_type_t *type, tspec_buf_t *out) {
  int dims[PROP_MAX_RANK];
  for (int i = 0; i < type->rank; ++i) {
    dims[i] = (int)type->dims[i];
  }
  prop_print_list(dims, type->rank, out);
}

static void print_with_shape(const prop_program_t *program, const prop_node_t *node,
                             tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_puts(out, ", ");
  print_shape(&node->type, out);
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_broadcast = {.name = "broadcast",
                                       .weight = 6,
                                       .make = make_broadcast,
                                       .infer = infer_broadcast,
                                       .print = print_with_shape,
                                       .word = "broadcast_to"};

// ---- transpose: the permutation ----------------------------------------------------------------

static bool make_transpose(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->noperands = 1;
  node->operands[0] = prop_pick(make, prop_fits_rank, prop_random_chance(make->random, 90) ? 2 : 0);
  if (node->operands[0] < 0) {
    return false;
  }
  node->nattrs = make->program->nodes[node->operands[0]].type.rank;
  for (int i = 0; i < node->nattrs; ++i) {
    int k = prop_random_below(make->random, i + 1);
    node->attrs[i] = node->attrs[k];
    node->attrs[k] = i;
  }
  return true;
}

static bool infer_transpose(const prop_program_t *program, prop_node_t *node) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  node->type = *type;
  if (node->nattrs != type->rank) {
    return false;
  }
  for (int i = 0; i < type->rank; ++i) {
    node->type.dims[i] = type->dims[node->attrs[i]];
  }
  return keep_bounds(program, node);
}

static void print_transpose(const prop_program_t *program, const prop_node_t *node,
                            tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_puts(out, ", ");
  prop_print_list(node->attrs, node->nattrs, out);
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_transpose = {.name = "transpose",
                                       .weight = 8,
                                       .make = make_transpose,
                                       .infer = infer_transpose,
                                       .print = print_transpose,
                                       .word = "transpose"};

// ---- reshape -----------------------------------------------------------------------------------

enum {
  RESHAPE_MERGE,   ///< dims i, i + 1 to one
  RESHAPE_SPLIT,   ///< dim i to f and the rest
  RESHAPE_REGROUP, ///< dims i, i + 1 to f and the rest
  RESHAPE_FLAT,    ///< all dims to one
  RESHAPE_EXPAND,
  RESHAPE_SQUEEZE,
  NRESHAPES,
};

static int random_divisor(prop_make_t *make, int64_t n) {
  int found[64], count = 0;
  for (int f = 1; f <= n && count < 64; ++f) {
    if (n % f == 0) {
      found[count++] = f;
    }
  }
  return found[prop_random_below(make->random, count)];
}

static bool make_reshape(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->form = prop_random_below(make->random, NRESHAPES);
  bool pair = node->form == RESHAPE_MERGE || node->form == RESHAPE_REGROUP;
  int least = pair ? 2 : node->form == RESHAPE_SPLIT || node->form == RESHAPE_SQUEEZE ? 1 : 0;
  int x = prop_pick(make, prop_fits_rank, least);
  if (x < 0) {
    return false;
  }
  const prop_type_t *type = &make->program->nodes[x].type;
  int places = pair ? type->rank - 1 : node->form == RESHAPE_EXPAND ? type->rank + 1 : type->rank;
  node->noperands = 1;
  node->operands[0] = x;
  node->nattrs = 2;
  node->attrs[0] = places > 0 ? prop_random_below(make->random, places) : 0;
  int at = node->attrs[0];
  if (node->form == RESHAPE_SPLIT) {
    node->attrs[1] = random_divisor(make, type->dims[at]);
  } else if (node->form == RESHAPE_REGROUP) {
    node->attrs[1] = random_divisor(make, type->dims[at] * type->dims[at + 1]);
  }
  return true;
}

// Replaces `count` dims at `at` by the given ones.
static bool splice(prop_type_t *type, int at, int count, int nfresh, const int64_t *fresh) {
  prop_type_t old = *type;
  int rank = old.rank - count + nfresh;
  if (at < 0 || at + count > old.rank || rank > PROP_MAX_RANK) {
    return false;
  }
  type->rank = rank;
  for (int i = 0; i < rank; ++i) {
    type->dims[i] = i < at            ? old.dims[i]
                    : i < at + nfresh ? fresh[i - at]
                                      : old.dims[i - nfresh + count];
  }
  return true;
}

static bool infer_reshape(const prop_program_t *program, prop_node_t *node) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  int at = node->attrs[0], factor = node->attrs[1];
  bool ok = true;
  node->type = *type;
  if (node->form == RESHAPE_FLAT) {
    node->type.rank = 1;
    node->type.dims[0] = prop_type_count(type);
  } else if (node->form == RESHAPE_EXPAND) {
    ok = splice(&node->type, at, 0, 1, (int64_t[]){1});
  } else if (node->form == RESHAPE_SQUEEZE) {
    ok = at < type->rank && type->dims[at] == 1 && splice(&node->type, at, 1, 0, NULL);
  } else {
    int count = node->form == RESHAPE_SPLIT ? 1 : 2;
    ok = at + count <= type->rank;
    int64_t all = ok ? type->dims[at] * (count == 2 ? type->dims[at + 1] : 1) : 0;
    if (ok && node->form == RESHAPE_MERGE) {
      ok = splice(&node->type, at, 2, 1, &all);
    } else if (ok) {
      ok =
          all % factor == 0 && splice(&node->type, at, count, 2, (int64_t[]){factor, all / factor});
    }
  }
  return ok && keep_bounds(program, node);
}

static void print_reshape(const prop_program_t *program, const prop_node_t *node,
                          tspec_buf_t *out) {
  if (node->form != RESHAPE_EXPAND && node->form != RESHAPE_SQUEEZE) {
    print_with_shape(program, node, out);
    return;
  }
  tspec_buf_puts(out, node->form == RESHAPE_EXPAND ? "expand(" : "squeeze(");
  prop_print_operand(program, node, 0, out);
  tspec_buf_printf(out, ", [%d])", node->attrs[0]);
}

const prop_gen_t prop_gen_reshape = {.name = "reshape",
                                     .weight = 10,
                                     .make = make_reshape,
                                     .infer = infer_reshape,
                                     .print = print_reshape,
                                     .word = "reshape"};

// ---- concat and stack: the dim -----------------------------------------------------------------

enum { CONCAT_PLAIN, CONCAT_STACK };

static bool make_concat(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->form = prop_random_chance(make->random, 25) ? CONCAT_STACK : CONCAT_PLAIN;
  int x = prop_pick(make, prop_fits_rank, node->form == CONCAT_STACK ? 0 : 1);
  if (x < 0) {
    return false;
  }
  prop_type_t type = make->program->nodes[x].type;
  node->nattrs = 1;
  node->attrs[0] = prop_random_below(make->random, type.rank + (node->form == CONCAT_STACK));
  node->noperands = 1 + prop_random_below(make->random, 3);
  node->operands[0] = x;
  for (int i = 1; i < node->noperands; ++i) {
    prop_type_t other = type;
    if (node->form == CONCAT_PLAIN && prop_random_chance(make->random, 60)) {
      other.dims[node->attrs[0]] = make->program->sizes[random_size(make)].value;
    }
    node->operands[i] = prop_pick_type(make, &other);
    if (node->operands[i] < 0) {
      return false;
    }
  }
  return true;
}

static bool infer_concat(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *first = prop_operand(program, node, 0);
  int dim = node->attrs[0];
  bool stack = node->form == CONCAT_STACK;
  double lo = first->lo, hi = first->hi, err = first->err;
  node->type = first->type;
  if (!stack && dim >= first->type.rank) {
    return false;
  }
  for (int i = 1; i < node->noperands; ++i) {
    const prop_node_t *other = prop_operand(program, node, i);
    prop_type_t type = other->type;
    if (!stack && type.rank == first->type.rank) {
      node->type.dims[dim] += type.dims[dim];
      type.dims[dim] = first->type.dims[dim];
    }
    if (!prop_type_equal(&type, &first->type)) {
      return false;
    }
    lo = fmin(lo, other->lo);
    hi = fmax(hi, other->hi);
    err = fmax(err, other->err);
  }
  if (stack && !splice(&node->type, dim, 0, 1, (int64_t[]){node->noperands})) {
    return false;
  }
  return prop_set_bounds(program, node, lo, hi, err);
}

static void print_concat(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  tspec_buf_puts(out, node->form == CONCAT_STACK ? "stack([" : "concat([");
  for (int i = 0; i < node->noperands; ++i) {
    tspec_buf_puts(out, i == 0 ? "" : ", ");
    prop_print_operand(program, node, i, out);
  }
  tspec_buf_printf(out, "], %d)", node->attrs[0]);
}

const prop_gen_t prop_gen_concat = {.name = "concat",
                                    .weight = 8,
                                    .make = make_concat,
                                    .infer = infer_concat,
                                    .print = print_concat,
                                    .word = "concat"};

// ---- slices: per dim where it starts, what is cut at the end, the step (0: an index) ------------

enum { SLICE_INDEX, SLICE_CALL };

static bool make_slice(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  int x = prop_pick(make, prop_fits_rank, 1);
  if (x < 0) {
    return false;
  }
  const prop_type_t *type = &make->program->nodes[x].type;
  node->noperands = 1;
  node->operands[0] = x;
  node->form = prop_random_chance(make->random, 70) ? SLICE_INDEX : SLICE_CALL;
  for (int i = 0; i < type->rank; ++i) {
    int n = (int)type->dims[i], lo = 0, cut = 0, step = 1;
    if (prop_random_chance(make->random, 60)) {
      lo = prop_random_below(make->random, n);
      cut = prop_random_below(make->random, n - lo);
      step = 1 + prop_random_below(make->random, prop_random_chance(make->random, 60) ? 1 : 3);
    }
    if (node->form == SLICE_INDEX && prop_random_chance(make->random, 15)) {
      step = 0;
    }
    node->attrs[node->nattrs++] = lo;
    node->attrs[node->nattrs++] = cut;
    node->attrs[node->nattrs++] = step;
  }
  return true;
}

static bool infer_slice(const prop_program_t *program, prop_node_t *node) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  if (node->nattrs != 3 * type->rank) {
    return false;
  }
  node->type = (prop_type_t){.dtype = type->dtype};
  for (int i = 0; i < type->rank; ++i) {
    int lo = node->attrs[3 * i], cut = node->attrs[3 * i + 1], step = node->attrs[3 * i + 2];
    int64_t count = type->dims[i] - lo - cut;
    if (count < 1) {
      return false;
    }
    if (step > 0) {
      node->type.dims[node->type.rank++] = (count + step - 1) / step;
    }
  }
  return keep_bounds(program, node);
}

static void print_index(int lo, int cut, int step, tspec_buf_t *out) {
  if (step == 0) {
    tspec_buf_printf(out, "%d", lo);
    return;
  }
  if (lo > 0) {
    tspec_buf_printf(out, "%d", lo);
  }
  tspec_buf_puts(out, ":");
  if (cut > 0) {
    tspec_buf_printf(out, "-%d", cut);
  }
  if (step > 1) {
    tspec_buf_printf(out, ":%d", step);
  }
}

static void print_slice(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  const prop_type_t *type = &prop_operand(program, node, 0)->type;
  if (node->form == SLICE_INDEX) {
    prop_print_operand(program, node, 0, out);
    for (int i = 0; i < type->rank; ++i) {
      tspec_buf_puts(out, i == 0 ? "[" : ", ");
      print_index(node->attrs[3 * i], node->attrs[3 * i + 1], node->attrs[3 * i + 2], out);
    }
    tspec_buf_puts(out, "]");
    return;
  }
  int lists[3][PROP_MAX_RANK];
  for (int i = 0; i < type->rank; ++i) {
    lists[0][i] = node->attrs[3 * i];
    lists[1][i] = (int)type->dims[i] - node->attrs[3 * i + 1];
    lists[2][i] = node->attrs[3 * i + 2];
  }
  prop_print_call(program, node, out);
  for (int k = 0; k < 3; ++k) {
    tspec_buf_puts(out, ", ");
    prop_print_list(lists[k], type->rank, out);
  }
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_slice = {.name = "slice",
                                   .weight = 10,
                                   .make = make_slice,
                                   .infer = infer_slice,
                                   .print = print_slice,
                                   .word = "slice"};

// ---- pad: per dim before and after -------------------------------------------------------------

static bool make_pad(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  int x = prop_pick(make, prop_fits_rank, prop_random_chance(make->random, 95) ? 1 : 0);
  if (x < 0) {
    return false;
  }
  const prop_type_t *type = &make->program->nodes[x].type;
  node->noperands = 1;
  node->operands[0] = x;
  node->number = type->dtype == TSPEC_DTYPE_BOOL || prop_random_chance(make->random, 50)
                     ? prop_random_below(make->random, 2)
                     : prop_random_below(make->random, 5);
  for (int i = 0; i < 2 * type->rank; ++i) {
    node->attrs[node->nattrs++] =
        prop_random_chance(make->random, 60) ? 0 : prop_random_below(make->random, 4);
  }
  return true;
}

static bool infer_pad(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  node->type = x->type;
  if (node->nattrs != 2 * x->type.rank) {
    return false;
  }
  for (int i = 0; i < x->type.rank; ++i) {
    node->type.dims[i] += node->attrs[2 * i] + node->attrs[2 * i + 1];
  }
  return prop_set_bounds(program, node, fmin(x->lo, node->number), fmax(x->hi, node->number),
                         x->err);
}

static void print_pad(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_puts(out, ", [");
  for (int i = 0; i < node->type.rank; ++i) {
    tspec_buf_printf(out, "%s[%d, %d]", i == 0 ? "" : ", ", node->attrs[2 * i],
                     node->attrs[2 * i + 1]);
  }
  tspec_buf_puts(out, "]");
  if (node->number != 0) {
    tspec_buf_puts(out, ", ");
    prop_print_number(node->type.dtype, node->number, out);
  }
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_pad = {.name = "pad",
                                 .weight = 8,
                                 .make = make_pad,
                                 .infer = infer_pad,
                                 .print = print_pad,
                                 .word = "pad"};
