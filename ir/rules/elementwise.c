// Element i of the result depends on element i of the operands alone.
#include "ir/rules/rules.h"

typedef enum operand_class_t {
  CLASS_FLOATS,
  CLASS_NUMBERS,
  CLASS_BOOLS,
  CLASS_ANY,
} operand_class_t;

static bool fits_class(tspec_dtype_t dtype, operand_class_t wanted) {
  switch (wanted) {
  case CLASS_FLOATS:
    return tspec_dtype_is_float(dtype);
  case CLASS_NUMBERS:
    return dtype != TSPEC_DTYPE_BOOL;
  case CLASS_BOOLS:
    return dtype == TSPEC_DTYPE_BOOL;
  case CLASS_ANY:
    return true;
  }
  return false;
}

static const char *class_name(operand_class_t wanted) {
  return wanted == CLASS_FLOATS ? "a float dtype" : wanted == CLASS_NUMBERS ? "numbers" : "bool";
}

/// Operands from `first` on: one type, of the class.
static bool check_operands(const tspec_op_view_t *view, int first, operand_class_t wanted,
                           tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_type_t type = view->operands[first];
  if (!fits_class(type.dtype, wanted)) {
    tspec_diag_error(diag, view->range, "'%s' needs %s, got %s", tspec_rules_spelling(view),
                     class_name(wanted), tspec_type_print(arena, type));
    return false;
  }
  for (int i = first + 1; i < view->noperands; i++) {
    if (!tspec_type_equal(type, view->operands[i])) {
      const char *what = type.dtype != view->operands[i].dtype ? "dtype" : "shape";
      tspec_diag_error(diag, view->range, "'%s' needs operands of one %s, got %s and %s",
                       tspec_rules_spelling(view), what, tspec_type_print(arena, type),
                       tspec_type_print(arena, view->operands[i]));
      return false;
    }
  }
  return true;
}

static bool infer_class(const tspec_op_view_t *view, operand_class_t wanted, tspec_arena_t *arena,
                        tspec_diag_t *diag, tspec_type_t *out_results) {
  return check_operands(view, 0, wanted, arena, diag) &&
         tspec_rules_infer_same(view, arena, diag, out_results);
}

static bool infer_floats(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                         tspec_type_t *out_results) {
  return infer_class(view, CLASS_FLOATS, arena, diag, out_results);
}

static bool infer_numbers(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                          tspec_type_t *out_results) {
  return infer_class(view, CLASS_NUMBERS, arena, diag, out_results);
}

static bool infer_bools(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                        tspec_type_t *out_results) {
  return infer_class(view, CLASS_BOOLS, arena, diag, out_results);
}

static bool infer_compare(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                          tspec_type_t *out_results) {
  if (!infer_class(view, CLASS_ANY, arena, diag, out_results)) {
    return false;
  }
  out_results[0].dtype = TSPEC_DTYPE_BOOL;
  return true;
}

static bool infer_isfinite(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results) {
  if (!infer_class(view, CLASS_NUMBERS, arena, diag, out_results)) {
    return false;
  }
  out_results[0].dtype = TSPEC_DTYPE_BOOL;
  return true;
}

static bool infer_select(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                         tspec_type_t *out_results) {
  tspec_type_t condition = view->operands[0];
  if (condition.dtype != TSPEC_DTYPE_BOOL) {
    tspec_diag_error(diag, view->range, "the condition of '%s' must be bool, got %s",
                     tspec_rules_spelling(view), tspec_type_print(arena, condition));
    return false;
  }
  if (!check_operands(view, 1, CLASS_ANY, arena, diag)) {
    return false;
  }
  tspec_type_t value = view->operands[1];
  if (!tspec_shape_equal(condition, value)) {
    tspec_diag_error(diag, view->range,
                     "'%s' needs operands of one shape, got the condition %s and the values %s",
                     tspec_rules_spelling(view), tspec_type_print(arena, condition),
                     tspec_type_print(arena, value));
    return false;
  }
  out_results[0] = tspec_type_make(arena, value.dtype, value.rank, value.dims);
  return true;
}

static bool infer_convert(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                          tspec_type_t *out_results) {
  (void)diag;
  tspec_type_t operand = view->operands[0];
  out_results[0] =
      tspec_type_make(arena, tspec_rules_attr(view, "dtype")->dtype, operand.rank, operand.dims);
  return true;
}

/// Whether every number of the float dtype `from` is one of `to`.
static bool is_widening(tspec_dtype_t from, tspec_dtype_t to) {
  if (from == to || to == TSPEC_DTYPE_F64) {
    return tspec_dtype_is_float(from);
  }
  return to == TSPEC_DTYPE_F32 && (from == TSPEC_DTYPE_BF16 || from == TSPEC_DTYPE_F16);
}

// Rounding partial sums one by one would round more than once, so only an exact conversion lets
// them through, or one that says with `partial` that it is meant so (a plugin's).
static tspec_linear_t linear_convert(const tspec_op_view_t *view, tspec_reduce_t kind) {
  (void)kind;
  tspec_dtype_t from = view->operands[0].dtype;
  tspec_dtype_t to = tspec_rules_attr(view, "dtype")->dtype;
  bool rounds_each = tspec_op_attr_int(view, "partial", 0) != 0 && tspec_dtype_is_float(from) &&
                     tspec_dtype_is_float(to);
  return is_widening(from, to) || rounds_each ? TSPEC_LINEAR_EACH : TSPEC_LINEAR_NONE;
}

static tspec_linear_t linear_maximum(const tspec_op_view_t *view, tspec_reduce_t kind) {
  (void)view;
  return kind == TSPEC_REDUCE_MAX ? TSPEC_LINEAR_EACH : TSPEC_LINEAR_NONE;
}

static tspec_linear_t linear_minimum(const tspec_op_view_t *view, tspec_reduce_t kind) {
  (void)view;
  return kind == TSPEC_REDUCE_MIN ? TSPEC_LINEAR_EACH : TSPEC_LINEAR_NONE;
}

static const tspec_attr_spec_t convert_attrs[] = {
    {"dtype", TSPEC_ATTR_DTYPE, true, "of the result"},
    {"partial", TSPEC_ATTR_INT, false,
     "1: may round partial results one by one, float to float (only plugins ask for it)"},
    {0},
};
static const tspec_attr_spec_t sharding_attrs[] = {
    {"sharding", TSPEC_ATTR_SHARDING, true, "how the result lies"},
    {0},
};
static const tspec_attr_spec_t barrier_attrs[] = {
    {"sharding", TSPEC_ATTR_SHARDING, false, "how the result lies; absent: as its readers ask"},
    {0},
};
static const tspec_attr_spec_t same_sharding_attrs[] = {
    {"group", TSPEC_ATTR_INT, true, "all ops of one number, in all functions, are a group"},
    {0},
};

#define POINTWISE_ROW(id, infer_fn, linear_in, more_traits, text)                                  \
  const tspec_op_rules_t tspec_rules_##id = {                                                      \
      .summary = (text),                                                                           \
      .traits = TSPEC_TRAIT_ELEMENTWISE | (more_traits),                                           \
      .linear = (linear_in),                                                                       \
      .infer = (infer_fn),                                                                         \
      .rule = tspec_rules_pointwise,                                                               \
  }
#define POINTWISE(id, infer_fn, linear_in, text) POINTWISE_ROW(id, infer_fn, linear_in, 0, text)
/// A function of one operand that programs call by the op's name.
#define FUNCTION(id, infer_fn, text)                                                               \
  POINTWISE_ROW(id, infer_fn, TSPEC_LINEAR_NONE, TSPEC_TRAIT_FUNCTION, text)

FUNCTION(abs, infer_numbers, "magnitude");
POINTWISE(add, infer_numbers, TSPEC_LINEAR_EACH, "a + b");
POINTWISE(and, infer_bools, TSPEC_LINEAR_NONE, "logical and, of bools");
FUNCTION(ceil, infer_floats, "smallest whole number not below");
FUNCTION(cos, infer_floats, "cosine");
POINTWISE(div, infer_floats, TSPEC_LINEAR_FIRST, "a / b");
POINTWISE(eq, infer_compare, TSPEC_LINEAR_NONE, "a == b");
FUNCTION(erf, infer_floats, "error function");
FUNCTION(exp, infer_floats, "e to the power");
FUNCTION(expm1, infer_floats, "exp(x) - 1, precise near 0");
FUNCTION(floor, infer_floats, "largest whole number not above");
POINTWISE(floor_div, infer_numbers, TSPEC_LINEAR_NONE, "floor(a / b); of integers by 0: 0");
POINTWISE(ge, infer_compare, TSPEC_LINEAR_NONE, "a >= b");
POINTWISE(gt, infer_compare, TSPEC_LINEAR_NONE, "a > b");
FUNCTION(isfinite, infer_isfinite, "neither infinite nor NaN");
POINTWISE(le, infer_compare, TSPEC_LINEAR_NONE, "a <= b");
FUNCTION(log, infer_floats, "natural logarithm");
FUNCTION(log1p, infer_floats, "log(1 + x), precise near 0");
POINTWISE(lt, infer_compare, TSPEC_LINEAR_NONE, "a < b");
POINTWISE(mul, infer_numbers, TSPEC_LINEAR_ONE, "a * b");
POINTWISE(ne, infer_compare, TSPEC_LINEAR_NONE, "a != b");
POINTWISE(neg, infer_numbers, TSPEC_LINEAR_EACH, "-x");
POINTWISE(not, infer_bools, TSPEC_LINEAR_NONE, "logical not, of bools");
POINTWISE(or, infer_bools, TSPEC_LINEAR_NONE, "logical or, of bools");
POINTWISE(pow, infer_numbers, TSPEC_LINEAR_NONE,
          "a to the power b; integers wrap, with a negative exponent only +-1 is not 0");
FUNCTION(relu, infer_numbers, "max(x, 0), NaN of NaN");
POINTWISE(rem, infer_numbers, TSPEC_LINEAR_NONE, "a % b, with the sign of b; of integers by 0: a");
FUNCTION(round, infer_floats, "nearest whole number, half to even");
FUNCTION(rsqrt, infer_floats, "1 / sqrt(x)");
POINTWISE(select, infer_select, TSPEC_LINEAR_NONE, "a where the condition holds, else b");
FUNCTION(sigmoid, infer_floats, "1 / (1 + exp(-x))");
FUNCTION(sign, infer_numbers, "-1, 0 or 1; NaN of NaN");
FUNCTION(sin, infer_floats, "sine");
FUNCTION(sqrt, infer_floats, "square root");
POINTWISE(sub, infer_numbers, TSPEC_LINEAR_EACH, "a - b");
FUNCTION(tanh, infer_floats, "hyperbolic tangent");

const tspec_op_rules_t tspec_rules_maximum = {
    .summary = "the larger one, NaN if either is",
    .traits = TSPEC_TRAIT_ELEMENTWISE,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_numbers,
    .rule = tspec_rules_pointwise,
    .linear_over = linear_maximum,
};

const tspec_op_rules_t tspec_rules_minimum = {
    .summary = "the smaller one, NaN if either is",
    .traits = TSPEC_TRAIT_ELEMENTWISE,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_numbers,
    .rule = tspec_rules_pointwise,
    .linear_over = linear_minimum,
};

const tspec_op_rules_t tspec_rules_convert = {
    .summary = "the value in another dtype; floats to integers truncate and saturate, NaN gives 0; "
               "to bool: != 0",
    .attrs = convert_attrs,
    .traits = TSPEC_TRAIT_ELEMENTWISE,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_convert,
    .rule = tspec_rules_pointwise,
    .linear_over = linear_convert,
};

const tspec_op_rules_t tspec_rules_constraint = {
    .summary = "the value itself, which must lie as stated",
    .attrs = sharding_attrs,
    .traits = TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY,
    .linear = TSPEC_LINEAR_EACH,
    .infer = tspec_rules_infer_same,
    .rule = tspec_rules_pointwise,
    .linear_over = tspec_rules_moves_elements,
};

const tspec_op_rules_t tspec_rules_barrier = {
    .summary = "the value itself, complete; no sharding propagates from it to its result or back",
    .attrs = barrier_attrs,
    .traits = TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY | TSPEC_TRAIT_BARRIER,
    .linear = TSPEC_LINEAR_NONE,
    .infer = tspec_rules_infer_same,
    .rule = tspec_rules_pointwise,
};

const tspec_op_rules_t tspec_rules_same_sharding = {
    .summary = "the value itself; results of a group have one sharding, as have their operands "
               "where nothing else is said of them",
    .attrs = same_sharding_attrs,
    .traits = TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY | TSPEC_TRAIT_TERMINAL,
    .linear = TSPEC_LINEAR_EACH,
    .infer = tspec_rules_infer_same,
    .rule = tspec_rules_pointwise,
    .linear_over = tspec_rules_moves_elements,
};

const tspec_op_rules_t tspec_rules_reshard = {
    .summary = "the value itself, moved so that it lies as stated",
    .attrs = sharding_attrs,
    .traits = TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY,
    .linear = TSPEC_LINEAR_EACH,
    .infer = tspec_rules_infer_same,
    .rule = tspec_rules_pointwise,
    .linear_over = tspec_rules_moves_elements,
};
