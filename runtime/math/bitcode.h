// The elementary functions (runtime/math) compiled to LLVM bitcode: code generation links them into
// every module that calls one, so that they are inlined and vectorised with the loops around them.
#ifndef TSPEC_RUNTIME_MATH_BITCODE_H
#define TSPEC_RUNTIME_MATH_BITCODE_H

#include <stddef.h>

/// Functions `TYPE tspec_NAME_TYPE(TYPE ..)`, TYPE f32 or f64.
extern const unsigned char tspec_math_bitcode[];
extern const size_t tspec_math_bitcode_size;

#endif
