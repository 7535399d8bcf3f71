// Building, changing and copying programs.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/program.h"
#include "tests/support/program_text.h"

static tspec_arena_t arena;
static tspec_sources_t sources;
static tspec_diag_t diag;

static void start(void) {
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
}

static void stop(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(program, .init = start, .fini = stop);

/// The ops' result names in order, and back again through the other links.
static const char *order_of(const tspec_func_t *func) {
  const char *forward = "";
  const char *backward = "";
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    forward = tspec_arena_printf(&arena, "%s%s ", forward, op->results[0]->name);
  }
  for (const tspec_op_t *op = func->last; op != NULL; op = op->prev) {
    backward = tspec_arena_printf(&arena, "%s %s", op->results[0]->name, backward);
  }
  cr_assert(eq(str, (char *)forward, (char *)backward));
  return forward;
}

static tspec_op_t *insert(tspec_program_t *program, tspec_op_t *before, const char *name,
                          tspec_value_t *operand) {
  tspec_op_build_t build = {.kind = TSPEC_OP_neg, .noperands = 1, .operands = &operand};
  tspec_op_t *op = tspec_op_create(program, program->funcs[0], before, &build, &diag);
  op->results[0]->name = name;
  return op;
}

static const char *const chain = "input a f32[4]\nb = exp a\nc = add a b\nd = log c\nresult d";

Test(program, ops_go_in_before_others_or_at_the_end) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, chain);
  tspec_func_t *func = program->funcs[0];
  insert(program, func->first, "first", func->args[0].value);
  insert(program, func->last, "third", func->args[0].value);
  insert(program, NULL, "last", func->args[0].value);
  cr_assert(eq(str, (char *)order_of(func), "first b c third d last "));
}

Test(program, ops_come_out_anywhere) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, chain);
  tspec_func_t *func = program->funcs[0];
  tspec_op_remove(func, tspec_text_value(program, "c")->def);
  cr_assert(eq(str, (char *)order_of(func), "b d "));
  tspec_op_remove(func, tspec_text_value(program, "b")->def);
  cr_assert(eq(str, (char *)order_of(func), "d "));
  tspec_op_remove(func, tspec_text_value(program, "d")->def);
  cr_assert(eq(str, (char *)order_of(func), ""));
  insert(program, NULL, "new", func->args[0].value);
  cr_assert(eq(str, (char *)order_of(func), "new "));
}

Test(program, a_refused_op_is_not_put_in) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[4]\ninput b f32[5]\nc = exp a");
  tspec_func_t *func = program->funcs[0];
  tspec_value_t *operands[2] = {func->args[0].value, func->args[1].value};
  tspec_op_build_t build = {.kind = TSPEC_OP_add, .noperands = 2, .operands = operands};
  cr_assert(eq(ptr, (void *)tspec_op_create(program, func, NULL, &build, &diag), NULL));
  cr_assert(eq(int, diag.nerrors, 1));
  cr_assert(eq(str, (char *)order_of(func), "c "));
}

Test(program, replacing_a_value_spares_the_excepted_op) {
  tspec_program_t *program = tspec_text_program(
      &arena, &diag, "input a f32[4]\nb = exp a\nc = add b b\nresult b\nresult c");
  tspec_func_t *func = program->funcs[0];
  tspec_value_t *b = tspec_text_value(program, "b");
  tspec_op_t *made = insert(program, tspec_text_value(program, "c")->def, "n", b);
  tspec_value_replace(func, b, made->results[0], made);
  cr_assert(eq(ptr, (void *)made->operands[0], (void *)b));
  const tspec_op_t *add = tspec_text_value(program, "c")->def;
  cr_assert(eq(ptr, (void *)add->operands[0], (void *)made->results[0]));
  cr_assert(eq(ptr, (void *)add->operands[1], (void *)made->results[0]));
  cr_assert(eq(ptr, (void *)func->results[0].value, (void *)made->results[0]));
}

Test(program, numbers_run_over_arguments_then_results) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, chain);
  cr_assert(eq(int, tspec_func_number(program->funcs[0]), 4));
  cr_assert(eq(int, tspec_text_value(program, "a")->id, 0));
  cr_assert(eq(int, tspec_text_value(program, "d")->id, 3));
}

Test(program, dead_ops_go_with_all_that_only_they_read) {
  tspec_program_t *program = tspec_text_program(
      &arena, &diag,
      "input a f32[4]\nb = exp a\nc = add a b\nd = log c\nr = neg b\ne = mul d d\nresult r");
  tspec_func_remove_dead(program->funcs[0]);
  cr_assert(eq(str, (char *)order_of(program->funcs[0]), "b r "));
  cr_assert(eq(int, program->funcs[0]->last->results[0]->id, 2));
}

Test(program, attributes_are_set_and_replaced) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[2, 3]\nb = transpose a perm=1,0");
  tspec_op_t *op = program->funcs[0]->first;
  int64_t same[2] = {0, 1};
  tspec_op_set_attr(program, op, tspec_attr_ints("perm", 2, same));
  tspec_op_set_attr(program, op, tspec_attr_int("extra", 7));
  same[0] = 9; // copied, not borrowed
  cr_assert(eq(int, op->nattrs, 2));
  cr_assert(eq(i64, tspec_op_get_attr(op, "perm")->ints[0], 0));
  cr_assert(eq(i64, tspec_op_get_attr(op, "extra")->i, 7));
  cr_assert(eq(ptr, (void *)tspec_op_get_attr(op, "none"), NULL));
}

Test(program, view_knows_which_operands_are_slices) {
  tspec_program_t *program = tspec_text_program(
      &arena, &diag, "input a f32[4]\ns = slice a starts=0 ends=2 steps=1\nr = concat s a dim=0");
  tspec_op_view_t view = tspec_op_view(tspec_text_value(program, "r")->def, &arena);
  cr_assert(view.origins[0].sliced);
  cr_assert(not(view.origins[1].sliced));
  cr_assert(eq(ptr, (void *)view.origins[0].tensor, (void *)view.origins[1].tensor));
}

static const char *const all_of_it = "level local\nmesh x=2 y=2\n"
                                     "param w f32[4, 4] @ [-, x]\n"
                                     "input a f32[4, 6] @ [x, -]\n"
                                     "read w\n"
                                     "b = transpose a perm=1,0 @ [-, x]\n"
                                     "c = reduce b kind=sum dims=1 @ [-] sum(x)\n"
                                     "d = all_reduce c kind=sum axes=x @ [-]\n"
                                     "f = constant dtype=f32 shape=2 values=1,2 @ [y]\n"
                                     "result d @ [-]\nresult f\nupdate w w";

/// All of a program that its printing would show.
static const char *print(const tspec_program_t *program) {
  const tspec_mesh_t *mesh = &program->mesh;
  const char *text =
      tspec_arena_printf(&arena, "%s %s {%s}", program->name, tspec_level_name(program->level),
                         tspec_mesh_print(&arena, mesh));
  const tspec_func_t *func = program->funcs[0];
  for (int i = 0; i < func->nargs; i++) {
    const tspec_value_t *value = func->args[i].value;
    text = tspec_arena_printf(&arena, "%s\n%s %s %s", text, func->args[i].name,
                              tspec_type_print(&arena, value->type),
                              tspec_sharding_print(&arena, mesh, value->sharding));
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    text = tspec_arena_printf(&arena, "%s\n%s %s %s %s", text, op->results[0]->name,
                              tspec_op_info(op->kind)->name,
                              tspec_type_print(&arena, op->results[0]->type),
                              tspec_sharding_print(&arena, mesh, op->results[0]->sharding));
    for (int i = 0; i < op->noperands; i++) {
      text = tspec_arena_printf(&arena, "%s %d", text, op->operands[i]->id);
    }
    for (int i = 0; i < op->nattrs; i++) {
      text =
          tspec_arena_printf(&arena, "%s %s:%d", text, op->attrs[i].name, (int)op->attrs[i].count);
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    text = tspec_arena_printf(&arena, "%s\n%s %d", text, func->results[i].name,
                              func->results[i].value->id);
  }
  return tspec_arena_printf(&arena, "%s\n%s", text, program->params[0].path);
}

Test(program, a_clone_outlives_the_original_and_is_equal) {
  tspec_arena_t other;
  tspec_arena_init(&other);
  tspec_program_t *program = tspec_text_program(&other, &diag, all_of_it);
  tspec_program_t *copy = tspec_program_clone(program, &arena);
  const char *wanted = print(program);
  cr_assert(ne(ptr, strstr(wanted, "d all_reduce f32[6] [-] 3 kind:0 axes:1"), NULL), "%s", wanted);
  tspec_arena_deinit(&other);
  cr_assert(eq(str, (char *)print(copy), (char *)wanted));
  cr_assert(tspec_program_verify(copy, NULL, &diag));
}

Test(program, changing_a_copy_leaves_the_original) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, all_of_it);
  tspec_func_number(program->funcs[0]);
  const char *before = print(program);
  tspec_program_t *copies[] = {tspec_program_clone(program, &arena),
                               tspec_program_fork(program, &arena)};
  for (int i = 0; i < 2; i++) {
    cr_assert(eq(str, (char *)print(copies[i]), (char *)before));
    tspec_func_t *func = copies[i]->funcs[0];
    func->results[0].value = func->args[0].value;
    tspec_op_set_attr(copies[i], func->last, tspec_attr_string("more", "text"));
    tspec_func_remove_dead(func);
    cr_assert(eq(str, (char *)order_of(func), "f "));
    cr_assert(eq(str, (char *)print(program), (char *)before));
  }
}

Test(program, a_fork_takes_less_memory_than_a_clone) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, all_of_it);
  tspec_arena_t clone, fork;
  tspec_arena_init(&clone);
  tspec_arena_init(&fork);
  tspec_program_clone(program, &clone);
  tspec_program_fork(program, &fork);
  cr_assert(lt(sz, fork.used_bytes, clone.used_bytes));
  tspec_arena_deinit(&clone);
  tspec_arena_deinit(&fork);
}

Test(program, arguments_are_added_to_a_program_and_to_its_clone) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, all_of_it);
  int given = program->funcs[0]->nargs;
  tspec_type_t type = program->funcs[0]->args[0].value->type;
  tspec_program_t *both[] = {program, tspec_program_clone(program, &arena)};
  for (int i = 0; i < 2; i++) {
    tspec_func_t *func = both[i]->funcs[0];
    for (int k = 0; k < 20; k++) {
      const char *name = tspec_arena_printf(&arena, "more%d", k);
      tspec_func_add_arg(both[i], func, TSPEC_SLOT_INPUT, name, type, (tspec_range_t){0});
    }
    cr_assert(eq(int, func->nargs, given + 20));
    cr_expect(eq(str, (char *)func->args[given + 19].name, "more19"));
    cr_expect(eq(int, func->args[given + 19].value->index, given + 19));
    cr_expect(eq(int, func->args[0].value->index, 0));
  }
}
