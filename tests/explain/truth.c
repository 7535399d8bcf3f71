// Are explanations true? Of each effect (an axis on a dim of a value) in each program: with the
// seeds of all reasons taken out of the program it goes; with those of one reason kept it stays,
// and then has that reason alone. Its chain ends in a seed. Propagation is the pass
// itself, on an edited copy of the program.
//
//   explain_truth [--every N] [--seed S --count N [--ops N]] [--priorities] [--many N] [--verbose]
//                 [FILE[,RULES]...]
//
// --every N: only each Nth effect. --count: random programs, from seed S on. --priorities: split
// dims wait for rounds, by chance. --many: as if N seeds were many. Ends with "N effects
// in N programs, N reasons, N failed"; exit code 1 if any failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "passes/pass.h"
#include "tests/explain/edit.h"
#include "tests/property/generate.h"

typedef struct counts_t {
  int nprograms;
  int nskipped;
  int neffects;
  int nreasons;
  int nsets; ///< reasons of several seeds
  int nruns;
  int nfailed;
} counts_t;

typedef struct truth_t {
  const char *name;
  int every;
  bool verbose;
  bool priorities;
  int many; ///< seeds that act on each other, of which not all are tried; -1: as by default
  counts_t *counts;
  const tspec_program_t *program; ///< global, simplified; never changed
  tspec_arena_t *arena;
  tspec_explain_t *explain;
} truth_t;

// ---- one trial ----------------------------------------------------------------------------------

/// What is expected of one effect in an edited program.
typedef struct claim_t {
  int effect;
  const tspec_reason_t *reason; ///< the only one; NULL: the effect is gone
} claim_t;

/// Claims about one set of seeds that are taken out.
typedef struct trial_t {
  const bool *removed; ///< by seed
  TSPEC_VEC(claim_t) claims;
} trial_t;

typedef TSPEC_VEC(trial_t *) trials_t;

static void fail(truth_t *truth, const claim_t *claim, const char *what) {
  const tspec_effect_t *effect = tspec_explain_effect(truth->explain, claim->effect);
  const tspec_prop_site_t *site = &tspec_explain_map(truth->explain)->sites.items[effect->value];
  const char *name = site->value == NULL ? site->result->name : site->value->name;
  truth->counts->nfailed++;
  printf("%s: value %d '%s' of %s, dim %d, %s: %s\n", truth->name, effect->value,
         name == NULL ? "" : name, site->func->name, effect->dim,
         tspec_axes_print(truth->arena, &truth->program->mesh, &effect->axis, 1), what);
}

static tspec_program_t *edited(const truth_t *truth, const trial_t *trial, tspec_arena_t *arena) {
  tspec_program_t *program = tspec_program_clone(truth->program, arena);
  edit_places_t places = edit_places(program, arena);
  for (int i = 0; i < tspec_explain_nseeds(truth->explain); i++) {
    if (trial->removed[i]) {
      edit_remove(program, &places, tspec_explain_seed(truth->explain, i));
    }
  }
  return program;
}

static bool has_axis(const tspec_sharding_t *sharding, const tspec_effect_t *effect) {
  int64_t covered = 1;
  const tspec_dim_t *dim = &sharding->dims[effect->dim];
  for (int i = 0; i < dim->naxes; i++) {
    int64_t begin = dim->axes[i].pre, end = begin * dim->axes[i].size;
    int64_t from = effect->axis.pre, to = from * effect->axis.size;
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    covered *= dim->axes[i].axis == effect->axis.axis && end > begin ? end / begin : 1;
  }
  return covered == effect->axis.size;
}

static int find_effect(tspec_explain_t *explain, const tspec_effect_t *wanted) {
  for (int i = tspec_explain_first_effect(explain, wanted->value);
       i < tspec_explain_first_effect(explain, wanted->value + 1); i++) {
    const tspec_effect_t *effect = tspec_explain_effect(explain, i);
    if (effect->dim == wanted->dim && tspec_axis_equal(effect->axis, wanted->axis)) {
      return i;
    }
  }
  return -1;
}

/// Seeds of an edited program have numbers of their own; what they say is the same.
static bool same_seed(const tspec_seed_t *a, const tspec_seed_t *b) {
  return a->declaration == b->declaration && a->value == b->value && a->dim == b->dim &&
         tspec_axis_equal(a->axis, b->axis);
}

static bool has_only_reason(truth_t *truth, tspec_explain_t *alone, const claim_t *claim) {
  const tspec_effect_t *wanted = tspec_explain_effect(truth->explain, claim->effect);
  int effect = find_effect(alone, wanted);
  if (effect < 0) { // in other pieces now: the parts are effects of their own
    return true;
  }
  tspec_reasons_t reasons = tspec_explain_reasons(alone, effect);
  bool same = reasons.count == 1 && reasons.items[0].nseeds == claim->reason->nseeds;
  for (int i = 0; same && i < claim->reason->nseeds; i++) {
    same = same_seed(tspec_explain_seed(alone, reasons.items[0].seeds[i]),
                     tspec_explain_seed(truth->explain, claim->reason->seeds[i]));
  }
  return same;
}

static tspec_explain_t *explanation(const truth_t *truth, tspec_arena_t *arena,
                                    tspec_program_t *program) {
  tspec_explain_t *explain = tspec_explain_create(arena, program);
  if (truth->many >= 0) {
    tspec_explain_set_many(explain, truth->many);
  }
  return explain;
}

static void run_trial(truth_t *truth, const trial_t *trial) {
  tspec_arena_t arena, scratch;
  tspec_arena_init(&arena);
  tspec_arena_init(&scratch);
  tspec_program_t *program = edited(truth, trial, &arena);
  edit_places_t places = edit_places(program, &arena);
  tspec_diag_t diag;
  tspec_sources_t sources;
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
  tspec_options_t options = {.cpu = "native"};
  tspec_pass_run_t run = {"propagate", program, &scratch, &diag, &options};
  TSPEC_CHECK(tspec_pass_propagate(&run));
  tspec_explain_t *alone = NULL;
  for (size_t i = 0; i < trial->claims.count; i++) {
    const claim_t *claim = &trial->claims.items[i];
    const tspec_effect_t *effect = tspec_explain_effect(truth->explain, claim->effect);
    bool there = has_axis(edit_sharding(&places.items[effect->value]), effect);
    if (there != (claim->reason != NULL)) {
      fail(truth, claim,
           there ? "is there without any of its reasons" : "is gone with one reason left");
      continue;
    }
    if (claim->reason == NULL) {
      continue;
    }
    alone = alone != NULL ? alone : explanation(truth, &arena, edited(truth, trial, &arena));
    if (!has_only_reason(truth, alone, claim)) {
      fail(truth, claim, "has other reasons when one is left");
    }
  }
  tspec_arena_deinit(&scratch);
  tspec_arena_deinit(&arena);
}

// ---- all trials ---------------------------------------------------------------------------------

static trial_t *find_trial(truth_t *truth, trials_t *trials, const bool *removed) {
  size_t nseeds = (size_t)tspec_explain_nseeds(truth->explain);
  for (size_t i = trials->count; i > 0; i--) {
    if (memcmp(trials->items[i - 1]->removed, removed, nseeds) == 0) {
      return trials->items[i - 1];
    }
  }
  trial_t *trial = TSPEC_ARENA_NEW(truth->arena, trial_t, 1);
  trial->removed = tspec_arena_copy(truth->arena, removed, nseeds);
  TSPEC_VEC_PUSH(truth->arena, trials, trial);
  return trial;
}

static void set_removed(bool *removed, const tspec_reason_t *reason, bool value) {
  for (int i = 0; i < reason->nseeds; i++) {
    removed[reason->seeds[i]] = value;
  }
}

/// A chain begins with the effect and ends where a seed of the program stands.
static bool is_chain(const truth_t *truth, const tspec_chain_request_t *request) {
  const tspec_chain_t *chain = &request->chain;
  const tspec_effect_t *effect = tspec_explain_effect(truth->explain, request->effect);
  return chain->seed >= 0 && chain->steps[0].value == effect->value &&
         chain->steps[0].dim == effect->dim;
}

static void check_chains(truth_t *truth, int effect, const tspec_reasons_t *reasons) {
  tspec_chain_request_t *requests =
      TSPEC_ARENA_NEW(truth->arena, tspec_chain_request_t, reasons->count);
  for (int i = 0; i < reasons->count; i++) {
    requests[i] = (tspec_chain_request_t){.effect = effect, .reasons = reasons, .reason = i};
  }
  tspec_explain_chains(truth->explain, reasons->count, requests, truth->arena);
  for (int i = 0; i < reasons->count; i++) {
    claim_t claim = {effect, &reasons->items[i]};
    if (!is_chain(truth, &requests[i])) {
      fail(truth, &claim, "has a chain that ends nowhere");
    }
  }
}

static void add_claims(truth_t *truth, trials_t *trials, int effect) {
  tspec_reasons_t reasons = tspec_explain_reasons(truth->explain, effect);
  bool *removed = TSPEC_ARENA_NEW(truth->arena, bool, tspec_explain_nseeds(truth->explain));
  claim_t claim = {effect, NULL};
  if (reasons.count == 0) {
    fail(truth, &claim, "has no reason");
    return;
  }
  for (int i = 0; i < reasons.count; i++) {
    set_removed(removed, &reasons.items[i], true);
  }
  check_chains(truth, effect, &reasons);
  trial_t *trial = find_trial(truth, trials, removed);
  TSPEC_VEC_PUSH(truth->arena, &trial->claims, claim);
  for (int i = 0; i < reasons.count; i++) {
    set_removed(removed, &reasons.items[i], false);
    claim.reason = &reasons.items[i];
    trial = find_trial(truth, trials, removed);
    TSPEC_VEC_PUSH(truth->arena, &trial->claims, claim);
    set_removed(removed, &reasons.items[i], true);
    truth->counts->nreasons++;
    truth->counts->nsets += reasons.items[i].nseeds > 1;
  }
  truth->counts->neffects++;
}

static void check_program(truth_t *truth) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  truth->arena = &arena;
  truth->explain = explanation(truth, &arena, tspec_program_clone(truth->program, &arena));
  trials_t trials = {0};
  int neffects = tspec_explain_neffects(truth->explain);
  for (int i = truth->counts->neffects % truth->every; i < neffects; i += truth->every) {
    add_claims(truth, &trials, i);
  }
  truth->counts->nruns += tspec_explain_nruns(truth->explain);
  for (size_t i = 0; i < trials.count; i++) {
    run_trial(truth, trials.items[i]);
  }
  truth->counts->nprograms++;
  if (truth->verbose) {
    printf("%s: %d effects, %d seeds, %d runs, %zu trials\n", truth->name, neffects,
           tspec_explain_nseeds(truth->explain), tspec_explain_nruns(truth->explain), trials.count);
  }
  tspec_arena_deinit(&arena);
}

// ---- programs -----------------------------------------------------------------------------------

static void check_source(truth_t *truth, tspec_arena_t *arena, tspec_sources_t *sources,
                         uint32_t file, const char *rules) {
  tspec_diag_t diag;
  tspec_diag_init(&diag, sources, NULL);
  tspec_ast_file_t *ast = tspec_parse(arena, sources, file, &diag);
  tspec_check_options_t options = {.nrules = rules != NULL, .rules = &rules};
  tspec_program_t *program =
      diag.nerrors > 0 ? NULL : tspec_check(arena, sources, ast, &options, &diag);
  if (program == NULL || diag.nerrors > 0) {
    truth->counts->nskipped++;
    printf("%s: skipped: %s\n", truth->name, diag.count > 0 ? diag.messages[0].text : "?");
    return;
  }
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  tspec_options_t pass_options = {.cpu = "native"};
  tspec_pass_run_t run = {"simplify", program, &scratch, &diag, &pass_options};
  TSPEC_CHECK(tspec_pass_simplify(&run));
  tspec_arena_deinit(&scratch);
  if (truth->priorities) {
    edit_priorities(run.program, truth->counts->nprograms);
  }
  truth->program = run.program;
  check_program(truth);
}

static void check_file(truth_t *truth, const char *argument) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_sources_t sources;
  tspec_sources_init(&sources, &arena);
  const char *comma = strchr(argument, ',');
  const char *path =
      comma == NULL ? argument : tspec_arena_strdup(&arena, argument, (size_t)(comma - argument));
  uint32_t file = tspec_sources_read(&sources, path);
  truth->name = argument;
  if (file == 0) {
    printf("%s: cannot be read\n", path);
    truth->counts->nfailed++;
  } else {
    check_source(truth, &arena, &sources, file, comma == NULL ? NULL : comma + 1);
  }
  tspec_arena_deinit(&arena);
}

static void check_random(truth_t *truth, uint64_t seed, int nops) {
  static prop_program_t random; // large
  prop_generate(seed, &(prop_generate_options_t){.nops = nops}, &random);
  tspec_buf_t text = {0};
  prop_program_print(&random, &text);
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_sources_t sources;
  tspec_sources_init(&sources, &arena);
  truth->name = tspec_arena_printf(&arena, "seed %llu", (unsigned long long)seed);
  uint32_t file = tspec_sources_add(&sources, truth->name, tspec_buf_get(&text), text.length);
  check_source(truth, &arena, &sources, file, NULL);
  tspec_arena_deinit(&arena);
  tspec_buf_deinit(&text);
}

int main(int argc, char **argv) {
  counts_t counts = {0};
  truth_t truth = {.every = 1, .many = -1, .counts = &counts};
  uint64_t seed = 1;
  int count = 0, nops = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--verbose") == 0) {
      truth.verbose = true;
    } else if (strcmp(argv[i], "--priorities") == 0) {
      truth.priorities = true;
    } else if (i + 1 < argc && strcmp(argv[i], "--every") == 0) {
      truth.every = atoi(argv[++i]);
    } else if (i + 1 < argc && strcmp(argv[i], "--many") == 0) {
      truth.many = atoi(argv[++i]);
    } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
      seed = strtoull(argv[++i], NULL, 10);
    } else if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
      count = atoi(argv[++i]);
    } else if (i + 1 < argc && strcmp(argv[i], "--ops") == 0) {
      nops = atoi(argv[++i]);
    } else {
      check_file(&truth, argv[i]);
    }
  }
  for (int i = 0; i < count; i++) {
    check_random(&truth, seed + (uint64_t)i, nops);
  }
  printf("%d effects in %d programs (%d skipped), %d reasons (%d sets), %d runs, %d failed\n",
         counts.neffects, counts.nprograms, counts.nskipped, counts.nreasons, counts.nsets,
         counts.nruns, counts.nfailed);
  return counts.nfailed > 0 || counts.nprograms == 0;
}
