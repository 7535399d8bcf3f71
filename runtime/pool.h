// Small memory of one owner, all freed at once: what is worked out at start and lives as long as
// the program.
#ifndef TSPEC_RUNTIME_POOL_H
#define TSPEC_RUNTIME_POOL_H

#include <stddef.h>

typedef struct tspec_rt_pool_t {
  struct tspec_rt_pool_chunk_t *last;
} tspec_rt_pool_t;

/// `count` zeroed elements of `bytes` each, aligned for anything. Errors: NULL when out of memory
/// or when the product overflows; zero elements give a valid pointer. Ownership: the pool's. Ranks:
/// local.
void *tspec_rt_pool_get(tspec_rt_pool_t *pool, size_t count, size_t bytes);

/// Frees everything that the pool gave out.
void tspec_rt_pool_deinit(tspec_rt_pool_t *pool);

#endif
