// Which sharding a declared value starts with: docs/language.md, section 3.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/unit/frontend/check_support.h"

#define STR(text) ((char *)(uintptr_t)(text))

static void check_right(checked_t *checked, const char *program,
                        const tspec_check_options_t *options) {
  check_text(checked, program, options);
  cr_assert(ne(ptr, checked->program, NULL), "%s", checked_messages(checked));
}

Test(check_shard, written_shardings_in_all_forms) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "param a: f32[8, 8] @ [-, data*model] = ones\n"
              "param b: f32[8, 8] @ [data?, ?] = ones\n"
              "param d: f32[8, 8] @ [model:(2)2, model:(1)2] = ones\n"
              "param e: f32[8, 8] @ [] = ones\n"
              "param g: f32[8, 8, 8, 8] @ [data, ..., model] = ones\n"
              "param h: f32[8, 8] @ [data, ..., model] = ones\n"
              "param i: f32[8, 8] @ [?, ?] = ones\n"
              "param j: f32[8] @ [model:(1)2*model:(2)2] = ones\n"
              "entry fn f(x: f32[8, 8] @ [data, -]) -> (y: f32[8, 8] @ [-, model]) {\n"
              "  let p @ [data, ?] sum(model) = x\n"
              "  return p\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_messages(&c)), ""));
  cr_expect(eq(str, STR(checked_param(&c, "a")), "[-, data*model]"));
  cr_expect(eq(str, STR(checked_param(&c, "b")), "[data?, ?]"));
  cr_expect(eq(str, STR(checked_param(&c, "d")), "[model:(2)2, model:(1)2]"));
  cr_expect(eq(str, STR(checked_param(&c, "e")), "[-, -]"));
  cr_expect(eq(str, STR(checked_param(&c, "g")), "[data, ?, ?, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "h")), "[data, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "i")), "none")); // nothing is said
  cr_expect(eq(str, STR(checked_param(&c, "j")), "[model]"));
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[data, -]"));
  cr_expect(eq(str, STR(checked_result(&c, "f", "y")), "[-, model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "p")), "[data, ?] sum(model)"));
  checked_deinit(&c);
}

Test(check_shard, a_written_sharding_wins_over_path_rules_and_those_over_axis_rules) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis d = 8\n"
              "shard axes { d -> data }\n"
              "shard params { \"own|by_path\" -> [model] }\n"
              "param own: f32[d] @ [-] = ones\n"
              "param by_path: f32[d] = ones\n"
              "param by_axis: f32[d] = ones\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) {\n"
              "  let h: f32[d] @ [model] = x + 1\n"
              "  let i: f32[d] = x + 2\n"
              "  let j = x + 3\n"
              "  return h + i + j\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_param(&c, "own")), "[-]"));
  cr_expect(eq(str, STR(checked_param(&c, "by_path")), "[model]"));
  cr_expect(eq(str, STR(checked_param(&c, "by_axis")), "[data]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "h")), "[model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "i")), "[data]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "j")), "?")); // no type, no rule
  checked_deinit(&c);
}

Test(check_shard, types_of_plain_functions_only_check) {
  checked_t c;
  check_right(&c,
              "mesh data = 2\n"
              "axis d = 8\n"
              "shard axes { d -> data }\n"
              "fn g(a: f32[d], b: f32[d] @ [-]) -> f32[d] { return a + b }\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) { return g(x + 1, x) }\n",
              NULL);
  cr_expect(eq(str, STR(checked_kinds(&c, "f")), "constant add constraint add"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "b")), "[-]"));
  checked_deinit(&c);
}

Test(check_shard, an_axis_parameter_keeps_the_name_and_a_number_has_none) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis embed = 8, mlp = 4 * embed\n"
              "shard axes {\n  mlp -> model\n  embed -> data\n}\n"
              "up = Linear(embed, mlp)\n"
              "free = Linear(8, 4 * embed)\n"
              "entry fn f(x: f32[3, embed]) -> (y: f32[3, mlp]) { return up(x) + free(x) }\n",
              NULL);
  cr_expect(eq(str, STR(checked_param(&c, "up/kernel")), "[data, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "up/bias")), "[model]"));
  cr_expect(eq(str, STR(checked_param(&c, "free/kernel")), "none"));
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[?, data]"));
  cr_expect(eq(str, STR(checked_result(&c, "f", "y")), "[?, model]"));
  checked_deinit(&c);
}

Test(check_shard, one_axis_on_both_dims_goes_to_the_first) {
  checked_t c;
  check_right(&c,
              "mesh data = 2\n"
              "axis batch = 8\n"
              "shard axes { batch -> data }\n"
              "entry fn f(x: f32[batch, batch]) -> (y: f32[batch, batch]) { return x }\n",
              NULL);
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[data, -]"));
  cr_expect(eq(str, STR(checked_messages(&c)), "")); // rows and columns: no conflict of rules
  checked_deinit(&c);
}

Test(check_shard, entries_of_rules_are_taken_as_written) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis a = 8, b = 8, d = 8\n"
              "shard axes {\n  a -> data?\n  b -> ?\n  d -> -\n}\n"
              "entry fn f(x: f32[a, b, d]) -> (y: f32[a, b, d]) { return x }\n",
              NULL);
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[data?, ?, -]"));
  checked_deinit(&c);
}

Test(check_shard, rules_of_one_entry_come_before_the_general_ones) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis d = 8\n"
              "shard axes { d -> data }\n"
              "shard axes in g { d -> model }\n"
              "shard values { \"^h$\" -> [-] }\n"
              "shard values in g { \"^h$\" -> [model] }\n"
              "fn add(x) { let h = x + 1; return h }\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) { return add(x) }\n"
              "entry fn g(x: f32[d]) -> (y: f32[d]) { return add(x) }\n",
              NULL);
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[data]"));
  cr_expect(eq(str, STR(checked_input(&c, "g", "x")), "[model]"));
  cr_expect(eq(str, STR(checked_result(&c, "g", "y")), "[model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "h")), "[-]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "g", "h")), "[model]"));
  checked_deinit(&c);
}

Test(check_shard, value_rules_reach_lets_and_calls_by_path) {
  checked_t c;
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis d = 8\n"
              "module Block() {\n"
              "  mlp = Mlp(d, d)\n"
              "  fn (x) { let r = helper(mlp(x)); return r }\n"
              "  fn twice(x) { return 2 * x }\n"
              "}\n"
              "fn helper(x) { let inner = x * 3; return inner }\n"
              "for i in 0..2 { block[i] = Block() }\n"
              "shard values {\n"
              "  \"block/0/mlp/h\" -> [data, model]\n"
              "  \"block/1/mlp$\"  -> [data, -]\n"
              "  \"block/./inner\" -> [-, model]\n"
              "  \"block/1/twice\" -> [model, -]\n"
              "  \"^top$\"         -> [?, data]\n"
              "}\n"
              "entry fn f(x: f32[d, d]) -> (y: f32[d, d]) {\n"
              "  for i in 0..2 { x = block[i](x) }\n"
              "  let top = block[1].twice(x)\n"
              "  return top\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_messages(&c)), ""));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/0/mlp/h")), "[data, model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/1/mlp/h")), "?"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/1/mlp")), "[data, -]"));
  // a plain function adds nothing to the path
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/0/inner")), "[-, model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/1/inner")), "[-, model]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "block/1/twice")), "[model, -]"));
  cr_expect(eq(str, STR(checked_constraint(&c, "f", "top")), "[?, data]"));
  checked_deinit(&c);
}

Test(check_shard, a_constraint_belongs_to_the_let_not_to_rebindings) {
  checked_t c;
  check_right(&c,
              "mesh data = 2\n"
              "entry fn f(x: f32[8]) -> (y: f32[8]) {\n"
              "  let h @ [data] = x + 1\n"
              "  h = h * 2\n"
              "  return h\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_kinds(&c, "f")), "constant add constraint constant mul"));
  checked_deinit(&c);
}

Test(check_shard, stack_dims_are_unsplit_unless_a_rule_says_otherwise) {
  checked_t c;
  check_right(
      &c,
      "mesh data = 2, model = 4, pipe = 2\n"
      "axis d = 8, stage = 4\n"
      "shard axes {\n  d -> model\n  stage -> pipe\n}\n"
      "module Own() { param w: f32[3, d] @ [data, -] = ones }\n"
      "module Outer() { inner = stack[2] Own() }\n"
      "shard params {\n  \"ruled/kernel\" -> [-, data]\n  \"full/kernel\" -> [pipe, -, data]\n"
      "  \"policy\" -> fsdp(axis = data)\n}\n"
      "plain  = stack[3] Linear(d, d)\n"
      "staged = stack[stage] Linear(d, d)\n"
      "ruled  = stack[3] Linear(d, d)\n"
      "full   = stack[4] Linear(d, d)\n"
      "policy = stack[64] Linear(d, 16)\n"
      "own    = stack[3] Own()\n"
      "deep   = stack[stage] Outer()\n"
      "entry fn f(x: f32) -> (y: f32) { return x }\n",
      NULL);
  cr_expect(eq(str, STR(checked_param(&c, "plain/kernel")), "[-, model, -]"));
  cr_expect(eq(str, STR(checked_param(&c, "plain/bias")), "[-, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "staged/kernel")), "[pipe, model, -]"));
  cr_expect(eq(str, STR(checked_param(&c, "ruled/kernel")), "[-, -, data]"));
  cr_expect(eq(str, STR(checked_param(&c, "full/kernel")), "[pipe, -, data]"));
  cr_expect(eq(str, STR(checked_param(&c, "policy/kernel")), "[-, -, data]")); // 16, not 64
  cr_expect(eq(str, STR(checked_param(&c, "own/w")), "[-, data, -]"));
  cr_expect(eq(str, STR(checked_param(&c, "deep/inner/w")), "[-, -, data, -]"));
  checked_deinit(&c);
}

Test(check_shard, path_rules_leave_one_element_tensors_whole) {
  checked_t c;
  check_right(&c,
              "mesh data = 2\n"
              "shard params { otherwise -> [data] }\n"
              "param scale: f32 = 1\n"
              "param one: f32[1] = 1\n"
              "param two: f32[2] = 1\n"
              "entry fn f(x: f32) -> (y: f32) { return x }\n",
              NULL);
  cr_expect(eq(str, STR(checked_param(&c, "scale")), "none"));
  cr_expect(eq(str, STR(checked_param(&c, "one")), "[-]"));
  cr_expect(eq(str, STR(checked_param(&c, "two")), "[data]"));
  checked_deinit(&c);
}

Test(check_shard, a_constraint_names_the_value_and_results_are_no_constraints) {
  checked_t c;
  check_right(&c,
              "mesh data = 2\n"
              "axis d = 8\n"
              "shard axes { d -> data }\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) {\n"
              "  let h: f32[d] = relu(x)\n"
              "  return exp(h)\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_ops(&c, "f")),
               "%1 = relu x : f32[8]\n"
               "%2 = constraint %1 sharding=[data] : f32[8] @h\n"
               "%3 = exp %2 : f32[8]\n"));
  cr_expect(eq(str, STR(checked_result(&c, "f", "y")), "[data]"));
  checked_deinit(&c);
}
