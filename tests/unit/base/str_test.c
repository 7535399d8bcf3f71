#include "ir/base/str.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

Test(str, a_buffer_appends_and_formats) {
  tspec_buf_t buf = {0};
  cr_assert(eq(str, (char *)tspec_buf_get(&buf), ""));
  for (int i = 0; i < 100; ++i) {
    tspec_buf_printf(&buf, "%d,", i);
  }
  tspec_buf_append(&buf, "abcdef", 3);
  cr_assert(eq(sz, buf.length, 10 * 2 + 90 * 3 + 3));
  cr_assert(eq(str, (char *)tspec_buf_get(&buf) + buf.length - 6, "99,abc"));
  tspec_buf_deinit(&buf);
}

static const struct {
  double number;
  const char *text;
} kDoubles[] = {{0, "0"},       {3, "3"},          {1e-5, "1e-05"},
                {0.1, "0.1"},   {1e300, "1e+300"}, {1.0 / 3, "0.3333333333333333"},
                {-2.5, "-2.5"}, {200, "200"},      {1048576, "1048576"},
                {-0.0, "-0"}};

Test(str, doubles_print_as_short_as_reads_back) {
  for (size_t i = 0; i < sizeof kDoubles / sizeof *kDoubles; ++i) {
    tspec_buf_t buf = {0};
    tspec_buf_put_double(&buf, kDoubles[i].number);
    cr_assert(eq(str, (char *)tspec_buf_get(&buf), (char *)kDoubles[i].text));
    cr_assert(eq(dbl, strtod(tspec_buf_get(&buf), NULL), kDoubles[i].number));
    tspec_buf_deinit(&buf);
  }
}

Test(str, names_keep_order_and_replace) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_names_t names = {0};
  int values[200];
  for (int i = 0; i < 200; ++i) {
    tspec_names_set(&arena, &names, tspec_arena_printf(&arena, "name%d", i), &values[i]);
  }
  tspec_names_set(&arena, &names, "name7", &values[0]);
  cr_assert(eq(sz, names.count, 200));
  cr_assert(eq(ptr, tspec_names_get(&names, "name7"), &values[0]));
  cr_assert(eq(ptr, tspec_names_get(&names, "name199"), &values[199]));
  cr_assert(eq(ptr, tspec_names_get(&names, "name200"), NULL));
  for (int i = 0; i < 200; ++i) {
    cr_assert(eq(str, (char *)names.entries[i].name, tspec_arena_printf(&arena, "name%d", i)));
  }
  tspec_arena_deinit(&arena);
}

Test(str, an_empty_table_has_nothing) {
  tspec_names_t names = {0};
  cr_assert(eq(ptr, tspec_names_get(&names, "x"), NULL));
  cr_assert(eq(ptr, (void *)tspec_names_nearest(&names, "x"), NULL));
}

static const struct {
  const char *a, *b;
  size_t distance;
} kDistances[] = {{"", "", 0},           {"abc", "", 3},           {"model", "model", 0},
                  {"modle", "model", 1}, {"data", "date", 1},      {"batch", "bach", 1},
                  {"ab", "ba", 1},       {"kitten", "sitting", 3}, {"ca", "abc", 3}};

Test(str, edit_distances) {
  for (size_t i = 0; i < sizeof kDistances / sizeof *kDistances; ++i) {
    cr_assert(eq(sz, tspec_str_distance(kDistances[i].a, kDistances[i].b), kDistances[i].distance),
              "%s %s", kDistances[i].a, kDistances[i].b);
    cr_assert(eq(sz, tspec_str_distance(kDistances[i].b, kDistances[i].a), kDistances[i].distance));
  }
}

Test(str, the_nearest_name_is_close_or_none) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_names_t names = {0};
  int value = 0;
  tspec_names_set(&arena, &names, "data", &value);
  tspec_names_set(&arena, &names, "model", &value);
  cr_assert(eq(str, (char *)tspec_names_nearest(&names, "modle"), "model"));
  cr_assert(eq(ptr, (void *)tspec_names_nearest(&names, "expert"), NULL));
  tspec_arena_deinit(&arena);
}
