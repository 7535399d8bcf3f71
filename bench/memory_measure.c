#include <stdio.h>
#include <string.h>

#include "bench/memory.h"
#include "frontend/check.h"
#include "frontend/parser.h"
#include "passes/pipeline.h"

typedef struct measure_t {
  tspec_sources_t sources;
  tspec_diag_t diag;
  size_t before; // live before there was a program
  bench_memory_t *memory;
} measure_t;

static size_t clone_bytes(const tspec_program_t *program) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_program_clone(program, &arena);
  size_t bytes = arena.used_bytes;
  tspec_arena_deinit(&arena);
  return bytes;
}

static size_t count_ops(const tspec_program_t *program) {
  size_t nops = 0;
  for (int i = 0; i < program->nfuncs; i++) {
    for (const tspec_op_t *op = program->funcs[i]->first; op != NULL; op = op->next) {
      nops++;
    }
  }
  return nops;
}

// The program alone, in `arena`. NULL after reporting.
static tspec_program_t *load(measure_t *m, int layers, const char *mesh, tspec_arena_t *arena) {
  tspec_arena_t frontend;
  tspec_arena_init(&frontend);
  uint32_t file = tspec_sources_read(&m->sources, BENCH_SOURCE "/transformer.tspec");
  tspec_program_t *program = NULL;
  if (file != 0) {
    char set[32];
    snprintf(set, sizeof set, "layers=%d", layers);
    const char *sets[] = {set};
    tspec_check_options_t options = {.nsets = 1, .sets = sets, .mesh = mesh};
    const tspec_ast_file_t *ast = tspec_parse(&frontend, &m->sources, file, &m->diag);
    program = tspec_check(&frontend, &m->sources, ast, &options, &m->diag);
  }
  bool ok = program != NULL && m->diag.nerrors == 0;
  program = ok ? tspec_program_clone(program, arena) : NULL;
  tspec_arena_deinit(&frontend);
  return program;
}

static bool before_pass(void *user, const char *name, tspec_program_t *program) {
  (void)user;
  (void)name;
  (void)program;
  tspec_arena_reset_peak();
  return true;
}

static bool after_pass(void *user, const char *name, tspec_program_t *program) {
  const measure_t *m = user;
  bench_pass_memory_t *pass = &m->memory->passes[m->memory->npasses++];
  *pass = (bench_pass_memory_t){.name = name,
                                .arena_bytes = program->arena->used_bytes,
                                .peak_bytes = tspec_arena_peak_bytes() - m->before};
  pass->program_bytes = clone_bytes(program);
  return m->memory->npasses < BENCH_MAX_PASSES;
}

static bool run_passes(measure_t *m, tspec_program_t *program) {
  tspec_options_t options = {.cpu = "native", .nranks = tspec_mesh_nranks(&program->mesh)};
  tspec_pipeline_run_t run = {.program = program,
                              .diag = &m->diag,
                              .options = &options,
                              .hooks = {.user = m, .before = before_pass, .after = after_pass}};
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_pipeline_t pipeline = tspec_pipeline_default(&arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_LOCAL);
  bool ok = tspec_pipeline_run(&pipeline, &run);
  tspec_arena_deinit(&arena);
  return ok;
}

bool bench_measure_memory(int layers, const char *mesh, bench_memory_t *out_memory) {
  tspec_arena_t places, arena;
  tspec_arena_init(&places);
  tspec_arena_init(&arena);
  *out_memory = (bench_memory_t){0};
  measure_t m = {.memory = out_memory};
  tspec_sources_init(&m.sources, &places);
  tspec_diag_init(&m.diag, &m.sources, NULL);
  tspec_program_t *program = load(&m, layers, mesh, &arena);
  m.before = tspec_arena_live_bytes() - arena.used_bytes;
  out_memory->nops = program == NULL ? 0 : count_ops(program);
  bool ok = program != NULL && run_passes(&m, program);
  if (!ok) {
    fprintf(stderr, "transformer.tspec does not compile\n");
  }
  tspec_arena_deinit(&arena);
  tspec_arena_deinit(&places);
  return ok;
}

double bench_memory_beyond(const bench_memory_t *memory) {
  double most = 0;
  for (int i = 0; i < memory->npasses; i++) {
    const bench_pass_memory_t *pass = &memory->passes[i];
    double beyond = ((double)pass->peak_bytes - (double)pass->program_bytes) / (double)memory->nops;
    most = beyond > most ? beyond : most;
  }
  return most;
}

double bench_memory_program(const bench_memory_t *memory) {
  return (double)memory->passes[memory->npasses - 1].program_bytes / (double)memory->nops;
}
