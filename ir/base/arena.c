#include "ir/base/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/vec.h"

typedef struct tspec_arena_chunk_t {
  struct tspec_arena_chunk_t *next;
  size_t capacity; // bytes of `data`
  size_t used;
  size_t padding; // keeps `data` aligned to 16
  unsigned char data[];
} tspec_arena_chunk_t;

enum { ALIGNMENT = 16 };

#ifdef TSPEC_ARENA_STRESS
static const size_t kMinChunk = 0;
#else
static const size_t kMinChunk = (size_t)64 << 10;
#endif

// Of all threads: storage of a thread's own in a library that is opened late stops LeakSanitizer.
static atomic_size_t live_bytes;
static atomic_size_t peak_bytes;

static void count_bytes(size_t size) {
  size_t live = atomic_fetch_add_explicit(&live_bytes, size, memory_order_relaxed) + size;
  size_t peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
  while (live > peak && !atomic_compare_exchange_weak_explicit(
                            &peak_bytes, &peak, live, memory_order_relaxed, memory_order_relaxed)) {
  }
}

size_t tspec_arena_live_bytes(void) {
  return live_bytes;
}

size_t tspec_arena_peak_bytes(void) {
  return peak_bytes;
}

void tspec_arena_reset_peak(void) {
  atomic_store(&peak_bytes, live_bytes);
}

void tspec_arena_init(tspec_arena_t *arena) {
  arena->head = NULL;
  arena->used_bytes = 0;
}

void tspec_arena_deinit(tspec_arena_t *arena) {
  tspec_arena_chunk_t *chunk = arena->head;
  while (chunk != NULL) {
    tspec_arena_chunk_t *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  atomic_fetch_sub_explicit(&live_bytes, arena->used_bytes, memory_order_relaxed);
  tspec_arena_init(arena);
}

static tspec_arena_chunk_t *chunk_create(size_t capacity) {
  tspec_arena_chunk_t *chunk = malloc(sizeof *chunk + capacity);
  if (chunk == NULL) {
    fprintf(stderr, "tspec: out of memory (%zu bytes)\n", capacity);
    exit(70);
  }
  chunk->next = NULL;
  chunk->capacity = capacity;
  chunk->used = 0;
  return chunk;
}

// Chunks grow with the arena, so that their number stays logarithmic.
static size_t next_capacity(const tspec_arena_t *arena, size_t size) {
  size_t capacity = kMinChunk;
#ifndef TSPEC_ARENA_STRESS
  if (arena->used_bytes / 4 > capacity) {
    capacity = arena->used_bytes / 4;
  }
#else
  (void)arena;
#endif
  return size > capacity ? size : capacity;
}

void *tspec_arena_alloc(tspec_arena_t *arena, size_t size_bytes) {
#ifdef TSPEC_ARENA_STRESS
  size_t size = size_bytes;
  tspec_arena_chunk_t *chunk = NULL;
#else
  size_t size = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  tspec_arena_chunk_t *chunk = arena->head;
#endif
  if (chunk == NULL || chunk->capacity - chunk->used < size) {
    tspec_arena_chunk_t *fresh = chunk_create(next_capacity(arena, size));
    fresh->next = arena->head;
    arena->head = fresh;
    chunk = fresh;
  }
  void *result = chunk->data + chunk->used;
  chunk->used += size;
  arena->used_bytes += size;
  count_bytes(size);
  return memset(result, 0, size);
}

void *tspec_arena_copy(tspec_arena_t *arena, const void *source, size_t size_bytes) {
  void *copy = tspec_arena_alloc(arena, size_bytes);
  return size_bytes == 0 ? copy : memcpy(copy, source, size_bytes);
}

char *tspec_arena_strdup(tspec_arena_t *arena, const char *text, size_t length) {
  char *copy = tspec_arena_alloc(arena, length + 1);
  if (length > 0) {
    memcpy(copy, text, length);
  }
  return copy;
}

char *tspec_arena_vprintf(tspec_arena_t *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = tspec_arena_alloc(arena, size);
  vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

char *tspec_arena_printf(tspec_arena_t *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = tspec_arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}

void *tspec_vec_grow(tspec_arena_t *arena, void *items, size_t count, size_t *capacity,
                     size_t item_bytes) {
  return tspec_vec_reserve(arena, items, count, capacity, item_bytes,
                           *capacity == 0 ? 8 : *capacity * 2);
}

void *tspec_vec_reserve(tspec_arena_t *arena, void *items, size_t count, size_t *capacity,
                        size_t item_bytes, size_t room) {
  void *moved = tspec_arena_alloc(arena, room * item_bytes);
  if (count > 0) {
    memcpy(moved, items, count * item_bytes);
  }
  *capacity = room;
  return moved;
}
