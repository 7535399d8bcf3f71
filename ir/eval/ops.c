#include "ir/eval/ops.h"

#include <math.h>
#include <string.h>

#include "ir/eval/scalar.h"

static const int64_t *ints_of(const tspec_op_t *op, const char *name) {
  return tspec_op_get_attr(op, name)->ints;
}

/// Bytes per step in each dim, in elements.
static int64_t *strides_of(tspec_arena_t *scratch, const tspec_dense_t *dense) {
  int64_t *strides = TSPEC_ARENA_NEW(scratch, int64_t, dense->type.rank);
  int64_t stride = 1;
  for (int i = dense->type.rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= dense->type.dims[i];
  }
  return strides;
}

static tspec_element_t load(const tspec_dense_t *dense, int64_t index) {
  return tspec_dtype_is_float(dense->type.dtype)
             ? (tspec_element_t){.f = tspec_dense_get_float(dense, index)}
             : (tspec_element_t){.i = tspec_dense_get_int(dense, index)};
}

static void store(tspec_dense_t *dense, int64_t index, tspec_element_t element) {
  if (tspec_dtype_is_float(dense->type.dtype)) {
    tspec_dense_set_float(dense, index, element.f);
  } else {
    tspec_dense_set_int(dense, index, element.i);
  }
}

// ---- elementwise -------------------------------------------------------------------------------

static void eval_pointwise(const tspec_eval_call_t *call) {
  tspec_element_t args[3];
  tspec_dtype_t dtype = call->operands[0]->type.dtype;
  for (int k = 0; k < call->op->noperands; k++) {
    TSPEC_CHECK(tspec_shape_equal(call->operands[k]->type, call->result->type),
                "operand %d of '%s' does not fit", k, tspec_op_info(call->op->kind)->name);
  }
  for (int64_t i = 0; i < call->result->count; i++) {
    if (call->op->kind == TSPEC_OP_select) {
      bool first = tspec_dense_get_int(call->operands[0], i) != 0;
      tspec_dense_copy_element(call->result, i, call->operands[first ? 1 : 2], i);
      continue;
    }
    for (int k = 0; k < call->op->noperands; k++) {
      args[k] = load(call->operands[k], i);
    }
    store(call->result, i, tspec_scalar_eval(call->op->kind, dtype, args));
  }
}

static void eval_convert(const tspec_eval_call_t *call) {
  const tspec_dense_t *from = call->operands[0];
  tspec_dtype_t to = call->result->type.dtype;
  for (int64_t i = 0; i < call->result->count; i++) {
    if (tspec_dtype_is_float(from->type.dtype)) {
      tspec_dense_set(call->result, i, tspec_dense_get_float(from, i));
      continue;
    }
    int64_t number = tspec_dense_get_int(from, i);
    if (to == TSPEC_DTYPE_F32) { // straight: by way of double it would round twice
      tspec_dense_set_float(call->result, i, (double)(float)number);
    } else if (tspec_dtype_is_float(to)) {
      tspec_dense_set_float(call->result, i, (double)number);
    } else {
      tspec_dense_set_int(call->result, i, number);
    }
  }
}

/// Constraints and reshards of whole tensors.
static void eval_identity(const tspec_eval_call_t *call) {
  TSPEC_CHECK(call->operands[0]->count == call->result->count, "sizes of '%s' differ",
              tspec_op_info(call->op->kind)->name);
  for (int64_t i = 0; i < call->result->count; i++) {
    tspec_dense_copy_element(call->result, i, call->operands[0], i);
  }
}

// ---- constants ---------------------------------------------------------------------------------

/// The row-major number in the whole tensor of the block's element `index`.
static int64_t global_number(const tspec_eval_call_t *call, const int64_t *index) {
  const tspec_type_t *whole = &call->op->results[0]->type;
  int64_t number = 0;
  for (int i = 0; i < whole->rank; i++) {
    number = number * whole->dims[i] + call->blocks[i].begin + index[i];
  }
  return number;
}

static void eval_made(const tspec_eval_call_t *call) {
  int rank = call->result->type.rank;
  int64_t *index = TSPEC_ARENA_NEW(call->scratch, int64_t, rank);
  const tspec_attr_t *values = tspec_op_get_attr(call->op, "values");
  const tspec_attr_t *dim = tspec_op_get_attr(call->op, "dim");
  for (int64_t i = 0; i < call->result->count; i++) {
    if (call->op->kind == TSPEC_OP_constant) {
      int64_t at = values->count == 1 ? 0 : global_number(call, index);
      tspec_dense_set(call->result, i, values->floats[at]);
    } else if (tspec_dtype_is_float(call->result->type.dtype)) {
      tspec_dense_set_float(call->result, i, (double)(call->blocks[dim->i].begin + index[dim->i]));
    } else {
      tspec_dense_set_int(call->result, i, call->blocks[dim->i].begin + index[dim->i]);
    }
    tspec_dense_next(rank, call->result->type.dims, index);
  }
}

// ---- elements in other places ------------------------------------------------------------------

/// Element `index` of the result is the operand's at sum of index[i] * strides[i].
static void gather_strided(const tspec_eval_call_t *call, const int64_t *strides, int64_t offset) {
  int rank = call->result->type.rank;
  int64_t *index = TSPEC_ARENA_NEW(call->scratch, int64_t, rank);
  for (int64_t i = 0; i < call->result->count; i++) {
    int64_t from = offset;
    for (int k = 0; k < rank; k++) {
      from += index[k] * strides[k];
    }
    TSPEC_CHECK(from >= 0 && from < call->operands[0]->count, "'%s' reads outside its block",
                tspec_op_info(call->op->kind)->name);
    tspec_dense_copy_element(call->result, i, call->operands[0], from);
    tspec_dense_next(rank, call->result->type.dims, index);
  }
}

static void eval_broadcast(const tspec_eval_call_t *call) {
  const int64_t *dims = ints_of(call->op, "dims");
  const int64_t *from = strides_of(call->scratch, call->operands[0]);
  int64_t *strides = TSPEC_ARENA_NEW(call->scratch, int64_t, call->result->type.rank);
  tspec_type_t whole_operand = call->op->operands[0]->type;
  tspec_type_t whole_result = call->op->results[0]->type;
  for (int i = 0; i < whole_operand.rank; i++) {
    if (whole_operand.dims[i] == whole_result.dims[dims[i]]) {
      strides[dims[i]] = from[i];
    }
  }
  gather_strided(call, strides, 0);
}

static void eval_transpose(const tspec_eval_call_t *call) {
  const int64_t *perm = ints_of(call->op, "perm");
  const int64_t *from = strides_of(call->scratch, call->operands[0]);
  int64_t *strides = TSPEC_ARENA_NEW(call->scratch, int64_t, call->result->type.rank);
  for (int i = 0; i < call->result->type.rank; i++) {
    strides[i] = from[perm[i]];
  }
  gather_strided(call, strides, 0);
}

/// The op resizes a dim; one that it leaves alone may be split.
static bool resizes(const tspec_op_t *op, int dim) {
  return op->operands[0]->type.dims[dim] != op->results[0]->type.dims[dim];
}

static void eval_slice(const tspec_eval_call_t *call) {
  const int64_t *starts = ints_of(call->op, "starts");
  const int64_t *steps = ints_of(call->op, "steps");
  const int64_t *from = strides_of(call->scratch, call->operands[0]);
  int64_t *strides = TSPEC_ARENA_NEW(call->scratch, int64_t, call->result->type.rank);
  int64_t offset = 0;
  for (int i = 0; i < call->result->type.rank; i++) {
    bool cuts = resizes(call->op, i);
    strides[i] = cuts ? from[i] * steps[i] : from[i];
    offset += cuts ? from[i] * starts[i] : 0;
  }
  gather_strided(call, strides, offset);
}

static void eval_pad(const tspec_eval_call_t *call) {
  int rank = call->result->type.rank;
  double value = tspec_op_get_attr(call->op, "value")->f;
  int64_t *zero = TSPEC_ARENA_NEW(call->scratch, int64_t, rank);
  for (int64_t i = 0; i < call->result->count; i++) {
    tspec_dense_set(call->result, i, value);
  }
  tspec_dense_copy_box(call->result, ints_of(call->op, "lo"), call->operands[0], zero, NULL,
                       call->operands[0]->type.dims);
}

static void eval_concat(const tspec_eval_call_t *call) {
  int rank = call->result->type.rank;
  int64_t dim = tspec_op_get_attr(call->op, "dim")->i;
  int64_t *begin = TSPEC_ARENA_NEW(call->scratch, int64_t, rank);
  int64_t *zero = TSPEC_ARENA_NEW(call->scratch, int64_t, rank);
  for (int k = 0; k < call->op->noperands; k++) {
    tspec_dense_copy_box(call->result, begin, call->operands[k], zero, NULL,
                         call->operands[k]->type.dims);
    begin[dim] += call->operands[k]->type.dims[dim];
  }
  TSPEC_CHECK(begin[dim] == call->result->type.dims[dim], "'concat' does not fill its result");
}

// ---- dot ---------------------------------------------------------------------------------------

/// Element offsets in one operand for every index of a group of its dims, row-major.
typedef struct offsets_t {
  int64_t count;
  int64_t *items;
} offsets_t;

static offsets_t group_offsets(tspec_arena_t *scratch, const tspec_dense_t *dense,
                               const int64_t *dims, int64_t ndims) {
  const int64_t *strides = strides_of(scratch, dense);
  int64_t *sizes = TSPEC_ARENA_NEW(scratch, int64_t, ndims);
  int64_t *index = TSPEC_ARENA_NEW(scratch, int64_t, ndims);
  offsets_t offsets = {.count = 1};
  for (int64_t i = 0; i < ndims; i++) {
    sizes[i] = dense->type.dims[dims[i]];
    offsets.count *= sizes[i];
  }
  offsets.items = TSPEC_ARENA_NEW(scratch, int64_t, offsets.count);
  for (int64_t at = 0; at < offsets.count; at++) {
    for (int64_t i = 0; i < ndims; i++) {
      offsets.items[at] += index[i] * strides[dims[i]];
    }
    tspec_dense_next((int)ndims, sizes, index);
  }
  return offsets;
}

static bool is_in(const tspec_attr_t *ints, int64_t value) {
  for (int64_t i = 0; i < ints->count; i++) {
    if (ints->ints[i] == value) {
      return true;
    }
  }
  return false;
}

static offsets_t free_offsets(tspec_arena_t *scratch, const tspec_dense_t *dense,
                              const tspec_attr_t *batch, const tspec_attr_t *contract) {
  int64_t *dims = TSPEC_ARENA_NEW(scratch, int64_t, dense->type.rank);
  int64_t ndims = 0;
  for (int i = 0; i < dense->type.rank; i++) {
    if (!is_in(batch, i) && !is_in(contract, i)) {
      dims[ndims++] = i;
    }
  }
  return group_offsets(scratch, dense, dims, ndims);
}

/// One operand, its elements as doubles or 64-bit integers, and its groups of dims.
typedef struct dot_side_t {
  const double *floats;
  const int64_t *ints;
  offsets_t batch, free, contract;
} dot_side_t;

static dot_side_t dot_side(const tspec_eval_call_t *call, int operand, const char *batch_name,
                           const char *contract_name) {
  const tspec_dense_t *dense = call->operands[operand];
  const tspec_attr_t *batch = tspec_op_get_attr(call->op, batch_name);
  const tspec_attr_t *contract = tspec_op_get_attr(call->op, contract_name);
  dot_side_t side = {
      .batch = group_offsets(call->scratch, dense, batch->ints, batch->count),
      .free = free_offsets(call->scratch, dense, batch, contract),
      .contract = group_offsets(call->scratch, dense, contract->ints, contract->count),
  };
  if (tspec_dtype_is_float(dense->type.dtype)) {
    double *floats = TSPEC_ARENA_NEW(call->scratch, double, dense->count);
    for (int64_t i = 0; i < dense->count; i++) {
      floats[i] = tspec_dense_get_float(dense, i);
    }
    side.floats = floats;
  } else {
    int64_t *ints = TSPEC_ARENA_NEW(call->scratch, int64_t, dense->count);
    for (int64_t i = 0; i < dense->count; i++) {
      ints[i] = tspec_dense_get_int(dense, i);
    }
    side.ints = ints;
  }
  return side;
}

static tspec_element_t inner_product(const dot_side_t *lhs, int64_t a, const dot_side_t *rhs,
                                     int64_t b) {
  if (lhs->floats != NULL) {
    double sum = 0;
    for (int64_t k = 0; k < lhs->contract.count; k++) {
      sum += lhs->floats[a + lhs->contract.items[k]] * rhs->floats[b + rhs->contract.items[k]];
    }
    return (tspec_element_t){.f = sum};
  }
  uint64_t sum = 0;
  for (int64_t k = 0; k < lhs->contract.count; k++) {
    sum += (uint64_t)lhs->ints[a + lhs->contract.items[k]] *
           (uint64_t)rhs->ints[b + rhs->contract.items[k]];
  }
  return (tspec_element_t){.i = (int64_t)sum};
}

static void eval_dot(const tspec_eval_call_t *call) {
  dot_side_t lhs = dot_side(call, 0, "lhs_batch", "lhs_contract");
  dot_side_t rhs = dot_side(call, 1, "rhs_batch", "rhs_contract");
  TSPEC_CHECK(lhs.batch.count == rhs.batch.count && lhs.contract.count == rhs.contract.count &&
                  call->result->count == lhs.batch.count * lhs.free.count * rhs.free.count,
              "blocks of 'dot' do not fit");
  int64_t at = 0;
  for (int64_t b = 0; b < lhs.batch.count; b++) {
    for (int64_t m = 0; m < lhs.free.count; m++) {
      for (int64_t n = 0; n < rhs.free.count; n++) {
        store(call->result, at++,
              inner_product(&lhs, lhs.batch.items[b] + lhs.free.items[m], &rhs,
                            rhs.batch.items[b] + rhs.free.items[n]));
      }
    }
  }
}

// ---- reductions --------------------------------------------------------------------------------

double tspec_eval_combine_float(tspec_reduce_t kind, double a, double b) {
  switch (kind) {
  case TSPEC_REDUCE_SUM:
    return a + b;
  case TSPEC_REDUCE_PROD:
    return a * b;
  case TSPEC_REDUCE_MAX:
    return tspec_scalar_max(a, b);
  case TSPEC_REDUCE_MIN:
    return tspec_scalar_min(a, b);
  case TSPEC_REDUCE_ALL:
  case TSPEC_REDUCE_ANY:
  case TSPEC_REDUCE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "floats have no '%s'", tspec_reduce_name(kind));
  return 0;
}

int64_t tspec_eval_combine_int(tspec_reduce_t kind, int64_t a, int64_t b) {
  switch (kind) {
  case TSPEC_REDUCE_SUM:
    return (int64_t)((uint64_t)a + (uint64_t)b);
  case TSPEC_REDUCE_PROD:
    return (int64_t)((uint64_t)a * (uint64_t)b);
  case TSPEC_REDUCE_MAX:
    return a > b ? a : b;
  case TSPEC_REDUCE_MIN:
    return a < b ? a : b;
  case TSPEC_REDUCE_ALL:
    return a != 0 && b != 0;
  case TSPEC_REDUCE_ANY:
    return a != 0 || b != 0;
  case TSPEC_REDUCE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "no reduction %d", (int)kind);
  return 0;
}

double tspec_eval_identity_float(tspec_reduce_t kind) {
  return kind == TSPEC_REDUCE_PROD  ? 1
         : kind == TSPEC_REDUCE_MAX ? -(double)INFINITY
         : kind == TSPEC_REDUCE_MIN ? (double)INFINITY
                                    : 0;
}

int64_t tspec_eval_identity_int(tspec_reduce_t kind, tspec_dtype_t dtype) {
  bool is_wide = dtype == TSPEC_DTYPE_I64;
  switch (kind) {
  case TSPEC_REDUCE_PROD:
  case TSPEC_REDUCE_ALL:
    return 1;
  case TSPEC_REDUCE_MAX:
    return is_wide ? INT64_MIN : (int64_t)tspec_dtype_min(dtype);
  case TSPEC_REDUCE_MIN:
    return is_wide ? INT64_MAX : (int64_t)tspec_dtype_max(dtype);
  case TSPEC_REDUCE_SUM:
  case TSPEC_REDUCE_ANY:
  case TSPEC_REDUCE_COUNT:
    break;
  }
  return 0;
}

static tspec_element_t reduce_group(tspec_reduce_t kind, const tspec_dense_t *from, int64_t base,
                                    const offsets_t *dropped) {
  bool is_float = tspec_dtype_is_float(from->type.dtype);
  double f = tspec_eval_identity_float(kind);
  int64_t n = is_float ? 0 : tspec_eval_identity_int(kind, from->type.dtype);
  for (int64_t k = 0; k < dropped->count; k++) {
    if (is_float) {
      f = tspec_eval_combine_float(kind, f, tspec_dense_get_float(from, base + dropped->items[k]));
    } else {
      n = tspec_eval_combine_int(kind, n, tspec_dense_get_int(from, base + dropped->items[k]));
    }
  }
  return is_float ? (tspec_element_t){.f = f} : (tspec_element_t){.i = n};
}

/// Whether `a` goes before `b` as the extreme one: NaN before all others.
static bool is_more_extreme(bool wants_max, const tspec_dense_t *from, int64_t a, int64_t b) {
  if (!tspec_dtype_is_float(from->type.dtype)) {
    int64_t x = tspec_dense_get_int(from, a);
    int64_t y = tspec_dense_get_int(from, b);
    return wants_max ? x > y : x < y;
  }
  double x = tspec_dense_get_float(from, a);
  double y = tspec_dense_get_float(from, b);
  if (isnan(x) || isnan(y)) {
    return isnan(x) && !isnan(y);
  }
  return wants_max ? x > y : x < y;
}

static int64_t arg_group(bool wants_max, const tspec_dense_t *from, int64_t base,
                         const offsets_t *dropped) {
  int64_t best = 0;
  for (int64_t k = 1; k < dropped->count; k++) {
    if (is_more_extreme(wants_max, from, base + dropped->items[k], base + dropped->items[best])) {
      best = k;
    }
  }
  return best;
}

static void eval_reduction(const tspec_eval_call_t *call) {
  const tspec_dense_t *from = call->operands[0];
  tspec_reduce_t kind = tspec_op_get_attr(call->op, "kind")->reduce;
  bool is_arg = call->op->kind == TSPEC_OP_arg_reduce;
  tspec_attr_t dims = is_arg ? tspec_attr_ints("dims", 1, &tspec_op_get_attr(call->op, "dim")->i)
                             : *tspec_op_get_attr(call->op, "dims");
  tspec_attr_t none = tspec_attr_ints("none", 0, NULL);
  offsets_t kept = free_offsets(call->scratch, from, &none, &dims);
  offsets_t dropped = group_offsets(call->scratch, from, dims.ints, dims.count);
  TSPEC_CHECK(kept.count == call->result->count, "blocks of '%s' do not fit",
              tspec_op_info(call->op->kind)->name);
  for (int64_t i = 0; i < kept.count; i++) {
    if (is_arg) {
      tspec_dense_set_int(call->result, i,
                          arg_group(kind == TSPEC_REDUCE_MAX, from, kept.items[i], &dropped));
    } else {
      store(call->result, i, reduce_group(kind, from, kept.items[i], &dropped));
    }
  }
}

// ---- all ---------------------------------------------------------------------------------------

typedef struct eval_row_t {
  tspec_op_kind_t kind;
  void (*eval)(const tspec_eval_call_t *call);
} eval_row_t;

static const eval_row_t eval_rows[] = {
    {TSPEC_OP_constant, eval_made},
    {TSPEC_OP_iota, eval_made},
    {TSPEC_OP_convert, eval_convert},
    {TSPEC_OP_constraint, eval_identity},
    {TSPEC_OP_reshard, eval_identity},
    {TSPEC_OP_barrier, eval_identity},
    {TSPEC_OP_same_sharding, eval_identity},
    {TSPEC_OP_broadcast, eval_broadcast},
    {TSPEC_OP_transpose, eval_transpose},
    {TSPEC_OP_reshape, eval_identity},
    {TSPEC_OP_concat, eval_concat},
    {TSPEC_OP_slice, eval_slice},
    {TSPEC_OP_pad, eval_pad},
    {TSPEC_OP_dot, eval_dot},
    {TSPEC_OP_reduce, eval_reduction},
    {TSPEC_OP_arg_reduce, eval_reduction},
};

void tspec_eval_op(const tspec_eval_call_t *call) {
  for (unsigned i = 0; i < sizeof eval_rows / sizeof *eval_rows; i++) {
    if (eval_rows[i].kind == call->op->kind) {
      eval_rows[i].eval(call);
      return;
    }
  }
  TSPEC_CHECK((tspec_op_info(call->op->kind)->rules->traits & TSPEC_TRAIT_ELEMENTWISE) != 0,
              "op '%s' has no evaluation", tspec_op_info(call->op->kind)->name);
  eval_pointwise(call);
}
