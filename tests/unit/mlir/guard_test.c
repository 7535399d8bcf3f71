// Texts that MLIR's parser or printer would not survive are refused; ordinary ones are not.
#include "ir/mlir/guard.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/base/str.h"

TestSuite(guard, .timeout = 60);

/// The first message about the text, "" if there is none; in `out`.
static const char *guard(const tspec_buf_t *text, char out[200]) {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
  uint32_t file = tspec_sources_add(&sources, "t.mlir", tspec_buf_get(text), text->length);
  bool ok = tspec_mlir_guard(file, &diag);
  cr_assert(eq(int, ok, diag.count == 0));
  snprintf(out, 200, "%s", ok ? "" : diag.messages[0].text);
  tspec_arena_deinit(&arena);
  return out;
}

static void repeat(tspec_buf_t *buf, const char *text, int count) {
  for (int i = 0; i < count; i++) {
    tspec_buf_puts(buf, text);
  }
}

/// `count` times `open`, then as often `close`.
static void check_nested(const char *open, const char *close, int count, const char *want) {
  tspec_buf_t text = {0};
  char out[200];
  repeat(&text, open, count);
  repeat(&text, close, count);
  cr_assert(eq(str, (char *)guard(&text, out), (char *)want), "%d of %s", count, open);
  tspec_buf_deinit(&text);
}

Test(guard, brackets_may_nest_up_to_the_limit) {
  static const char *const kOpen[] = {"(", "[", "{", "tuple<", "module {", "fused["};
  static const char *const kClose[] = {")", "]", "}", ">", "}", "]"};
  for (size_t i = 0; i < sizeof kOpen / sizeof *kOpen; i++) {
    check_nested(kOpen[i], kClose[i], TSPEC_MLIR_MAX_DEPTH, "");
    check_nested(kOpen[i], kClose[i], TSPEC_MLIR_MAX_DEPTH + 1,
                 "this nests too deep for MLIR's parser");
    check_nested(kOpen[i], kClose[i], 100000, "this nests too deep for MLIR's parser");
  }
}

Test(guard, brackets_of_one_kind_do_not_close_another) {
  tspec_buf_t text = {0};
  char out[200];
  repeat(&text, "(-> (>= >", 300);
  cr_assert(eq(str, (char *)guard(&text, out), "this nests too deep for MLIR's parser"));
  tspec_buf_deinit(&text);
}

Test(guard, strings_and_comments_do_not_count) {
  tspec_buf_t text = {0};
  char out[200];
  repeat(&text, "\"((((\\\"((((\" // ((((\n", 1000);
  cr_assert(eq(str, (char *)guard(&text, out), ""));
  tspec_buf_deinit(&text);
}

Test(guard, expressions_may_not_be_too_long) {
  tspec_buf_t text = {0};
  char out[200];
  repeat(&text, "d0 + d1 floordiv 2 + ", 1000);
  cr_assert(eq(str, (char *)guard(&text, out), "this expression is too long for MLIR's parser"));
  text.length = 0;
  repeat(&text, "-1.0e-05, -2 : i64, ", 10000);
  cr_assert(eq(str, (char *)guard(&text, out), ""));
  tspec_buf_deinit(&text);
}

/// A chain of aliases, each with `references` to the one before, used by a module.
static void check_chain(const char *kind, const char *reference, int count, int references,
                        const char *want) {
  tspec_buf_t text = {0};
  char out[200];
  tspec_buf_printf(&text, "%s0 = 1 : i1\n", kind);
  for (int i = 1; i < count; i++) {
    tspec_buf_printf(&text, "%s%d = [", kind, i);
    for (int r = 0; r < references; r++) {
      tspec_buf_printf(&text, reference, i - 1);
    }
    tspec_buf_puts(&text, "]\n");
  }
  tspec_buf_puts(&text, "module attributes {tspec.name = ");
  tspec_buf_printf(&text, reference, count - 1);
  tspec_buf_puts(&text, "} {}\n");
  cr_assert(eq(str, (char *)guard(&text, out), (char *)want), "%s", kind);
  tspec_buf_deinit(&text);
}

Test(guard, aliases_count_as_what_they_stand_for) {
  check_chain("#a", "#a%d, ", 200, 1, "");
  check_chain("#a", "#a%d, ", 1000, 1, "this nests too deep for MLIR's parser");
  check_chain("!t", "!t%d, ", 1000, 1, "this nests too deep for MLIR's parser");
  check_chain("#a", "#a%d, ", 15, 2, "");
  check_chain("#a", "#a%d, ", 60, 2,
              "with its aliases written out this text is too long for MLIR's parser");
}

Test(guard, a_long_module_that_uses_the_last_alias_is_fine) {
  tspec_buf_t text = {0};
  char out[200];
  tspec_buf_puts(&text, "#m = affine_map<(d0) -> (d0 + 1)>\nmodule {\n");
  repeat(&text, "  %0 = \"a.b\"(%1, %2) {map = #m} : (i1, i1) -> i1 loc(\"x\":1:1)\n", 50000);
  tspec_buf_puts(&text, "}\n");
  cr_assert(eq(str, (char *)guard(&text, out), ""));
  tspec_buf_deinit(&text);
}
