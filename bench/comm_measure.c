// Predicted and counted bytes of one program, by the real frontend, passes and evaluator.
#include <errno.h>
#include <string.h>

#include "bench/comm.h"
#include "frontend/check.h"
#include "frontend/parser.h"
#include "ir/eval/eval.h"
#include "passes/collectives.h"
#include "passes/pipeline.h"

typedef struct measure_t {
  const comm_row_t *row;
  tspec_arena_t *arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_program_t *program;
  comm_bytes_t *bytes;
} measure_t;

/// The first error; one that names the entry before all others.
static const char *first_error(const measure_t *m) {
  const char *first = NULL;
  const char *entry = tspec_arena_printf(m->arena, "entry '%s'", m->row->entry);
  for (size_t i = 0; i < m->diag.count; ++i) {
    if (m->diag.messages[i].severity != TSPEC_SEVERITY_ERROR) {
      continue;
    }
    if (strncmp(m->diag.messages[i].text, entry, strlen(entry)) == 0) {
      return m->diag.messages[i].text;
    }
    first = first == NULL ? m->diag.messages[i].text : first;
  }
  return first == NULL ? "no message" : first;
}

static bool check(measure_t *m) {
  const comm_row_t *row = m->row;
  uint32_t file = tspec_sources_read(&m->sources, row->file);
  if (file == 0) {
    tspec_diag_error(&m->diag, (tspec_range_t){0}, "%s: %s", row->file, strerror(errno));
    return false;
  }
  const tspec_ast_file_t *ast = tspec_parse(m->arena, &m->sources, file, &m->diag);
  tspec_check_options_t options = {.nsets = (size_t)row->nsets,
                                   .sets = row->sets,
                                   .mesh = row->mesh,
                                   .nrules = (size_t)row->nrules,
                                   .rules = row->rules,
                                   .nentries = 1,
                                   .entries = &row->entry};
  m->program = tspec_check(m->arena, &m->sources, ast, &options, &m->diag);
  return m->program != NULL && m->diag.nerrors == 0;
}

static bool compile(measure_t *m) {
  tspec_options_t options = {.cpu = "native", .verify_each = true};
  options.nranks = tspec_mesh_nranks(&m->program->mesh);
  tspec_pipeline_run_t run = {.program = m->program, .diag = &m->diag, .options = &options};
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(m->arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_LOCAL);
  bool ok = tspec_pipeline_run(&pipeline, &run) && m->diag.nerrors == 0;
  m->program = run.program;
  return ok;
}

static void predict(measure_t *m, const tspec_func_t *func) {
  tspec_collective_use_t *uses = NULL;
  int count = tspec_func_collectives(m->program, func, m->arena, &uses);
  m->bytes->collectives = "";
  for (int i = 0; i < count; ++i) {
    m->bytes->predicted += uses[i].bytes;
    m->bytes->collectives =
        tspec_arena_printf(m->arena, "%s    %s\n", m->bytes->collectives,
                           tspec_collective_print(m->arena, m->program, &m->sources, &uses[i]));
  }
}

static bool count(measure_t *m, const tspec_func_t *func) {
  tspec_eval_t *eval = tspec_eval_create(m->program, &m->diag);
  tspec_eval_input_t *inputs = TSPEC_ARENA_NEW(m->arena, tspec_eval_input_t, func->nargs);
  int ninputs = 0;
  for (int i = 0; i < func->nargs; ++i) {
    if (func->args[i].kind == TSPEC_SLOT_INPUT) {
      tspec_type_t type = func->args[i].value->type;
      inputs[ninputs++] = (tspec_eval_input_t){
          func->args[i].name, tspec_dense_create(type.dtype, type.rank, type.dims)};
    }
  }
  bool ok = eval != NULL && tspec_eval_run(eval, func->name, inputs, ninputs);
  int64_t ntraffic = 0;
  const tspec_eval_traffic_t *traffic = ok ? tspec_eval_traffic(eval, &ntraffic) : NULL;
  for (int64_t i = 0; i < ntraffic; ++i) {
    m->bytes->counted += traffic[i].bytes;
  }
  for (int i = 0; i < ninputs; ++i) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  tspec_eval_destroy(eval);
  return ok;
}

static comm_outcome_t measure(measure_t *m, bool evaluate) {
  if (!check(m)) {
    m->bytes->why = first_error(m);
    return strstr(m->bytes->why, "not available in this version") != NULL ? COMM_SKIPPED
                                                                          : COMM_FAILED;
  }
  bool ok = compile(m);
  const tspec_func_t *func = ok ? tspec_program_find_func(m->program, m->row->entry) : NULL;
  if (ok) {
    predict(m, func);
  }
  if (!ok || (evaluate && !count(m, func))) {
    m->bytes->why = first_error(m);
    return COMM_FAILED;
  }
  if (evaluate && m->bytes->counted != m->bytes->predicted) {
    m->bytes->why = "predicted and counted bytes differ";
    return COMM_FAILED;
  }
  return COMM_DONE;
}

comm_outcome_t comm_measure(const comm_row_t *row, bool evaluate, tspec_arena_t *arena,
                            comm_bytes_t *out_bytes) {
  *out_bytes = (comm_bytes_t){0};
  measure_t m = {.row = row, .arena = arena, .bytes = out_bytes};
  tspec_sources_init(&m.sources, arena);
  tspec_diag_init(&m.diag, &m.sources, NULL);
  return measure(&m, evaluate);
}
