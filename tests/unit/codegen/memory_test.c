#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "passes/pass.h"
#include "tests/support/program_text.h"

enum { MAX_VALUES = 200 };

typedef struct life_t {
  const tspec_value_t *value;
  int born; ///< step; -1: before the first
  int dead; ///< last step that reads it
} life_t;

static const tspec_value_t *behind(const tspec_value_t *value) {
  while (value->def != NULL && value->def->kind == TSPEC_OP_view) {
    value = value->def->operands[0];
  }
  return value;
}

static void read_by(life_t *lives, int count, const tspec_value_t *value, int step) {
  for (int i = 0; i < count; ++i) {
    if (lives[i].value == behind(value) && lives[i].dead < step) {
      lives[i].dead = step;
    }
  }
}

// What is alive when, worked out plainly from the ops.
static int find_lives(const tspec_func_t *func, life_t *lives) {
  int count = 0, step = 0;
  for (int i = 0; i < func->nargs; ++i) {
    lives[count++] = (life_t){func->args[i].value, -1, -1};
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next, ++step) {
    for (int i = 0; i < op->noperands; ++i) {
      read_by(lives, count, op->operands[i], step);
    }
    for (int i = 0; op->kind != TSPEC_OP_view && i < op->nresults; ++i) {
      lives[count++] = (life_t){op->results[i], step, step};
    }
  }
  for (int i = 0; i < func->nresults; ++i) {
    read_by(lives, count, func->results[i].value, step);
  }
  return count;
}

static void check_disjoint(const tspec_func_t *func, tspec_arena_t *arena) {
  static life_t lives[MAX_VALUES];
  int count = find_lives(func, lives);
  for (int i = 0; i < count; ++i) {
    const tspec_value_t *a = lives[i].value;
    int64_t a_bytes = tspec_type_bytes(tspec_sharding_local_type(arena, a->sharding, a->type));
    cr_assert(a->offset_bytes >= 0 && a->offset_bytes % 64 == 0);
    cr_assert(a->offset_bytes + a_bytes <= func->arena_bytes);
    for (int k = 0; k < i; ++k) {
      const tspec_value_t *b = lives[k].value;
      int64_t b_bytes = tspec_type_bytes(tspec_sharding_local_type(arena, b->sharding, b->type));
      bool together = lives[i].born <= lives[k].dead && lives[k].born <= lives[i].dead;
      bool apart = a->offset_bytes + a_bytes <= b->offset_bytes ||
                   b->offset_bytes + b_bytes <= a->offset_bytes;
      cr_assert(!together || apart, "values %d and %d overlap", a->id, b->id);
    }
  }
}

static uint64_t next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

// Products, sums, transposes and views of values that exist already; a few are results.
static void write_program(uint64_t *state, char *text) {
  int count = 3;
  text += sprintf(text, "level local\nmesh x=1\nentry main\n");
  for (int i = 0; i < count; ++i) {
    text += sprintf(text, "input v%d f32[12, 12] @ [-, -]\n", i);
  }
  for (; count < 40; ++count) {
    int a = (int)(next(state) % (uint64_t)count), b = (int)(next(state) % (uint64_t)count);
    switch (next(state) % 4) {
    case 0:
      text += sprintf(text,
                      "v%d = dot v%d v%d lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 "
                      "dtype=f32 @ [-, -]\n",
                      count, a, b);
      break;
    case 1:
      text += sprintf(text, "v%d = add v%d v%d @ [-, -]\n", count, a, b);
      break;
    case 2:
      text += sprintf(text, "v%d = transpose v%d perm=1,0 @ [-, -]\n", count, a);
      break;
    default:
      text += sprintf(text,
                      "w%d = reshape v%d shape=144 @ [-]\nv%d = reshape w%d shape=12,12 @ [-, -]\n",
                      count, a, count, count);
      break;
    }
  }
  for (int i = 0; i < 4; ++i) {
    text += sprintf(text, "result v%d @ [-, -]\n", count - 1 - 5 * i);
  }
}

Test(memory, values_that_live_together_lie_apart_in_random_programs) {
  static char text[8000];
  uint64_t state = 11;
  for (int i = 0; i < 60; ++i) {
    tspec_arena_t arena;
    tspec_arena_init(&arena);
    tspec_sources_t sources;
    tspec_sources_init(&sources, &arena);
    tspec_diag_t diag;
    tspec_diag_init(&diag, &sources, stderr);
    write_program(&state, text);
    tspec_program_t *program = tspec_text_program(&arena, &diag, text);
    cr_assert(program != NULL);
    tspec_options_t options = {0};
    tspec_pass_run_t run = {.name = "plan-memory",
                            .program = program,
                            .scratch = &arena,
                            .diag = &diag,
                            .options = &options};
    cr_assert(tspec_pass_fuse(&run) && tspec_pass_plan_memory(&run));
    cr_assert(tspec_program_verify(program, "plan-memory", &diag));
    check_disjoint(program->funcs[0], &arena);
    tspec_arena_deinit(&arena);
  }
}
