// Whole programs: names, sizes, modules, parameters, entries, promises, options.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/frontend/check_support.h"

#define STR(text) ((char *)(uintptr_t)(text))

static void check_right(checked_t *checked, const char *program,
                        const tspec_check_options_t *options) {
  check_text(checked, program, options);
  cr_assert(ne(ptr, checked->program, NULL), "%s", checked_messages(checked));
}

static const tspec_param_t *param(const checked_t *checked, const char *path) {
  const tspec_param_t *found = tspec_program_find_param(checked->program, path);
  cr_assert(ne(ptr, (void *)(uintptr_t)found, NULL), "%s", path);
  return found;
}

// The size of dim 0 of parameter "p".
static int64_t size_of_p(const checked_t *checked) {
  return param(checked, "p")->type.dims[0];
}

// ---- DotReluDot, facts 4.1 -------------------------------------------------------------------

static const char kDotReluDot[] =
    "mesh data = 2, model = 4\n"
    "axis batch = 8, depth = 1024\n"
    "const layers = 4, w0 = 0, lr = 1e-3\n"
    "module DotReluDot() {\n"
    "  if w0 {\n"
    "    param w1: f32[depth, depth] @ [-, model] = full(1 / 1024)\n"
    "    param w2: f32[depth, depth] @ [model, -] = full(1 / 1024)\n"
    "  } else {\n"
    "    param w1: f32[depth, depth] @ [-, model] = xavier_normal\n"
    "    param w2: f32[depth, depth] @ [model, -] = xavier_normal\n"
    "  }\n"
    "  fn (x: f32[batch, depth]) -> f32[batch, depth] {\n"
    "    let y: f32[batch, depth] @ [data, model] = relu(x @ w1)\n"
    "    let z: f32[batch, depth] @ [data, -] = y @ w2\n"
    "    return z\n"
    "  }\n"
    "}\n"
    "for i in 0..layers { layer[i] = DotReluDot() }\n"
    "fn model(x) {\n"
    "  for i in 0..layers { x = layer[i](x) }\n"
    "  return x\n"
    "}\n"
    "entry fn forward(x: f32[batch, depth] @ [data, -]) -> (z: f32[batch, depth] @ [data, -]) {\n"
    "  return model(x)\n"
    "}\n"
    "entry fn train_step(x: f32[batch, depth] @ [data, -]) -> (loss: f32) {\n"
    "  let loss = sum(model(x))\n"
    "  minimize loss with adam(lr = lr)\n"
    "  return loss\n"
    "}\n"
    "expect forward {\n"
    "  all_reduce over model == layers\n"
    "  bytes <= 128 KiB\n"
    "}\n";

Test(check_program, dotreludot_has_the_specs_of_the_guide) {
  checked_t c;
  check_right(&c, kDotReluDot, NULL);
  cr_expect(eq(int, c.program->nparams, 8));
  cr_expect(eq(int, c.program->nfuncs, 1)); // train_step is left out with one warning
  cr_expect(eq(int, checked_count(&c, "entry 'train_step' is left out"), 1));
  cr_expect(eq(sz, c.diag.count, 1));
  cr_expect(eq(str, STR(checked_param(&c, "layer/0/w1")), "[-, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "layer/3/w2")), "[model, -]"));
  cr_expect(eq(str, STR(checked_input(&c, "forward", "x")), "[data, -]"));
  cr_expect(eq(str, STR(checked_result(&c, "forward", "z")), "[data, -]"));
  for (int i = 0; i < 4; ++i) {
    cr_expect(eq(
        str, STR(checked_constraint(&c, "forward", tspec_arena_printf(&c.arena, "layer/%d/y", i))),
        "[data, model]"));
    cr_expect(eq(
        str, STR(checked_constraint(&c, "forward", tspec_arena_printf(&c.arena, "layer/%d/z", i))),
        "[data, -]"));
  }
  const char *layer = "dot relu constraint dot constraint";
  cr_expect(eq(str, STR(checked_kinds(&c, "forward")),
               tspec_arena_printf(&c.arena, "%s %s %s %s", layer, layer, layer, layer)));
  checked_deinit(&c);
}

Test(check_program, glorot_is_a_truncated_normal_of_the_right_variance) {
  checked_t c;
  check_right(&c, kDotReluDot, NULL);
  const tspec_param_t *w1 = param(&c, "layer/0/w1");
  // variance 2 / (1024 + 1024), the underlying sigma divided by .87962566 (facts 4.1)
  cr_expect(eq(int, (int)w1->init, (int)TSPEC_INIT_TRUNCATED_NORMAL));
  cr_expect(epsilon_eq(dbl, w1->init_args[1], sqrt(2.0 / 2048) / 0.87962566, 1e-9));
  cr_expect(eq(str, STR(w1->init_text), "xavier_normal"));
  checked_deinit(&c);
}

Test(check_program, set_changes_what_is_declared) {
  checked_t c;
  const char *sets[] = {"w0=1", "layers=2"};
  check_right(&c, kDotReluDot, &(tspec_check_options_t){.nsets = 2, .sets = sets});
  cr_expect(eq(int, c.program->nparams, 4));
  const tspec_param_t *w1 = param(&c, "layer/1/w1");
  cr_expect(eq(int, (int)w1->init, (int)TSPEC_INIT_FILL));
  cr_expect(epsilon_eq(dbl, w1->init_args[0], 1.0 / 1024, 0));
  cr_expect(epsilon_eq(dbl, c.program->promises[0].value, 2, 0)); // it follows
  cr_expect(c.program->promises[0].warn_only);
  checked_deinit(&c);
}

Test(check_program, arguments_are_inputs_then_parameters_in_order_of_declaration) {
  checked_t c;
  check_right(&c,
              "param a: f32[2] = ones\n"
              "param b: f32[2] = ones\n"
              "param unused: f32[2] = ones\n"
              "state s: f32[2] = 0\n"
              "entry fn f(y: f32[2], x: f32[2]) -> (z: f32[2]) { return s * b + a * x + y + b }\n",
              NULL);
  const tspec_func_t *func = tspec_program_find_func(c.program, "f");
  static const char *const kWanted[] = {"y", "x", "a", "b", "s"};
  cr_assert(eq(int, func->nargs, 5));
  for (int i = 0; i < 5; ++i) {
    cr_expect(eq(str, STR(func->args[i].name), STR(kWanted[i])));
    cr_expect(eq(int, func->args[i].value->index, i));
  }
  cr_expect(eq(int, (int)func->args[4].kind, (int)TSPEC_SLOT_STATE));
  checked_deinit(&c);
}

// ---- sizes and options -----------------------------------------------------------------------

Test(check_program, sizes_follow_what_is_set) {
  checked_t c;
  const char *sets[] = {"embed=32"};
  const char *program = "axis mlp = 4 * embed, embed = heads * 2\n"
                        "const heads = 8\n"
                        "param p: f32[mlp] = ones\n"
                        "entry fn f(x: f32) -> (y: f32) { return x }\n";
  check_right(&c, program, NULL);
  cr_expect(eq(llong, (long long)size_of_p(&c), 64)); // used before they are declared
  checked_deinit(&c);
  check_right(&c, program, &(tspec_check_options_t){.nsets = 1, .sets = sets});
  cr_expect(eq(llong, (long long)size_of_p(&c), 128));
  checked_deinit(&c);
}

static void expect_mesh(const char *program, const tspec_check_options_t *options,
                        const char *wanted) {
  checked_t c;
  tspec_buf_t text = {0};
  tspec_buf_printf(&text, "%s\nentry fn f(x: f32) -> (y: f32) { return x }\n", program);
  check_right(&c, text.text, options);
  cr_expect(eq(str, STR(tspec_mesh_print(&c.arena, &c.program->mesh)), STR(wanted)));
  checked_deinit(&c);
  tspec_buf_deinit(&text);
}

Test(check_program, the_mesh_option_changes_sizes) {
  expect_mesh("", NULL, "");
  expect_mesh("const n = 3\nmesh data = 2, model = n", NULL, "data=2, model=3");
  expect_mesh("mesh data = 2, model = 4", &(tspec_check_options_t){.mesh = "model=8"},
              "data=2, model=8");
  expect_mesh("", &(tspec_check_options_t){.mesh = "a=2,b=3"}, "a=2, b=3");
  expect_mesh("mesh data = 2, model = 4", &(tspec_check_options_t){.mesh = "data=-1", .nranks = 12},
              "data=3, model=4");
  expect_mesh("mesh data = -1, model = 4", &(tspec_check_options_t){.nranks = 8},
              "data=2, model=4");
}

Test(check_program, a_mesh_axis_states_its_bandwidth) {
  checked_t c;
  check_right(&c,
              "mesh node = 2 @ 10 GB/s, core = 4 @ 1.5 MiB/s, rest = 2\n"
              "entry fn f(x: f32) -> (y: f32) { return x }\n",
              NULL);
  cr_expect(epsilon_eq(dbl, c.program->mesh.axes[0].bytes_per_second, 1e10, 1));
  cr_expect(epsilon_eq(dbl, c.program->mesh.axes[1].bytes_per_second, 1.5 * 1048576, 1e-6));
  cr_expect(epsilon_eq(dbl, c.program->mesh.axes[2].bytes_per_second, 0, 0));
  checked_deinit(&c);
}

Test(check_program, promises_are_folded_with_their_units) {
  checked_t c;
  const char *program = "mesh data = 2, model = 4\n"
                        "const layers = 3\n"
                        "entry fn f(x: f32) -> (y: f32) { return x }\n"
                        "expect f {\n"
                        "  all_reduce over data*model <= 2 * layers + 1\n"
                        "  memory < 1.5 MiB\n"
                        "  collectives == 0\n"
                        "}\n";
  check_right(&c, program, NULL);
  const tspec_promise_t *promises = c.program->promises;
  cr_assert(eq(int, c.program->npromises, 3));
  cr_expect(eq(str, STR(promises[0].what), "all_reduce"));
  cr_expect(eq(str, STR(promises[0].compare), "<="));
  cr_expect(eq(str, STR(promises[0].text), "all_reduce over data*model <= 2 * layers + 1"));
  cr_expect(eq(int, promises[0].nover, 2));
  cr_expect(eq(str, STR(promises[0].over[1]), "model"));
  cr_expect(epsilon_eq(dbl, promises[0].value, 7, 0));
  cr_expect(epsilon_eq(dbl, promises[1].value, 1.5 * 1048576, 0));
  cr_expect(not(promises[2].warn_only));
  checked_deinit(&c);
  check_right(&c, program, &(tspec_check_options_t){.mesh = "data=4"});
  cr_expect(c.program->promises[2].warn_only);
  checked_deinit(&c);
  check_right(&c, program, &(tspec_check_options_t){.mesh = "data=4", .strict = true});
  cr_expect(not(c.program->promises[2].warn_only));
  checked_deinit(&c);
}

Test(check_program, a_rules_file_brings_a_mesh_and_its_rules_come_first) {
  checked_t c;
  const char *rules[] = {TSPEC_TEST_SOURCE_DIR "/data/diagnostics/more/fsdp.rules"};
  check_right(&c,
              "mesh data = 2, model = 4\n"
              "axis batch = 16, embed = 32\n"
              "shard axes {\n  batch -> -\n  embed -> -\n}\n"
              "param w: f32[embed, 48] = normal\n"
              "param b: f32[48] = zeros\n"
              "entry fn f(x: f32[batch, embed]) -> (y: f32[batch, 48]) { return x @ w + b }\n"
              "expect f { all_gather == 0 }\n",
              &(tspec_check_options_t){.nrules = 1, .rules = rules});
  cr_expect(eq(str, STR(tspec_mesh_print(&c.arena, &c.program->mesh)), "fsdp=8, data=1, model=1"));
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[fsdp, -]"));
  cr_expect(eq(str, STR(checked_param(&c, "w")), "[-, fsdp]")); // 48 is the largest dim
  cr_expect(eq(str, STR(checked_param(&c, "b")), "[-]"));       // below the floor
  // the program's promise was not made for this mesh, the rules file's was
  cr_assert(eq(int, c.program->npromises, 2));
  cr_expect(c.program->promises[0].warn_only);
  cr_expect(not(c.program->promises[1].warn_only));
  checked_deinit(&c);
}

Test(check_program, axes_that_only_the_programs_mesh_has_are_of_size_1_in_a_rules_files) {
  checked_t c;
  const char *rules[] = {TSPEC_TEST_SOURCE_DIR "/data/diagnostics/more/fsdp.rules"};
  tspec_check_options_t options = {.nrules = 1, .rules = rules};
  const char *program = "mesh data = 2 @ 10 GB/s, fsdp = 2, model = 4\n"
                        "axis batch = 16, embed = 32\n"
                        "shard axes {\n  embed -> model\n}\n"
                        "shard params { \"w\" -> [data, model] use [-, model] }\n"
                        "shard values { \"h\" -> [data, -] sum(model) }\n"
                        "param w: f32[embed, 48] = normal\n"
                        "param v: f32[48, 2] @ [model*data?, -] = normal\n"
                        "param u: f32[embed] = normal\n"
                        "manual(model) fn whole(x: f32[$n] @ [?]) -> f32[$n] @ [?] {\n"
                        "  return psum(x, model) / axis_size(model)\n}\n"
                        "entry fn f(x: f32[batch, embed]) -> (y: f32[batch, 2] @ [data, -]) {\n"
                        "  let h = x @ w\n  let g @ [data?, -] = h @ v\n  return g\n}\n"
                        "entry fn g(x: f32[embed]) -> (y: f32[embed]) { return whole(x) }\n"
                        "expect f { all_reduce over model == 0 }\n";
  check_text(&c, program, &options);
  cr_expect(eq(int, c.diag.nerrors, 0), "%s", checked_messages(&c));
  cr_assert(ne(ptr, c.program, NULL));
  cr_expect(eq(str, STR(tspec_mesh_print(&c.arena, &c.program->mesh)), "fsdp=8, data=1, model=1"));
  cr_expect(eq(str, STR(checked_input(&c, "f", "x")), "[fsdp, model]"));
  cr_expect(eq(str, STR(checked_param(&c, "v")), "[model*data?, -]"));
  checked_deinit(&c);
  options.mesh = "model=2,fsdp=4"; // the sizes of either may be changed
  check_text(&c, program, &options);
  cr_assert(ne(ptr, c.program, NULL));
  cr_expect(eq(str, STR(tspec_mesh_print(&c.arena, &c.program->mesh)), "fsdp=4, data=1, model=2"));
  cr_expect(epsilon_eq(dbl, c.program->mesh.axes[1].bytes_per_second, 1e10, 0));
  checked_deinit(&c);
}

// ---- modules and functions -------------------------------------------------------------------

Test(check_program, paths_are_the_instances_from_the_top) {
  checked_t c;
  check_right(&c,
              "axis d = 4\n"
              "module Inner(n: axis, bias = true) {\n"
              "  param w: f32[n] = ones\n"
              "  if bias { param bias: f32[n] = zeros; fn (x) { return x * w + bias } }\n"
              "  else { fn (x) { return x * w } }\n"
              "}\n"
              "module Outer() {\n"
              "  for i in 0..2 { part[i] = Inner(d, bias = i == 1) }\n"
              "  fn (x) { for i in 0..2 { x = part[i](x) }; return x }\n"
              "}\n"
              "outer = Outer()\n"
              "param wte: f32[d] = uniform(-1, 1)\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) { return outer(x) + outer.part[0].w + wte }\n",
              NULL);
  static const char *const kWanted[] = {"outer/part/0/w", "outer/part/1/w", "outer/part/1/bias",
                                        "wte"};
  cr_assert(eq(int, c.program->nparams, 4));
  for (int i = 0; i < 4; ++i) {
    cr_expect(eq(str, STR(c.program->params[i].path), STR(kWanted[i])));
  }
  cr_expect(eq(str, STR(checked_ops(&c, "f")),
               "%1 = mul x outer/part/0/w : f32[4] @outer/x\n"
               "%2 = mul %1 outer/part/1/w : f32[4]\n"
               "%3 = add %2 outer/part/1/bias : f32[4] @outer/x\n"
               "%4 = add %3 outer/part/0/w : f32[4]\n"
               "%5 = add %4 wte : f32[4]\n"));
  checked_deinit(&c);
}

Test(check_program, an_untyped_parameter_takes_anything) {
  checked_t c;
  check_right(&c,
              "axis d = 4\n"
              "lin = Linear(d, d, bias = false)\n"
              "fn twice(f, x) { return f(f(x)) }\n"
              "fn make(t, text) { if text == \"ones\" { return ones([d], t) } else { return "
              "zeros([d], t) } }\n"
              "fn add(x, n = 2, m = n * 2) { return x + n + m }\n"
              "entry fn f(x: f32[d]) -> (y: f32[d], z: i32[d], w: f32[d]) {\n"
              "  return twice(lin, twice(exp, x)), make(i32, \"ones\"), add(x, m = 1)\n"
              "}\n",
              NULL);
  cr_expect(eq(str, STR(checked_ops(&c, "f")),
               "%1 = exp x : f32[4]\n"
               "%2 = exp %1 : f32[4]\n"
               "%3 = dot %2 lin/kernel lhs_contract=0 rhs_contract=0 dtype=f32 : f32[4]\n"
               "%4 = dot %3 lin/kernel lhs_contract=0 rhs_contract=0 dtype=f32 : f32[4]\n"
               "%5 = constant dtype=i32 shape=4 values=1 : i32[4]\n"
               "%6 = constant dtype=f32 shape=4 values=2 : f32[4]\n"
               "%7 = add x %6 : f32[4]\n"
               "%8 = constant dtype=f32 shape=4 values=1 : f32[4]\n"
               "%9 = add %7 %8 : f32[4]\n"));
  checked_deinit(&c);
}

Test(check_program, dollar_names_bind_sizes_and_dtypes) {
  checked_t c;
  check_right(&c,
              "fn pair(x: $t[..., $n], y: $t[$n, 2 * n]) -> $t[..., 2 * n] {\n"
              "  return x @ y + zeros([2 * n], t)\n"
              "}\n"
              "entry fn f(x: f64[5, 3], y: f64[3, 6]) -> (z: f64[5, 6]) { return pair(x, y) }\n",
              NULL);
  cr_expect(eq(str, STR(checked_ops(&c, "f")),
               "%1 = dot x y lhs_contract=1 rhs_contract=0 dtype=f64 : f64[5, 6]\n"
               "%2 = constant dtype=f64 shape=6 values=0 : f64[6]\n"
               "%3 = broadcast %2 shape=5,6 dims=1 : f64[5, 6]\n"
               "%4 = add %1 %3 : f64[5, 6]\n"));
  checked_deinit(&c);
}

Test(check_program, loops_and_conditions_run_at_compile_time) {
  checked_t c;
  check_right(
      &c,
      "const n = 3\n"
      "entry fn f(x: f32[2]) -> (y: f32[2]) {\n"
      "  let k = 0\n"
      "  for i in 1..n + 1 {\n"
      "    let square = i * i\n"
      "    if square % 2 == 0 { x = x + square } else if i == 1 { k = k + 10 } else { k = k "
      "+ 1 }\n"
      "  }\n"
      "  return x * k\n"
      "}\n",
      NULL);
  cr_expect(eq(str, STR(checked_ops(&c, "f")),
               "%1 = constant dtype=f32 shape=2 values=4 : f32[2]\n"
               "%2 = add x %1 : f32[2] @x\n"
               "%3 = constant dtype=f32 shape=2 values=11 : f32[2]\n"
               "%4 = mul %2 %3 : f32[2]\n"));
  checked_deinit(&c);
}

Test(check_program, a_program_hides_the_library_but_not_from_the_library) {
  checked_t c;
  check_right(&c,
              "axis d = 4\n"
              "fn mean(x, dim, keep) { return x }\n"
              "fn relu(x) { return 2 * x }\n"
              "module Linear() { param w: f32[d] = ones; fn (x) { return x * w } }\n"
              "norm = LayerNorm(d)\n"
              "lin = Linear()\n"
              "entry fn f(x: f32[d]) -> (y: f32[d]) { return relu(lin(x)) }\n"
              "entry fn g(x: f32[d]) -> (y: f32[d]) { return norm(x) }\n",
              NULL);
  cr_expect(eq(str, STR(checked_kinds(&c, "f")), "mul constant mul"));
  cr_expect(eq(str, STR(checked_kinds(&c, "g")),
               "reduce reshape constant div broadcast sub mul reduce reshape constant div constant "
               "add rsqrt broadcast mul mul add"));
  checked_deinit(&c);
}

Test(check_program, tuples_come_apart) {
  checked_t c;
  check_right(&c,
              "fn both(x) { return x + 1, x * 2 }\n"
              "fn through(x) { return both(x) }\n"
              "entry fn f(x: f32[2]) -> (a: f32[2], b: f32[2], c: f32[2]) {\n"
              "  let (_, second) = both(x)\n"
              "  return through(x), second\n"
              "}\n",
              NULL);
  cr_expect(
      eq(str, STR(checked_kinds(&c, "f")), "constant add constant mul constant add constant mul"));
  checked_deinit(&c);
}

// ---- initial values --------------------------------------------------------------------------

static void expect_init(const char *initializer, tspec_init_kind_t kind, double first,
                        double second) {
  checked_t c;
  tspec_buf_t text = {0};
  tspec_buf_printf(&text,
                   "param p: f32[3, 5, 4, 16] = %s\nentry fn f(x: f32) -> (y: f32) { return x }\n",
                   initializer);
  check_right(&c, text.text, NULL);
  const tspec_param_t *p = param(&c, "p");
  cr_expect(eq(int, (int)p->init, (int)kind), "%s", initializer);
  cr_expect(epsilon_eq(dbl, p->init_args[0], first, 1e-9), "%s", initializer);
  cr_expect(epsilon_eq(dbl, p->init_args[1], second, 1e-9), "%s", initializer);
  cr_expect(eq(str, STR(p->init_text), STR(initializer)));
  checked_deinit(&c);
  tspec_buf_deinit(&text);
}

Test(check_program, initializers) {
  // fans: the last two dims are in and out, the 3 * 5 before count to both
  double in = 15 * 4, out = 15 * 16, cut = 0.87962566103423978;
  expect_init("0.25", TSPEC_INIT_FILL, 0.25, 0);
  expect_init("zeros", TSPEC_INIT_FILL, 0, 0);
  expect_init("ones", TSPEC_INIT_FILL, 1, 0);
  expect_init("full(-3)", TSPEC_INIT_FILL, -3, 0);
  expect_init("normal", TSPEC_INIT_NORMAL, 0, 1);
  expect_init("normal(stddev = 0.02)", TSPEC_INIT_NORMAL, 0, 0.02);
  expect_init("truncated_normal(0.5)", TSPEC_INIT_TRUNCATED_NORMAL, 0, 0.5);
  expect_init("uniform(-2, hi = 3)", TSPEC_INIT_UNIFORM, -2, 3);
  expect_init("xavier_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, sqrt(2 / (in + out)) / cut);
  expect_init("he_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, sqrt(2 / in) / cut);
  expect_init("lecun_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, sqrt(1 / in) / cut);
  double limit = sqrt(6 / (in + out));
  expect_init("xavier_uniform", TSPEC_INIT_UNIFORM, -limit, limit);
}

Test(check_program, fans_are_of_the_unstacked_matrix) {
  checked_t c;
  check_right(&c,
              "axis d = 4\n"
              "blocks = stack[7] Linear(d, 12)\n"
              "entry fn f(x: f32) -> (y: f32) { return x }\n",
              NULL);
  const tspec_param_t *kernel = param(&c, "blocks/kernel");
  cr_expect(eq(int, kernel->type.rank, 3));
  cr_expect(eq(llong, (long long)kernel->type.dims[0], 7));
  cr_expect(epsilon_eq(dbl, kernel->init_args[1], sqrt(2.0 / 16) / 0.87962566103423978, 1e-9));
  checked_deinit(&c);
}

// ---- size ------------------------------------------------------------------------------------

Test(check_program, a_hundred_thousand_ops_are_quick) {
  checked_t c;
  check_right(&c,
              "axis d = 4\n"
              "for i in 0..500 { layer[i] = Linear(d, d) }\n"
              "fn step(x) {\n"
              "  for k in 0..32 { let h = x + k; x = h * h }\n"
              "  return x\n"
              "}\n"
              "shard values { \"nothing_of_this_name\" -> [-, -] }\n"
              "entry fn f(x: f32[d, d]) -> (y: f32[d, d]) {\n"
              "  for i in 0..500 { x = layer[i](x); x = step(x); x = step(x) }\n"
              "  return x\n"
              "}\n",
              NULL);
  long count = 0;
  const tspec_func_t *func = tspec_program_find_func(c.program, "f");
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    ++count;
  }
  cr_expect(eq(long, count, 500 * (3 + 2 * 32 * 3)));
  checked_deinit(&c);
}

// Refused with one message that says so.
static void check_too_long(const char *program) {
  tspec_check_options_t options = {.max_steps = 10000};
  checked_t c;
  check_text(&c, program, &options);
  cr_assert(eq(ptr, c.program, NULL), "%s", program);
  cr_assert(eq(int, checked_count(&c, "more than 10000 expressions, calls and iterations"), 1),
            "%s", checked_messages(&c));
  checked_deinit(&c);
}

Test(check_program, growth_without_bound_is_refused, .timeout = 60) {
  char calls[4000] = "fn g0(x) {\n  return x\n}\n";
  for (int i = 1; i < 60; ++i) {
    size_t length = strlen(calls);
    snprintf(calls + length, sizeof calls - length, "fn g%d(x) {\n  return g%d(g%d(x))\n}\n", i,
             i - 1, i - 1);
  }
  strcat(calls, "entry fn main(x: f32[2]) -> (y: f32[2]) {\n  return g59(x)\n}\n");
  check_too_long(calls);
  check_too_long("entry fn main(x: f32[2]) -> (y: f32[2]) {\n  for i in 0..1000000 {\n"
                 "    for j in 0..1000000 {\n    }\n  }\n  return x\n}\n");
  check_too_long("for i in 0..5000 {\n  for j in 0..1000000 {\n  }\n}\n"
                 "entry fn main(x: f32[2]) -> (y: f32[2]) {\n  return x\n}\n");
}
