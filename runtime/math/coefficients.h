// Constants of runtime/math. Written by tools/fit_math.py; change that, not this.
// Errors are relative to the result unless a line says otherwise.
#ifndef TSPEC_RUNTIME_MATH_COEFFICIENTS_H
#define TSPEC_RUNTIME_MATH_COEFFICIENTS_H

// clang-format off
#define LN2_F32_0 0x1.62e4300000000p-1f
#define LN2_F32_1 -0x1.05c6100000000p-29f
#define LOG2E_F32_0 0x1.7154760000000p+0f
#define LN2_F64_0 0x1.62e42fefa39efp-1
#define LN2_F64_1 0x1.abc9e3b39803fp-56
#define LOG2E_F64_0 0x1.71547652b82fep+0
// ln 2 again, the first piece short enough that its product with an exponent is exact.
#define LN2_SHORT_F32_0 0x1.62e4000000000p-1f
#define LN2_SHORT_F32_1 0x1.7f7d1c0000000p-20f
#define LN2_SHORT_F64_0 0x1.62e42fefa3800p-1
#define LN2_SHORT_F64_1 0x1.ef35793c76730p-45
#define HALF_PI_0 0x1.921fb54442d18p+0
#define HALF_PI_1 0x1.1a62633145c07p-54
// 2 / ln 2 over 1, 3 and 5: the first coefficients of log2 in s.
#define LOG2_COEFFICIENT_1_0 0x1.71547652b82fep+1
#define LOG2_COEFFICIENT_1_1 0x1.777d0ffda0d24p-55
#define LOG2_COEFFICIENT_3_0 0x1.ec709dc3a03fdp-1
#define LOG2_COEFFICIENT_3_1 0x1.d27f05548af0cp-55
#define LOG2_COEFFICIENT_5_0 0x1.2776c50ef9bfep-1
#define LOG2_COEFFICIENT_5_1 0x1.e4b29ccc535d4p-55

// exp(r) = 1 + r + r^2 p(r), |r| <= ln(2) / 2: 2^-28.2
static const float exp_f32_poly[] = {
    0x1.fffffc0000000p-2f,
    0x1.55548c0000000p-3f,
    0x1.5558580000000p-5f,
    0x1.123dee0000000p-7f,
    0x1.6ac88c0000000p-10f,
};

// exp(r) = 1 + r + r^2 p(r), |r| <= ln(2) / 2: 2^-61.5
static const double exp_f64_poly[] = {
    0x1.0000000000000p-1,
    0x1.555555555555dp-3,
    0x1.555555555556cp-5,
    0x1.111111110e54bp-7,
    0x1.6c16c16c0a435p-10,
    0x1.a01a01b5f387bp-13,
    0x1.a01a01e898e7dp-16,
    0x1.71ddeaafdec99p-19,
    0x1.27e44aba48df1p-22,
    0x1.af74670e40f1fp-26,
    0x1.2052e45314657p-29,
};

// 2^r = p(r), |r| <= 1/2, for a result in f32: 2^-32.3
static const double exp2_poly[] = {
    0x1.ffffffffabbb3p-1,
    0x1.62e42ffc9a5d9p-1,
    0x1.ebfbe0a6641bap-3,
    0x1.c6b086555a6fcp-5,
    0x1.3b29c2091a431p-7,
    0x1.5d850b68e05bap-10,
    0x1.4487b98e49884p-13,
    0x1.05a4e6ff45171p-16,
};

// log(1 + f) = f - f^2 / 2 + f^3 p(f), 1 + f in [sqrt(1/2), sqrt(2)]: 2^-29.3
static const float log_f32_poly[] = {
    0x1.5555480000000p-2f,
    -0x1.0000700000000p-2f,
    0x1.99a5400000000p-3f,
    -0x1.552f180000000p-3f,
    0x1.23036c0000000p-3f,
    -0x1.0103d80000000p-3f,
    0x1.eff0840000000p-4f,
    -0x1.bf2a8e0000000p-4f,
    0x1.b5adec0000000p-5f,
};

// log(1 + f) = 2 s + s z p(z), s = f / (2 + f), z = s^2: 2^-59.5
static const double log_f64_poly[] = {
    0x1.5555555555592p-1,
    0x1.999999997ff03p-2,
    0x1.24924941e3622p-2,
    0x1.c71c52121e6bcp-3,
    0x1.74663d7867d15p-3,
    0x1.39a1d8b21edc9p-3,
    0x1.2f046f2069b22p-3,
};

// log2(1 + f) = s p(z) as above, for a result in f32: 2^-45.1
static const double log2_poly[] = {
    0x1.71547652b8250p+1,
    0x1.ec709dc53e276p-1,
    0x1.2776c29155080p-1,
    0x1.a61a304253bf2p-2,
    0x1.47951afb8e69ep-2,
    0x1.21b42d314aa95p-2,
};

// the terms of log2(1 + f) / s from z^3 on, over z^3: 2^-72.9
static const double log2_tail_poly[] = {
    0x1.a61762a7ae382p-2,
    0x1.484b13d733f55p-2,
    0x1.0c9a85023e3a0p-2,
    0x1.c68f0449754afp-3,
    0x1.8a06123660badp-3,
    0x1.59403a85157ecp-3,
    0x1.5fed0e396a0dbp-3,
};

// tanh(x) = x + x^3 p(x^2), |x| <= 0.5625: 2^-29.4
static const float tanh_f32_poly[] = {
    -0x1.5555480000000p-2f,
    0x1.110c5a0000000p-3f,
    -0x1.b904900000000p-5f,
    0x1.58045e0000000p-6f,
    -0x1.93f7220000000p-8f,
};

// tanh(x) = x + x^3 p(x^2), |x| <= 0.5625: 2^-59.9
static const double tanh_f64_poly[] = {
    -0x1.555555555554cp-2,
    0x1.111111111036cp-3,
    -0x1.ba1ba1b93ebf6p-5,
    0x1.664f484b15740p-6,
    -0x1.226e2d35a7710p-7,
    0x1.d6d24ee8b61b8p-9,
    -0x1.7d8bec0dfd0e8p-10,
    0x1.346337a2d3ebcp-11,
    -0x1.e82273e2b4627p-13,
    0x1.59b1bfa65109bp-14,
    -0x1.3db92eca05a7cp-16,
};

// erf(x) = x + x p(x^2), |x| <= 0.921875: 2^-29.9
static const float erf_f32_poly[] = {
    0x1.06eba80000000p-3f,
    -0x1.8127400000000p-2f,
    0x1.ce2d600000000p-4f,
    -0x1.b8007e0000000p-6f,
    0x1.54423e0000000p-8f,
    -0x1.a5b7c40000000p-11f,
    0x1.4e382a0000000p-14f,
};

// log(1 - erf(x)) = p(x), x in [0.921875, 4]; the error is that of erf: 2^-29.2
static const float erfc_f32_poly[] = {
    -0x1.b84b6c0000000p-13f,
    -0x1.20ab660000000p+0f,
    -0x1.464a580000000p-1f,
    -0x1.a952d20000000p-4f,
    0x1.6b6b3a0000000p-6f,
    -0x1.8d5b160000000p-9f,
    0x1.98627e0000000p-13f,
};

// erf(x) = x + x p(x^2), |x| <= 0.921875: 2^-56.1
static const double erf_f64_poly[] = {
    0x1.06eba8214db69p-3,
    -0x1.812746b037a33p-2,
    0x1.ce2f21a046ec0p-4,
    -0x1.b82ce313f7ea5p-6,
    0x1.565bcd4f809a6p-8,
    -0x1.c02dc19c46121p-11,
    0x1.f9a4f4a8fef07p-14,
    -0x1.f4fa9edd517ecp-17,
    0x1.bc3e131d3ffcap-20,
    -0x1.7673df9bbd52bp-23,
    0x1.8d776e57606a4p-26,
    -0x1.532c5295abbe1p-28,
    0x1.ba28a637a372cp-31,
};

// 1 - erf(x) = exp(-x^2) p(1 / (1 + x)), x in [0.921875, 6]; the error is that of erf: 2^-56.4
static const double erfc_f64_poly[] = {
    -0x1.51f7390a2995ep-17,
    0x1.2111094650961p-1,
    0x1.1d3ca9371a66fp-1,
    0x1.707d68371d580p-2,
    -0x1.b89989e08f741p-1,
    0x1.2ddff007aa7e0p+1,
    -0x1.7ce81239ed3aep+3,
    0x1.10ea9c49ab4fep+5,
    -0x1.dfe71a3733857p+5,
    0x1.197c9b56782aap+6,
    -0x1.c13e4aa18110cp+5,
    0x1.d8b6bde553eb6p+4,
    -0x1.2922118082fc0p+3,
    0x1.5250d8e6ed04dp+0,
};

// sin(x) = x + x^3 p(x^2), |x| <= pi/4, for a result in f32: 2^-37.6
static const double sin_narrow_poly[] = {
    -0x1.5555554cbac7fp-3,
    0x1.11110896b8c60p-7,
    -0x1.a00f9dab94bc3p-13,
    0x1.6cd8473b589d1p-19,
};

// cos(x) = 1 - x^2 / 2 + x^4 p(x^2), |x| <= pi/4, for a result in f32: 2^-43.2
static const double cos_narrow_poly[] = {
    0x1.5555554f4dc55p-5,
    -0x1.6c16b8982d5dbp-10,
    0x1.a0111fb519d91p-16,
    -0x1.242abcce28a35p-22,
};

// sin(x) = x + x^3 p(x^2), |x| <= pi/4, for a result in f64: 2^-63.3
static const double sin_wide_poly[] = {
    -0x1.5555555555555p-3,
    0x1.1111111111067p-7,
    -0x1.a01a019ffdba2p-13,
    0x1.71de3a32a943cp-19,
    -0x1.ae642ad5f54a3p-26,
    0x1.6108b3b6c2511p-33,
    -0x1.9f70ec497fa24p-41,
};

// cos(x) = 1 - x^2 / 2 + x^4 p(x^2), |x| <= pi/4, for a result in f64: 2^-64.2
static const double cos_wide_poly[] = {
    0x1.555555555554cp-5,
    -0x1.6c16c16c1521dp-10,
    0x1.a01a019cbf0aap-16,
    -0x1.27e4f81260bbcp-22,
    0x1.1ee9f10b9fa0ep-29,
    -0x1.8fb10689025f9p-37,
};

// 2/pi, then 2^s * 2/pi modulo 4 for s = 23, 46, 69, 92, in pieces
static const double turns_f32[5][2] = {
    {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55},
    {0x1.b727220a94fe1p+0, 0x1.d5f47d4d37703p-55},
    {0x1.054a7f09d5f48p+0, -0x1.596447e493ad5p-55},
    {-0x1.ec54170565912p-2, 0x1.b6c52b3278872p-60},
    {0x1.1f534ddc0db63p+0, -0x1.a99b0ef1bef80p-54},
};

// 2/pi, then 2^s * 2/pi modulo 4 for s = 1 + 32 g, in pieces
static const double turns_f64[31][4] = {
    {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109,
     0x1.e21c820ff28b2p-163},
    {0x1.391054a7f09d6p-1, -0x1.70565911f924fp-58, 0x1.2b32788720840p-112,
     -0x1.ae9c5421443aap-167},
    {-0x1.ec54170565912p-6, 0x1.b6c52b3278872p-64, 0x1.07f9458eaf7afp-121,
     -0x1.d4f246dc8e2dfp-178},
    {-0x1.596447e493ad5p-4, 0x1.93c439041fe51p-59, 0x1.8eaf7aef1586ep-113,
     -0x1.b7238b7b645a4p-168},
    {0x1.b6c52b3278872p+0, 0x1.07f9458eaf7afp-57, -0x1.d4f246dc8e2dfp-114,
     0x1.374b801924bbbp-169},
    {-0x1.8778df7c035d4p+0, 0x1.d5ef5de2b0db9p-54, 0x1.1b8e909374b80p-109,
     0x1.924bba8274648p-165},
    {-0x1.ae9c5421443aap-7, 0x1.b7246e3a424ddp-63, 0x1.700324977504fp-118,
     -0x1.cdbc603c429c7p-172},
    {-0x1.0a21d4f246dc9p-2, 0x1.d2126e9700325p-58, -0x1.a22bec5cdbc60p-112,
     -0x1.e214e34ed658cp-167},
    {-0x1.236e4716f6c8bp-1, -0x1.1ff9b6d115f63p-55, 0x1.921cfe1deb1cbp-111,
     0x1.29a73ee88235fp-167},
    {0x1.09374b801924cp-1, -0x1.15f62e6de301ep-55, -0x1.0a71a76b2c609p-110,
     0x1.1046bea5d7689p-164},
    {0x1.924bba8274648p-5, 0x1.cfe1deb1cb12ap-59, -0x1.63045df7282b4p-113,
     -0x1.44bb7b16638fep-167},
    {0x1.3a32439fc3bd6p-4, 0x1.cb129a73ee882p-59, 0x1.afa975da24275p-114,
     -0x1.8e3f652e82070p-169},
    {0x1.fc3bd63962535p+0, -0x1.822efb9415a29p-56, 0x1.a24274ce38136p-110,
     -0x1.741037d8cdc54p-164},
    {0x1.62534e7dd1047p+0, -0x1.0568a25dbd8b3p-54, -0x1.c7eca5d040df6p-110,
     -0x1.9b8a719f2b318p-165},
    {0x1.d1046bea5d769p+0, -0x1.bd8b31c7eca5dp-54, -0x1.037d8cdc538d0p-112,
     0x1.a99cfa4e422fcp-166},
    {-0x1.a28976f62cc72p+0, 0x1.35a2fbf209cc9p-58, -0x1.4e33e566305b2p-114,
     0x1.08bf177bf2507p-168},
    {0x1.d338e04d68bf0p+0, -0x1.bec66e29c67cbp-55, 0x1.9cfa4e422fc5ep-110,
     -0x1.036be27003b40p-166},
    {0x1.68befc827323bp+0, -0x1.c67cacc60b638p-55, 0x1.17e2ef7e4a0ecp-109,
     0x1.ff897ffde0598p-163},
    {-0x1.8cdc538cf9599p+0, 0x1.f49c845f8bbe0p-55, -0x1.b5f13801da001p-109,
     0x1.e05980fef2f12p-163},
    {-0x1.f2b3182d8dee8p-1, -0x1.d1081b5f13802p-57, 0x1.2fffbc0b301fep-112,
     -0x1.a1dce94beb25cp-168},
    {0x1.3908bf177bf25p+0, 0x1.d8ffc4bffef03p-58, -0x1.9fc04343b9d29p-113,
     -0x1.f592e092c9813p-167},
    {-0x1.081b5f13801dap-1, -0x1.0fd33f8086877p-66, -0x1.d297d64b824b2p-121,
     -0x1.8130d834f648bp-175},
    {-0x1.c00ed00043f4dp+0, 0x1.fde5e2316b415p-60, -0x1.2e092c98130d8p-115,
     -0x1.a7b24585ce04dp-170},
    {-0x1.0fd33f8086877p-2, -0x1.d297d64b824b2p-57, -0x1.8130d834f648bp-111,
     -0x1.738132c3402bap-168},
    {-0x1.0d0ee74a5f593p-3, 0x1.f6d367ecf27cbp-59, 0x1.36e9e8c7ecd3dp-116,
     -0x1.00ae9456c229cp-170},
    {-0x1.4beb25c125930p+0, -0x1.30d834f648b0cp-55, 0x1.8fd9a797fa8b6p-109,
     -0x1.5b08a7028341dp-164},
    {-0x1.25930261b069fp+0, 0x1.b74f463f669e6p-55, -0x1.5d28ad8453814p-115,
     -0x1.a0e84c2f8c608p-171},
    {-0x1.b069ec9161738p+0, -0x1.32c3402ba515bp-56, -0x1.14e050683a131p-113,
     0x1.0739f78a5292fp-167},
    {-0x1.61738132c3403p+0, 0x1.16ba93dd63f5fp-54, 0x1.7c5ecf41ce7dep-109,
     0x1.4a525d4d7f6bfp-164},
    {0x1.3cbfd45aea4f7p+0, 0x1.63f5f2f8bd9e8p-54, 0x1.ce7de294a4baap-109,
     -0x1.404a04ee072a3p-163},
    {-0x1.15b08a7028342p+0, 0x1.7b3d0739f78a5p-55, 0x1.497535fdafd89p-110,
     -0x1.ca8bdea7f33eep-169},
};
// clang-format on

#endif
