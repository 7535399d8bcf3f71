#include "ir/shard/projection.h"

#include "ir/shard/axes.h"
#include "setting.h"

static const tspec_mesh_axis_t kAxes[] = {
    {"a", 4, 0}, {"b", 3, 0}, {"c", 2, 0}, {"d", 2, 0}, {NULL, 0, 0}};

/// A rule of one operand with one dim of these factors, to a result with a dim for each.
static const tspec_factor_rule_t *split_rule(setting_t *s, const int64_t *sizes) {
  int64_t product[2] = {1, 0};
  tspec_type_t result = type_of(s, sizes);
  for (int i = 0; i < result.rank; i++) {
    product[0] *= sizes[i];
  }
  tspec_type_t operand = type_of(s, product);
  tspec_rule_builder_t builder;
  tspec_type_t *types = tspec_arena_copy(&s->arena, &operand, sizeof operand);
  tspec_type_t *results = tspec_arena_copy(&s->arena, &result, sizeof result);
  tspec_rule_builder_init(&builder, &s->arena, 1, types, 1, results);
  for (int i = 0; i < result.rank; i++) {
    int f = tspec_rule_builder_factor(&builder, sizes[i], TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, 0, f);
    tspec_rule_builder_map_result(&builder, 0, i, f);
  }
  return tspec_rule_builder_finish(&builder);
}

static char *factor_text(setting_t *s, const tspec_projection_t *projection, int factor) {
  const tspec_factor_axes_t *axes = tspec_projection_at(projection, 0, factor);
  return tspec_arena_printf(&s->arena, "%s%s%s%s",
                            tspec_axes_print(&s->arena, &s->mesh, axes->axes, axes->naxes),
                            axes->open ? "?" : "", axes->noverflow > 0 ? " over " : "",
                            tspec_axes_print(&s->arena, &s->mesh, axes->overflow, axes->noverflow));
}

typedef struct fact_t {
  int64_t sizes[4];
  const char *sharding;
  const char *factors[3];
} fact_t;

// By hand from `propagation.md` 2.3.
static const fact_t kFacts[] = {
    {{8, 4}, "[a?]", {"a?", "?"}},
    {{2, 8}, "[a?]", {"a:(1)2?", "a:(2)2?"}},
    {{2, 2, 4}, "[a*c]", {"a:(1)2", "a:(2)2", "c"}},
    // 3 does not divide 8: all that is left overflows, and nothing deeper may be split.
    {{8, 4}, "[b?]", {"? over b", ""}},
    {{8, 4}, "[c*b*d?]", {"c? over b*d", ""}},
    {{6, 4}, "[a?]", {"a:(1)2? over a:(2)2", ""}},
    // The last factor takes what is left, whether it divides or not.
    {{2, 3}, "[c*a*d]", {"c", "a*d"}},
    {{12, 2}, "[b*a*c]", {"b*a", "c"}},
    {{4}, "[b*c?]", {"b*c?"}},
    {{8, 4}, "[?]", {"?", "?"}},
};

Test(projection, dims_become_factors) {
  for (size_t i = 0; i < sizeof kFacts / sizeof *kFacts; i++) {
    setting_t s;
    setting_open(&s, kAxes);
    tspec_projection_t projection;
    tspec_projection_init(&projection, &s.arena, &s.mesh);
    const tspec_factor_rule_t *rule = split_rule(&s, kFacts[i].sizes);
    tspec_projection_start(&projection, rule);
    tspec_projection_set(&projection, 0, parse(&s, kFacts[i].sharding, 1));
    tspec_projection_set(&projection, 1, NULL);
    for (int f = 0; f < rule->nfactors; f++) {
      cr_assert(eq(str, factor_text(&s, &projection, f), (char *)kFacts[i].factors[f]));
      cr_assert(tspec_projection_at(&projection, 1, f)->open);
    }
    setting_close(&s);
  }
}

Test(projection, nothing_deeper_than_a_half_split_factor_comes_back) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_projection_t projection;
  tspec_projection_init(&projection, &s.arena, &s.mesh);
  tspec_projection_start(&projection, split_rule(&s, (int64_t[]){8, 4, 0}));
  tspec_projection_set(&projection, 0, NULL);
  tspec_axis_t a = tspec_axis_full(&s.mesh, 0);
  tspec_axis_t c = tspec_axis_full(&s.mesh, 2);
  tspec_projection_assign(&projection, 0, 0, &a, 1);
  tspec_projection_assign(&projection, 0, 1, &c, 1);
  const tspec_dim_t *dims = tspec_projection_get(&projection, 0, &s.arena);
  cr_assert(eq(int, dims[0].naxes, 1));
  cr_assert(tspec_axis_equal(dims[0].axes[0], a));
  // 4 * 2 is the whole factor: now the next one counts.
  tspec_projection_assign(&projection, 0, 0, (tspec_axis_t[]){a, tspec_axis_full(&s.mesh, 3)}, 2);
  dims = tspec_projection_get(&projection, 0, &s.arena);
  cr_assert(eq(int, dims[0].naxes, 3));
  setting_close(&s);
}

Test(projection, pieces_merge_at_the_seam) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_projection_t projection;
  tspec_projection_init(&projection, &s.arena, &s.mesh);
  tspec_projection_start(&projection, split_rule(&s, (int64_t[]){2, 8, 0}));
  tspec_projection_set(&projection, 0, NULL);
  tspec_projection_assign(&projection, 0, 0, &(tspec_axis_t){.axis = 0, .pre = 1, .size = 2}, 1);
  tspec_projection_assign(&projection, 0, 1, &(tspec_axis_t){.axis = 0, .pre = 2, .size = 2}, 1);
  const tspec_dim_t *dims = tspec_projection_get(&projection, 0, &s.arena);
  cr_assert(eq(str, (char *)tspec_axes_print(&s.arena, &s.mesh, dims[0].axes, dims[0].naxes), "a"));
  setting_close(&s);
}

// To factors and back changes nothing, whatever the factors: overflow keeps what fits no factor.
Test(projection, there_and_back_is_the_same) {
  uint64_t state = 99;
  for (int i = 0; i < 3000; i++) {
    setting_t s;
    setting_open(&s, kAxes);
    int64_t sizes[4] = {0};
    int nfactors = 1 + below(&state, 3);
    for (int f = 0; f < nfactors; f++) {
      sizes[f] = 1 + below(&state, 12);
    }
    tspec_axis_t axes[8];
    int naxes = 0;
    for (int k = below(&state, 5); k > 0; k--) {
      tspec_axis_t piece = random_piece(&s.mesh, &state);
      bool fits = true;
      for (int j = 0; j < naxes; j++) {
        fits =
            fits && !tspec_axis_overlap(axes[j], piece) && tspec_axis_can_coexist(axes[j], piece);
      }
      if (fits) {
        tspec_axes_push(axes, &naxes, piece);
      }
    }
    tspec_dim_t dim = {.axes = axes, .naxes = naxes, .open = below(&state, 2) == 0};
    tspec_sharding_t sharding = {.rank = 1, .dims = &dim};
    tspec_projection_t projection;
    tspec_projection_init(&projection, &s.arena, &s.mesh);
    tspec_projection_start(&projection, split_rule(&s, sizes));
    tspec_projection_set(&projection, 0, &sharding);
    tspec_dim_t *back = tspec_projection_get(&projection, 0, &s.arena);
    cr_assert(tspec_axes_equal(axes, naxes, back[0].axes, back[0].naxes), "%s",
              tspec_axes_print(&s.arena, &s.mesh, axes, naxes));
    cr_assert(eq(int, back[0].open, dim.open));
    setting_close(&s);
  }
}

Test(projection, elements_are_counted_by_factors) {
  setting_t s;
  setting_open(&s, kAxes);
  const tspec_factor_rule_t *rule = split_rule(&s, (int64_t[]){8, 4, 0});
  cr_assert(eq(i64, tspec_factor_rule_elems(rule, 0), 32));
  cr_assert(eq(i64, tspec_factor_rule_elems(rule, 1), 32));
  const tspec_factor_rule_t *huge =
      split_rule(&s, (int64_t[]){INT64_C(1) << 31, INT64_C(1) << 20, INT64_C(1) << 11, 0});
  cr_assert(eq(i64, tspec_factor_rule_elems(huge, 1), INT64_C(1) << 62));
  setting_close(&s);
}
