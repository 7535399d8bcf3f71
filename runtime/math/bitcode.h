// The elementary functions of runtime/math/math.h as LLVM bitcode, in the compiler: it links them
// into the module of a program's kernels, where they are inlined (all are always-inline). They are
// compiled for plain x86-64, so that any target may inline them, and call nothing: multiply-adds
// and square roots are LLVM intrinsics.
#ifndef TSPEC_RUNTIME_MATH_BITCODE_H
#define TSPEC_RUNTIME_MATH_BITCODE_H

#include <stddef.h>

extern const unsigned char tspec_math_bitcode[];
/// In bytes.
extern const size_t tspec_math_bitcode_size;

#endif
