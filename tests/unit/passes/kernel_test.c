#include "passes/kernel.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static tspec_arena_t arena;

static void set_up(void) {
  tspec_arena_init(&arena);
}

static void tear_down(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(kernel, .init = set_up, .fini = tear_down, .timeout = 20);

enum { MOST = 40 };

static void add(tspec_program_t *program, const char *prefix, int count) {
  for (int i = 0; i < count; i++) {
    tspec_kernel_t kernel = {.name = tspec_arena_printf(&arena, "%s%d", prefix, i), .nargs = i};
    tspec_kernel_add(program, &kernel);
  }
}

static void check(const tspec_program_t *program, int first, const char *prefix, int count) {
  cr_assert(eq(int, program->nkernels, first + count));
  for (int i = 0; i < count; i++) {
    const char *name = tspec_arena_printf(&arena, "%s%d", prefix, i);
    cr_expect(eq(str, (char *)program->kernels[first + i].name, (char *)name));
    cr_expect(eq(int, program->kernels[first + i].nargs, i));
  }
}

Test(kernel, kernels_are_found_by_name) {
  tspec_program_t *program = tspec_program_create(&arena, "p");
  add(program, "k", MOST);
  check(program, 0, "k", MOST);
  for (int i = 0; i < MOST; i++) {
    const char *name = tspec_arena_printf(&arena, "k%d", i);
    cr_expect(eq(ptr, (void *)(uintptr_t)tspec_kernel_find(program, name), &program->kernels[i]));
  }
  cr_expect(eq(ptr, (void *)(uintptr_t)tspec_kernel_find(program, "k"), NULL));
}

// However many there are, and wherever they come from.
Test(kernel, a_program_and_its_clone_add_kernels_of_their_own) {
  for (int count = 0; count < MOST; count++) {
    tspec_program_t *program = tspec_program_create(&arena, "p");
    add(program, "both", count);
    tspec_program_t *clone = tspec_program_clone(program, &arena);
    add(program, "first", 3);
    add(clone, "second", 5);
    add(program, "more", 2);
    check(clone, count, "second", 5);
    cr_assert(eq(int, program->nkernels, count + 5));
    program->nkernels = count + 3;
    check(program, count, "first", 3);
    program->nkernels = count;
    check(program, 0, "both", count);
  }
}

Test(kernel, kernels_are_added_to_a_table_of_just_its_size) {
  for (int count = 1; count < MOST; count++) {
    tspec_program_t *program = tspec_program_create(&arena, "p");
    program->kernels = TSPEC_ARENA_NEW(&arena, tspec_kernel_t, count);
    program->nkernels = count;
    add(program, "more", 3);
    check(program, count, "more", 3);
  }
}
