// Whether attributes are equal, and a hash that is the same for equal ones.
#ifndef TSPEC_IR_PROGRAM_EQUAL_H
#define TSPEC_IR_PROGRAM_EQUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/intern.h"
#include "ir/op_rules.h"

/// The hash with the attribute's name and value in it; axes and shardings do not count.
uint64_t tspec_hash_attr(uint64_t hash, const tspec_attr_t *attr);
/// True if name, kind and value are the same.
bool tspec_attr_equal(const tspec_attr_t *a, const tspec_attr_t *b);

#endif
