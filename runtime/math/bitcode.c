// All of runtime/math as one module: compiled by clang to the bitcode that kernels are linked with.
#include "runtime/math/math.c"     // NOLINT(bugprone-suspicious-include)
#include "runtime/math/math_f64.c" // NOLINT(bugprone-suspicious-include)
