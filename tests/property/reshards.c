// reshards [--seed S] [--count N] [--verbose]
//
// Random changes of sharding (seeds S .. S + N - 1) and the collectives that they become:
//   - the steps join, are legal, and end at the sharding asked for;
//   - each rank's new block is held by the ranks that are to send it; with up to 96 ranks the
//     evaluator runs the steps, and values and counted bytes are right;
//   - they cost no more bytes than Shardy's steps, where those can be carried out and make no
//   larger
//     blocks on the way;
//   - the busiest rank receives no more elements than by gathering every dim that differs and
//     slicing; where a pending result is reduced and blocks are even, no more bytes are sent than
//     by reducing it in place and gathering;
//   - nothing is sent if no rank lacks anything and nothing is pending;
//   - no step makes a block larger than both the first and the last sharding's.
// Prints how many elements the busiest rank receives over those that the rank which lacks most
// lacks, where nothing is pending, and the time that planning takes. A failing one is a line that
// runs it again. The last line counts.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/shard/axes.h"
#include "tests/property/reshards.h"

typedef struct survey_t {
  int64_t nfailed;
  int64_t nevaluated;
  int64_t nsampled;
  int64_t nratios;
  double sum;
  double worst;
  uint64_t worst_seed;
  double seconds;
  double slowest;
  uint64_t slowest_seed;
  int64_t nsteps[8]; // by number of steps, the last one for more
} survey_t;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const char *describe(const reshard_case_t *c) {
  return tspec_arena_printf(
      c->arena, "mesh %s, %s, %s to %s: %s", tspec_mesh_print(c->arena, &c->mesh),
      tspec_type_print(c->arena, c->type), tspec_sharding_print(c->arena, &c->mesh, c->from),
      tspec_sharding_print(c->arena, &c->mesh, c->to),
      tspec_steps_print(c->arena, &c->mesh, c->steps));
}

static bool same_pending(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  tspec_sharding_t copy = *a;
  copy.npending = b->npending;
  copy.pending = b->pending;
  copy.pending_kind = b->pending_kind;
  return tspec_sharding_same_layout(a, &copy);
}

static int64_t block_elems(const reshard_case_t *c, const tspec_sharding_t *sharding) {
  return tspec_type_elems(tspec_sharding_local_type(c->arena, sharding, c->type));
}

static void compare_with_shardy(reshard_case_t *c, int64_t gather) {
  tspec_steps_t plan = {0};
  if (!same_pending(c->from, c->to) ||
      !tspec_reshard_plan(c->arena, &c->mesh, c->type, c->from, c->to, &plan)) {
    return;
  }
  for (int i = 0; i < plan.count; i++) {
    int64_t made = block_elems(c, plan.items[i].to);
    if (!tspec_step_is_local_to_axes(&c->mesh, c->type, &plan.items[i]) ||
        (made > block_elems(c, c->from) && made > block_elems(c, c->to))) {
      return;
    }
  }
  int64_t theirs = tspec_steps_cost_bytes(&c->mesh, c->type, plan);
  int64_t ours = tspec_steps_cost_bytes(&c->mesh, c->type, c->steps);
  if (ours > theirs && reshard_received(c, plan, 0) <= gather) {
    reshard_fail(c, "%lld bytes, %lld by %s", (long long)ours, (long long)theirs,
                 tspec_steps_print(c->arena, &c->mesh, plan));
  }
}

// Everything reduced where it lies, then every dim that differs gathered whole.
static void compare_with_gather(reshard_case_t *c) {
  int rank = c->type.rank;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, rank);
  tspec_axis_t *axes = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, 64);
  tspec_sharding_t gathered = *tspec_sharding_complete(c->arena, c->from);
  tspec_step_t steps[2] = {{.kind = TSPEC_COLLECTIVE_ALL_REDUCE,
                            .reduce = c->from->pending_kind,
                            .naxes = c->from->npending,
                            .axes = c->from->pending,
                            .from = c->from,
                            .to = tspec_sharding_complete(c->arena, c->from)}};
  steps[1] = (tspec_step_t){
      .kind = TSPEC_COLLECTIVE_ALL_GATHER, .from = steps[0].to, .to = &gathered, .axes = axes};
  for (int d = 0; d < rank; d++) {
    const tspec_dim_t *from = &c->from->dims[d];
    const tspec_dim_t *to = &c->to->dims[d];
    if (tspec_axes_equal(from->axes, from->naxes, to->axes, to->naxes)) {
      dims[d] = *from;
      continue;
    }
    for (int i = 0; i < from->naxes; i++) {
      axes[steps[1].naxes++] = from->axes[i];
    }
  }
  gathered.dims = dims;
  steps[1].naxes = tspec_axes_sort(axes, steps[1].naxes);
  int64_t theirs = tspec_steps_cost_bytes(&c->mesh, c->type, (tspec_steps_t){2, steps});
  int64_t ours = tspec_steps_cost_bytes(&c->mesh, c->type, c->steps);
  bool even = tspec_sharding_is_even(c->from, c->type) && tspec_sharding_is_even(c->to, c->type);
  if (even && c->from->npending > 0 && c->steps.count > 0 && !same_pending(c->from, c->to) &&
      ours > theirs) {
    reshard_fail(c, "%lld bytes, %lld by reducing and gathering", (long long)ours,
                 (long long)theirs);
  }
}

static void add_times(survey_t *survey, const reshard_case_t *c, double seconds) {
  int last = (int)(sizeof survey->nsteps / sizeof *survey->nsteps) - 1;
  survey->nsteps[c->steps.count < last ? c->steps.count : last]++;
  survey->seconds += seconds;
  if (seconds > survey->slowest) {
    survey->slowest = seconds;
    survey->slowest_seed = c->seed;
  }
}

static void add_ratio(survey_t *survey, const reshard_case_t *c, const reshard_traffic_t *traffic) {
  if (c->from->npending > 0 || c->to->npending > 0 || traffic->lacking == 0) {
    return;
  }
  double ratio = (double)traffic->plan / (double)traffic->lacking;
  survey->nratios++;
  survey->sum += ratio;
  if (ratio > survey->worst) {
    survey->worst = ratio;
    survey->worst_seed = c->seed;
  }
}

static void run_one(survey_t *survey, uint64_t seed, bool verbose) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  reshard_case_t *c = TSPEC_ARENA_NEW(&arena, reshard_case_t, 1);
  c->arena = &arena;
  c->seed = seed;
  reshard_draw_case(c);
  double start = now();
  c->steps = tspec_reshard_decompose(c->arena, &c->mesh, c->type, c->from, c->to);
  add_times(survey, c, now() - start);
  if (verbose) {
    printf("%llu: %s\n", (unsigned long long)seed, describe(c));
  }
  reshard_traffic_t traffic;
  reshard_follow(c, &traffic);
  compare_with_shardy(c, traffic.first_gather);
  compare_with_gather(c);
  if (c->nranks <= RESHARDS_EVAL_RANKS) {
    survey->nevaluated++;
    reshard_evaluate(c);
  }
  survey->nsampled += traffic.is_full ? 0 : 1;
  add_ratio(survey, c, &traffic);
  if (c->has_failed) {
    survey->nfailed++;
    printf("FAILED reshards --seed %llu --count 1: %s: %s\n", (unsigned long long)seed, describe(c),
           c->message);
  }
  tspec_arena_deinit(&arena);
}

static bool read_number(const char *text, uint64_t *out_number) {
  char *end;
  errno = 0;
  *out_number = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static void print_survey(const survey_t *survey, uint64_t count) {
  printf("steps:");
  for (size_t i = 0; i < sizeof survey->nsteps / sizeof *survey->nsteps; i++) {
    printf(" %zu x %lld", i, (long long)survey->nsteps[i]);
  }
  printf("\n%lld run in the evaluator, %lld followed on a sample of ranks\n",
         (long long)survey->nevaluated, (long long)survey->nsampled);
  printf("planning: mean %.1f us, worst %.1f us (seed %llu)\n",
         survey->seconds / (double)count * 1e6, survey->slowest * 1e6,
         (unsigned long long)survey->slowest_seed);
  printf("elements received over lacking: mean %.4f, worst %.2f (seed %llu), of %lld\n",
         survey->nratios > 0 ? survey->sum / (double)survey->nratios : 1, survey->worst,
         (unsigned long long)survey->worst_seed, (long long)survey->nratios);
}

int main(int argc, char **argv) {
  uint64_t seed = 1;
  uint64_t count = 5000;
  bool verbose = false;
  for (int i = 1; i < argc; i++) {
    bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--verbose") == 0) {
      verbose = true;
    } else if (strcmp(argv[i], "--seed") == 0 && has_value && read_number(argv[i + 1], &seed)) {
      i++;
    } else if (strcmp(argv[i], "--count") == 0 && has_value && read_number(argv[i + 1], &count) &&
               count > 0) {
      i++;
    } else {
      fprintf(stderr, "usage: reshards [--seed S] [--count N] [--verbose]\n");
      return 2;
    }
  }
  survey_t survey = {0};
  for (uint64_t i = 0; i < count; i++) {
    run_one(&survey, seed + i, verbose);
  }
  print_survey(&survey, count);
  printf("%lld passed, %lld failed\n", (long long)count - (long long)survey.nfailed,
         (long long)survey.nfailed);
  return survey.nfailed == 0 ? 0 : 1;
}
