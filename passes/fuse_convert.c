// Conversions between element types, and between their memory and register forms.
#include <math.h>
#include <string.h>

#include "passes/fuse.h"

/// The upper half of an f32 is a bf16. Round to nearest even by adding just below half of the last
/// place kept, plus its lowest bit; a NaN must not become an infinity.
static int bf16_bits(tspec_nest_t *nest, int x) {
  int bits = tspec_nest_let(nest, "arith.bitcast %%%d : f32 to i32", x);
  int sixteen = tspec_nest_let(nest, "arith.constant 16 : i32");
  int one = tspec_nest_let(nest, "arith.constant 1 : i32");
  int below = tspec_nest_let(nest, "arith.constant 32767 : i32");
  int quiet = tspec_nest_let(nest, "arith.constant 4194304 : i32");
  int upper = tspec_nest_let(nest, "arith.shrui %%%d, %%%d : i32", bits, sixteen);
  int lowest = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i32", upper, one);
  int bias = tspec_nest_let(nest, "arith.addi %%%d, %%%d : i32", lowest, below);
  int sum = tspec_nest_let(nest, "arith.addi %%%d, %%%d : i32", bits, bias);
  int nan = tspec_nest_let(nest, "arith.ori %%%d, %%%d : i32", bits, quiet);
  int is_nan = tspec_nest_let(nest, "arith.cmpf uno, %%%d, %%%d : f32", x, x);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", is_nan, nan, sum);
}

int tspec_register_round(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa) {
  if (dtype == TSPEC_DTYPE_BF16) {
    int bits = bf16_bits(nest, ssa);
    int mask = tspec_nest_let(nest, "arith.constant -65536 : i32");
    int kept = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i32", bits, mask);
    return tspec_nest_let(nest, "arith.bitcast %%%d : i32 to f32", kept);
  }
  if (dtype == TSPEC_DTYPE_F16) {
    int narrow = tspec_nest_let(nest, "arith.truncf %%%d : f32 to f16", ssa);
    return tspec_nest_let(nest, "arith.extf %%%d : f16 to f32", narrow);
  }
  return ssa;
}

int tspec_register_from_memory(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa) {
  if (dtype == TSPEC_DTYPE_BF16) {
    int wide = tspec_nest_let(nest, "arith.extui %%%d : i16 to i32", ssa);
    int sixteen = tspec_nest_let(nest, "arith.constant 16 : i32");
    int bits = tspec_nest_let(nest, "arith.shli %%%d, %%%d : i32", wide, sixteen);
    return tspec_nest_let(nest, "arith.bitcast %%%d : i32 to f32", bits);
  }
  if (dtype == TSPEC_DTYPE_F16) {
    return tspec_nest_let(nest, "arith.extf %%%d : f16 to f32", ssa);
  }
  if (dtype == TSPEC_DTYPE_BOOL) {
    int zero = tspec_nest_let(nest, "arith.constant 0 : i8");
    return tspec_nest_let(nest, "arith.cmpi ne, %%%d, %%%d : i8", ssa, zero);
  }
  return ssa;
}

int tspec_register_to_memory(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa) {
  if (dtype == TSPEC_DTYPE_BF16) {
    // Registers hold numbers that are rounded already.
    int bits = tspec_nest_let(nest, "arith.bitcast %%%d : f32 to i32", ssa);
    int sixteen = tspec_nest_let(nest, "arith.constant 16 : i32");
    int upper = tspec_nest_let(nest, "arith.shrui %%%d, %%%d : i32", bits, sixteen);
    return tspec_nest_let(nest, "arith.trunci %%%d : i32 to i16", upper);
  }
  if (dtype == TSPEC_DTYPE_F16) {
    return tspec_nest_let(nest, "arith.truncf %%%d : f32 to f16", ssa);
  }
  if (dtype == TSPEC_DTYPE_BOOL) {
    return tspec_nest_let(nest, "arith.extui %%%d : i1 to i8", ssa);
  }
  return ssa;
}

static int resize_int(tspec_nest_t *nest, int from_bits, bool is_unsigned, int to_bits, int ssa) {
  if (from_bits == to_bits) {
    return ssa;
  }
  const char *op = from_bits > to_bits ? "trunci" : is_unsigned ? "extui" : "extsi";
  return tspec_nest_let(nest, "arith.%s %%%d : i%d to i%d", op, ssa, from_bits, to_bits);
}

/// Truncates towards zero, saturates, NaN becomes 0. The integer conversion sees only numbers that
/// fit, since all others are undefined there.
static int float_to_int(tspec_nest_t *nest, tspec_dtype_t from, tspec_dtype_t to, int x) {
  const char *type = tspec_register_type(from);
  const char *wanted = tspec_register_type(to);
  const char *wide = to == TSPEC_DTYPE_I64 ? "i64" : "i32";
  double lo = tspec_dtype_min(to), hi = tspec_dtype_max(to);
  // The largest float that is not above the largest integer.
  double below = hi;
  if (to == TSPEC_DTYPE_I64 || (to == TSPEC_DTYPE_I32 && from != TSPEC_DTYPE_F64)) {
    double limit = to == TSPEC_DTYPE_I64 ? 0x1p63 : 0x1p31;
    below = from == TSPEC_DTYPE_F64 ? nextafter(limit, 0) : (double)nextafterf((float)limit, 0);
  }
  tspec_dtype_t number = from == TSPEC_DTYPE_F64 ? TSPEC_DTYPE_F64 : TSPEC_DTYPE_F32;
  int least = tspec_register_constant(nest, number, lo);
  int most = tspec_register_constant(nest, number, below);
  int above = tspec_nest_let(nest, "arith.cmpf ogt, %%%d, %%%d : %s", x, least, type);
  int raised = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", above, x, least, type);
  int over = tspec_nest_let(nest, "arith.cmpf ogt, %%%d, %%%d : %s", raised, most, type);
  int fitting =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", over, most, raised, type);
  int whole = tspec_nest_let(nest, "arith.fptosi %%%d : %s to %s", fitting, type, wide);
  int narrow =
      resize_int(nest, to == TSPEC_DTYPE_I64 ? 64 : 32, false, tspec_register_bits(to), whole);
  int largest = to == TSPEC_DTYPE_I64
                    ? tspec_nest_let(nest, "arith.constant 9223372036854775807 : i64")
                    : tspec_register_constant(nest, to, hi);
  int zero = tspec_register_constant(nest, to, 0);
  int full =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", over, largest, narrow, wanted);
  int is_nan = tspec_nest_let(nest, "arith.cmpf uno, %%%d, %%%d : %s", x, x, type);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", is_nan, zero, full, wanted);
}

/// A double as f32 rounded to odd: then rounding to a type with at least two bits less is the same
/// as rounding once. Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums".
static int f64_to_odd_f32(tspec_nest_t *nest, int x) {
  int near = tspec_nest_let(nest, "arith.truncf %%%d : f64 to f32", x);
  int back = tspec_nest_let(nest, "arith.extf %%%d : f32 to f64", near);
  int bits = tspec_nest_let(nest, "arith.bitcast %%%d : f32 to i32", near);
  int one = tspec_nest_let(nest, "arith.constant 1 : i32");
  int size = tspec_nest_let(nest, "math.absf %%%d : f64", x);
  int back_size = tspec_nest_let(nest, "math.absf %%%d : f64", back);
  int is_away = tspec_nest_let(nest, "arith.cmpf ogt, %%%d, %%%d : f64", back_size, size);
  int less = tspec_nest_let(nest, "arith.subi %%%d, %%%d : i32", bits, one);
  int towards_zero =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", is_away, less, bits);
  int odd = tspec_nest_let(nest, "arith.ori %%%d, %%%d : i32", towards_zero, one);
  int inexact = tspec_nest_let(nest, "arith.cmpf one, %%%d, %%%d : f64", back, x);
  int chosen = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", inexact, odd, bits);
  return tspec_nest_let(nest, "arith.bitcast %%%d : i32 to f32", chosen);
}

static int to_float(tspec_nest_t *nest, tspec_dtype_t from, tspec_dtype_t to, int x) {
  const char *type = tspec_register_type(from);
  const char *wanted = tspec_register_type(to);
  bool is_half = to == TSPEC_DTYPE_BF16 || to == TSPEC_DTYPE_F16;
  if (tspec_dtype_is_float(from)) {
    if (from == TSPEC_DTYPE_F64 && is_half) {
      return tspec_register_round(nest, to, f64_to_odd_f32(nest, x));
    }
    int moved = strcmp(type, wanted) == 0
                    ? x
                    : tspec_nest_let(nest, "arith.%s %%%d : %s to %s",
                                     to == TSPEC_DTYPE_F64 ? "extf" : "truncf", x, type, wanted);
    return from == to ? moved : tspec_register_round(nest, to, moved);
  }
  const char *op =
      from == TSPEC_DTYPE_U8 || from == TSPEC_DTYPE_BOOL ? "arith.uitofp" : "arith.sitofp";
  if (is_half && (from == TSPEC_DTYPE_I64 || from == TSPEC_DTYPE_I32)) {
    int wide = tspec_nest_let(nest, "%s %%%d : %s to f64", op, x, type);
    return tspec_register_round(nest, to, f64_to_odd_f32(nest, wide));
  }
  int number = tspec_nest_let(nest, "%s %%%d : %s to %s", op, x, type, wanted);
  return tspec_register_round(nest, to, number);
}

int tspec_register_convert(tspec_nest_t *nest, tspec_dtype_t from, tspec_dtype_t to, int ssa) {
  const char *type = tspec_register_type(from);
  if (from == to) {
    return ssa;
  }
  if (to == TSPEC_DTYPE_BOOL) {
    int zero = tspec_register_constant(nest, from, 0);
    const char *op = tspec_dtype_is_float(from) ? "arith.cmpf une" : "arith.cmpi ne";
    return tspec_nest_let(nest, "%s, %%%d, %%%d : %s", op, ssa, zero, type);
  }
  if (tspec_dtype_is_float(to)) {
    return to_float(nest, from, to, ssa);
  }
  if (tspec_dtype_is_float(from)) {
    return float_to_int(nest, from, to, ssa);
  }
  bool is_unsigned = from == TSPEC_DTYPE_U8 || from == TSPEC_DTYPE_BOOL;
  return resize_int(nest, tspec_register_bits(from), is_unsigned, tspec_register_bits(to), ssa);
}

int tspec_register_from_index(tspec_nest_t *nest, tspec_dtype_t dtype, int ssa) {
  int wide = tspec_nest_let(nest, "arith.index_cast %%%d : index to i64", ssa);
  return tspec_register_convert(nest, TSPEC_DTYPE_I64, dtype, wide);
}

/// The bits of a number that is an f16 exactly.
static uint64_t half_bits(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint64_t sign = bits >> 16 & 0x8000;
  int exponent = (int)(bits >> 23 & 0xff) - 127;
  uint32_t fraction = bits & 0x7fffff;
  if (exponent == 128) {
    return sign | 0x7c00 | (fraction >> 13);
  }
  if (exponent < -24) {
    return sign; // zero
  }
  if (exponent < -14) {
    return sign | (fraction | 0x800000) >> (-exponent - 1);
  }
  return sign | (uint64_t)(exponent + 15) << 10 | fraction >> 13;
}

uint64_t tspec_table_bits(tspec_dtype_t dtype, double number) {
  if (!tspec_dtype_is_float(dtype)) {
    return number >= 0x1p63 ? (uint64_t)INT64_MAX : (uint64_t)(int64_t)number;
  }
  double rounded = tspec_dtype_round(dtype, number);
  if (dtype == TSPEC_DTYPE_F64) {
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
  }
  float narrow = (float)rounded;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  if (dtype == TSPEC_DTYPE_BF16) {
    return bits >> 16;
  }
  return dtype == TSPEC_DTYPE_F16 ? half_bits(narrow) : bits;
}
