// agree --tspecc TSPECC --work DIR --mesh M [--entry E] [--set N=V].. [--cpu C] [--seed N]
// [--exact] [--ones] [--special] [--steps N]
//       [--golden FILE.json] PROGRAM.tspec
#include "tests/e2e/agree.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "ir/eval/tensors.h"
#include "passes/pipeline.h"
#include "tests/support/files.h"

void agree_fail(agree_t *agree, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "FAILED %s %s on %s: ", agree->source, agree->func ? agree->func->name : "",
          agree->mesh);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  ++agree->nfailed;
}

// ---- the program ----

static const tspec_func_t *find_entry(const agree_t *agree) {
  for (int i = 0; i < agree->global->nfuncs; ++i) {
    if (agree->entry == NULL || strcmp(agree->global->funcs[i]->name, agree->entry) == 0) {
      return agree->global->funcs[i];
    }
  }
  return NULL;
}

bool agree_load(agree_t *agree) {
  uint32_t file = tspec_sources_read(&agree->sources, agree->source);
  if (file == 0) {
    fprintf(stderr, "%s: %s\n", agree->source, strerror(errno));
    return false;
  }
  tspec_ast_file_t *ast = tspec_parse(&agree->arena, &agree->sources, file, &agree->diag);
  tspec_check_options_t check = {.nsets = agree->nsets, .sets = agree->sets, .mesh = agree->mesh};
  agree->global = tspec_check(&agree->arena, &agree->sources, ast, &check, &agree->diag);
  if (agree->global == NULL || agree->diag.nerrors > 0) {
    return false;
  }
  agree->func = find_entry(agree);
  tspec_options_t options = {.cpu = "native", .verify_each = true};
  options.nranks = tspec_mesh_nranks(&agree->global->mesh);
  tspec_pipeline_run_t run = {.program = tspec_program_clone(agree->global, &agree->arena),
                              .diag = &agree->diag,
                              .options = &options};
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(&agree->arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_LOCAL);
  bool ok = agree->func != NULL && tspec_pipeline_run(&pipeline, &run);
  agree->local = run.program;
  return ok;
}

// ---- inputs ----

const char *agree_file(agree_t *agree, const char *name, const char *ending) {
  char *path = tspec_arena_printf(&agree->arena, "%s/%s%s", agree->work, name, ending);
  for (char *c = path + strlen(agree->work) + 1; *c != '\0'; ++c) {
    *c = *c == '/' ? '.' : *c;
  }
  return path;
}

// Without a golden: floats of -1 .. 1, integers of 0 .. 6.
static tspec_dense_t *make_tensor(const char *seed_name, tspec_type_t type, double scale,
                                  double offset, uint32_t modulus) {
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  uint32_t hash = tspec_tensors_hash(seed_name);
  for (int64_t i = 0; i < dense->count; ++i) {
    if (tspec_dtype_is_float(type.dtype)) {
      tspec_dense_set_float(dense, i,
                            (double)tspec_tensors_float(hash, (uint64_t)i, scale, offset));
    } else {
      tspec_dense_set_int(dense, i, tspec_tensors_int(hash, (uint64_t)i, modulus));
    }
  }
  return dense;
}

static json_t *find_named(json_t *list, const char *key, const char *name) {
  size_t i = 0;
  json_t *item = NULL;
  json_array_foreach(list, i, item) {
    const char *got = json_string_value(json_object_get(item, key));
    if (got != NULL && strcmp(got, name) == 0) {
      return item;
    }
  }
  return NULL;
}

static double number_or(json_t *object, const char *key, double otherwise) {
  json_t *number = json_object_get(object, key);
  return json_is_number(number) ? json_number_value(number) : otherwise;
}

// The tensor that a record of the golden states.
static tspec_dense_t *make_golden(json_t *record, tspec_type_t type) {
  json_t *seed = json_object_get(record, "seed");
  const char *name = json_string_value(seed != NULL ? seed : json_object_get(record, "path"));
  return make_tensor(name, type, number_or(record, "scale", 1), number_or(record, "offset", 0),
                     (uint32_t)number_or(record, "mod", 7));
}

// What elementwise functions get wrong. The first input goes through them in its last dim, others
// in the dim before, so that two meet in all pairs.
static tspec_dense_t *make_special(bool is_first, tspec_type_t type) {
  static const double numbers[] = {0,     -0.0,     1,         -1,      0.5,  -2.5,
                                   3.5,   INFINITY, -INFINITY, NAN,     7e4,  -1e30,
                                   1e-40, -1e-300,  0x1p-149,  1.7e308, 88.7, -104};
  enum { COUNT = sizeof numbers / sizeof *numbers };
  tspec_dense_t *special = tspec_dense_create(type.dtype, type.rank, type.dims);
  for (int64_t i = 0; i < special->count; ++i) {
    int64_t row = i / type.dims[type.rank - 1];
    tspec_dense_set(special, i, numbers[(is_first ? i : row) % COUNT]);
  }
  return special;
}

static tspec_dense_t *make_input(agree_t *agree, const char *name, tspec_type_t type) {
  if (agree->special) {
    return make_special(strcmp(name, agree->func->args[0].name) == 0, type);
  }
  if (agree->ones) {
    tspec_dense_t *ones = tspec_dense_create(type.dtype, type.rank, type.dims);
    for (int64_t i = 0; i < ones->count; ++i) {
      tspec_dense_set(ones, i, 1);
    }
    return ones;
  }
  json_t *record = find_named(json_object_get(agree->golden_json, "inputs"), "name", name);
  return record != NULL ? make_golden(record, type) : make_tensor(name, type, 1, 0, 7);
}

static bool make_params(agree_t *agree) {
  tspec_files_tensor_t tensors[AGREE_MAX];
  for (int i = 0; i < agree->global->nparams; ++i) {
    const tspec_param_t *param = &agree->global->params[i];
    json_t *record = find_named(json_object_get(agree->golden_json, "params"), "path", param->path);
    if (record == NULL) {
      fprintf(stderr, "%s: no parameter '%s'\n", agree->golden, param->path);
      return false;
    }
    agree->params[i] = make_golden(record, param->type);
    tensors[i] = (tspec_files_tensor_t){param->path, agree->params[i]};
  }
  return tspec_files_write_safetensors(agree_file(agree, "params", ".safetensors"),
                                       agree->global->nparams, tensors);
}

bool agree_make_inputs(agree_t *agree) {
  bool ok = true;
  for (int i = 0; i < agree->func->nargs && ok; ++i) {
    const tspec_arg_t *arg = &agree->func->args[i];
    if (arg->kind == TSPEC_SLOT_INPUT) {
      agree->inputs[i] = make_input(agree, arg->name, arg->value->type);
      ok = tspec_files_write_npy(agree_file(agree, arg->name, ".npy"), agree->inputs[i]);
    }
  }
  return ok && (agree->golden == NULL || make_params(agree));
}

// ---- the evaluator ----

static bool run_eval(agree_t *agree, tspec_eval_t *eval) {
  tspec_eval_init_params(eval, agree->seed);
  for (int i = 0; agree->golden != NULL && i < agree->global->nparams; ++i) {
    if (!tspec_eval_set_param(eval, agree->global->params[i].path, agree->params[i])) {
      return false;
    }
  }
  tspec_eval_input_t inputs[AGREE_MAX];
  int count = 0;
  for (int i = 0; i < agree->func->nargs; ++i) {
    if (agree->inputs[i] != NULL) {
      inputs[count++] = (tspec_eval_input_t){agree->func->args[i].name, agree->inputs[i]};
    }
  }
  return tspec_eval_run(eval, agree->func->name, inputs, count);
}

static void compare_evals(agree_t *agree, tspec_eval_t *whole, tspec_eval_t *ranks) {
  for (int i = 0; i < agree->func->nresults; ++i) {
    const char *name = agree->func->results[i].name;
    tspec_dense_t *want = tspec_eval_result(whole, name);
    tspec_dense_t *got = tspec_eval_result(ranks, name);
    agree_compare(agree, "all ranks against one, evaluated", name, want, got);
    if (agree->golden != NULL) {
      agree_compare_golden(agree, name, got);
    }
    tspec_dense_destroy(want);
    tspec_dense_destroy(got);
  }
}

static bool run_all(agree_t *agree) {
  if (!agree_load(agree) || !agree_make_inputs(agree)) {
    return false;
  }
  tspec_eval_t *whole = tspec_eval_create(agree->global, &agree->diag);
  tspec_eval_t *ranks = tspec_eval_create(agree->local, &agree->diag);
  bool ok = whole != NULL && ranks != NULL && run_eval(agree, whole) && run_eval(agree, ranks);
  if (ok) {
    compare_evals(agree, whole, ranks);
    agree_native(agree, whole, ranks);
  }
  tspec_eval_destroy(whole);
  tspec_eval_destroy(ranks);
  return ok;
}

// ---- the command ----

static bool take_option(agree_t *agree, const char *option, const char *value) {
  if (strcmp(option, "--set") == 0 && agree->nsets < AGREE_MAX) {
    agree->sets[agree->nsets++] = value;
    return true;
  }
  const struct {
    const char *name;
    const char **place;
  } options[] = {{"--tspecc", &agree->tspecc}, {"--work", &agree->work},
                 {"--mesh", &agree->mesh},     {"--entry", &agree->entry},
                 {"--golden", &agree->golden}, {"--cpu", &agree->cpu},
                 {"--steps", &agree->steps}};
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
    if (strcmp(option, options[i].name) == 0) {
      *options[i].place = value;
      return true;
    }
  }
  fprintf(stderr, "agree: unknown option %s\n", option);
  return false;
}

static bool parse_command(agree_t *agree, int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--exact") == 0) {
      agree->exact = true;
    } else if (strcmp(argv[i], "--ones") == 0) {
      agree->ones = true;
    } else if (strcmp(argv[i], "--special") == 0) {
      agree->special = true;
    } else if (argv[i][0] != '-') {
      agree->source = argv[i];
    } else if (i + 1 == argc || !take_option(agree, argv[i], argv[i + 1])) {
      return false;
    } else {
      ++i;
    }
  }
  return agree->tspecc != NULL && agree->work != NULL && agree->source != NULL;
}

static void clean_up(agree_t *agree) {
  for (int i = 0; i < AGREE_MAX; ++i) {
    tspec_dense_destroy(agree->inputs[i]);
    tspec_dense_destroy(agree->params[i]);
  }
  json_decref(agree->golden_json);
  tspec_arena_deinit(&agree->arena);
}

int main(int argc, char **argv) {
  static agree_t agree = {.seed = 11};
  if (!parse_command(&agree, argc, argv)) {
    fprintf(stderr, "usage: agree --tspecc TSPECC --work DIR [options] PROGRAM.tspec\n");
    return 2;
  }
  tspec_arena_init(&agree.arena);
  tspec_sources_init(&agree.sources, &agree.arena);
  tspec_diag_init(&agree.diag, &agree.sources, stderr);
  mkdir(agree.work, 0777);
  if (agree.golden != NULL) {
    json_error_t error;
    agree.golden_json = json_load_file(agree.golden, 0, &error);
    if (agree.golden_json == NULL) {
      fprintf(stderr, "%s: %s\n", agree.golden, error.text);
      return 2;
    }
  }
  bool ok = run_all(&agree);
  int nfailed = agree.nfailed;
  clean_up(&agree);
  if (ok && nfailed == 0) {
    puts("agreed");
  }
  return ok && nfailed == 0 ? 0 : 1;
}
