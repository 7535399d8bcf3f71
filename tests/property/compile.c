#include "tests/property/compile.h"

#include <string.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "passes/pipeline.h"

const char *prop_first_message(const tspec_diag_t *diag) {
  return diag->count > 0 ? diag->messages[0].text : "no message";
}

const char *prop_first_error(const tspec_diag_t *diag) {
  for (size_t i = 0; i < diag->count; ++i) {
    if (diag->messages[i].severity == TSPEC_SEVERITY_ERROR) {
      return diag->messages[i].text;
    }
  }
  return prop_first_message(diag);
}

typedef struct notes_t {
  prop_compiled_t *compiled;
  const char *pass; ///< that runs
} notes_t;

static void note_ops(prop_compiled_t *compiled, const tspec_program_t *program) {
  for (int f = 0; f < program->nfuncs; ++f) {
    for (const tspec_op_t *op = program->funcs[f]->first; op != NULL; op = op->next) {
      compiled->ops[op->kind] = true;
    }
  }
}

static bool note_pass(void *user, const char *name, tspec_program_t *program) {
  notes_t *notes = user;
  notes->pass = name;
  note_ops(notes->compiled, program);
  return true;
}

static bool run_passes(prop_compiled_t *compiled, tspec_program_t **program, tspec_level_t from,
                       tspec_level_t to, prop_outcome_t *outcome) {
  notes_t notes = {compiled, "no pass"};
  tspec_options_t options = {.cpu = "native", .verify_each = true, .cost_model = compiled->model};
  options.nranks = tspec_mesh_nranks(&compiled->global->mesh);
  tspec_pipeline_run_t run = {.program = *program,
                              .diag = compiled->diag,
                              .options = &options,
                              .hooks = {.user = &notes, .before = note_pass}};
  tspec_pipeline_t pipeline = tspec_pipeline_default(compiled->arena, from, to);
  bool ok = tspec_pipeline_run(&pipeline, &run) && compiled->diag->nerrors == 0;
  *program = run.program;
  note_ops(compiled, run.program);
  if (!ok) {
    prop_fail(outcome, notes.pass, "%s", prop_first_error(compiled->diag));
  }
  return ok;
}

bool prop_compile(const char *text, tspec_cost_model_t model, tspec_arena_t *arena,
                  prop_compiled_t *out_compiled, prop_outcome_t *outcome) {
  *out_compiled = (prop_compiled_t){.arena = arena, .model = model};
  out_compiled->sources = TSPEC_ARENA_NEW(arena, tspec_sources_t, 1);
  out_compiled->diag = TSPEC_ARENA_NEW(arena, tspec_diag_t, 1);
  tspec_sources_init(out_compiled->sources, arena);
  tspec_diag_init(out_compiled->diag, out_compiled->sources, NULL);
  uint32_t file = tspec_sources_add(out_compiled->sources, "program.tspec", text, strlen(text));
  tspec_ast_file_t *ast = tspec_parse(arena, out_compiled->sources, file, out_compiled->diag);
  tspec_check_options_t options = {0};
  out_compiled->global =
      tspec_check(arena, out_compiled->sources, ast, &options, out_compiled->diag);
  if (out_compiled->global == NULL || out_compiled->diag->nerrors > 0) {
    prop_fail(outcome, "checker", "%s", prop_first_error(out_compiled->diag));
    return false;
  }
  out_compiled->local = tspec_program_clone(out_compiled->global, arena);
  if (!run_passes(out_compiled, &out_compiled->local, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_LOCAL,
                  outcome)) {
    return false;
  }
  out_compiled->kernels = tspec_program_clone(out_compiled->local, arena);
  return run_passes(out_compiled, &out_compiled->kernels, TSPEC_LEVEL_LOCAL, TSPEC_LEVEL_KERNELS,
                    outcome);
}
