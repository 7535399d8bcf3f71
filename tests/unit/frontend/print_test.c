#include "frontend/print.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>

#include "frontend/std.h"
#include "tests/unit/frontend/support.h"

/// Printing a text and parsing that gives the same tree, printing it again the same text, and no
/// line is too long.
static void check_round_trip(const char *text, size_t length, const char *name) {
  parsed_t first;
  parsed_t second;
  tspec_buf_t printed = {0};
  tspec_buf_t again = {0};
  parse_text(&first, text, length);
  cr_expect(eq(int, first.diag.nerrors, 0), "%s", name);
  tspec_print_file(first.tree, &printed);
  parse_text(&second, tspec_buf_get(&printed), printed.length);
  cr_expect(eq(int, second.diag.nerrors, 0), "%s", name);
  cr_expect(tspec_ast_equal(first.tree, second.tree), "%s", name);
  tspec_print_file(second.tree, &again);
  cr_expect(eq(str, (char *)tspec_buf_get(&again), (char *)tspec_buf_get(&printed)), "%s", name);
  for (const char *line = tspec_buf_get(&printed); *line != '\0'; line = strchr(line, '\n') + 1) {
    cr_expect(le(sz, (size_t)(strchr(line, '\n') - line), 100), "%s: %.110s", name, line);
  }
  tspec_buf_deinit(&printed);
  tspec_buf_deinit(&again);
  parsed_deinit(&first);
  parsed_deinit(&second);
}

static void check_folder(const char *folder, size_t at_least) {
  char pattern[1000];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/../examples/%s/*.tspec", TSPEC_TEST_SOURCE_DIR, folder);
  cr_assert(eq(int, glob(pattern, 0, NULL, &found), 0));
  cr_assert(ge(sz, found.gl_pathc, at_least));
  for (size_t i = 0; i < found.gl_pathc; i++) {
    size_t length = 0;
    char *text = read_all(found.gl_pathv[i], &length);
    check_round_trip(text, length, found.gl_pathv[i]);
    free(text);
  }
  globfree(&found);
}

Test(print, the_example_programs_come_back) {
  check_folder("programs", 11);
  check_folder("programs/more", 8);
}

Test(print, the_benchmark_programs_come_back) {
  check_folder("comm", 80);
}

Test(print, the_standard_library_comes_back) {
  check_round_trip(tspec_std_text, tspec_std_text_size, "std.tspec");
}

/// A small fixed generator: the same trees on every run.
static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

/// A random expression with every pair of parentheses written out.
static void put_random(tspec_buf_t *buf, uint32_t *state, int depth) {
  static const char *const ops[] = {
      "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "@", "^"};
  switch (depth == 0 ? 7 : next_random(state) % 8) {
  case 0:
    tspec_buf_puts(buf, next_random(state) % 2 == 0 ? "(-" : "(!");
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, ")");
    break;
  case 1:
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, ".m");
    break;
  case 2:
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, "[");
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, ":]");
    break;
  case 3:
    tspec_buf_puts(buf, "([");
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, "])");
    break;
  case 4:
  case 5:
  case 6:
    tspec_buf_puts(buf, "(");
    put_random(buf, state, depth - 1);
    tspec_buf_printf(buf, " %s ", ops[next_random(state) % 15]);
    put_random(buf, state, depth - 1);
    tspec_buf_puts(buf, ")");
    break;
  default:
    tspec_buf_puts(buf, next_random(state) % 2 == 0 ? "x" : "2.5");
    break;
  }
}

Test(print, any_expression_keeps_its_meaning_with_fewest_parentheses) {
  uint32_t state = 1;
  for (int i = 0; i < 1000; i++) {
    tspec_buf_t buf = {0};
    tspec_buf_puts(&buf, "fn f() { let a = ");
    put_random(&buf, &state, 1 + i % 5);
    tspec_buf_puts(&buf, " }");
    parsed_t first;
    parsed_t second;
    tspec_buf_t printed = {0};
    parse_text(&first, buf.text, buf.length);
    tspec_print_file(first.tree, &printed);
    parse_text(&second, tspec_buf_get(&printed), printed.length);
    cr_assert(eq(int, first.diag.nerrors + second.diag.nerrors, 0), "%s", tspec_buf_get(&printed));
    cr_assert(tspec_ast_equal(first.tree, second.tree), "%s", tspec_buf_get(&printed));
    parsed_deinit(&first);
    parsed_deinit(&second);
    tspec_buf_deinit(&printed);
    tspec_buf_deinit(&buf);
  }
}

Test(print, parts_print_on_one_line) {
  parsed_t parsed;
  const char *text = "param w: $t[..., $d, 2 * d] @ [a*b?!1, -, ?] max(c) = f(x, y = -(a + b))";
  parse_text(&parsed, text, strlen(text));
  const tspec_ast_decl_t *decl = parsed.tree->decls.items[0];
  const tspec_ast_sharding_t *sharding = decl->u.param.storage.stored;
  tspec_arena_t *arena = &parsed.arena;
  cr_assert(eq(str, (char *)tspec_print_type(arena, decl->u.param.type), "$t[..., $d, 2 * d]"));
  cr_assert(eq(str, (char *)tspec_print_sharding(arena, sharding), "[a*b?!1, -, ?] max(c)"));
  cr_assert(eq(str, (char *)tspec_print_entry(arena, &sharding->entries[0]), "a*b?!1"));
  cr_assert(eq(str, (char *)tspec_print_expr(arena, decl->u.param.value), "f(x, y = -(a + b))"));
  parsed_deinit(&parsed);
}
