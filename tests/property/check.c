#include "tests/property/check.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/eval/eval.h"
#include "passes/collectives.h"
#include "passes/wire.h"
#include "tests/property/compile.h"
#include "tests/property/data.h"
#include "tests/property/local_text.h"
#include "tests/property/native.h"
#include "tests/property/ref.h"

// ---- outcomes ----------------------------------------------------------------------------------

// The message without what is in quotes and without numbers: the kind of failure.
static void normalize(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (bool quoted = false; *text != '\0' && n + 1 < size; ++text) {
    if (*text == '\'') {
      quoted = !quoted;
    } else if (!quoted && !isdigit((unsigned char)*text) && *text != '-' && *text != '.') {
      out[n++] = *text;
    }
  }
  out[n] = '\0';
}

void prop_fail(prop_outcome_t *outcome, const char *what, const char *format, ...) {
  if (!outcome->ok) {
    return; // the first one counts
  }
  char kind[100];
  va_list args;
  va_start(args, format);
  vsnprintf(outcome->detail, sizeof outcome->detail, format, args);
  va_end(args);
  normalize(outcome->detail, kind, sizeof kind);
  snprintf(outcome->kind, sizeof outcome->kind, "%s: %s", what, kind);
  outcome->ok = false;
}

// ---- the same local program again ---------------------------------------------------------------

static void check_same(prop_outcome_t *outcome, const char *what, const char *first,
                       const tspec_buf_t *second) {
  if (strcmp(first, tspec_buf_get(second)) != 0) {
    size_t at = 0;
    while (first[at] == tspec_buf_get(second)[at]) {
      ++at;
    }
    prop_fail(outcome, what, "byte %zu: %.60s, not %.60s", at, tspec_buf_get(second) + at,
              first + at);
  }
}

static void check_determinism(const char *text, const prop_compiled_t *compiled,
                              prop_outcome_t *outcome) {
  tspec_buf_t first = {0}, again = {0}, cloned = {0};
  prop_local_text(compiled->local, compiled->arena, &first);
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  prop_compiled_t second;
  if (prop_compile(text, compiled->model, &arena, &second, outcome)) {
    prop_local_text(second.local, &arena, &again);
    check_same(outcome, "another local program for the same text", tspec_buf_get(&first), &again);
    prop_local_text(tspec_program_clone(second.local, &arena), &arena, &cloned);
    check_same(outcome, "another program as a clone", tspec_buf_get(&first), &cloned);
  }
  tspec_arena_deinit(&arena);
  tspec_buf_deinit(&first);
  tspec_buf_deinit(&again);
  tspec_buf_deinit(&cloned);
}

// ---- shardings of inputs, parameters and results ------------------------------------------------

// The next axis from `at` on that splits anything, or NULL.
static const tspec_axis_t *next_axis(const tspec_dim_t *dim, int *at) {
  while (*at < dim->naxes && dim->axes[*at].size == 1) {
    ++*at;
  }
  return *at < dim->naxes ? &dim->axes[(*at)++] : NULL;
}

// The declared axes come first; after them others only if the dim is open.
static bool dim_is_placed(const tspec_dim_t *declared, const tspec_dim_t *got) {
  if (declared->open) {
    int64_t pieces = tspec_axes_product(declared->axes, declared->naxes);
    return tspec_axes_product(got->axes, got->naxes) % pieces == 0;
  }
  const tspec_axis_t *want = NULL, *have = NULL;
  int i = 0, k = 0;
  do {
    want = next_axis(declared, &i);
    have = next_axis(got, &k);
  } while (want != NULL && have != NULL && tspec_axis_equal(*want, *have));
  return want == NULL && have == NULL;
}

// What is declared closed lies so; an open dim may have been split further.
static void check_placed(const prop_compiled_t *compiled, const char *name,
                         const tspec_sharding_t *declared, const tspec_sharding_t *got,
                         prop_outcome_t *outcome) {
  bool ok = got != NULL && got->npending == 0;
  for (int i = 0; ok && declared != NULL && i < declared->rank; ++i) {
    ok = dim_is_placed(&declared->dims[i], &got->dims[i]);
  }
  if (!ok) {
    const tspec_mesh_t *mesh = &compiled->global->mesh;
    prop_fail(outcome, "placement", "'%s' lies as '%s', declared '%s'", name,
              got == NULL ? "" : tspec_sharding_print(compiled->arena, mesh, got),
              declared == NULL ? "" : tspec_sharding_print(compiled->arena, mesh, declared));
  }
}

static void check_placement(const prop_compiled_t *compiled, prop_outcome_t *outcome) {
  for (int f = 0; f < compiled->global->nfuncs; ++f) {
    const tspec_func_t *func = compiled->global->funcs[f], *local = compiled->local->funcs[f];
    for (int i = 0; i < func->nargs; ++i) {
      check_placed(compiled, func->args[i].name, func->args[i].value->sharding,
                   local->args[i].value->sharding, outcome);
    }
    for (int i = 0; i < func->nresults; ++i) {
      check_placed(compiled, func->results[i].name, func->results[i].sharding,
                   local->results[i].value->sharding, outcome);
    }
  }
}

// ---- running -----------------------------------------------------------------------------------

static int64_t count_bytes(const tspec_collective_use_t *uses, int nuses) {
  int64_t bytes = 0;
  for (int i = 0; i < nuses; ++i) {
    bytes += uses[i].bytes;
  }
  return bytes;
}

// Fusion may move collectives, but adds none and drops none.
static void check_kernels(const prop_compiled_t *compiled, int entry,
                          const tspec_collective_use_t *uses, int nuses, prop_outcome_t *outcome) {
  tspec_collective_use_t *fused = NULL;
  int nfused = tspec_func_collectives(compiled->kernels, compiled->kernels->funcs[entry],
                                      compiled->arena, &fused);
  int64_t want = count_bytes(uses, nuses), got = count_bytes(fused, nfused);
  if (nfused != nuses || got != want) {
    prop_fail(outcome, "bytes", "%d collectives of %lld bytes are %d of %lld among kernels", nuses,
              (long long)want, nfused, (long long)got);
  }
}

static void check_bytes(const prop_compiled_t *compiled, int entry, const tspec_eval_t *ranks,
                        prop_outcome_t *outcome) {
  tspec_collective_use_t *uses = NULL;
  int nuses = tspec_func_collectives(compiled->local, compiled->local->funcs[entry],
                                     compiled->arena, &uses);
  int64_t ntraffic = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(ranks, &ntraffic);
  if (nuses != ntraffic) {
    prop_fail(outcome, "bytes", "%d collectives are predicted, %lld ran", nuses,
              (long long)ntraffic);
    return;
  }
  for (int i = 0; i < nuses; ++i) {
    if (uses[i].op != traffic[i].op || uses[i].bytes != traffic[i].bytes) {
      prop_fail(outcome, "bytes", "%s sends %lld bytes, predicted are %lld",
                tspec_op_info(uses[i].op->kind)->name, (long long)traffic[i].bytes,
                (long long)uses[i].bytes);
    }
  }
  check_kernels(compiled, entry, uses, nuses, outcome);
}

static void check_results(const prop_program_t *program, const prop_compiled_t *compiled, int entry,
                          tspec_eval_t *whole, tspec_eval_t *ranks, prop_outcome_t *outcome) {
  const tspec_func_t *func = compiled->global->funcs[entry];
  for (int i = 0; i < func->nresults; ++i) {
    tspec_dense_t *want = tspec_eval_result_at(whole, i), *got = tspec_eval_result_at(ranks, i);
    double allowed = prop_data_allowed(program, entry, i);
    int64_t at = 0;
    if (!prop_data_same(want, got, allowed, &at)) {
      prop_fail(outcome, "result",
                "'%s' of '%s' at %lld is %.9g on ranks, %.9g whole; %g is allowed",
                func->results[i].name, func->name, (long long)at, tspec_dense_get(got, at),
                tspec_dense_get(want, at), allowed);
    }
    tspec_dense_destroy(want);
    tspec_dense_destroy(got);
  }
}

static void run_entry(const prop_program_t *program, const prop_compiled_t *compiled, int entry,
                      tspec_eval_t *whole, tspec_eval_t *ranks, prop_outcome_t *outcome) {
  const tspec_func_t *func = compiled->global->funcs[entry];
  static prop_inputs_t inputs;
  prop_data_inputs(program, func, &inputs);
  if (!tspec_eval_run(whole, func->name, inputs.items, inputs.count) ||
      !tspec_eval_run(ranks, func->name, inputs.items, inputs.count)) {
    prop_fail(outcome, "evaluator", "%s", prop_first_error(compiled->diag));
  } else {
    check_results(program, compiled, entry, whole, ranks, outcome);
    check_bytes(compiled, entry, ranks, outcome);
  }
  prop_data_free(&inputs);
}

// The other ways to run an entry that was just run.
static void check_others(const prop_program_t *program, const prop_compiled_t *compiled, int entry,
                         const prop_check_options_t *options, tspec_eval_t *whole, FILE *ref,
                         prop_outcome_t *outcome) {
  if (ref != NULL) {
    prop_ref_write_entry(program, entry, compiled->global, whole, ref);
  }
  if (options->tspecc != NULL) {
    prop_native_check(program, compiled, entry, options, whole, outcome);
  }
}

static void check_runs(const prop_program_t *program, const prop_compiled_t *compiled,
                       const prop_check_options_t *options, prop_outcome_t *outcome) {
  tspec_eval_t *whole = tspec_eval_create(compiled->global, compiled->diag);
  tspec_eval_t *ranks = tspec_eval_create(compiled->local, compiled->diag);
  if (whole == NULL || ranks == NULL || !prop_data_params(program, compiled->global, whole) ||
      !prop_data_params(program, compiled->global, ranks)) {
    prop_fail(outcome, "evaluator", "%s", prop_first_error(compiled->diag));
  }
  FILE *ref = options->ref == NULL ? NULL : prop_ref_open(program, compiled->global, options->ref);
  for (int i = 0; i < compiled->global->nfuncs && outcome->ok; ++i) {
    run_entry(program, compiled, i, whole, ranks, outcome);
    if (outcome->ok) {
      check_others(program, compiled, i, options, whole, ref, outcome);
    }
  }
  if (ref != NULL) {
    fclose(ref);
  }
  tspec_eval_destroy(whole);
  tspec_eval_destroy(ranks);
}

// ---- by vote ------------------------------------------------------------------------------------

static int64_t count_cost(const prop_compiled_t *compiled, int entry) {
  tspec_collective_use_t *uses = NULL;
  int nuses = tspec_func_collectives(compiled->local, compiled->local->funcs[entry],
                                     compiled->arena, &uses);
  int64_t cost = 0;
  for (int i = 0; i < nuses; ++i) {
    cost += tspec_wire_weigh(&compiled->local->mesh, uses[i].axes, uses[i].naxes, uses[i].bytes);
  }
  return cost;
}

static bool is_same_local(const prop_compiled_t *a, const prop_compiled_t *b) {
  tspec_buf_t first = {0}, second = {0};
  prop_local_text(a->local, a->arena, &first);
  prop_local_text(b->local, b->arena, &second);
  bool same = strcmp(tspec_buf_get(&first), tspec_buf_get(&second)) == 0;
  tspec_buf_deinit(&first);
  tspec_buf_deinit(&second);
  return same;
}

// The same program with layouts chosen by vote is right, too, and costs no less.
static void check_votes(const char *text, const prop_program_t *program,
                        const prop_compiled_t *compiled, prop_outcome_t *outcome) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  prop_compiled_t votes;
  if (prop_compile(text, TSPEC_COST_VOTES, &arena, &votes, outcome) &&
      !is_same_local(compiled, &votes)) {
    for (int i = 0; i < votes.local->nfuncs; ++i) {
      int64_t ours = count_cost(compiled, i), theirs = count_cost(&votes, i);
      if (ours > theirs) {
        prop_fail(outcome, "cost", "%lld by cost, %lld by vote", (long long)ours,
                  (long long)theirs);
      }
    }
    prop_check_options_t evaluated = {0};
    check_placement(&votes, outcome);
    check_runs(program, &votes, &evaluated, outcome);
  }
  tspec_arena_deinit(&arena);
}

static void check_text(const char *text, const prop_program_t *program,
                       const prop_check_options_t *options, prop_outcome_t *outcome) {
  *outcome = (prop_outcome_t){.ok = true};
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  prop_compiled_t compiled;
  if (prop_compile(text, TSPEC_COST_BYTES, &arena, &compiled, outcome)) {
    if (program != NULL && compiled.global->nfuncs != program->nentries) {
      prop_fail(outcome, "checker", "an entry is left out: %s", prop_first_message(compiled.diag));
    } else {
      check_placement(&compiled, outcome);
      check_runs(program, &compiled, options, outcome);
      check_determinism(text, &compiled, outcome);
      check_votes(text, program, &compiled, outcome);
    }
  }
  tspec_arena_deinit(&arena);
}

void prop_check_text(const char *text, prop_outcome_t *out_outcome) {
  prop_check_options_t none = {0};
  check_text(text, NULL, &none, out_outcome);
}

void prop_check(const prop_program_t *program, const prop_check_options_t *options,
                prop_outcome_t *out_outcome) {
  tspec_buf_t text = {0};
  prop_program_print(program, &text);
  check_text(tspec_buf_get(&text), program, options, out_outcome);
  tspec_buf_deinit(&text);
}

// ---- apart -------------------------------------------------------------------------------------

static prop_outcome_t *shared_outcome; ///< of this child, for the handler of failed checks

static void note_check(const char *message) {
  prop_fail(shared_outcome, "internal error", "%s", message);
}

void prop_check_apart(const prop_program_t *program, const prop_check_options_t *options,
                      prop_outcome_t *out_outcome) {
  enum { SECONDS = 60, NATIVE_SECONDS = 400 };
  prop_outcome_t *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  *shared = (prop_outcome_t){.ok = true};
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    shared_outcome = shared;
    tspec_check_handler_set(note_check);
    freopen("/dev/null", "w", stderr);
    alarm(options->tspecc != NULL ? NATIVE_SECONDS : SECONDS);
    prop_outcome_t outcome;
    prop_check(program, options, &outcome);
    *shared = outcome;
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    prop_fail(shared, "crash", "%s", strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    prop_fail(shared, "crash", "exit status %d", WEXITSTATUS(status));
  }
  *out_outcome = *shared;
  munmap(shared, sizeof *shared);
}
