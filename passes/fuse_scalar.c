// Elementwise ops on single elements, per dtype, as text of arith and math ops.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "passes/fuse.h"

const char *tspec_register_type(tspec_dtype_t dtype) {
  switch (dtype) {
  case TSPEC_DTYPE_F64:
    return "f64";
  case TSPEC_DTYPE_F32:
  case TSPEC_DTYPE_BF16:
  case TSPEC_DTYPE_F16:
    return "f32";
  case TSPEC_DTYPE_I64:
    return "i64";
  case TSPEC_DTYPE_I32:
    return "i32";
  case TSPEC_DTYPE_I16:
    return "i16";
  case TSPEC_DTYPE_I8:
  case TSPEC_DTYPE_U8:
    return "i8";
  case TSPEC_DTYPE_BOOL:
    return "i1";
  case TSPEC_DTYPE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "no dtype %d", (int)dtype);
  return NULL;
}

const char *tspec_memory_type(tspec_dtype_t dtype) {
  return dtype == TSPEC_DTYPE_BF16   ? "i16"
         : dtype == TSPEC_DTYPE_F16  ? "f16"
         : dtype == TSPEC_DTYPE_BOOL ? "i8"
                                     : tspec_register_type(dtype);
}

int tspec_register_bits(tspec_dtype_t dtype) {
  if (dtype == TSPEC_DTYPE_BOOL) {
    return 1;
  }
  // Half precision is computed in f32.
  bool is_half = dtype == TSPEC_DTYPE_BF16 || dtype == TSPEC_DTYPE_F16;
  return 8 * (is_half ? 4 : tspec_dtype_bytes(dtype));
}

// The constant's text must name exactly one value: floats as their bits.
int tspec_register_constant(tspec_nest_t *nest, tspec_dtype_t dtype, double number) {
  const char *type = tspec_register_type(dtype);
  if (dtype == TSPEC_DTYPE_BOOL) {
    return tspec_nest_let(nest, "arith.constant %s", number != 0 ? "true" : "false");
  }
  if (!tspec_dtype_is_float(dtype)) {
    // Above 2^63 - 1 there is no int64_t; the largest double below it is not the largest i64.
    int64_t whole = number >= 0x1p63 ? INT64_MAX : (int64_t)number;
    if (dtype == TSPEC_DTYPE_U8 && whole > INT8_MAX) {
      whole -= UINT8_MAX + 1; // the same bits as a signed number
    }
    return tspec_nest_let(nest, "arith.constant %" PRId64 " : %s", whole, type);
  }
  double rounded = tspec_dtype_round(dtype, number);
  if (dtype == TSPEC_DTYPE_F64) {
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return tspec_nest_let(nest, "arith.constant 0x%016" PRIX64 " : f64", bits);
  }
  float narrow = (float)rounded;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return tspec_nest_let(nest, "arith.constant 0x%08" PRIX32 " : f32", bits);
}

typedef struct binary_row_t {
  tspec_op_kind_t kind;
  const char *on_floats;
  const char *on_signed;
  const char *on_unsigned;
  const char *on_bools;
} binary_row_t;

static const binary_row_t binary_rows[] = {
    {TSPEC_OP_add, "arith.addf", "arith.addi", "arith.addi", NULL},
    {TSPEC_OP_sub, "arith.subf", "arith.subi", "arith.subi", NULL},
    {TSPEC_OP_mul, "arith.mulf", "arith.muli", "arith.muli", NULL},
    {TSPEC_OP_div, "arith.divf", NULL, NULL, NULL},
    {TSPEC_OP_maximum, "arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"},
    {TSPEC_OP_minimum, "arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"},
    {TSPEC_OP_and, NULL, NULL, NULL, "arith.andi"},
    {TSPEC_OP_or, NULL, NULL, NULL, "arith.ori"},
    {TSPEC_OP_eq, "arith.cmpf oeq,", "arith.cmpi eq,", "arith.cmpi eq,", "arith.cmpi eq,"},
    {TSPEC_OP_ne, "arith.cmpf une,", "arith.cmpi ne,", "arith.cmpi ne,", "arith.cmpi ne,"},
    {TSPEC_OP_lt, "arith.cmpf olt,", "arith.cmpi slt,", "arith.cmpi ult,", "arith.cmpi ult,"},
    {TSPEC_OP_le, "arith.cmpf ole,", "arith.cmpi sle,", "arith.cmpi ule,", "arith.cmpi ule,"},
    {TSPEC_OP_gt, "arith.cmpf ogt,", "arith.cmpi sgt,", "arith.cmpi ugt,", "arith.cmpi ugt,"},
    {TSPEC_OP_ge, "arith.cmpf oge,", "arith.cmpi sge,", "arith.cmpi uge,", "arith.cmpi uge,"},
};

static const char *binary_name(tspec_op_kind_t kind, tspec_dtype_t dtype) {
  for (size_t i = 0; i < sizeof binary_rows / sizeof *binary_rows; i++) {
    const binary_row_t *row = &binary_rows[i];
    if (row->kind == kind) {
      return tspec_dtype_is_float(dtype) ? row->on_floats
             : dtype == TSPEC_DTYPE_BOOL ? row->on_bools
             : dtype == TSPEC_DTYPE_U8   ? row->on_unsigned
                                         : row->on_signed;
    }
  }
  return NULL;
}

typedef struct unary_row_t {
  tspec_op_kind_t kind;
  bool is_call;     ///< of an elementary function in runtime/math
  const char *name; ///< of it, or of the op
} unary_row_t;

static const unary_row_t float_rows[] = {
    {TSPEC_OP_abs, false, "math.absf"},  {TSPEC_OP_neg, false, "arith.negf"},
    {TSPEC_OP_sqrt, false, "math.sqrt"}, {TSPEC_OP_floor, false, "math.floor"},
    {TSPEC_OP_ceil, false, "math.ceil"}, {TSPEC_OP_round, false, "math.roundeven"},
    {TSPEC_OP_exp, true, "exp"},         {TSPEC_OP_expm1, true, "expm1"},
    {TSPEC_OP_log, true, "log"},         {TSPEC_OP_log1p, true, "log1p"},
    {TSPEC_OP_sin, true, "sin"},         {TSPEC_OP_cos, true, "cos"},
    {TSPEC_OP_tanh, true, "tanh"},       {TSPEC_OP_erf, true, "erf"},
    {TSPEC_OP_sigmoid, true, "sigmoid"}, {TSPEC_OP_rsqrt, true, "rsqrt"},
};

static int emit_sign(tspec_nest_t *nest, tspec_dtype_t dtype, int x) {
  const char *type = tspec_register_type(dtype);
  int zero = tspec_register_constant(nest, dtype, 0);
  int one = tspec_register_constant(nest, dtype, 1);
  int minus = tspec_register_constant(nest, dtype, dtype == TSPEC_DTYPE_U8 ? 1 : -1);
  if (tspec_dtype_is_float(dtype)) {
    int positive = tspec_nest_let(nest, "arith.cmpf ogt, %%%d, %%%d : %s", x, zero, type);
    int negative = tspec_nest_let(nest, "arith.cmpf olt, %%%d, %%%d : %s", x, zero, type);
    // Zeros keep their sign and NaN stays.
    int rest = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", negative, minus, x, type);
    return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", positive, one, rest, type);
  }
  const char *greater = dtype == TSPEC_DTYPE_U8 ? "ugt" : "sgt";
  int positive = tspec_nest_let(nest, "arith.cmpi %s, %%%d, %%%d : %s", greater, x, zero, type);
  int is_zero = tspec_nest_let(nest, "arith.cmpi eq, %%%d, %%%d : %s", x, zero, type);
  int rest = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", is_zero, zero, minus, type);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", positive, one, rest, type);
}

static int emit_unary_int(tspec_nest_t *nest, tspec_op_kind_t kind, tspec_dtype_t dtype, int x) {
  const char *type = tspec_register_type(dtype);
  if (kind == TSPEC_OP_not) {
    int yes = tspec_register_constant(nest, TSPEC_DTYPE_BOOL, 1);
    return tspec_nest_let(nest, "arith.xori %%%d, %%%d : i1", x, yes);
  }
  if (kind == TSPEC_OP_isfinite) {
    return tspec_register_constant(nest, TSPEC_DTYPE_BOOL, 1);
  }
  int zero = tspec_register_constant(nest, dtype, 0);
  if (kind == TSPEC_OP_neg) {
    return tspec_nest_let(nest, "arith.subi %%%d, %%%d : %s", zero, x, type);
  }
  TSPEC_CHECK(kind == TSPEC_OP_abs || kind == TSPEC_OP_relu, "no integer op '%s'",
              tspec_op_info(kind)->name);
  if (dtype == TSPEC_DTYPE_U8) {
    return x;
  }
  int other = kind == TSPEC_OP_relu
                  ? zero
                  : tspec_nest_let(nest, "arith.subi %%%d, %%%d : %s", zero, x, type);
  return tspec_nest_let(nest, "arith.maxsi %%%d, %%%d : %s", x, other, type);
}

static int emit_unary_float(tspec_nest_t *nest, tspec_op_kind_t kind, tspec_dtype_t dtype, int x) {
  const char *type = tspec_register_type(dtype);
  for (size_t i = 0; i < sizeof float_rows / sizeof *float_rows; i++) {
    if (float_rows[i].kind == kind && float_rows[i].is_call) {
      return tspec_nest_let(nest, "func.call @tspec_%s_%s(%%%d) : (%s) -> %s", float_rows[i].name,
                            type, x, type, type);
    }
    if (float_rows[i].kind == kind) {
      return tspec_nest_let(nest, "%s %%%d : %s", float_rows[i].name, x, type);
    }
  }
  if (kind == TSPEC_OP_relu) {
    int zero = tspec_register_constant(nest, dtype, 0);
    // One instruction for max(0, x) that lets NaN and -0 pass, and one that turns -0 into 0:
    // maximumf takes three.
    int below = tspec_nest_let(nest, "arith.cmpf ogt, %%%d, %%%d : %s", zero, x, type);
    int rest = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", below, zero, x, type);
    return tspec_nest_let(nest, "arith.addf %%%d, %%%d : %s", rest, zero, type);
  }
  TSPEC_CHECK(kind == TSPEC_OP_isfinite, "no float op '%s'", tspec_op_info(kind)->name);
  int size = tspec_nest_let(nest, "math.absf %%%d : %s", x, type);
  int infinity = tspec_register_constant(nest, dtype, (double)INFINITY);
  return tspec_nest_let(nest, "arith.cmpf olt, %%%d, %%%d : %s", size, infinity, type);
}

/// Floor division and its remainder on integers: b = 0 gives 0 and a; the smallest integer by -1
/// wraps.
static int emit_int_division(tspec_nest_t *nest, bool want_rem, tspec_dtype_t dtype, int a, int b) {
  const char *type = tspec_register_type(dtype);
  bool is_unsigned = dtype == TSPEC_DTYPE_U8;
  int zero = tspec_register_constant(nest, dtype, 0);
  int one = tspec_register_constant(nest, dtype, 1);
  int by_zero = tspec_nest_let(nest, "arith.cmpi eq, %%%d, %%%d : %s", b, zero, type);
  int unsafe = by_zero;
  int by_minus = -1;
  if (!is_unsigned) {
    int minus = tspec_register_constant(nest, dtype, -1);
    by_minus = tspec_nest_let(nest, "arith.cmpi eq, %%%d, %%%d : %s", b, minus, type);
    unsafe = tspec_nest_let(nest, "arith.ori %%%d, %%%d : i1", by_zero, by_minus);
  }
  int safe = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", unsafe, one, b, type);
  const char *sign = is_unsigned ? "ui" : "si";
  int q = tspec_nest_let(nest, "arith.div%s %%%d, %%%d : %s", sign, a, safe, type);
  int product = tspec_nest_let(nest, "arith.muli %%%d, %%%d : %s", q, safe, type);
  int r = tspec_nest_let(nest, "arith.subi %%%d, %%%d : %s", a, product, type);
  if (!is_unsigned) {
    int some = tspec_nest_let(nest, "arith.cmpi ne, %%%d, %%%d : %s", r, zero, type);
    int mixed = tspec_nest_let(nest, "arith.xori %%%d, %%%d : %s", r, safe, type);
    int differ = tspec_nest_let(nest, "arith.cmpi slt, %%%d, %%%d : %s", mixed, zero, type);
    int fix = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", some, differ);
    int q1 = tspec_nest_let(nest, "arith.subi %%%d, %%%d : %s", q, one, type);
    int r1 = tspec_nest_let(nest, "arith.addi %%%d, %%%d : %s", r, safe, type);
    int negated = tspec_nest_let(nest, "arith.subi %%%d, %%%d : %s", zero, a, type);
    q = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", fix, q1, q, type);
    r = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", fix, r1, r, type);
    q = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", by_minus, negated, q, type);
  }
  // With the divisor replaced by 1 the remainder is 0, right for -1 already.
  return want_rem
             ? tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", by_zero, a, r, type)
             : tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", by_zero, zero, q, type);
}

static int emit_division(tspec_nest_t *nest, bool want_rem, tspec_dtype_t dtype, int a, int b) {
  if (!tspec_dtype_is_float(dtype)) {
    return emit_int_division(nest, want_rem, dtype, a, b);
  }
  const char *type = tspec_register_type(dtype);
  if (!want_rem) {
    int quotient = tspec_nest_let(nest, "arith.divf %%%d, %%%d : %s", a, b, type);
    return tspec_nest_let(nest, "math.floor %%%d : %s", quotient, type);
  }
  int zero = tspec_register_constant(nest, dtype, 0);
  int r = tspec_nest_let(nest, "arith.remf %%%d, %%%d : %s", a, b, type);
  int some = tspec_nest_let(nest, "arith.cmpf une, %%%d, %%%d : %s", r, zero, type);
  int low = tspec_nest_let(nest, "arith.cmpf olt, %%%d, %%%d : %s", r, zero, type);
  int below = tspec_nest_let(nest, "arith.cmpf olt, %%%d, %%%d : %s", b, zero, type);
  int differ = tspec_nest_let(nest, "arith.xori %%%d, %%%d : i1", low, below);
  int fix = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", some, differ);
  int moved = tspec_nest_let(nest, "arith.addf %%%d, %%%d : %s", r, b, type);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", fix, moved, r, type);
}

/// Exponentiation by squaring; a negative exponent gives 0, but 1 for base 1 and +-1 for base -1.
static int emit_int_pow(tspec_nest_t *nest, tspec_dtype_t dtype, int base, int exponent) {
  const char *type = tspec_register_type(dtype);
  int zero = tspec_register_constant(nest, dtype, 0);
  int one = tspec_register_constant(nest, dtype, 1);
  int lo = tspec_nest_index(nest, 0);
  int hi = tspec_nest_index(nest, tspec_register_bits(dtype));
  int step = tspec_nest_index(nest, 1);
  int id = nest->nssa;
  nest->nssa += 4; // two accumulators, the base and the exponent as the loop carries them
  tspec_nest_line(nest,
                  "%%%d:3 = scf.for %%j%d = %%%d to %%%d step %%%d iter_args(%%%d = %%%d, %%%d = "
                  "%%%d, %%%d = %%%d) -> (%s, %s, %s) {",
                  id, id, lo, hi, step, id + 1, one, id + 2, base, id + 3, exponent, type, type,
                  type);
  int bit = tspec_nest_let(nest, "arith.andi %%%d, %%%d : %s", id + 3, one, type);
  int odd = tspec_nest_let(nest, "arith.cmpi ne, %%%d, %%%d : %s", bit, zero, type);
  int times = tspec_nest_let(nest, "arith.muli %%%d, %%%d : %s", id + 1, id + 2, type);
  int next = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", odd, times, id + 1, type);
  int square = tspec_nest_let(nest, "arith.muli %%%d, %%%d : %s", id + 2, id + 2, type);
  int half = tspec_nest_let(nest, "arith.shrui %%%d, %%%d : %s", id + 3, one, type);
  tspec_nest_line(nest, "scf.yield %%%d, %%%d, %%%d : %s, %s, %s", next, square, half, type, type,
                  type);
  tspec_nest_line(nest, "}");
  int result = tspec_nest_let(nest, "arith.addi %%%d#0, %%%d : %s", id, zero, type);
  if (dtype == TSPEC_DTYPE_U8) {
    return result;
  }
  int minus = tspec_register_constant(nest, dtype, -1);
  int negative = tspec_nest_let(nest, "arith.cmpi slt, %%%d, %%%d : %s", exponent, zero, type);
  int is_one = tspec_nest_let(nest, "arith.cmpi eq, %%%d, %%%d : %s", base, one, type);
  int is_minus = tspec_nest_let(nest, "arith.cmpi eq, %%%d, %%%d : %s", base, minus, type);
  // For base -1 the loop's result is right for any exponent, the lowest bit alone counts.
  int other = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", is_one, one, zero, type);
  int inverse =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", is_minus, result, other, type);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", negative, inverse, result,
                        type);
}

static int emit_unrounded(tspec_nest_t *nest, const tspec_op_t *op, const int *args) {
  tspec_dtype_t dtype = op->operands[0]->type.dtype;
  const char *type = tspec_register_type(dtype);
  const char *binary = binary_name(op->kind, dtype);
  if (binary != NULL) {
    return tspec_nest_let(nest, "%s %%%d, %%%d : %s", binary, args[0], args[1], type);
  }
  if (op->kind == TSPEC_OP_sign) {
    return emit_sign(nest, dtype, args[0]);
  }
  if (op->kind == TSPEC_OP_rem || op->kind == TSPEC_OP_floor_div) {
    return emit_division(nest, op->kind == TSPEC_OP_rem, dtype, args[0], args[1]);
  }
  if (op->kind == TSPEC_OP_pow && !tspec_dtype_is_float(dtype)) {
    return emit_int_pow(nest, dtype, args[0], args[1]);
  }
  if (op->kind == TSPEC_OP_pow) {
    return tspec_nest_let(nest, "func.call @tspec_pow_%s(%%%d, %%%d) : (%s, %s) -> %s", type,
                          args[0], args[1], type, type, type);
  }
  if (op->kind == TSPEC_OP_round || op->kind == TSPEC_OP_floor || op->kind == TSPEC_OP_ceil) {
    if (!tspec_dtype_is_float(dtype)) {
      return args[0];
    }
  }
  return tspec_dtype_is_float(dtype) ? emit_unary_float(nest, op->kind, dtype, args[0])
                                     : emit_unary_int(nest, op->kind, dtype, args[0]);
}

int tspec_register_op(tspec_nest_t *nest, const tspec_op_t *op, const int *args) {
  tspec_dtype_t result = op->results[0]->type.dtype;
  if (op->kind == TSPEC_OP_convert) {
    return tspec_register_convert(nest, op->operands[0]->type.dtype, result, args[0]);
  }
  if (op->kind == TSPEC_OP_select) {
    return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", args[0], args[1], args[2],
                          tspec_register_type(result));
  }
  return tspec_register_round(nest, result, emit_unrounded(nest, op, args));
}
