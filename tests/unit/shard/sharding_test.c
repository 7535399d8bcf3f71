#include "ir/shard/sharding.h"

#include "ir/shard/axes.h"
#include "setting.h"

static const tspec_mesh_axis_t kAxes[] = {
    {"data", 2, 0}, {"model", 8, 0}, {"pipe", 3, 0}, {NULL, 0, 0}};

Test(sharding, names_of_reductions_read_back) {
  for (int i = 0; i < TSPEC_REDUCE_COUNT; i++) {
    tspec_reduce_t read;
    cr_assert(tspec_reduce_parse(tspec_reduce_name((tspec_reduce_t)i), &read));
    cr_assert(eq(int, (int)read, i));
  }
  tspec_reduce_t read;
  cr_assert(not(tspec_reduce_parse("mean", &read)));
}

static const struct {
  const char *text;
  int rank;
  const char *printed;
} kGood[] = {
    {"[data, -, model?!1] sum(pipe)", 3, "[data, -, model?!1] sum(pipe)"},
    {"[data,-]", 2, "[data, -]"},
    {" [ data * model ] ", 1, "[data*model]"},
    {"[]", 0, "[]"},
    {"[]", 3, "[-, -, -]"},
    {"[]", -1, "[]"},
    {"[data, ?]", -1, "[data, ?]"},
    {"[data, ..., model]", 2, "[data, model]"},
    {"[data, ..., model]", 5, "[data, ?, ?, ?, model]"},
    {"[...]", 2, "[?, ?]"},
    {"[..., -]", 3, "[?, ?, -]"},
    {"[model:(2)4?, ?!2]", 2, "[model:(2)4?, ?!2]"},
    {"[model:(1)2*model:(2)4]", 1, "[model]"},
    {"[model:(1)8]", 1, "[model]"},
    {"[-] max(model, data)", 1, "[-] max(data, model)"},
    {"[-] min(model:(2)4, model:(1)2)", 1, "[-] min(model)"},
    {"[-] sum(data) sum(pipe)", 1, "[-] sum(data, pipe)"},
    {"[data!0]", 1, "[data]"},
    {"[model:(1)2, model:(2)4]", 2, "[model:(1)2, model:(2)4]"},
};

Test(sharding, the_notation_reads_and_prints) {
  setting_t s;
  setting_open(&s, kAxes);
  for (size_t i = 0; i < sizeof kGood / sizeof *kGood; i++) {
    const tspec_sharding_t *read = parse(&s, kGood[i].text, kGood[i].rank);
    cr_assert(read != NULL, "%s", kGood[i].text);
    cr_assert(eq(str, print(&s, read), (char *)kGood[i].printed));
    cr_assert(tspec_sharding_equal(read, parse(&s, print(&s, read), read->rank)));
  }
  setting_close(&s);
}

static const struct {
  const char *text;
  int rank;
  const char *message;
} kBad[] = {
    {"[modle, -]", 2, "unknown mesh axis 'modle' in dim 0 of 'w'; did you mean 'model'?"},
    {"[-] sum(dat)", 1, "unknown mesh axis 'dat' in 'sum( )' of 'w'; did you mean 'data'?"},
    {"[q]", 1,
     "unknown mesh axis 'q' in dim 0 of 'w'; the mesh is data=2, model=8, pipe=3; an axis of size "
     "1 may be added to it"},
    {"[data, data]", 2,
     "mesh axis 'data' splits dim 0 and splits dim 1 of 'w'; write '-' or another axis for dim 1"},
    {"[data*data]", 1, "mesh axis 'data' stands twice for dim 0 of 'w'; write it once"},
    {"[data] sum(data)", 1,
     "mesh axis 'data' splits dim 0 and is pending in 'sum' of 'w'; take it out of one of the two"},
    {"[model, model:(2)2]", 2,
     "'model' splits dim 0 and 'model:(2)2' splits dim 1 of 'w', but they overlap; write '-' or "
     "another axis for dim 1"},
    {"[model:(3)2]", 1,
     "'model:(3)2' in dim 0 of 'w' is no piece of 'model': a piece has at least 2 parts, and 3 * 2 "
     "must divide the size 8"},
    {"[model:(2)1]", 1,
     "'model:(2)1' in dim 0 of 'w' is no piece of 'model': a piece has at least 2 parts, and 2 * 1 "
     "must divide the size 8"},
    {"[data]", 2, "sharding '[data]' has 1 entry, but 'w' has rank 2; write one entry per dim"},
    {"[data, ..., -, -]", 2,
     "sharding '[data, ..., -, -]' has at least 3 entries, but 'w' has rank 2; write one entry per "
     "dim"},
    {"[..., ...]", 2, "sharding '[..., ...]' of 'w' has '...' twice"},
    {"[...]", -1, "sharding '[...]' of 'w' must not hold '...'"},
    {"[-!1]", 1, "dim 0 of 'w': '-' takes no priority, as nothing splits it; write '-' or '?!n'"},
    {"[data", 1, "sharding '[data' of 'w': expected ',' or ']', got the end"},
    {"[data?*model]", 1, "sharding '[data?*model]' of 'w': expected ',' or ']', got '*'"},
    {"data", 1, "sharding 'data' of 'w': expected '[', got 'd'"},
    {"[-] prod(data)", 1,
     "sharding '[-] prod(data)' of 'w': expected 'sum(axis)', 'max(axis)' or 'min(axis)' after the "
     "list, got '('"},
    {"[-] sum(data) max(pipe)", 1,
     "'w' cannot be pending in 'sum' and 'max' at once; keep one of them"},
    {"[data!99999999999]", 1,
     "sharding '[data!99999999999]' of 'w': a number is larger than 2147483647"},
};

Test(sharding, what_is_wrong_is_named_with_a_fix) {
  setting_t s;
  setting_open(&s, kAxes);
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; i++) {
    size_t before = s.diag.count;
    cr_assert(parse(&s, kBad[i].text, kBad[i].rank) == NULL, "%s", kBad[i].text);
    cr_assert(eq(sz, s.diag.count, before + 1));
    cr_assert(eq(str, (char *)s.diag.messages[before].text, (char *)kBad[i].message));
  }
  setting_close(&s);
}

Test(sharding, an_axis_without_a_mesh_is_refused_with_the_line_to_add) {
  setting_t s;
  static const tspec_mesh_axis_t none[] = {{NULL, 0, 0}};
  setting_open(&s, none);
  cr_assert(parse(&s, "[data]", 1) == NULL);
  cr_assert(eq(str, (char *)s.diag.messages[0].text,
               "unknown mesh axis 'data' in dim 0 of 'w'; there is no mesh; declare 'mesh data = "
               "1'"));
  setting_close(&s);
}

Test(sharding, cuts_without_a_common_refinement_are_refused) {
  setting_t s;
  static const tspec_mesh_axis_t six[] = {{"a", 6, 0}, {NULL, 0, 0}};
  setting_open(&s, six);
  cr_assert(parse(&s, "[a:(1)2, a:(3)2]", 2) == NULL);
  cr_assert(eq(str, (char *)s.diag.messages[0].text,
               "'a:(1)2' splits dim 0 and 'a:(3)2' splits dim 1 of 'w', but they cut the axis in "
               "different ways; write '-' or another axis for dim 1"));
  setting_close(&s);
}

/// A random valid sharding: pieces of the axes dealt out to dims and pending.
static const tspec_sharding_t *random_sharding(setting_t *s, uint64_t *state) {
  int rank = below(state, 5);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(&s->arena, tspec_dim_t, rank);
  tspec_axis_t *lists = TSPEC_ARENA_NEW(&s->arena, tspec_axis_t, 16 * (rank + 1));
  int npending = 0;
  for (int i = 0; i < 6; i++) {
    tspec_axis_t piece = random_piece(&s->mesh, state);
    bool used = tspec_axes_overlap(lists + 16 * rank, npending, piece);
    bool fits = true;
    for (int d = 0; d <= rank; d++) {
      int count = d < rank ? dims[d].naxes : npending;
      for (int k = 0; k < count; k++) {
        used = used || tspec_axis_overlap(lists[16 * d + k], piece);
        fits = fits && tspec_axis_can_coexist(lists[16 * d + k], piece);
      }
    }
    int place = below(state, rank + 1);
    if (!used && fits) {
      tspec_axes_push(lists + 16 * place, place < rank ? &dims[place].naxes : &npending, piece);
    }
  }
  for (int d = 0; d < rank; d++) {
    dims[d].axes = lists + 16 * d;
    dims[d].open = below(state, 2) == 0;
    dims[d].priority = dims[d].open || dims[d].naxes > 0 ? below(state, 3) : 0;
  }
  tspec_sharding_t *made = TSPEC_ARENA_NEW(&s->arena, tspec_sharding_t, 1);
  *made = (tspec_sharding_t){.rank = rank, .dims = dims};
  return tspec_sharding_with_pending(&s->arena, &s->mesh, made, (tspec_reduce_t)below(state, 3),
                                     lists + 16 * rank, npending);
}

Test(sharding, random_ones_print_and_read_back) {
  setting_t s;
  setting_open(&s, kAxes);
  uint64_t state = 20240607;
  for (int i = 0; i < 3000; i++) {
    const tspec_sharding_t *made = random_sharding(&s, &state);
    cr_assert(tspec_sharding_check(&s.mesh, made, "'w'", (tspec_range_t){0}, &s.diag));
    const tspec_sharding_t *read = parse(&s, print(&s, made), made->rank);
    cr_assert(read != NULL, "%s", print(&s, made));
    cr_assert(tspec_sharding_equal(read, made), "%s", print(&s, made));
  }
  setting_close(&s);
}

// Along a dim the blocks of the ranks are the whole dim, in order and without overlap, each as
// often as there are copies; rank 0's is the largest.
Test(sharding, blocks_cover_each_dim_exactly) {
  setting_t s;
  setting_open(&s, kAxes);
  uint64_t state = 7;
  int64_t nranks = tspec_mesh_nranks(&s.mesh);
  for (int i = 0; i < 400; i++) {
    const tspec_sharding_t *made = random_sharding(&s, &state);
    int64_t sizes[5] = {0};
    for (int d = 0; d < made->rank; d++) {
      sizes[d] = 1 + below(&state, 40);
    }
    tspec_type_t type = type_of(&s, sizes);
    tspec_type_t local = tspec_sharding_local_type(&s.arena, made, type);
    bool even = true;
    for (int d = 0; d < made->rank; d++) {
      int64_t nblocks = tspec_dim_nblocks(&made->dims[d]);
      int64_t held[40] = {0};
      int64_t longest = 0;
      for (int64_t rank = 0; rank < nranks; rank++) {
        tspec_block_t blocks[5];
        tspec_sharding_blocks(&s.mesh, made, type, rank, blocks);
        int64_t length = blocks[d].end - blocks[d].begin;
        longest = length > longest ? length : longest;
        even = even && length * nblocks == sizes[d];
        for (int64_t at = blocks[d].begin; at < blocks[d].end; at++) {
          held[at]++;
        }
      }
      for (int64_t at = 0; at < sizes[d]; at++) {
        cr_assert(eq(i64, held[at], nranks / nblocks));
      }
      cr_assert(eq(i64, local.dims[d], longest));
      cr_assert(ge(i64, local.dims[d] * nblocks, sizes[d]));
    }
    cr_assert(eq(int, tspec_sharding_is_even(made, type), even));
  }
  setting_close(&s);
}

Test(sharding, seven_rows_over_four_ranks_are_two_two_two_one) {
  static const int64_t begins[] = {0, 2, 4, 6};
  for (int64_t i = 0; i < 4; i++) {
    cr_assert(eq(i64, tspec_block(7, 4, i).begin, begins[i]));
    cr_assert(eq(i64, tspec_block(7, 4, i).end, i == 3 ? 7 : begins[i] + 2));
  }
  // Five rows over four ranks: the last rank has none.
  cr_assert(eq(i64, tspec_block(5, 4, 3).begin, 5));
  cr_assert(eq(i64, tspec_block(5, 4, 3).end, 5));
}

// facts.md 4.1: mesh {data: 2, model: 4}, ranks with equal blocks.
Test(sharding, ranks_of_dotreludot_hold_the_blocks_of_the_guide) {
  setting_t s;
  static const tspec_mesh_axis_t axes[] = {{"data", 2, 0}, {"model", 4, 0}, {NULL, 0, 0}};
  setting_open(&s, axes);
  tspec_type_t x = TYPE(&s, 8, 1024);
  tspec_type_t w = TYPE(&s, 1024, 1024);
  const tspec_sharding_t *rows = parse(&s, "[data, -]", 2);
  const tspec_sharding_t *cols = parse(&s, "[-, model]", 2);
  for (int64_t rank = 0; rank < 8; rank++) {
    tspec_block_t blocks[2];
    tspec_sharding_blocks(&s.mesh, rows, x, rank, blocks);
    cr_assert(eq(i64, blocks[0].begin, rank / 4 * 4));
    cr_assert(eq(i64, blocks[1].end, 1024));
    tspec_sharding_blocks(&s.mesh, cols, w, rank, blocks);
    cr_assert(eq(i64, blocks[1].begin, rank % 4 * 256));
  }
  cr_assert(eq(i64, tspec_sharding_local_type(&s.arena, cols, w).dims[1], 256));
  setting_close(&s);
}

Test(sharding, closing_keeps_where_data_lies) {
  setting_t s;
  setting_open(&s, kAxes);
  const tspec_sharding_t *open = parse(&s, "[data?!2, ?] sum(pipe)", 2);
  const tspec_sharding_t *closed = tspec_sharding_close(&s.arena, open);
  cr_assert(eq(str, print(&s, closed), "[data, -] sum(pipe)"));
  cr_assert(tspec_sharding_same_layout(open, closed));
  cr_assert(not(tspec_sharding_equal(open, closed)));
  cr_assert(eq(str, print(&s, tspec_sharding_complete(&s.arena, closed)), "[data, -]"));
  cr_assert(not(tspec_sharding_is_replicated(closed)));
  cr_assert(tspec_sharding_is_replicated(tspec_sharding_replicated(&s.arena, 3)));
  cr_assert(tspec_sharding_is_replicated(tspec_sharding_open(&s.arena, 3)));
  cr_assert(not(tspec_sharding_is_replicated(parse(&s, "[-] sum(data)", 1))));
  setting_close(&s);
}

Test(sharding, the_kind_of_pending_matters_only_if_something_is) {
  setting_t s;
  setting_open(&s, kAxes);
  cr_assert(
      not(tspec_sharding_equal(parse(&s, "[-] sum(data)", 1), parse(&s, "[-] max(data)", 1))));
  const tspec_sharding_t *none = tspec_sharding_with_pending(
      &s.arena, &s.mesh, tspec_sharding_replicated(&s.arena, 1), TSPEC_REDUCE_MAX, NULL, 0);
  cr_assert(tspec_sharding_equal(none, tspec_sharding_replicated(&s.arena, 1)));
  setting_close(&s);
}

// ---- one object for all that are equal ---------------------------------------------------------

Test(sharding, a_set_has_one_object_for_equal_shardings_and_another_for_each_that_differs) {
  static const char *const kTexts[] = {"[-, -]",
                                       "[data, -]",
                                       "[-, data]",
                                       "[data?, -]",
                                       "[data?!1, -]",
                                       "[model:(2)2, -]",
                                       "[data, model]",
                                       "[data*model, -]",
                                       "[data, -, -]",
                                       "[-]",
                                       "[data, -] sum(pipe)",
                                       "[data, -] max(pipe)",
                                       "[model*data, -]"};
  enum { COUNT = sizeof kTexts / sizeof *kTexts };
  setting_t s;
  setting_open(&s, kAxes);
  tspec_intern_t set = tspec_sharding_set(&s.arena);
  const void *made[COUNT];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < COUNT; i++) {
      const tspec_sharding_t *given = parse(&s, kTexts[i], -1);
      const tspec_sharding_t *found = tspec_intern(&set, given);
      cr_assert(found != given && tspec_sharding_equal(found, given), "%s", kTexts[i]);
      cr_assert(round == 0 || found == made[i], "%s", kTexts[i]);
      made[i] = found;
      cr_assert(eq(sz, set.count, round == 0 ? (size_t)i + 1 : COUNT));
    }
  }
  setting_close(&s);
}

Test(sharding, what_was_said_and_what_must_stay_whole_tell_shardings_apart) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_intern_t set = tspec_sharding_set(&s.arena);
  tspec_sharding_t given = *parse(&s, "[data]", 1);
  const void *bare = tspec_intern(&set, &given);
  char rule[] = "mlp -> data";
  tspec_said_t said = {.range = {.file = 1, .line = 3, .col = 1}, .rule = rule};
  given.said = &said;
  const tspec_sharding_t *by_rule = tspec_intern(&set, &given);
  said.range.line = 4;
  const void *elsewhere = tspec_intern(&set, &given);
  said.range.line = 3;
  rule[0] = 'M';
  const void *by_another = tspec_intern(&set, &given);
  given.said = NULL;
  tspec_axis_t axis = {.axis = 1, .pre = 1, .size = s.mesh.axes[1].size};
  given.replicated = &axis;
  given.nreplicated = 1;
  const void *whole = tspec_intern(&set, &given);
  const void *all[] = {bare, by_rule, elsewhere, by_another, whole};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < i; j++) {
      cr_assert(all[i] != all[j], "%d and %d", i, j);
    }
  }
  cr_assert(eq(str, (char *)(uintptr_t)by_rule->said[0].rule, "mlp -> data"));
  setting_close(&s);
}

Test(sharding, a_set_of_many_finds_each_again) {
  enum { MANY = 500 };
  setting_t s;
  setting_open(&s, kAxes);
  tspec_intern_t set = tspec_sharding_set(&s.arena);
  const void *made[MANY];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < MANY; i++) {
      tspec_dim_t dim = {.open = true, .priority = i};
      const void *object = tspec_intern(&set, &(tspec_sharding_t){.rank = 1, .dims = &dim});
      cr_assert(round == 0 || object == made[i], "%d", i);
      made[i] = object;
    }
  }
  cr_assert(eq(sz, set.count, MANY));
  setting_close(&s);
}
