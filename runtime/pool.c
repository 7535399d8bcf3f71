#include "runtime/pool.h"

#include <stdlib.h>

typedef struct tspec_rt_pool_chunk_t {
  struct tspec_rt_pool_chunk_t *previous;
  max_align_t memory[];
} tspec_rt_pool_chunk_t;

void *tspec_rt_pool_get(tspec_rt_pool_t *pool, size_t count, size_t bytes) {
  size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total) ||
      __builtin_add_overflow(total, sizeof(tspec_rt_pool_chunk_t), &total)) {
    return NULL;
  }
  tspec_rt_pool_chunk_t *chunk = calloc(1, total);
  if (chunk == NULL) {
    return NULL;
  }
  chunk->previous = pool->last;
  pool->last = chunk;
  return chunk->memory;
}

void tspec_rt_pool_deinit(tspec_rt_pool_t *pool) {
  tspec_rt_pool_chunk_t *chunk = pool->last;
  while (chunk != NULL) {
    tspec_rt_pool_chunk_t *previous = chunk->previous;
    free(chunk);
    chunk = previous;
  }
  pool->last = NULL;
}
