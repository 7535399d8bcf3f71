// The compiler as a library: parses and checks a program, propagates shardings, and prints where
// each value lives as JSON. No tspecc, no MLIR.
//
//   shardings FILE.tspec [MESH]        shardings mlp.tspec data=4,model=2
#include <stdio.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "passes/pipeline.h"

/// Whether something was printed before, for commas.
typedef struct printer_t {
  tspec_arena_t *arena;
  const tspec_program_t *program;
  bool any;
} printer_t;

static void print_value(printer_t *printer, const char *entry, const char *name,
                        const tspec_value_t *value) {
  const tspec_mesh_t *mesh = &printer->program->mesh;
  tspec_type_t block = tspec_sharding_local_type(printer->arena, value->sharding, value->type);
  printf("%s\n  {\"entry\": \"%s\", \"value\": \"%s\", \"type\": \"%s\", \"sharding\": \"%s\", "
         "\"block\": \"%s\"}",
         printer->any ? "," : "", entry, name, tspec_type_print(printer->arena, value->type),
         tspec_sharding_print(printer->arena, mesh, value->sharding),
         tspec_type_print(printer->arena, block));
  printer->any = true;
}

static void print_entry(printer_t *printer, const tspec_func_t *func) {
  for (int i = 0; i < func->nargs; i++) {
    print_value(printer, func->name, func->args[i].name, func->args[i].value);
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      if (op->results[i]->name != NULL) {
        print_value(printer, func->name, op->results[i]->name, op->results[i]);
      }
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    print_value(printer, func->name, func->results[i].name, func->results[i].value);
  }
}

/// Source text to a program with a sharding on every value. NULL after reporting.
static tspec_program_t *compile(tspec_arena_t *arena, const char *path, const char *mesh,
                                tspec_sources_t *sources, tspec_diag_t *diag) {
  uint32_t file = tspec_sources_read(sources, path);
  if (file == 0) {
    tspec_diag_error(diag, (tspec_range_t){0}, "'%s' cannot be read", path);
    return NULL;
  }
  const tspec_ast_file_t *ast = tspec_parse(arena, sources, file, diag);
  tspec_check_options_t check = {.mesh = mesh};
  tspec_program_t *program =
      diag->nerrors > 0 ? NULL : tspec_check(arena, sources, ast, &check, diag);
  if (program == NULL) {
    return NULL;
  }
  tspec_options_t options = {.verify_each = true, .nranks = tspec_mesh_nranks(&program->mesh)};
  tspec_pipeline_run_t run = {
      .program = program, .diag = diag, .options = &options, .stop_after = "propagate"};
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_SHARDED);
  return tspec_pipeline_run(&pipeline, &run) && diag->nerrors == 0 ? run.program : NULL;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: shardings FILE.tspec [MESH]\n");
    return 2;
  }
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_sources_t sources;
  tspec_sources_init(&sources, &arena);
  tspec_diag_t diag;
  tspec_diag_init(&diag, &sources, stderr);
  tspec_program_t *program = compile(&arena, argv[1], argc == 3 ? argv[2] : NULL, &sources, &diag);
  if (program != NULL) {
    printer_t printer = {.arena = &arena, .program = program};
    printf("[");
    for (int i = 0; i < program->nfuncs; i++) {
      print_entry(&printer, program->funcs[i]);
    }
    printf("\n]\n");
  }
  tspec_arena_deinit(&arena);
  return program != NULL ? 0 : 1;
}
