#include "runtime/dtype.h"

#include <math.h>

typedef struct dtype_info_t {
  const char *name;
  const char *safetensors;
  int64_t bytes;
  bool is_float;
} dtype_info_t;

static const dtype_info_t dtypes[TSPEC_RT_DTYPE_COUNT] = {
#define DTYPE_ROW(id, name, bytes, is_float, safetensors)                                          \
  [TSPEC_RT_##id] = {name, safetensors, bytes, is_float},
    TSPEC_RT_DTYPES(DTYPE_ROW)
#undef DTYPE_ROW
};

const char *tspec_rt_dtype_name(tspec_rt_dtype_t dtype) {
  return dtypes[dtype].name;
}

const char *tspec_rt_dtype_safetensors(tspec_rt_dtype_t dtype) {
  return dtypes[dtype].safetensors;
}

int64_t tspec_rt_dtype_bytes(tspec_rt_dtype_t dtype) {
  return dtypes[dtype].bytes;
}

bool tspec_rt_dtype_is_float(tspec_rt_dtype_t dtype) {
  return dtypes[dtype].is_float;
}

const char *tspec_rt_reduce_name(tspec_rt_reduce_t reduce) {
  static const char *const names[TSPEC_RT_REDUCE_COUNT] = {"sum",  "max", "min",
                                                           "prod", "all", "any"};
  return (unsigned)reduce < TSPEC_RT_REDUCE_COUNT ? names[reduce] : "?";
}

bool tspec_rt_reduce_fits(tspec_rt_reduce_t reduce, tspec_rt_dtype_t dtype) {
  bool logical = reduce == TSPEC_RT_ALL || reduce == TSPEC_RT_ANY;
  bool ordered = reduce == TSPEC_RT_MAX || reduce == TSPEC_RT_MIN;
  return dtype == TSPEC_RT_BOOL ? logical || ordered : !logical;
}

static uint32_t bits_of(float number) {
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

float tspec_rt_f32_from_bf16(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

uint16_t tspec_rt_bf16_from_f32(float number) {
  uint32_t bits = bits_of(number);
  if (isnan(number)) {
    return (uint16_t)((bits >> 16) |
                      0x40u); // stays a NaN when the low half held all of its payload
  }
  uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return (uint16_t)(rounded >> 16);
}

float tspec_rt_f32_from_f16(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1fu) {
    return float_of(sign | 0x7f800000u | (fraction << 13));
  }
  if (exponent == 0) { // zero or subnormal: the fraction counts units of 2^-24
    float magnitude = (float)fraction * 0x1p-24f;
    return float_of(sign | bits_of(magnitude));
  }
  return float_of(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

uint16_t tspec_rt_f16_from_f32(float number) {
  uint32_t bits = bits_of(number);
  uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) { // from 65520 on the nearest is infinity
    return (uint16_t)(sign | 0x7c00u);
  }
  if (magnitude < 0x38800000u) { // below 2^-14: adding 0.5 leaves units of 2^-24 in the low bits
    uint32_t rounded = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    return (uint16_t)(sign | rounded);
  }
  uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
  return (uint16_t)(sign | (rounded >> 13));
}

// Rounded to odd, a float keeps what a second rounding to a narrower type must know of the double
// (Boldo and Melquiond, "When double rounding is odd").
static float round_to_odd(double number) {
  float nearest = (float)number;
  if (isnan(number) || isinf(number) || (double)nearest == number) {
    return nearest;
  }
  uint32_t bits = bits_of(nearest);
  if (fabs((double)nearest) > fabs(number)) {
    bits -= 1;
  }
  return float_of(bits | 1u);
}

// Truncated and cut to [low, high]; both are exact as doubles, or `high` is 2^63 - 1, above every
// double that is cast.
static int64_t saturate(double number, int64_t low, int64_t high) {
  if (isnan(number)) {
    return 0;
  }
  if (number <= (double)low) {
    return low;
  }
  return number >= (double)high ? high : (int64_t)number;
}

void tspec_rt_dtype_store(tspec_rt_dtype_t dtype, double number, void *out) {
#define STORE(type, value)                                                                         \
  do {                                                                                             \
    type stored_ = (value);                                                                        \
    memcpy(out, &stored_, sizeof stored_);                                                         \
  } while (0)
  switch (dtype) {
  case TSPEC_RT_F64:
    STORE(double, number);
    break;
  case TSPEC_RT_F32:
    STORE(float, (float)number);
    break;
  case TSPEC_RT_BF16:
    STORE(uint16_t, tspec_rt_bf16_from_f32(round_to_odd(number)));
    break;
  case TSPEC_RT_F16:
    STORE(uint16_t, tspec_rt_f16_from_f32(round_to_odd(number)));
    break;
  case TSPEC_RT_I64:
    STORE(int64_t, (int64_t)saturate(number, INT64_MIN, INT64_MAX));
    break;
  case TSPEC_RT_I32:
    STORE(int32_t, (int32_t)saturate(number, INT32_MIN, INT32_MAX));
    break;
  case TSPEC_RT_I16:
    STORE(int16_t, (int16_t)saturate(number, INT16_MIN, INT16_MAX));
    break;
  case TSPEC_RT_I8:
    STORE(int8_t, (int8_t)saturate(number, INT8_MIN, INT8_MAX));
    break;
  case TSPEC_RT_U8:
    STORE(uint8_t, (uint8_t)saturate(number, 0, UINT8_MAX));
    break;
  case TSPEC_RT_BOOL:
  case TSPEC_RT_DTYPE_COUNT:
    STORE(uint8_t, number != 0);
    break;
  }
#undef STORE
}

void tspec_rt_dtype_fill(tspec_rt_dtype_t dtype, double number, int64_t elems, void *out) {
  if (elems == 0) {
    return;
  }
  int64_t bytes = tspec_rt_dtype_bytes(dtype);
  int64_t total = bytes * elems;
  tspec_rt_dtype_store(dtype, number, out);
  for (int64_t done = bytes; done < total; done *= 2) {
    memcpy((char *)out + done, out, (size_t)(done < total - done ? done : total - done));
  }
}

double tspec_rt_dtype_load(tspec_rt_dtype_t dtype, const void *from) {
  union {
    double f64;
    float f32;
    uint16_t half;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    int8_t i8;
    uint8_t u8;
  } element = {0};
  memcpy(&element, from, (size_t)tspec_rt_dtype_bytes(dtype));
  switch (dtype) {
  case TSPEC_RT_F64:
    return element.f64;
  case TSPEC_RT_F32:
    return (double)element.f32;
  case TSPEC_RT_BF16:
    return (double)tspec_rt_f32_from_bf16(element.half);
  case TSPEC_RT_F16:
    return (double)tspec_rt_f32_from_f16(element.half);
  case TSPEC_RT_I64:
    return (double)element.i64;
  case TSPEC_RT_I32:
    return element.i32;
  case TSPEC_RT_I16:
    return element.i16;
  case TSPEC_RT_I8:
    return element.i8;
  case TSPEC_RT_U8:
  case TSPEC_RT_BOOL:
  case TSPEC_RT_DTYPE_COUNT:
    break;
  }
  return element.u8;
}
