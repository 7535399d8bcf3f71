// The elementary functions of the language, for its evaluator and for generated code: one text,
// compiled twice, so that both give the same bits. As an object (target tspec_math) they are
// ordinary functions; as bitcode (runtime/math/bitcode.h) they are inlined into kernels, where
// loops over them become vector code: they have no branches. An element's value therefore never
// depends on whether it stood in a vector or in the remainder, nor on where its block ends.
//
// Each function behaves as C99 annex F says: infinities, NaN, zeros with their sign, results that
// are too large or subnormal. They neither set errno nor need any rounding mode but the default,
// and may be called from any thread.
//
// The largest errors, in units in the last place of the exact result. f32: of all 2^32 arguments
// (pow: of some 10^6). f64: seen among some 10^6 of all sizes; tests/unit/runtime/math_test.c holds
// the bounds.
//
//         exp   expm1  log   log1p  tanh  sigmoid  sin   cos   erf   rsqrt  pow
//   f32   0.78  1.09   0.83  0.84   1.46  0.81     0.51  0.51  1.10  1.50   0.51
//   f64   0.73  1.05   0.60  0.60   1.39  0.79     0.68  0.66  0.94  1.47   0.75
#ifndef TSPEC_RUNTIME_MATH_MATH_H
#define TSPEC_RUNTIME_MATH_MATH_H

float tspec_exp_f32(float x);
double tspec_exp_f64(double x);

/// e^x - 1, exact in the limit of small x.
float tspec_expm1_f32(float x);
double tspec_expm1_f64(double x);

/// The natural logarithm; -infinity for zeros, NaN below.
float tspec_log_f32(float x);
double tspec_log_f64(double x);

/// log(1 + x), exact in the limit of small x.
float tspec_log1p_f32(float x);
double tspec_log1p_f64(double x);

float tspec_tanh_f32(float x);
double tspec_tanh_f64(double x);

/// 1 / (1 + e^-x), also where e^-x overflows: results down to the smallest subnormal.
float tspec_sigmoid_f32(float x);
double tspec_sigmoid_f64(double x);

/// For arguments of any size: these are reduced by as many bits of 2/pi as they need.
float tspec_sin_f32(float x);
double tspec_sin_f64(double x);
float tspec_cos_f32(float x);
double tspec_cos_f64(double x);

/// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
float tspec_erf_f32(float x);
double tspec_erf_f64(double x);

/// 1 / sqrt(x); infinity with its sign for zeros.
float tspec_rsqrt_f32(float x);
double tspec_rsqrt_f64(double x);

/// x^y with all of C99's special cases: x^0 = 1^y = 1 even for NaN; a negative x needs a whole y.
float tspec_pow_f32(float x, float y);
double tspec_pow_f64(double x, double y);

#endif
