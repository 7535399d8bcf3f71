// Rows that combine elements: reductions and products.
#include <math.h>
#include <string.h>

#include "tests/property/gen.h"

// ---- reductions: which dims (bits), whether they are kept ---------------------------------------

enum { ATTR_MASK, ATTR_KEEP };

static bool make_reduce(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  bool reduction = gen == &prop_gen_reduce;
  node->form = reduction ? prop_random_below(make->random, TSPEC_REDUCE_COUNT) : 0;
  if (prop_random_chance(make->random, 30)) {
    node->form = TSPEC_REDUCE_SUM;
  }
  bool logical = node->form == TSPEC_REDUCE_ALL || node->form == TSPEC_REDUCE_ANY;
  int x = prop_pick(make,
                    !reduction ? prop_fits_float
                    : logical  ? prop_fits_bool
                               : prop_fits_rank,
                    1);
  if (x < 0) {
    return false;
  }
  int rank = make->program->nodes[x].type.rank;
  node->noperands = 1;
  node->operands[0] = x;
  node->nattrs = 2;
  node->attrs[ATTR_MASK] = rank == 0 ? 0 : 1 + prop_random_below(make->random, (1 << rank) - 1);
  if (rank > 1 && prop_random_chance(make->random, 50)) {
    node->attrs[ATTR_MASK] = 1 << prop_random_below(make->random, rank);
  }
  node->attrs[ATTR_KEEP] = prop_random_chance(make->random, 30);
  return true;
}

// Sets the shape; gives how many elements go into one.
static bool shape_of_reduction(const prop_type_t *type, prop_node_t *node, double *out_count) {
  int mask = node->attrs[ATTR_MASK];
  if (mask >= 1 << type->rank) {
    return false;
  }
  node->type = (prop_type_t){.dtype = type->dtype};
  *out_count = 1;
  for (int i = 0; i < type->rank; ++i) {
    bool reduced = (mask >> i) & 1;
    *out_count *= reduced ? (double)type->dims[i] : 1;
    if (!reduced || node->attrs[ATTR_KEEP]) {
      node->type.dims[node->type.rank++] = reduced ? 1 : type->dims[i];
    }
  }
  return true;
}

static bool infer_reduce(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  double n = 0, size = prop_node_size(x);
  if (!shape_of_reduction(&x->type, node, &n)) {
    return false;
  }
  bool is_bool = x->type.dtype == TSPEC_DTYPE_BOOL;
  bool is_float = tspec_dtype_is_float(x->type.dtype);
  double epsilon = prop_dtype_epsilon(prop_dtype_sum(x->type.dtype));
  bool counts = node->form == TSPEC_REDUCE_SUM || node->form == TSPEC_REDUCE_PROD;
  if (is_bool && counts) {
    node->type.dtype = TSPEC_DTYPE_I32;
  }
  if (node->form == TSPEC_REDUCE_SUM) {
    double rounding = is_float && n > 1 ? n * epsilon * n * size : 0;
    // fewer than all may be summed first, so 0 lies within the bounds
    return prop_set_bounds(program, node, fmin(n * x->lo, 0), fmax(n * x->hi, 0),
                           n * x->err + rounding);
  }
  if (node->form == TSPEC_REDUCE_PROD) {
    double most = pow(fmax(size, 1), n);
    double error = n * most * (x->err + (is_float && n > 1 ? epsilon : 0));
    return prop_set_bounds(program, node, x->lo >= 0 ? 0 : -most, most, error);
  }
  bool logical = node->form == TSPEC_REDUCE_ALL || node->form == TSPEC_REDUCE_ANY;
  return (!logical || is_bool) && prop_set_bounds(program, node, x->lo, x->hi, x->err);
}

static void print_dims(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  int rank = prop_operand(program, node, 0)->type.rank, dims[PROP_MAX_RANK], count = 0;
  for (int i = 0; i < rank; ++i) {
    if ((node->attrs[ATTR_MASK] >> i) & 1) {
      dims[count++] = i;
    }
  }
  tspec_buf_puts(out, "(");
  prop_print_operand(program, node, 0, out);
  if (count < rank || node->attrs[ATTR_KEEP]) {
    tspec_buf_puts(out, ", ");
    prop_print_list(dims, count, out);
  }
  tspec_buf_puts(out, node->attrs[ATTR_KEEP] ? ", keep = true)" : ")");
}

static void print_reduce(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  tspec_buf_puts(out, tspec_reduce_name((tspec_reduce_t)node->form));
  print_dims(program, node, out);
}

const prop_gen_t prop_gen_reduce = {.name = "reduce",
                                    .weight = 20,
                                    .make = make_reduce,
                                    .infer = infer_reduce,
                                    .print = print_reduce};

static bool infer_mean(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  double n = 0;
  double epsilon = prop_dtype_epsilon(prop_dtype_sum(x->type.dtype));
  return shape_of_reduction(&x->type, node, &n) &&
         prop_set_bounds(program, node, x->lo, x->hi,
                         x->err + (n > 1 ? 2 * n * epsilon * prop_node_size(x) : 0));
}

static bool infer_logsumexp(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  double n = 0;
  double epsilon = prop_dtype_epsilon(prop_dtype_sum(x->type.dtype));
  return shape_of_reduction(&x->type, node, &n) && prop_node_size(x) < 30 &&
         prop_set_bounds(program, node, x->lo, x->hi + log(n),
                         x->err + 4 * n * epsilon * (1 + prop_node_size(x)));
}

static void print_named(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  tspec_buf_puts(out, node->gen->word);
  print_dims(program, node, out);
}

const prop_gen_t prop_gen_mean = {.name = "mean",
                                  .weight = 4,
                                  .inexact = true,
                                  .make = make_reduce,
                                  .infer = infer_mean,
                                  .print = print_named,
                                  .word = "mean"};
const prop_gen_t prop_gen_logsumexp = {.name = "logsumexp",
                                       .weight = 3,
                                       .inexact = true,
                                       .make = make_reduce,
                                       .infer = infer_logsumexp,
                                       .print = print_named,
                                       .word = "logsumexp"};

// ---- along one dim -----------------------------------------------------------------------------

static bool make_along(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  node->form = prop_random_below(make->random, 2);
  bool floats = gen == &prop_gen_softmax;
  int x = prop_pick(make, floats ? prop_fits_float : prop_fits_rank, 1);
  if (x < 0 || make->program->nodes[x].type.rank == 0) {
    return false;
  }
  node->noperands = 1;
  node->operands[0] = x;
  node->nattrs = 1;
  node->attrs[0] = prop_random_below(make->random, make->program->nodes[x].type.rank);
  return true;
}

static bool infer_arg_reduce(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  int dim = node->attrs[0];
  if (dim >= x->type.rank || x->err > 0) {
    return false;
  }
  node->type = (prop_type_t){.dtype = TSPEC_DTYPE_I32};
  for (int i = 0; i < x->type.rank; ++i) {
    if (i != dim) {
      node->type.dims[node->type.rank++] = x->type.dims[i];
    }
  }
  return prop_set_bounds(program, node, 0, (double)(x->type.dims[dim] - 1), 0);
}

static void print_arg_reduce(const prop_program_t *program, const prop_node_t *node,
                             tspec_buf_t *out) {
  tspec_buf_puts(out, node->form == 0 ? "argmax(" : "argmin(");
  prop_print_operand(program, node, 0, out);
  tspec_buf_printf(out, ", %d)", node->attrs[0]);
}

const prop_gen_t prop_gen_arg_reduce = {.name = "arg_reduce",
                                        .weight = 5,
                                        .make = make_along,
                                        .infer = infer_arg_reduce,
                                        .print = print_arg_reduce};

static bool infer_softmax(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *x = prop_operand(program, node, 0);
  node->type = x->type;
  if (node->attrs[0] >= x->type.rank || prop_node_size(x) > 30) {
    return false;
  }
  double n = (double)x->type.dims[node->attrs[0]], epsilon = prop_dtype_epsilon(x->type.dtype);
  return prop_set_bounds(program, node, 0, 1, 2 * x->err + 8 * n * epsilon);
}

static void print_softmax(const prop_program_t *program, const prop_node_t *node,
                          tspec_buf_t *out) {
  prop_print_call(program, node, out);
  tspec_buf_printf(out, ", %d)", node->attrs[0]);
}

const prop_gen_t prop_gen_softmax = {.name = "softmax",
                                     .weight = 3,
                                     .inexact = true,
                                     .make = make_along,
                                     .infer = infer_softmax,
                                     .print = print_softmax,
                                     .word = "softmax"};

// ---- products ----------------------------------------------------------------------------------
//
// Attributes: for each operand its number of labels and the labels, then the same for the result.
// The @ operator is written so, too; its labels follow from the ranks.

enum { DOT_MATMUL, DOT_EINSUM };

typedef struct labels_t {
  int count;
  const int *labels;
} labels_t;

// The labels of operand `index`; of the result if index is the number of operands.
static labels_t labels_of(const prop_node_t *node, int index) {
  int at = 0;
  for (int i = 0; i < index; ++i) {
    at += 1 + node->attrs[at];
  }
  return (labels_t){node->attrs[at], &node->attrs[at + 1]};
}

static void add_labels(prop_node_t *node, int count, const int *labels) {
  node->attrs[node->nattrs++] = count;
  for (int i = 0; i < count; ++i) {
    node->attrs[node->nattrs++] = labels[i];
  }
}

static bool holds(int count, const int *labels, int label) {
  for (int i = 0; i < count; ++i) {
    if (labels[i] == label) {
      return true;
    }
  }
  return false;
}

enum { MAX_LABELS = 12 };

// Sizes of all labels. False if two operands disagree.
static bool label_sizes(const prop_program_t *program, const prop_node_t *node, int64_t *sizes) {
  memset(sizes, 0, sizeof *sizes * MAX_LABELS);
  for (int k = 0; k < node->noperands; ++k) {
    labels_t labels = labels_of(node, k);
    const prop_node_t *x = prop_operand(program, node, k);
    if (labels.count != x->type.rank ||
        x->type.dtype != prop_operand(program, node, 0)->type.dtype ||
        x->type.dtype == TSPEC_DTYPE_BOOL) {
      return false;
    }
    for (int i = 0; i < labels.count; ++i) {
      int64_t *size = &sizes[labels.labels[i]];
      if (*size != 0 && *size != x->type.dims[i]) {
        return false;
      }
      *size = x->type.dims[i];
    }
  }
  return true;
}

static bool infer_einsum(const prop_program_t *program, prop_node_t *node) {
  int64_t sizes[MAX_LABELS];
  if (!label_sizes(program, node, sizes)) {
    return false;
  }
  labels_t out = labels_of(node, node->noperands);
  node->type = (prop_type_t){.dtype = prop_operand(program, node, 0)->type.dtype};
  for (int i = 0; i < out.count; ++i) {
    node->type.dims[node->type.rank++] = sizes[out.labels[i]];
  }
  double n = 1, most = 1, relative = 0;
  for (int i = 0; i < MAX_LABELS; ++i) {
    n *= sizes[i] > 0 && !holds(out.count, out.labels, i) ? (double)sizes[i] : 1;
  }
  for (int k = 0; k < node->noperands; ++k) {
    const prop_node_t *x = prop_operand(program, node, k);
    most *= fmax(prop_node_size(x), 1e-3);
    relative += x->err / fmax(prop_node_size(x), 1e-3);
  }
  tspec_dtype_t dtype = node->type.dtype;
  double epsilon = prop_dtype_epsilon(prop_dtype_sum(dtype));
  // three operands are two products: the first one's result is rounded to the operands' dtype
  double between = node->noperands > 2 ? prop_dtype_epsilon(dtype) : 0;
  bool free = n > 1 || program->rounds; // the order of the products
  double error = n * most * (1.5 * relative + (n > 1 ? n * epsilon : 0) + (free ? between : 0));
  return prop_set_bounds(program, node, -n * most, n * most, error);
}

// NumPy's matmul: leading dims broadcast, so only those that need no stretching have labels.
static bool infer_matmul(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *a = prop_operand(program, node, 0), *b = prop_operand(program, node, 1);
  const prop_type_t *s = &a->type, *t = &b->type;
  if (s->rank < 1 || t->rank < 1 || s->dtype != t->dtype || s->dtype == TSPEC_DTYPE_BOOL ||
      s->dims[s->rank - 1] != t->dims[t->rank > 1 ? t->rank - 2 : 0]) {
    return false;
  }
  int batch_a = s->rank > 2 ? s->rank - 2 : 0, batch_b = t->rank > 2 ? t->rank - 2 : 0;
  int batch = batch_a > batch_b ? batch_a : batch_b;
  node->type = (prop_type_t){.dtype = s->dtype, .rank = batch};
  for (int i = 0; i < batch; ++i) {
    int64_t x = i < batch - batch_a ? 1 : s->dims[i - (batch - batch_a)];
    int64_t y = i < batch - batch_b ? 1 : t->dims[i - (batch - batch_b)];
    if (x != y && x != 1 && y != 1) {
      return false;
    }
    node->type.dims[i] = x == 1 ? y : x;
  }
  if (s->rank > 1) {
    node->type.dims[node->type.rank++] = s->dims[s->rank - 2];
  }
  if (t->rank > 1) {
    node->type.dims[node->type.rank++] = t->dims[t->rank - 1];
  }
  double n = (double)s->dims[s->rank - 1], most = n * prop_node_size(a) * prop_node_size(b);
  double error = n * (a->err * prop_node_size(b) + b->err * prop_node_size(a)) +
                 n * prop_dtype_epsilon(prop_dtype_sum(s->dtype)) * most;
  return prop_set_bounds(program, node, -most, most, error);
}

static bool infer_dot(const prop_program_t *program, prop_node_t *node) {
  return node->form == DOT_MATMUL ? infer_matmul(program, node) : infer_einsum(program, node);
}

static bool make_matmul(prop_make_t *make, prop_node_t *node) {
  int a = prop_pick(make, prop_fits_number_rank, 1);
  if (a < 0) {
    return false;
  }
  prop_type_t type = make->program->nodes[a].type;
  prop_type_t other = {.dtype = type.dtype, .rank = 1 + prop_random_below(make->random, 3)};
  for (int i = 0; i < other.rank; ++i) {
    other.dims[i] =
        make->program->sizes[prop_random_below(make->random, make->program->nsizes)].value;
  }
  if (other.rank == 3) {
    other.dims[0] = type.rank == 3 ? type.dims[0] : other.dims[0];
  }
  other.dims[other.rank > 1 ? other.rank - 2 : 0] = type.dims[type.rank - 1];
  node->noperands = 2;
  node->operands[0] = a;
  node->operands[1] = prop_pick_type(make, &other);
  return node->operands[1] >= 0;
}

// Each label of the first operand is, in the second, a batch dim, contracted, or absent.
static void second_labels(prop_make_t *make, const prop_type_t *first, int *next, prop_type_t *type,
                          int *labels) {
  const prop_program_t *program = make->program;
  for (int i = 0; i < first->rank && type->rank < 4; ++i) {
    if (prop_random_chance(make->random, 55)) {
      labels[type->rank] = i;
      type->dims[type->rank++] = first->dims[i];
    }
  }
  int fresh = prop_random_below(make->random, 2 + (type->rank < 2));
  for (int i = 0; i < fresh && type->rank < 4; ++i) {
    labels[type->rank] = (*next)++;
    type->dims[type->rank++] =
        program->sizes[prop_random_below(make->random, program->nsizes)].value;
  }
  for (int i = type->rank - 1; i > 0; --i) {
    int k = prop_random_below(make->random, i + 1);
    int label = labels[i];
    int64_t size = type->dims[i];
    labels[i] = labels[k];
    labels[k] = label;
    type->dims[i] = type->dims[k];
    type->dims[k] = size;
  }
}

static void result_labels(prop_make_t *make, prop_node_t *node) {
  int labels[MAX_LABELS], count = 0;
  for (int k = 0; k < node->noperands; ++k) {
    labels_t operand = labels_of(node, k);
    for (int i = 0; i < operand.count; ++i) {
      bool shared =
          k > 0 && holds(labels_of(node, 0).count, labels_of(node, 0).labels, operand.labels[i]);
      if (!holds(count, labels, operand.labels[i]) && !shared && count < 4 &&
          prop_random_chance(make->random, k == 0 ? 60 : 85)) {
        labels[count++] = operand.labels[i];
      }
    }
  }
  for (int i = count - 1; i > 0 && prop_random_chance(make->random, 50); --i) {
    int k = prop_random_below(make->random, i + 1), label = labels[i];
    labels[i] = labels[k];
    labels[k] = label;
  }
  add_labels(node, count, labels);
}

static bool make_einsum(prop_make_t *make, prop_node_t *node) {
  static const int kFirst[] = {0, 1, 2, 3, 4};
  int a = prop_pick(make, prop_fits_number_rank, 0);
  if (a < 0 || make->program->nodes[a].type.rank > 4) {
    return false;
  }
  prop_type_t first = make->program->nodes[a].type;
  int next = first.rank;
  node->noperands = 1;
  node->operands[0] = a;
  add_labels(node, first.rank, kFirst);
  int more = prop_random_chance(make->random, 15)   ? 0
             : prop_random_chance(make->random, 85) ? 1
                                                    : 2;
  for (int i = 0; i < more; ++i) {
    prop_type_t type = {.dtype = first.dtype};
    int labels[4];
    second_labels(make, &first, &next, &type, labels);
    node->operands[node->noperands] = prop_pick_type(make, &type);
    if (node->operands[node->noperands] < 0) {
      return false;
    }
    ++node->noperands;
    add_labels(node, type.rank, labels);
  }
  result_labels(make, node);
  return true;
}

static bool make_dot(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  node->form = prop_random_chance(make->random, 45) ? DOT_MATMUL : DOT_EINSUM;
  return node->form == DOT_MATMUL ? make_matmul(make, node) : make_einsum(make, node);
}

static void print_dot(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  if (node->form == DOT_MATMUL) {
    prop_print_operand(program, node, 0, out);
    tspec_buf_puts(out, " @ ");
    prop_print_operand(program, node, 1, out);
    return;
  }
  tspec_buf_puts(out, "einsum(\"");
  for (int k = 0; k <= node->noperands; ++k) {
    labels_t labels = labels_of(node, k);
    tspec_buf_puts(out, k == node->noperands ? "->" : k > 0 ? "," : "");
    for (int i = 0; i < labels.count; ++i) {
      tspec_buf_printf(out, "%c", 'a' + labels.labels[i]);
    }
  }
  tspec_buf_puts(out, "\"");
  for (int k = 0; k < node->noperands; ++k) {
    tspec_buf_puts(out, ", ");
    prop_print_operand(program, node, k, out);
  }
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_dot = {
    .name = "dot", .weight = 32, .make = make_dot, .infer = infer_dot, .print = print_dot};

// ---- what is summed ----------------------------------------------------------------------------

int prop_summed_dims(const prop_program_t *program, const prop_node_t *node, int operand,
                     int *out_dims) {
  const prop_type_t *type = &prop_operand(program, node, operand)->type;
  int count = 0;
  for (int i = 0; i < type->rank; ++i) {
    bool summed = false;
    if (node->gen == &prop_gen_reduce) {
      summed = (node->attrs[ATTR_MASK] >> i) & 1;
    } else if (node->gen == &prop_gen_dot && node->form == DOT_MATMUL) {
      summed = i == type->rank - (operand == 1 && type->rank > 1 ? 2 : 1);
    } else if (node->gen == &prop_gen_dot) {
      labels_t out = labels_of(node, node->noperands);
      summed = !holds(out.count, out.labels, labels_of(node, operand).labels[i]);
    }
    if (summed) {
      out_dims[count++] = i;
    }
  }
  return count;
}
