#include "ir/program_equal.h"

#include <string.h>

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) {
    hash = tspec_hash_number(hash, at[i]);
  }
  return hash;
}

uint64_t tspec_hash_attr(uint64_t hash, const tspec_attr_t *attr) {
  size_t count = (size_t)attr->count;
  hash = hash_bytes(hash, attr->name, strlen(attr->name));
  switch (attr->kind) {
  case TSPEC_ATTR_INT:
    return tspec_hash_number(hash, (uint64_t)attr->i);
  case TSPEC_ATTR_INTS:
    return hash_bytes(hash, attr->ints, count * sizeof *attr->ints);
  case TSPEC_ATTR_FLOAT:
    return hash_bytes(hash, &attr->f, sizeof attr->f);
  case TSPEC_ATTR_FLOATS:
    return hash_bytes(hash, attr->floats, count * sizeof *attr->floats);
  case TSPEC_ATTR_STRING:
    return hash_bytes(hash, attr->string, strlen(attr->string));
  case TSPEC_ATTR_DTYPE:
    return tspec_hash_number(hash, (uint64_t)attr->dtype);
  case TSPEC_ATTR_REDUCE:
    return tspec_hash_number(hash, (uint64_t)attr->reduce);
  case TSPEC_ATTR_AXES:
  case TSPEC_ATTR_SHARDING:
    return hash;
  }
  return hash;
}

static bool bytes_equal(const void *a, const void *b, int64_t count, size_t size) {
  return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

bool tspec_attr_equal(const tspec_attr_t *a, const tspec_attr_t *b) {
  if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->count != b->count) {
    return false;
  }
  switch (a->kind) {
  case TSPEC_ATTR_INT:
    return a->i == b->i;
  case TSPEC_ATTR_INTS:
    return bytes_equal(a->ints, b->ints, a->count, sizeof *a->ints);
  case TSPEC_ATTR_FLOAT:
    return bytes_equal(&a->f, &b->f, 1, sizeof a->f);
  case TSPEC_ATTR_FLOATS:
    return bytes_equal(a->floats, b->floats, a->count, sizeof *a->floats);
  case TSPEC_ATTR_STRING:
    return strcmp(a->string, b->string) == 0;
  case TSPEC_ATTR_DTYPE:
    return a->dtype == b->dtype;
  case TSPEC_ATTR_REDUCE:
    return a->reduce == b->reduce;
  case TSPEC_ATTR_AXES:
    for (int64_t i = 0; i < a->count; i++) {
      if (!tspec_axis_equal(a->axes[i], b->axes[i])) {
        return false;
      }
    }
    return true;
  case TSPEC_ATTR_SHARDING:
    return tspec_sharding_equal(a->sharding, b->sharding);
  }
  return false;
}
