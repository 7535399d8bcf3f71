// Tensors that are a pure function of their name, as the golden files are stated for: element i is
// made of x(i), the 32-bit finalizer of MurmurHash3 of (i + FNV-1a-32(name)) mod 2^32.
#ifndef TSPEC_IR_EVAL_TENSORS_H
#define TSPEC_IR_EVAL_TENSORS_H

#include <stdint.h>

/// FNV-1a, 32 bits.
uint32_t tspec_tensors_hash(const char *name);
/// x(i), given the name's hash.
uint32_t tspec_tensors_raw(uint32_t hash, uint64_t index);
/// offset + scale * (x / 2^31 - 1) rounded to f32.
float tspec_tensors_float(uint32_t hash, uint64_t index, double scale, double offset);
/// x mod `modulus`.
int64_t tspec_tensors_int(uint32_t hash, uint64_t index, uint32_t modulus);

#endif
