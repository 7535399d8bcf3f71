// eval_tspec FILE.tspec ENTRY [NAME=OFFSET~SCALE | NAME=%MODULUS]...
// Runs an entry once on whole tensors with the reference evaluator. Parameters and inputs are made
// of their names by the golden files' formula ("in/NAME" for inputs; scale 1, offset 0; integers
// mod 10, bool mod 2). Prints "NAME TYPE" and a line of numbers (floats in hexadecimal) per result.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "ir/eval/eval.h"
#include "ir/eval/tensors.h"

typedef struct session_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  int nspreads;
  char **spreads;
} session_t;

static const char *find_spread(const session_t *session, const char *name) {
  size_t length = strlen(name);
  for (int i = 0; i < session->nspreads; i++) {
    if (strncmp(session->spreads[i], name, length) == 0 && session->spreads[i][length] == '=') {
      return session->spreads[i] + length + 1;
    }
  }
  return NULL;
}

static tspec_dense_t *make_tensor(session_t *session, tspec_type_t type, const char *key,
                                  const char *name) {
  const char *spread = find_spread(session, name);
  double offset = 0, scale = 1;
  uint32_t modulus = type.dtype == TSPEC_DTYPE_BOOL ? 2 : 10;
  if (spread != NULL && spread[0] == '%') {
    modulus = (uint32_t)strtoul(spread + 1, NULL, 10);
  } else if (spread != NULL) {
    char *end = NULL;
    offset = strtod(spread, &end);
    scale = *end == '~' ? strtod(end + 1, NULL) : 0;
  }
  uint32_t hash = tspec_tensors_hash(key);
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  for (int64_t i = 0; i < dense->count; i++) {
    if (tspec_dtype_is_float(type.dtype)) {
      tspec_dense_set_float(dense, i,
                            (double)tspec_tensors_float(hash, (uint64_t)i, scale, offset));
    } else {
      tspec_dense_set_int(dense, i, tspec_tensors_int(hash, (uint64_t)i, modulus));
    }
  }
  return dense;
}

static void print_result(session_t *session, const char *name, const tspec_dense_t *dense) {
  printf("%s %s\n", name, tspec_type_print(&session->arena, dense->type));
  for (int64_t i = 0; i < dense->count; i++) {
    if (tspec_dtype_is_float(dense->type.dtype)) {
      printf("%s%a", i == 0 ? "" : " ", tspec_dense_get_float(dense, i));
    } else {
      printf("%s%lld", i == 0 ? "" : " ", (long long)tspec_dense_get_int(dense, i));
    }
  }
  printf("\n");
}

static bool run(session_t *session, const tspec_program_t *program, const char *entry) {
  const tspec_func_t *func = tspec_program_find_func(program, entry);
  tspec_eval_t *eval = tspec_eval_create(program, &session->diag);
  int nargs = func == NULL ? 0 : func->nargs;
  tspec_eval_input_t *inputs = TSPEC_ARENA_NEW(&session->arena, tspec_eval_input_t, nargs);
  int ninputs = 0;
  bool ok = eval != NULL;
  for (int i = 0; ok && i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    tspec_dense_t *dense = make_tensor(session, param->type, param->path, param->path);
    ok = tspec_eval_set_param(eval, param->path, dense);
    tspec_dense_destroy(dense);
  }
  for (int i = 0; i < nargs; i++) {
    const tspec_arg_t *arg = &func->args[i];
    if (arg->kind == TSPEC_SLOT_INPUT) {
      const char *key = tspec_arena_printf(&session->arena, "in/%s", arg->name);
      inputs[ninputs].name = arg->name;
      inputs[ninputs++].whole = make_tensor(session, arg->value->type, key, arg->name);
    }
  }
  ok = ok && tspec_eval_run(eval, entry, inputs, ninputs);
  for (int i = 0; ok && i < func->nresults; i++) {
    tspec_dense_t *dense = tspec_eval_result_at(eval, i);
    print_result(session, func->results[i].name, dense);
    tspec_dense_destroy(dense);
  }
  for (int i = 0; i < ninputs; i++) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  tspec_eval_destroy(eval);
  return ok;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "eval_tspec FILE.tspec ENTRY [NAME=OFFSET~SCALE | NAME=%%MODULUS]...\n");
    return 2;
  }
  session_t session = {.nspreads = argc - 3, .spreads = argv + 3};
  tspec_arena_init(&session.arena);
  tspec_sources_init(&session.sources, &session.arena);
  tspec_diag_init(&session.diag, &session.sources, stderr);
  uint32_t file = tspec_sources_read(&session.sources, argv[1]);
  if (file == 0) {
    perror(argv[1]);
    return 2;
  }
  tspec_check_options_t options = {0};
  tspec_ast_file_t *ast = tspec_parse(&session.arena, &session.sources, file, &session.diag);
  tspec_program_t *program =
      session.diag.nerrors > 0
          ? NULL
          : tspec_check(&session.arena, &session.sources, ast, &options, &session.diag);
  bool ok = program != NULL && tspec_program_verify(program, NULL, &session.diag) &&
            run(&session, program, argv[2]);
  tspec_arena_deinit(&session.arena);
  return ok ? 0 : 1;
}
