#include "passes/pipeline.h"

#include <string.h>
#include <time.h>

#include "ir/base/str.h"

static const tspec_pass_info_t kPasses[] = {
#define TSPEC_PASS(id, name, before, after, summary)                                               \
  {name, TSPEC_LEVEL_##before, TSPEC_LEVEL_##after, summary, tspec_pass_##id},
#include "passes/passes.def"
#undef TSPEC_PASS
};

enum { NPASSES = sizeof kPasses / sizeof *kPasses };

int tspec_pass_count(void) {
  return NPASSES;
}

const tspec_pass_info_t *tspec_pass_info(int index) {
  TSPEC_CHECK(index >= 0 && index < NPASSES, "no pass %d", index);
  return &kPasses[index];
}

const tspec_pass_info_t *tspec_pass_find(const char *name) {
  for (int i = 0; i < NPASSES; i++) {
    if (strcmp(kPasses[i].name, name) == 0) {
      return &kPasses[i];
    }
  }
  return NULL;
}

const tspec_extra_pass_t *tspec_extra_pass_find(const tspec_extra_passes_t *extras,
                                                const char *name) {
  for (size_t i = 0; extras != NULL && i < extras->count; i++) {
    if (strcmp(extras->items[i]->info.name, name) == 0) {
      return extras->items[i];
    }
  }
  return NULL;
}

const char *tspec_pass_nearest(tspec_arena_t *arena, const tspec_extra_passes_t *extras,
                               const char *name) {
  tspec_names_t names = {0};
  for (int i = 0; i < NPASSES; i++) {
    tspec_names_set(arena, &names, kPasses[i].name, (void *)&kPasses[i]);
  }
  for (size_t i = 0; extras != NULL && i < extras->count; i++) {
    tspec_names_set(arena, &names, extras->items[i]->info.name, (void *)extras->items[i]);
  }
  return tspec_names_nearest(&names, name);
}

const char *tspec_pipeline_step_name(const tspec_pipeline_step_t *step) {
  return step->pass != NULL ? step->pass->name : step->upstream;
}

tspec_pipeline_t tspec_pipeline_default(tspec_arena_t *arena, tspec_level_t from,
                                        tspec_level_t to) {
  tspec_pipeline_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_pipeline_step_t, NPASSES);
  tspec_pipeline_t pipeline = {0, steps};
  for (int i = 0; i < NPASSES; i++) {
    if (kPasses[i].before >= from && kPasses[i].after <= to) {
      steps[pipeline.nsteps++].pass = &kPasses[i];
    }
  }
  return pipeline;
}

// ---- places of plugins' passes ----

typedef TSPEC_VEC(tspec_pipeline_step_t) steps_t;

/// The index of step `name`, or the number of steps.
static size_t find_step(const steps_t *steps, const char *name) {
  size_t i = 0;
  while (i < steps->count && strcmp(tspec_pipeline_step_name(&steps->items[i]), name) != 0) {
    i++;
  }
  return i;
}

/// Behind step `at` and the plugins' passes that were put behind it before.
static size_t index_after(const steps_t *steps, size_t at) {
  const char *name = tspec_pipeline_step_name(&steps->items[at]);
  at++;
  while (at < steps->count && steps->items[at].extra != NULL &&
         steps->items[at].extra->run_after != NULL &&
         strcmp(steps->items[at].extra->run_after, name) == 0) {
    at++;
  }
  return at;
}

static void insert_step(tspec_arena_t *arena, steps_t *steps, size_t at,
                        tspec_pipeline_step_t step) {
  TSPEC_VEC_PUSH(arena, steps, step);
  for (size_t i = steps->count - 1; i > at; i--) {
    steps->items[i] = steps->items[i - 1];
  }
  steps->items[at] = step;
}

tspec_pipeline_t tspec_pipeline_place(tspec_arena_t *arena, const tspec_pipeline_t *pipeline,
                                      const tspec_extra_passes_t *extras, tspec_diag_t *diag) {
  steps_t steps = {0};
  for (int i = 0; i < pipeline->nsteps; i++) {
    TSPEC_VEC_PUSH(arena, &steps, pipeline->steps[i]);
  }
  for (size_t i = 0; extras != NULL && i < extras->count; i++) {
    const tspec_extra_pass_t *extra = extras->items[i];
    const char *place = extra->run_before != NULL ? extra->run_before : extra->run_after;
    if (place == NULL) {
      continue;
    }
    size_t at = find_step(&steps, place);
    if (at == steps.count) {
      tspec_diag_warning(diag, (tspec_range_t){0}, "pass '%s' does not run, since '%s' does not",
                         extra->info.name, place);
      continue;
    }
    TSPEC_CHECK(steps.items != NULL, "no steps");
    const tspec_pass_info_t *anchor = steps.items[at].pass;
    tspec_level_t level = extra->run_before != NULL ? anchor->before : anchor->after;
    tspec_pass_info_t *info = TSPEC_ARENA_NEW(arena, tspec_pass_info_t, 1);
    *info = extra->info;
    info->before = extra->any_level ? level : info->before;
    info->after = info->before;
    insert_step(arena, &steps, extra->run_before != NULL ? at : index_after(&steps, at),
                (tspec_pipeline_step_t){.pass = info, .extra = extra});
  }
  return (tspec_pipeline_t){(int)steps.count, steps.items};
}

// ---- parsing ----

/// The end of the name at `text`: a comma outside of brackets, or the end. NULL if brackets do not
/// close.
static const char *name_end(const char *text) {
  int depth = 0;
  for (; *text != '\0' && (*text != ',' || depth > 0); text++) {
    if (strchr("({[<", *text) != NULL) {
      depth++;
    } else if (strchr(")}]>", *text) != NULL) {
      depth--;
    }
    if (depth < 0) {
      return NULL;
    }
  }
  return depth == 0 ? text : NULL;
}

static bool report_no_pass(const char *name, const char *nearest, tspec_range_t range,
                           tspec_diag_t *diag) {
  tspec_diag_error(diag, range, "--passes: there is no pass '%s'%s%s%s", name,
                   nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "'?");
  return false;
}

/// One of ours or a plugin's with options in brackets, as upstream's passes have them.
static bool report_options(const char *name, const tspec_extra_pass_t *extra, tspec_range_t range,
                           tspec_diag_t *diag) {
  if (extra == NULL) {
    tspec_diag_error(diag, range, "--passes: pass '%s' has no options", name);
  } else {
    tspec_diag_error(diag, range, "--passes: options of '%s' stand in --pass-plugin=%s,key=value",
                     name, extra->library);
  }
  return false;
}

static bool parse_step(tspec_arena_t *arena, const char *name, const tspec_extra_passes_t *extras,
                       tspec_range_t range, tspec_diag_t *diag, tspec_pipeline_step_t *out_step) {
  *out_step = (tspec_pipeline_step_t){.pass = tspec_pass_find(name),
                                      .extra = tspec_extra_pass_find(extras, name)};
  if (out_step->extra != NULL) {
    out_step->pass = &out_step->extra->info;
  }
  if (out_step->pass != NULL) {
    return true;
  }
  const char *nearest = tspec_pass_nearest(arena, extras, name);
  if (*name == '\0' || nearest != NULL) {
    return report_no_pass(name, nearest, range, diag);
  }
  const char *bare = tspec_arena_strdup(arena, name, strcspn(name, "{"));
  const tspec_extra_pass_t *extra = tspec_extra_pass_find(extras, bare);
  if (extra != NULL || tspec_pass_find(bare) != NULL) {
    return report_options(bare, extra, range, diag);
  }
  out_step->upstream = name;
  return true;
}

bool tspec_pipeline_parse(tspec_arena_t *arena, const char *text,
                          const tspec_extra_passes_t *extras, tspec_range_t range,
                          tspec_diag_t *diag, tspec_pipeline_t *out_pipeline) {
  steps_t steps = {0};
  *out_pipeline = (tspec_pipeline_t){0};
  for (const char *at = text; *text != '\0'; at++) {
    const char *end = name_end(at);
    if (end == NULL) {
      tspec_diag_error(diag, range, "--passes: brackets do not match in '%s'", text);
      return false;
    }
    const char *name = tspec_arena_strdup(arena, at, (size_t)(end - at));
    tspec_pipeline_step_t step;
    if (!parse_step(arena, name, extras, range, diag, &step)) {
      return false;
    }
    TSPEC_VEC_PUSH(arena, &steps, step);
    at = end;
    if (*at == '\0') {
      break;
    }
  }
  *out_pipeline = (tspec_pipeline_t){(int)steps.count, steps.items};
  return true;
}

// ---- running ----

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/// Errors: false after reporting that the program is not at the pass's level.
static bool check_level(const tspec_pass_info_t *pass, const tspec_pipeline_run_t *run) {
  if (run->program->level == pass->before) {
    return true;
  }
  tspec_diag_error(run->diag, (tspec_range_t){0},
                   "pass '%s' works at level %s, but the program is at level %s", pass->name,
                   tspec_level_name(pass->before), tspec_level_name(run->program->level));
  return false;
}

static bool run_pass(const tspec_pass_info_t *pass, tspec_pipeline_run_t *run) {
  if (pass->run == NULL) {
    tspec_diag_error(run->diag, (tspec_range_t){0}, "pass '%s' is not in this build", pass->name);
    return false;
  }
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  tspec_pass_run_t pass_run = {.name = pass->name,
                               .program = run->program,
                               .scratch = &scratch,
                               .diag = run->diag,
                               .options = run->options};
  tspec_check_context_set(pass->name);
  bool ok = pass->run(&pass_run);
  tspec_check_context_set(NULL);
  run->program = pass_run.program;
  tspec_arena_deinit(&scratch);
  TSPEC_CHECK(!ok || run->program->level == pass->after, "pass '%s' left level %s", pass->name,
              tspec_level_name(run->program->level));
  return ok;
}

static bool run_upstream(const char *text, tspec_pipeline_run_t *run) {
  if (run->hooks.upstream == NULL) {
    tspec_diag_error(run->diag, (tspec_range_t){0}, "there is no pass '%s'", text);
    return false;
  }
  return run->hooks.upstream(run->hooks.user, text, &run->program);
}

static bool run_extra(const tspec_extra_pass_t *pass, tspec_pipeline_run_t *run) {
  if (run->hooks.extra == NULL) {
    tspec_diag_error(run->diag, (tspec_range_t){0}, "pass '%s' is a plugin's", pass->info.name);
    return false;
  }
  tspec_check_context_set(pass->info.name);
  bool ok = run->hooks.extra(run->hooks.user, pass, &run->program);
  tspec_check_context_set(NULL);
  return ok;
}

static bool run_pass_of(const tspec_pipeline_step_t *step, tspec_pipeline_run_t *run) {
  if (step->pass == NULL) {
    return run_upstream(step->upstream, run);
  }
  if (step->extra != NULL) {
    return (step->extra->any_level || check_level(step->pass, run)) && run_extra(step->extra, run);
  }
  return check_level(step->pass, run) && run_pass(step->pass, run);
}

static bool run_step(const tspec_pipeline_step_t *step, const char *name,
                     tspec_pipeline_run_t *run) {
  if (run->hooks.before != NULL && !run->hooks.before(run->hooks.user, name, run->program)) {
    return false;
  }
  double start = now_seconds();
  bool ok = run_pass_of(step, run);
  tspec_pass_time_t time = {name, now_seconds() - start};
  TSPEC_VEC_PUSH(run->program->arena, &run->times, time);
  if (!ok) {
    return false;
  }
  if (run->options->verify_each && !tspec_program_verify(run->program, name, run->diag)) {
    return false;
  }
  return run->hooks.after == NULL || run->hooks.after(run->hooks.user, name, run->program);
}

bool tspec_pipeline_run(const tspec_pipeline_t *pipeline, tspec_pipeline_run_t *run) {
  for (int i = 0; i < pipeline->nsteps; i++) {
    const tspec_pipeline_step_t *step = &pipeline->steps[i];
    const char *name = tspec_pipeline_step_name(step);
    if (!run_step(step, name, run)) {
      return false;
    }
    if (run->stop_after != NULL && strcmp(run->stop_after, name) == 0) {
      break;
    }
  }
  return true;
}

void tspec_pipeline_print_times(const tspec_pipeline_run_t *run, FILE *stream) {
  double total = 0;
  for (size_t i = 0; i < run->times.count; i++) {
    total += run->times.items[i].seconds;
  }
  fprintf(stream, "   seconds  share  pass\n");
  for (size_t i = 0; i < run->times.count; i++) {
    const tspec_pass_time_t *time = &run->times.items[i];
    fprintf(stream, "%10.6f %5.1f%%  %s\n", time->seconds,
            total > 0 ? 100 * time->seconds / total : 0, time->name);
  }
  fprintf(stream, "%10.6f 100.0%%  total\n", total);
}
