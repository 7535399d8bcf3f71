#include "passes/expect.h"

#include <math.h>
#include <string.h>

#include "ir/base/str.h"
#include "passes/collectives.h"

/// What a promise counts.
typedef struct measured_t {
  double value;
  int nuses;
  tspec_collective_use_t *uses; ///< the collectives that were counted
} measured_t;

static bool is_about_memory(const tspec_promise_t *promise) {
  return strcmp(promise->what, "memory") == 0;
}

/// True if the collective's axes include each that the promise names.
static bool is_over(const tspec_program_t *program, const tspec_promise_t *promise,
                    const tspec_collective_use_t *use) {
  for (int i = 0; i < promise->nover; i++) {
    int axis = tspec_mesh_find(&program->mesh, promise->over[i]);
    bool found = false;
    for (int j = 0; j < use->naxes; j++) {
      found = found || use->axes[j].axis == axis;
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

static measured_t measure_communication(const tspec_program_t *program, const tspec_func_t *func,
                                        const tspec_promise_t *promise, tspec_arena_t *arena) {
  bool any_kind = strcmp(promise->what, "collectives") == 0 || strcmp(promise->what, "bytes") == 0;
  bool is_bytes = strcmp(promise->what, "bytes") == 0;
  measured_t measured = {0};
  tspec_collective_use_t *all = NULL;
  int count = tspec_func_collectives(program, func, arena, &all);
  measured.uses = TSPEC_ARENA_NEW(arena, tspec_collective_use_t, count);
  for (int i = 0; i < count; i++) {
    bool counts = any_kind || strcmp(tspec_collective_name(all[i].kind), promise->what) == 0;
    if (counts && is_over(program, promise, &all[i])) {
      measured.uses[measured.nuses++] = all[i];
      measured.value += is_bytes ? (double)all[i].bytes : 1;
    }
  }
  return measured;
}

/// Bytes per rank: the arena (inputs, results, intermediates) and the largest block of each
/// parameter that the entry reads.
static measured_t measure_memory(const tspec_func_t *func, tspec_arena_t *arena) {
  measured_t measured = {.value = (double)func->arena_bytes};
  for (int i = 0; i < func->nargs; i++) {
    const tspec_value_t *value = func->args[i].value;
    if (func->args[i].kind != TSPEC_SLOT_INPUT) {
      measured.value +=
          (double)tspec_type_bytes(tspec_sharding_local_type(arena, value->sharding, value->type));
    }
  }
  return measured;
}

static bool holds(double value, const char *compare, double limit) {
  if (strcmp(compare, "==") == 0) {
    return value == limit;
  }
  if (strcmp(compare, "<=") == 0) {
    return value <= limit;
  }
  if (strcmp(compare, "<") == 0) {
    return value < limit;
  }
  return strcmp(compare, ">=") == 0 ? value >= limit : value > limit;
}

/// Counts and bytes are whole numbers; a limit that is none is shown as it is.
static void put_number(tspec_buf_t *buf, double number) {
  if (floor(number) == number && fabs(number) < 1e15) {
    tspec_buf_printf(buf, "%.0f", number);
  } else {
    tspec_buf_put_double(buf, number);
  }
}

/// A list longer than this says no more.
enum { MAX_NOTES = 20 };

static void report(const tspec_program_t *program, const tspec_promise_t *promise,
                   const measured_t *measured, tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_buf_t text = {0};
  tspec_buf_printf(&text, "broken promise of '%s': ", promise->entry);
  if (promise->text != NULL) {
    tspec_buf_printf(&text, "'%s', got ", promise->text);
  } else {
    tspec_buf_printf(&text, "'%s %s ", promise->what, promise->compare);
    put_number(&text, promise->value);
    tspec_buf_puts(&text, "', got ");
  }
  put_number(&text, measured->value);
  if (promise->warn_only) {
    tspec_diag_warning(diag, promise->range, "%s", tspec_buf_get(&text));
  } else {
    tspec_diag_error(diag, promise->range, "%s", tspec_buf_get(&text));
  }
  tspec_buf_deinit(&text);
  for (int i = 0; i < measured->nuses && i < MAX_NOTES; i++) {
    tspec_diag_note(diag, measured->uses[i].op->range, "%s",
                    tspec_collective_print(arena, program, diag->sources, &measured->uses[i]));
  }
  if (measured->nuses > MAX_NOTES) {
    tspec_diag_note(diag, promise->range, "and %d more", measured->nuses - MAX_NOTES);
  }
}

bool tspec_expect_check(const tspec_program_t *program, tspec_expect_about_t about,
                        tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  int nerrors = diag->nerrors;
  for (int i = 0; i < program->npromises; i++) {
    const tspec_promise_t *promise = &program->promises[i];
    const tspec_func_t *func = tspec_program_find_func(program, promise->entry);
    if (func == NULL || is_about_memory(promise) != (about == TSPEC_EXPECT_MEMORY)) {
      continue;
    }
    measured_t measured = about == TSPEC_EXPECT_MEMORY
                              ? measure_memory(func, &arena)
                              : measure_communication(program, func, promise, &arena);
    if (!holds(measured.value, promise->compare, promise->value)) {
      report(program, promise, &measured, &arena, diag);
    }
  }
  tspec_arena_deinit(&arena);
  return diag->nerrors == nerrors;
}
