// The tables of rule resolution, one program per line: tests/data/axis_rules.jsonl (Linen, T5X and
// MaxText on the real libraries), path_rules.jsonl (first match wins) and fsdp_policy.jsonl.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/check_rules.h"
#include "ir/base/str.h"
#include "tests/unit/frontend/check_support.h"

typedef void (*run_line_fn_t)(json_t *line, int number);

static void for_each_line(const char *name, run_line_fn_t run) {
  char path[256];
  snprintf(path, sizeof path, "%s/data/%s", TSPEC_TEST_SOURCE_DIR, name);
  FILE *file = fopen(path, "r");
  cr_assert(ne(ptr, (void *)file, NULL), "%s", path);
  char *text = NULL;
  size_t capacity = 0;
  int number = 0;
  while (getline(&text, &capacity, file) > 0) {
    json_t *line = json_loads(text, 0, NULL);
    cr_assert(ne(ptr, (void *)line, NULL), "%s:%d", name, number + 1);
    run(line, ++number);
    json_decref(line);
  }
  free(text);
  fclose(file);
  cr_expect(gt(int, number, 20));
}

// "data*model" of ["data", "model"]; none: "-".
static void put_axes(tspec_buf_t *buf, json_t *axes) {
  size_t count = json_array_size(axes);
  for (size_t i = 0; i < count; ++i) {
    tspec_buf_printf(buf, "%s%s", i > 0 ? "*" : "", json_string_value(json_array_get(axes, i)));
  }
  if (count == 0) {
    tspec_buf_puts(buf, "-");
  }
}

static void put_axis_program(tspec_buf_t *buf, json_t *line) {
  static const char *const kLogical[] = {"batch", "length",   "vocab",     "embed",  "mlp",
                                         "heads", "kv",       "layers",    "joined", "x",
                                         "head",  "features", "joined_kv", "norm",   "stack"};
  tspec_buf_puts(buf, "mesh data = 2, model = 2, fsdp = 2, tensor = 2, X = 2, Y = 2, Z = 2\n");
  for (size_t i = 0; i < sizeof kLogical / sizeof kLogical[0]; ++i) {
    tspec_buf_printf(buf, "axis %s = 8\n", kLogical[i]);
  }
  tspec_buf_puts(buf, "shard axes {\n");
  json_t *rule = NULL, *name = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(line, "rules"), i, rule) {
    tspec_buf_printf(buf, "  %s -> ", json_string_value(json_array_get(rule, 0)));
    put_axes(buf, json_array_get(rule, 1));
    tspec_buf_puts(buf, "\n");
  }
  tspec_buf_puts(buf, "}\nparam p: f32[");
  json_array_foreach(json_object_get(line, "names"), i, name) {
    const char *text = json_string_value(name);
    tspec_buf_printf(buf, "%s%s", i > 0 ? ", " : "", text == NULL ? "8" : text);
  }
  tspec_buf_puts(buf, "] = ones\nentry fn f(x: f32) -> (y: f32) { return x }\n");
}

// Blocked and final dims are '-' here; those without a rule or a name '?'.
static const char *wanted_sharding(tspec_buf_t *buf, json_t *line) {
  json_t *why = json_object_get(line, "why"), *answer = json_object_get(line, "answer");
  bool says_something = false;
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; i < json_array_size(why); ++i) {
    const char *text = json_string_value(json_array_get(why, i));
    bool open = strcmp(text, "norule") == 0 || strcmp(text, "unnamed") == 0;
    says_something = says_something || !open;
    tspec_buf_puts(buf, i > 0 ? ", " : "");
    if (open) {
      tspec_buf_puts(buf, "?");
    } else {
      put_axes(buf, json_array_get(answer, i));
    }
  }
  tspec_buf_puts(buf, "]");
  return says_something ? tspec_buf_get(buf) : "none";
}

static void run_axis_rule(json_t *line, int number) {
  tspec_buf_t program = {0}, wanted = {0};
  put_axis_program(&program, line);
  checked_t checked;
  check_text(&checked, tspec_buf_get(&program), NULL);
  cr_assert(ne(ptr, checked.program, NULL), "line %d: %s", number, checked_messages(&checked));
  cr_expect(eq(str, (char *)(uintptr_t)checked_param(&checked, "p"),
               (char *)(uintptr_t)wanted_sharding(&wanted, line)),
            "line %d", number);
  checked_deinit(&checked);
  tspec_buf_deinit(&program);
  tspec_buf_deinit(&wanted);
}

Test(check_tables, axis_rules_resolve_as_in_flax_t5x_and_maxtext) {
  for_each_line("axis_rules.jsonl", run_axis_rule);
}

// True if pattern `index` of the line is found in its path.
static bool matches(tspec_checker_t *checker, json_t *line, size_t index) {
  json_t *rule = json_array_get(json_object_get(line, "rules"), index);
  const char *pattern = json_string_value(json_array_get(rule, 0));
  regex_t regex;
  cr_assert(tspec_check_pattern(checker, pattern, (tspec_range_t){0}, &regex), "%s", pattern);
  const char *path = json_string_value(json_object_get(line, "path"));
  bool found = regexec(&regex, path, 0, NULL, 0) == 0;
  regfree(&regex);
  return found;
}

static void run_path_rule(json_t *line, int number) {
  checked_t checked;
  check_text(&checked, "", NULL);
  tspec_checker_t checker = {
      .arena = &checked.arena, .sources = &checked.sources, .diag = &checked.diag};
  json_t *all = json_object_get(line, "all_matching");
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(json_object_get(line, "rules")); ++i) {
    if (matches(&checker, line, i)) {
      json_int_t wanted = json_integer_value(json_array_get(all, count));
      cr_expect(eq(llong, (long long)i, (long long)wanted), "line %d", number);
      ++count;
    }
  }
  cr_expect(eq(sz, count, json_array_size(all)), "line %d", number);
  checked_deinit(&checked);
}

Test(check_tables, patterns_are_searched_as_posix_does) {
  for_each_line("path_rules.jsonl", run_path_rule);
}

// Lines without a size are of a system whose rule does not look at sizes.
static void run_fsdp(json_t *line, int number) {
  json_t *shape = json_object_get(line, "shape"), *size = json_object_get(line, "size");
  if (!json_is_integer(size)) {
    return;
  }
  tspec_buf_t program = {0}, wanted = {0};
  tspec_buf_printf(&program, "mesh fsdp = %d\nparam p: f32[", (int)json_integer_value(size));
  json_t *answer = json_object_get(line, "first_tie");
  for (size_t i = 0; i < json_array_size(shape); ++i) {
    bool chosen = json_is_integer(answer) && json_integer_value(answer) == (json_int_t)i;
    tspec_buf_printf(&program, "%s%lld", i > 0 ? ", " : "",
                     (long long)json_integer_value(json_array_get(shape, i)));
    tspec_buf_printf(&wanted, "%s%s", i > 0 ? ", " : "[", chosen ? "fsdp" : "-");
  }
  tspec_buf_printf(
      &program,
      "] = ones\nshard params { otherwise -> fsdp(axis = fsdp, min_elements = %lld) }\n"
      "entry fn f(x: f32) -> (y: f32) { return x }\n",
      (long long)json_integer_value(json_object_get(line, "min")));
  tspec_buf_puts(&wanted, "]");
  checked_t checked;
  check_text(&checked, tspec_buf_get(&program), NULL);
  cr_assert(ne(ptr, checked.program, NULL), "line %d: %s", number, checked_messages(&checked));
  const char *expected = json_array_size(shape) == 0 ? "none" : tspec_buf_get(&wanted);
  cr_expect(eq(str, (char *)(uintptr_t)checked_param(&checked, "p"), (char *)(uintptr_t)expected),
            "line %d", number);
  checked_deinit(&checked);
  tspec_buf_deinit(&program);
  tspec_buf_deinit(&wanted);
}

Test(check_tables, fsdp_splits_the_first_of_the_largest_dims_that_divide) {
  for_each_line("fsdp_policy.jsonl", run_fsdp);
}
