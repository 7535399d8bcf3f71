#define _GNU_SOURCE
// What the tree says, as S-expressions derived by hand from the grammar; and what the corpus
// (corpus_test.c) cannot show.
#include "frontend/parser.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/unit/frontend/support.h"

static parsed_t parsed;

static void teardown(void) {
  parsed_deinit(&parsed);
}

TestSuite(parser, .fini = teardown);

/// The dump of the value of "let a = <text>".
static char *value(const char *text) {
  char *program = NULL;
  if (asprintf(&program, "fn f() { let a = %s\n}", text) < 0) {
    abort();
  }
  parse_text(&parsed, program, strlen(program));
  free(program);
  tspec_buf_t buf = {0};
  if (parsed.diag.nerrors == 0) {
    tspec_ast_dump_expr(parsed.tree->decls.items[0]->u.fn.body.items[0]->u.let.value, &buf);
  }
  char *dump = tspec_arena_strdup(&parsed.arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return dump;
}

static const struct {
  const char *text;
  const char *dump;
} values[] = {
    {"-x ^ 2", "(neg (^ x 2))"},
    {"2 ^ -x ^ y", "(^ 2 (neg (^ x y)))"},
    {"a - b - c", "(- (- a b) c)"},
    {"a + b * c @ d", "(+ a (@ (* b c) d))"},
    {"a || b && c < d + e", "(|| a (&& b (< c (+ d e))))"},
    {"!a == b", "(== (not a) b)"},
    {"(a + b) * c", "(* (+ a b) c)"},
    {"x.y(1)[2].z", "(. (index (call (. x y) 1) 2) z)"},
    {"x[:, 1:, :2, ::3, 4:5:6, ...]",
     "(index x (slice _ _) (slice 1 _) (slice _ 2) (slice _ _ 3) (slice 4 5 6) ...)"},
    {"f(a, in = [1, [2]], c = \"s\")", "(call f a (= in (list 1 (list 2))) (= c \"s\"))"},
    {"bf16(true)", "(call bf16 true)"},
    {"remat(x)", "(call remat x)"},
    {"remat scan h = 0, i in 0..n { next h }",
     "(remat (scan (carry h 0) (each i (range 0 n)) (block (next h))))"},
};

Test(parser, expressions_bind_as_the_grammar_says) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    cr_expect(eq(str, value(values[i].text), (char *)values[i].dump), "%s", values[i].text);
    parsed_deinit(&parsed);
  }
  value("1");
}

Test(parser, an_expression_knows_where_it_stands) {
  value("(a + bc) * d[1]");
  const tspec_ast_expr_t *product = parsed.tree->decls.items[0]->u.fn.body.items[0]->u.let.value;
  const tspec_ast_expr_t *sum = product->u.binary.lhs;
  cr_assert(eq(int, (int)product->range.col, 18));
  cr_assert(eq(int, (int)product->range.end_col, 33));
  cr_assert(eq(int, (int)product->u.binary.op_range.col, 27));
  cr_assert(eq(int, (int)sum->range.col, 19));
  cr_assert(eq(int, (int)sum->range.end_col, 25));
  cr_assert(eq(int, (int)product->u.binary.rhs->range.col, 29));
}

static void parse_repeated(const char *before, const char *unit, size_t count, const char *after) {
  tspec_buf_t buf = {0};
  tspec_buf_puts(&buf, before);
  for (size_t i = 0; i < count; i++) {
    tspec_buf_puts(&buf, unit);
  }
  tspec_buf_puts(&buf, after);
  parse_text(&parsed, buf.text, buf.length);
  tspec_buf_deinit(&buf);
}

static const struct {
  const char *before;
  const char *unit;
  const char *after;
} deep[] = {
    {"fn f() { let a = ", "(", "\n let b = 1 }"},
    {"fn f() { let a = ", "[", "\n let b = 1 }"},
    {"fn f() { let a = ", "-", "x\n let b = 1 }"},
    {"fn f() { let a = ", "x^", "x\n let b = 1 }"},
    {"fn f() { let a = ", "f(", "\n let b = 1 }"},
    {"fn f() { let a = ", "x+", "x\n let b = 1 }"},
    {"fn f() { let a = x", "[0]", "\n let b = 1 }"},
    {"fn f() { let a = ", "x+\n", "x\n let b = 1 }"},
    {"fn f() { let a = ", "f(x) &&\n", "x\n let b = 1 }"},
    {"fn f() { let a = ", "x ^\n", "x\n let b = 1 }"},
    {"fn f() { let a = ", "-\n", "x\n let b = 1 }"},
    {"fn f() { let a = ", "!\n", "x\n let b = 1 }"},
    {"fn f() { ", "if x { ", "}"},
    {"", "for i in 0..1 { ", ""},
    {"module M() { ", "if x { ", "}"},
    {"fn f() { ", "let a = scan x = 1 { ", "}"},
};

Test(parser, nesting_without_end_is_an_error_and_no_overflow) {
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
    parse_repeated(deep[i].before, deep[i].unit, 100000, deep[i].after);
    cr_expect(ge(int, parsed.diag.nerrors, 1), "case %zu", i);
    cr_expect(le(int, parsed.diag.nerrors, 2), "case %zu: %d errors", i, parsed.diag.nerrors);
    const char *text = parsed.diag.messages[0].text;
    cr_expect(strstr(text, "nested more than") != NULL ||
                  strstr(text, "on top of each other") != NULL,
              "case %zu: %s", i, text);
    parsed_deinit(&parsed);
  }
  value("1");
}

// An item with a fault at ERR, that goes on for lines after the end of each.
static const char *const continued[] = {
    "fn f() { let a = x ERR y +\n z @\n f(z) ==\n z\n let b = 1 }",
    "fn f() { let a = f(x) ERR y &&\n z ||\n f(z) ^\n z\n let b = 1 }",
    "fn f() { let a = x ERR y * -\n z + !\n z\n let b = 1 }",
    "fn f() { return x ERR y,\n z,\n z }",
    "fn f() { a ERR =\n z }",
    "mesh data ERR = 2,\n model = 4\naxis a = 1\n",
    "shard axes { a ERR ->\n data\n b -> - }",
};

Test(parser, a_fault_in_an_item_of_many_lines_is_one_error) {
  for (size_t i = 0; i < sizeof continued / sizeof *continued; i++) {
    parse_text(&parsed, continued[i], strlen(continued[i]));
    cr_expect(eq(int, parsed.diag.nerrors, 1), "case %zu", i);
    parsed_deinit(&parsed);
  }
  value("1");
}

Test(parser, a_fault_does_not_hide_those_of_later_items) {
  const char *text = "shard axes {\n a ERR -> -\n b ERR -> data\n}\n"
                     "fn f() {\n let a = x ERR +\n let b = x ERR y\n return\n c d\n}\n";
  parse_text(&parsed, text, strlen(text));
  cr_assert(eq(int, parsed.diag.nerrors, 5));
}

Test(parser, long_lists_are_not_deep) {
  parse_repeated("fn f() { let a = [", "1, ", 100000, "2] }");
  cr_assert(eq(int, parsed.diag.nerrors, 0));
  parsed_deinit(&parsed);
  parse_repeated("fn f() { if x { } ", "else if x { } ", 20000, "}");
  cr_assert(eq(int, parsed.diag.nerrors, 0));
}

Test(parser, keeps_what_could_be_read) {
  const char *text = "axis a = 1\naxis = 2\nfn f() { let x = 1; let = 2; return x }\n";
  parse_text(&parsed, text, strlen(text));
  cr_assert(eq(int, parsed.diag.nerrors, 2));
  cr_assert(eq(sz, parsed.tree->decls.count, 2));
  cr_assert(eq(sz, parsed.tree->decls.items[1]->u.fn.body.count, 2));
}

Test(parser, an_empty_file_is_an_empty_program) {
  parse_text(&parsed, "", 0);
  cr_assert(eq(int, parsed.diag.nerrors, 0));
  cr_assert(eq(sz, parsed.tree->decls.count, 0));
}

Test(parser, a_scalar_type_may_have_empty_brackets) {
  parsed_t other;
  parse_text(&parsed, "state a: f32[] = 0", 18);
  parse_text(&other, "state a : f32=0 // same", 23);
  cr_assert(tspec_ast_equal(parsed.tree, other.tree));
  parsed_deinit(&other);
}
