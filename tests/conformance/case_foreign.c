// Rules of ops that the language does not have, by `propagation.md` 2.1: the corpus uses them to
// exercise propagation and conversion.
#include "case.h"

#include <string.h>

#include "ir/base/diag.h"

typedef struct build_t {
  const case_t *c;
  const case_op_t *op;
  tspec_rule_builder_t builder;
} build_t;

/// Appends a factor to one dim each of up to three tensors; dim -1: not there. Operands, then
/// results.
static int factor(build_t *build, int64_t size, tspec_factor_kind_t kind) {
  return tspec_rule_builder_factor(&build->builder, size, kind);
}

static void operand(build_t *build, int index, int64_t dim, int f) {
  tspec_rule_builder_map_operand(&build->builder, index, (int)dim, f);
}

static void result(build_t *build, int64_t dim, int f) {
  for (int i = 0; i < build->op->nresults; i++) {
    tspec_rule_builder_map_result(&build->builder, i, (int)dim, f);
  }
}

static int64_t operand_size(const build_t *build, int index, int64_t dim) {
  return build->op->operand_types[index].dims[dim];
}

static int64_t result_size(const build_t *build, int64_t dim) {
  return build->op->result_types[0].dims[dim];
}

static int rank(const build_t *build) {
  return build->op->operand_types[0].rank;
}

static void block(build_t *build, int f) {
  tspec_rule_builder_block(&build->builder, f);
}

/// One factor per dim in all tensors that are no scalars; `special(dim)` gives the others' kind.
static int shared(build_t *build, int dim, int64_t size, tspec_factor_kind_t kind) {
  int f = factor(build, size, kind);
  for (int i = 0; i < build->op->noperands; i++) {
    if (build->op->operand_types[i].rank > dim) {
      operand(build, i, dim, f);
    }
  }
  result(build, dim, f);
  return f;
}

static json_t *list(const build_t *build, const char *key) {
  return json_object_get(build->op->json, key);
}

static int64_t item(const build_t *build, const char *key, int index, int64_t otherwise) {
  json_t *value = json_array_get(list(build, key), (size_t)index);
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool contains(const build_t *build, const char *key, int64_t value) {
  return case_ints_contain(list(build, key), value);
}

static int position(const build_t *build, const char *key, int64_t value) {
  for (size_t i = 0; i < json_array_size(list(build, key)); i++) {
    if (item(build, key, (int)i, -1) == value) {
      return (int)i;
    }
  }
  return -1;
}

// ---- one operand's dims -------------------------------------------------------------------------

static void build_pointwise(build_t *build) {
  tspec_rule_builder_pointwise(&build->builder);
}

static void build_bitcast_convert(build_t *build) {
  int in = build->op->operand_types[0].rank;
  int out = build->op->result_types[0].rank;
  for (int dim = 0; dim < (in > out ? in : out); dim++) {
    bool both = dim < in && dim < out;
    int f = factor(build, dim < in ? operand_size(build, 0, dim) : result_size(build, dim),
                   both ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_NEED_REPLICATION);
    if (dim < in) {
      operand(build, 0, dim, f);
    }
    if (dim < out) {
      result(build, dim, f);
    }
  }
}

static void build_sort(build_t *build) {
  int sorted = (int)case_int(build->op->json, "dim", 0);
  bool alone = true;
  for (int dim = 0; dim < rank(build); dim++) {
    alone = alone && (dim == sorted || operand_size(build, 0, dim) == 1);
  }
  for (int dim = 0; dim < rank(build); dim++) {
    int f = shared(build, dim, operand_size(build, 0, dim),
                   dim == sorted ? TSPEC_FACTOR_NEED_REPLICATION : TSPEC_FACTOR_PASS_THROUGH);
    if (dim == sorted && alone) {
      block(build, f);
    }
  }
}

static void build_reverse(build_t *build) {
  for (int dim = 0; dim < rank(build); dim++) {
    shared(build, dim, operand_size(build, 0, dim),
           contains(build, "dims", dim) ? TSPEC_FACTOR_PERMUTATION : TSPEC_FACTOR_PASS_THROUGH);
  }
}

static void build_cholesky(build_t *build) {
  for (int dim = 0; dim < rank(build); dim++) {
    shared(build, dim, operand_size(build, 0, dim),
           dim + 2 >= rank(build) ? TSPEC_FACTOR_NEED_REPLICATION : TSPEC_FACTOR_PASS_THROUGH);
  }
}

static void build_triangular_solve(build_t *build) {
  int minor = rank(build) - 1;
  for (int dim = 0; dim < rank(build) - 2; dim++) {
    shared(build, dim, operand_size(build, 0, dim), TSPEC_FACTOR_PASS_THROUGH);
  }
  bool left = case_flag(build->op->json, "left_side");
  bool transposed = case_flag(build->op->json, "transpose_a");
  int rows = factor(build, operand_size(build, 1, minor - 1), TSPEC_FACTOR_NEED_REPLICATION);
  int cols = factor(build, operand_size(build, 1, minor), TSPEC_FACTOR_NEED_REPLICATION);
  int free = factor(build, operand_size(build, 0, minor), TSPEC_FACTOR_NEED_REPLICATION);
  operand(build, 1, minor - 1, rows);
  operand(build, 1, minor, cols);
  // a has the dim that it shares with b and that of the result.
  int common = left ? rows : cols;
  bool common_first = left != transposed;
  operand(build, 0, minor - 1, common_first ? common : free);
  operand(build, 0, minor, common_first ? free : common);
  result(build, minor - 1, left ? free : rows);
  result(build, minor, left ? cols : free);
}

static void build_fft(build_t *build) {
  int first = rank(build) - (int)json_array_size(list(build, "length"));
  for (int dim = 0; dim < rank(build); dim++) {
    int f = shared(build, dim, operand_size(build, 0, dim),
                   dim >= first ? TSPEC_FACTOR_NEED_REPLICATION : TSPEC_FACTOR_PASS_THROUGH);
    if (operand_size(build, 0, dim) != result_size(build, dim)) {
      block(build, f);
    }
  }
}

static void build_dynamic_slice(build_t *build) {
  for (int dim = 0; dim < rank(build); dim++) {
    bool same = operand_size(build, 0, dim) == result_size(build, dim);
    int f = shared(build, dim, operand_size(build, 0, dim),
                   same ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_NEED_REPLICATION);
    if (!same) {
      block(build, f);
    }
  }
}

static void build_dynamic_update_slice(build_t *build) {
  bool constant = true;
  for (int i = 2; i < build->op->noperands; i++) {
    json_t *definition = build->op->operands[i]->definition;
    constant =
        constant && definition != NULL && strcmp(case_text(definition, "op"), "constant") == 0;
  }
  for (int dim = 0; dim < rank(build); dim++) {
    if (operand_size(build, 0, dim) == operand_size(build, 1, dim)) {
      shared(build, dim, operand_size(build, 0, dim), TSPEC_FACTOR_PASS_THROUGH);
      continue;
    }
    int f = factor(build, operand_size(build, 0, dim), TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 0, dim, f);
    result(build, dim, f);
    operand(build, 1, dim,
            factor(build, operand_size(build, 1, dim),
                   constant ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_NEED_REPLICATION));
  }
}

/// A reduce of several operands at once.
static void build_reduce(build_t *build) {
  int at = 0;
  for (int dim = 0; dim < rank(build); dim++) {
    bool dropped = contains(build, "dims", dim);
    int f = factor(build, operand_size(build, 0, dim),
                   dropped ? TSPEC_FACTOR_REDUCTION : TSPEC_FACTOR_PASS_THROUGH);
    for (int i = 0; i < build->op->nresults; i++) {
      operand(build, i, dim, f);
    }
    if (!dropped) {
      result(build, at++, f);
    }
  }
}

// ---- windows ------------------------------------------------------------------------------------

static bool is_trivial_window(const build_t *build, int dim) {
  json_t *padding = json_array_get(list(build, "padding"), (size_t)dim);
  bool padded = json_integer_value(json_array_get(padding, 0)) != 0 ||
                json_integer_value(json_array_get(padding, 1)) != 0;
  return item(build, "window", dim, 1) == 1 && item(build, "strides", dim, 1) == 1 && !padded;
}

static void build_reduce_window(build_t *build) {
  for (int dim = 0; dim < rank(build); dim++) {
    bool trivial = is_trivial_window(build, dim);
    int f = shared(build, dim, result_size(build, dim),
                   trivial ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_PERMUTATION);
    if (!trivial && build->c->conservative) {
      block(build, f);
    }
  }
}

static void build_select_and_scatter(build_t *build) {
  for (int dim = 0; dim < rank(build); dim++) {
    if (is_trivial_window(build, dim)) {
      shared(build, dim, result_size(build, dim), TSPEC_FACTOR_PASS_THROUGH);
      continue;
    }
    int source = factor(build, operand_size(build, 1, dim), TSPEC_FACTOR_NEED_REPLICATION);
    int whole = factor(build, operand_size(build, 0, dim), TSPEC_FACTOR_PERMUTATION);
    operand(build, 1, dim, source);
    operand(build, 0, dim, whole);
    result(build, dim, whole);
    if (build->c->conservative) {
      block(build, source);
      block(build, whole);
    }
  }
}

static int layout_dim(const build_t *build, const char *layout, const char *letter) {
  json_t *dims = list(build, layout);
  for (size_t i = 0; i < json_array_size(dims); i++) {
    if (strcmp(json_string_value(json_array_get(dims, i)), letter) == 0) {
      return (int)i;
    }
  }
  TSPEC_CHECK(false, "layout '%s' has no '%s'", layout, letter);
  return -1;
}

static void build_spatial_dim(build_t *build, const char *letter) {
  int lhs = layout_dim(build, "lhs_layout", letter);
  int rhs = layout_dim(build, "rhs_layout", letter);
  int out = layout_dim(build, "out_layout", letter);
  int64_t left = operand_size(build, 0, lhs);
  int64_t window = operand_size(build, 1, rhs);
  int64_t windows = result_size(build, out);
  for (int turn = 0; turn < 2; turn++) {
    bool of_windows = (windows >= window) == (turn == 0);
    int64_t wanted = of_windows ? windows : window;
    int64_t size = wanted < left ? wanted : left;
    if (size <= 1) {
      continue;
    }
    int f = factor(build, size, of_windows ? TSPEC_FACTOR_PERMUTATION : TSPEC_FACTOR_REDUCTION);
    operand(build, 0, lhs, f);
    if (of_windows) {
      result(build, out, f);
    } else {
      operand(build, 1, rhs, f);
    }
    left /= size;
  }
}

static void build_convolution(build_t *build) {
  int lhs_batch = layout_dim(build, "lhs_layout", "b");
  int lhs_feature = layout_dim(build, "lhs_layout", "f");
  int rhs_in = layout_dim(build, "rhs_layout", "i");
  int rhs_out = layout_dim(build, "rhs_layout", "o");
  int out_batch = layout_dim(build, "out_layout", "b");
  int out_feature = layout_dim(build, "out_layout", "f");
  int64_t batch_groups = case_int(build->op->json, "batch_group_count", 1);
  int64_t feature_groups = case_int(build->op->json, "feature_group_count", 1);
  if (batch_groups > 1) {
    int f = factor(build, batch_groups, TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 0, lhs_batch, f);
    operand(build, 1, rhs_out, f);
    result(build, out_feature, f);
  }
  int batch = factor(build, result_size(build, out_batch), TSPEC_FACTOR_PASS_THROUGH);
  operand(build, 0, lhs_batch, batch);
  result(build, out_batch, batch);
  for (int i = 0; !build->c->conservative && i < rank(build) - 2; i++) {
    build_spatial_dim(build, (char[]){(char)('0' + i), '\0'});
  }
  if (feature_groups > 1) {
    int f = factor(build, feature_groups, TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 0, lhs_feature, f);
    operand(build, 1, rhs_out, f);
    result(build, out_feature, f);
  }
  int in = factor(build, operand_size(build, 1, rhs_in), TSPEC_FACTOR_REDUCTION);
  operand(build, 0, lhs_feature, in);
  operand(build, 1, rhs_in, in);
  int64_t out_size = operand_size(build, 1, rhs_out) / (batch_groups * feature_groups);
  if (out_size > 1) {
    int f = factor(build, out_size, TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 1, rhs_out, f);
    result(build, out_feature, f);
  }
}

// ---- gather and scatter -------------------------------------------------------------------------

/// The next dim from `*at` on that is in neither list; `*at` moves past it.
static int next_window_dim(const build_t *build, int *at, const char *dropped,
                           const char *batching) {
  while (contains(build, dropped, *at) || contains(build, batching, *at)) {
    ++*at;
  }
  return (*at)++;
}

static int next_index_dim(const build_t *build, int *at) {
  if (*at == case_int(build->op->json, "index_vector_dim", -1)) {
    ++*at;
  }
  return (*at)++;
}

/// The dim of the first operand that goes with a dim of the indices, or -1.
static int batching_partner(const build_t *build, const char *of_indices, const char *of_operand,
                            int dim) {
  int at = position(build, of_indices, dim);
  return at < 0 ? -1 : (int)item(build, of_operand, at, -1);
}

static void build_gather_offset(build_t *build, int dim, int source) {
  int64_t size = operand_size(build, 0, source);
  int64_t slice = item(build, "slice_sizes", source, 1);
  if (slice == size) {
    int f = factor(build, size, TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 0, source, f);
    result(build, dim, f);
  } else if (slice == 1) {
    operand(build, 0, source, factor(build, size, TSPEC_FACTOR_REDUCTION));
    result(build, dim, factor(build, 1, TSPEC_FACTOR_NEED_REPLICATION));
  } else {
    int f = factor(build, size, TSPEC_FACTOR_NEED_REPLICATION);
    operand(build, 0, source, f);
    result(build, dim, f);
    block(build, f);
  }
}

static void build_gather(build_t *build) {
  int next_source = 0;
  int next_index = 0;
  for (int dim = 0; dim < build->op->result_types[0].rank; dim++) {
    if (contains(build, "offset_dims", dim)) {
      build_gather_offset(
          build, dim,
          next_window_dim(build, &next_source, "collapsed_slice_dims", "operand_batching_dims"));
      continue;
    }
    int index = next_index_dim(build, &next_index);
    int f = factor(build, result_size(build, dim), TSPEC_FACTOR_PASS_THROUGH);
    operand(build, 1, index, f);
    result(build, dim, f);
    int partner =
        batching_partner(build, "start_indices_batching_dims", "operand_batching_dims", index);
    if (partner >= 0) {
      operand(build, 0, partner, f);
    }
  }
  for (int dim = 0; dim < rank(build); dim++) {
    if (contains(build, "collapsed_slice_dims", dim)) {
      int64_t size = operand_size(build, 0, dim);
      operand(
          build, 0, dim,
          factor(build, size, size == 1 ? TSPEC_FACTOR_NEED_REPLICATION : TSPEC_FACTOR_REDUCTION));
    }
  }
  int64_t vector = case_int(build->op->json, "index_vector_dim", -1);
  if (vector >= 0 && vector < build->op->operand_types[1].rank) {
    operand(build, 1, vector,
            factor(build, operand_size(build, 1, vector), TSPEC_FACTOR_NEED_REPLICATION));
  }
}

static void inputs(build_t *build, int64_t dim, int f) {
  for (int i = 0; i < build->op->nresults; i++) {
    operand(build, i, dim, f);
  }
  result(build, dim, f);
}

static void updates(build_t *build, int64_t dim, int f) {
  for (int i = 0; i < build->op->nresults; i++) {
    operand(build, build->op->nresults + 1 + i, dim, f);
  }
}

static void build_scatter_window(build_t *build, int dim, int source) {
  int64_t size = operand_size(build, 0, source);
  int64_t update = operand_size(build, build->op->nresults + 1, dim);
  bool same = size == update;
  int f = factor(build, size, same ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_NEED_REPLICATION);
  inputs(build, source, f);
  updates(build, dim, same ? f : factor(build, update, TSPEC_FACTOR_NEED_REPLICATION));
}

static void build_scatter(build_t *build) {
  int indices = build->op->nresults;
  int next_source = 0;
  int next_index = 0;
  for (int dim = 0; dim < build->op->operand_types[indices + 1].rank; dim++) {
    if (contains(build, "update_window_dims", dim)) {
      build_scatter_window(
          build, dim,
          next_window_dim(build, &next_source, "inserted_window_dims", "input_batching_dims"));
      continue;
    }
    int index = next_index_dim(build, &next_index);
    int partner =
        batching_partner(build, "scatter_indices_batching_dims", "input_batching_dims", index);
    // The corpus has only bodies that are one known reduction.
    int f = factor(build, operand_size(build, indices, index),
                   partner >= 0 ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_REDUCTION);
    operand(build, indices, index, f);
    updates(build, dim, f);
    if (partner >= 0) {
      inputs(build, partner, f);
    }
  }
  for (int dim = 0; dim < rank(build); dim++) {
    if (contains(build, "inserted_window_dims", dim)) {
      inputs(build, dim, factor(build, operand_size(build, 0, dim), TSPEC_FACTOR_PASS_THROUGH));
    }
  }
  int64_t vector = case_int(build->op->json, "index_vector_dim", -1);
  if (vector >= 0 && vector < build->op->operand_types[indices].rank) {
    operand(build, indices, vector,
            factor(build, operand_size(build, indices, vector), TSPEC_FACTOR_NEED_REPLICATION));
  }
}

const tspec_factor_rule_t *case_foreign_rule(const case_t *c, const case_op_t *op) {
  static const struct {
    const char *name;
    void (*build)(build_t *build);
  } rows[] = {
      {"bitcast_convert", build_bitcast_convert},
      {"cholesky", build_cholesky},
      {"clamp", build_pointwise},
      {"convolution", build_convolution},
      {"dynamic_slice", build_dynamic_slice},
      {"dynamic_update_slice", build_dynamic_update_slice},
      {"fft", build_fft},
      {"gather", build_gather},
      {"reduce", build_reduce},
      {"reduce_window", build_reduce_window},
      {"reverse", build_reverse},
      {"scatter", build_scatter},
      {"select_and_scatter", build_select_and_scatter},
      {"sort", build_sort},
      {"triangular_solve", build_triangular_solve},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].name, op->name) == 0) {
      build_t build = {.c = c, .op = op};
      tspec_rule_builder_init(&build.builder, c->arena, op->noperands, op->operand_types,
                              op->nresults, op->result_types);
      rows[i].build(&build);
      return tspec_rule_builder_finish(&build.builder);
    }
  }
  return NULL;
}
