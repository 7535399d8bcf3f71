#include "ir/base/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/vec.h"

static tspec_arena_t arena;

static void set_up(void) {
  tspec_arena_init(&arena);
}

static void tear_down(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(arena, .init = set_up, .fini = tear_down, .timeout = 20);

Test(arena, objects_are_zeroed_aligned_and_apart) {
  unsigned char *last = NULL;
  size_t last_size = 0;
  for (size_t size = 0; size < 3000; size += 7) {
    unsigned char *object = tspec_arena_alloc(&arena, size);
    cr_assert(eq(sz, (size_t)((uintptr_t)object % 16), 0));
    for (size_t i = 0; i < size; ++i) {
      cr_assert(eq(int, object[i], 0));
    }
    memset(object, 0xff, size);
    cr_assert(last == NULL || object >= last + last_size || object + size <= last);
    last = object;
    last_size = size;
  }
}

Test(arena, an_object_larger_than_a_chunk_fits) {
  size_t size = (size_t)5 << 20;
  unsigned char *big = tspec_arena_alloc(&arena, size);
  big[size - 1] = 1;
  cr_assert(ge(sz, arena.used_bytes, size));
}

Test(arena, strings_are_copied_and_formatted) {
  char text[] = "hello world";
  const char *copy = tspec_arena_strdup(&arena, text, 5);
  memset(text, 'x', sizeof text - 1);
  cr_assert(eq(str, (char *)copy, "hello"));
  cr_assert(eq(str, tspec_arena_printf(&arena, "%s-%d", "a", 7), "a-7"));
}

Test(arena, a_vector_grows_and_keeps_its_items) {
  TSPEC_VEC(int) numbers = {0};
  for (int i = 0; i < 1000; ++i) {
    TSPEC_VEC_PUSH(&arena, &numbers, i);
  }
  cr_assert(eq(sz, numbers.count, 1000));
  for (int i = 0; i < 1000; ++i) {
    cr_assert(eq(int, numbers.items[i], i));
  }
}

Test(arena, a_vector_with_room_for_its_items_takes_no_more_memory) {
  TSPEC_VEC(int) numbers = {0};
  TSPEC_VEC_PUSH(&arena, &numbers, 0);
  TSPEC_VEC_RESERVE(&arena, &numbers, 1000);
  size_t used_bytes = arena.used_bytes;
  for (int i = 1; i < 1000; ++i) {
    TSPEC_VEC_PUSH(&arena, &numbers, i);
  }
  TSPEC_VEC_RESERVE(&arena, &numbers, 500);
  cr_assert(eq(sz, arena.used_bytes, used_bytes));
  TSPEC_VEC_PUSH(&arena, &numbers, 1000);
  for (int i = 0; i <= 1000; ++i) {
    cr_assert(eq(int, numbers.items[i], i));
  }
}

Test(arena, may_be_used_again_after_deinit) {
  tspec_arena_alloc(&arena, 100);
  tspec_arena_deinit(&arena);
  cr_assert(eq(sz, arena.used_bytes, 0));
  cr_assert(ne(ptr, tspec_arena_alloc(&arena, 8), NULL));
}
