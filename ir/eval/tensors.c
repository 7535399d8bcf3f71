#include "ir/eval/tensors.h"

uint32_t tspec_tensors_hash(const char *name) {
  uint32_t hash = UINT32_C(2166136261);
  for (; *name != '\0'; name++) {
    hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
  }
  return hash;
}

uint32_t tspec_tensors_raw(uint32_t hash, uint64_t index) {
  uint32_t x = (uint32_t)index + hash;
  x ^= x >> 16;
  x *= UINT32_C(0x85ebca6b);
  x ^= x >> 13;
  x *= UINT32_C(0xc2b2ae35);
  return x ^ x >> 16;
}

float tspec_tensors_float(uint32_t hash, uint64_t index, double scale, double offset) {
  return (float)(offset + scale * (tspec_tensors_raw(hash, index) / 2147483648.0 - 1.0));
}

int64_t tspec_tensors_int(uint32_t hash, uint64_t index, uint32_t modulus) {
  return tspec_tensors_raw(hash, index) % modulus;
}
