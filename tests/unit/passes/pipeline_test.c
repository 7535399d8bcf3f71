// The parser of --passes and the default pipeline.
#include "passes/pipeline.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static tspec_arena_t arena;
static tspec_sources_t sources;
static tspec_diag_t diag;

static void set_up(void) {
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
}

static void tear_down(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(pipeline, .init = set_up, .fini = tear_down, .timeout = 10);

static bool parse(const char *text, tspec_pipeline_t *pipeline) {
  return tspec_pipeline_parse(&arena, text, NULL, (tspec_range_t){0}, &diag, pipeline);
}

Test(pipeline, names_of_ours_and_of_upstream_stand_side_by_side) {
  tspec_pipeline_t pipeline;
  cr_assert(parse("propagate,func.func(cse,canonicalize{a=1,b=2}),reshard", &pipeline));
  cr_assert(eq(int, pipeline.nsteps, 3));
  cr_assert(eq(str, (char *)pipeline.steps[0].pass->name, "propagate"));
  cr_assert(eq(ptr, (void *)pipeline.steps[1].pass, NULL));
  cr_assert(eq(str, (char *)pipeline.steps[1].upstream, "func.func(cse,canonicalize{a=1,b=2})"));
  cr_assert(eq(str, (char *)pipeline.steps[2].pass->name, "reshard"));
}

Test(pipeline, an_empty_text_is_no_pass) {
  tspec_pipeline_t pipeline;
  cr_assert(parse("", &pipeline));
  cr_assert(eq(int, pipeline.nsteps, 0));
}

Test(pipeline, an_empty_name_is_refused) {
  tspec_pipeline_t pipeline;
  cr_assert(not(parse("propagate,,reshard", &pipeline)));
  cr_assert(not(parse("propagate,", &pipeline)));
  cr_assert(not(parse(",propagate", &pipeline)));
  cr_assert(eq(int, diag.nerrors, 3));
}

Test(pipeline, brackets_must_match) {
  tspec_pipeline_t pipeline;
  cr_assert(not(parse("func.func(cse", &pipeline)));
  cr_assert(not(parse("cse)", &pipeline)));
  cr_assert(eq(int, diag.nerrors, 2));
}

Test(pipeline, a_slip_names_the_pass_that_is_meant) {
  tspec_pipeline_t pipeline;
  cr_assert(not(parse("reshad", &pipeline)));
  cr_assert(eq(str, (char *)diag.messages[0].text,
               "--passes: there is no pass 'reshad'; did you mean 'reshard'?"));
}

Test(pipeline, the_default_joins_levels_without_a_gap) {
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(&arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_KERNELS);
  cr_assert(eq(int, pipeline.nsteps, tspec_pass_count()));
  tspec_level_t level = TSPEC_LEVEL_GLOBAL;
  for (int i = 0; i < pipeline.nsteps; i++) {
    cr_assert(eq(int, (int)pipeline.steps[i].pass->before, (int)level), "pass %d", i);
    level = pipeline.steps[i].pass->after;
  }
  cr_assert(eq(int, (int)level, (int)TSPEC_LEVEL_KERNELS));
}

Test(pipeline, the_default_starts_and_ends_at_the_levels_asked_for) {
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(&arena, TSPEC_LEVEL_SHARDED, TSPEC_LEVEL_LOCAL);
  cr_assert(eq(int, pipeline.nsteps, 3));
  cr_assert(eq(str, (char *)pipeline.steps[0].pass->name, "reshard"));
  cr_assert(eq(str, (char *)pipeline.steps[2].pass->name, "optimize-collectives"));
}
