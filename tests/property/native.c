#include "tests/property/native.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "passes/collectives.h"
#include "tests/property/data.h"
#include "tests/support/files.h"

typedef struct native_t {
  const prop_program_t *program;
  const prop_compiled_t *compiled;
  const prop_check_options_t *options;
  const tspec_func_t *func;
  prop_outcome_t *outcome;
} native_t;

static const char *file_name(const native_t *native, const char *name, const char *ending) {
  return tspec_arena_printf(native->compiled->arena, "%s/%s%s", native->options->work, name,
                            ending);
}

// The first line of the log that says "error", or the first one.
static void read_log(const native_t *native, char *out_line, int size) {
  FILE *file = fopen(file_name(native, "log", ""), "r");
  char line[300];
  out_line[0] = '\0';
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    bool error = strstr(line, "error") != NULL;
    if (error || out_line[0] == '\0') {
      snprintf(out_line, (size_t)size, "%s", line);
    }
    if (error) {
      break;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
}

static bool run_command(const native_t *native, const char *what, const tspec_buf_t *command) {
  int status = system(tspec_buf_get(command));
  if (status != 0) {
    char line[300];
    read_log(native, line, sizeof line);
    prop_fail(native->outcome, what, "status %d: %s", status, line);
  }
  return status == 0;
}

static bool compile(const native_t *native) {
  mkdir(native->options->work, 0777);
  tspec_buf_t text = {0}, command = {0};
  prop_program_print(native->program, &text);
  FILE *file = fopen(file_name(native, "program", ".tspec"), "w");
  TSPEC_CHECK(file != NULL, "cannot write into '%s'", native->options->work);
  fputs(tspec_buf_get(&text), file);
  fclose(file);
  tspec_buf_printf(&command, "timeout 200 %s %s -o %s >%s 2>&1", native->options->tspecc,
                   file_name(native, "program", ".tspec"), file_name(native, "program", ""),
                   file_name(native, "log", ""));
  bool ok = run_command(native, "tspecc", &command);
  tspec_buf_deinit(&text);
  tspec_buf_deinit(&command);
  return ok;
}

static bool write_params(const native_t *native) {
  const tspec_program_t *global = native->compiled->global;
  tspec_files_tensor_t tensors[PROP_MAX_NODES];
  for (int i = 0; i < global->nparams; ++i) {
    const tspec_param_t *param = &global->params[i];
    tensors[i] = (tspec_files_tensor_t){param->path,
                                        prop_data_leaf(native->program, param->path, param->type)};
  }
  bool ok = tspec_files_write_safetensors(file_name(native, "params", ".safetensors"),
                                          global->nparams, tensors);
  for (int i = 0; i < global->nparams; ++i) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)tensors[i].dense);
  }
  return ok;
}

static bool run(const native_t *native) {
  const tspec_func_t *func = native->func;
  tspec_buf_t command = {0};
  tspec_buf_printf(&command, "timeout 100 %s %s --quiet --counts %s",
                   file_name(native, "program", ""), func->name,
                   file_name(native, "counts", ".json"));
  if (native->compiled->global->nparams > 0) {
    tspec_buf_printf(&command, " --load %s", file_name(native, "params", ".safetensors"));
  }
  static prop_inputs_t inputs;
  prop_data_inputs(native->program, func, &inputs);
  bool ok = true;
  for (int i = 0; i < inputs.count; ++i) {
    const char *file = file_name(native, inputs.items[i].name, ".npy");
    ok = ok && tspec_files_write_npy(file, inputs.items[i].whole);
    tspec_buf_printf(&command, " --in %s=%s", inputs.items[i].name, file);
  }
  prop_data_free(&inputs);
  for (int i = 0; i < func->nresults; ++i) {
    const char *name = func->results[i].name;
    tspec_buf_printf(&command, " --out %s=%s", name, file_name(native, name, ".npy"));
  }
  tspec_buf_printf(&command, " </dev/null >%s 2>&1", file_name(native, "log", ""));
  ok = ok && run_command(native, "native run", &command);
  tspec_buf_deinit(&command);
  return ok;
}

static void compare_results(const native_t *native, int entry, tspec_eval_t *whole) {
  for (int i = 0; i < native->func->nresults; ++i) {
    const tspec_result_t *result = &native->func->results[i];
    tspec_dense_t *want = tspec_eval_result_at(whole, i);
    tspec_dense_t *got =
        tspec_files_read_npy(file_name(native, result->name, ".npy"), result->value->type);
    double allowed = prop_data_allowed(native->program, entry, i);
    int64_t at = 0;
    if (got == NULL) {
      prop_fail(native->outcome, "native result", "'%s' is not there", result->name);
    } else if (!prop_data_same(want, got, allowed, &at)) {
      prop_fail(native->outcome, "native result",
                "'%s' of '%s' at %lld is %.9g, evaluated %.9g; %g is allowed", result->name,
                native->func->name, (long long)at, tspec_dense_get(got, at),
                tspec_dense_get(want, at), allowed);
    }
    tspec_dense_destroy(want);
    tspec_dense_destroy(got);
  }
}

static void compare_bytes(const native_t *native, int entry) {
  const prop_compiled_t *compiled = native->compiled;
  tspec_collective_use_t *uses = NULL;
  int nuses = tspec_func_collectives(compiled->kernels, compiled->kernels->funcs[entry],
                                     compiled->arena, &uses);
  json_error_t error;
  json_t *counts = json_load_file(file_name(native, "counts", ".json"), 0, &error);
  json_t *rows = json_object_get(counts, "collectives");
  if ((size_t)nuses != json_array_size(rows)) {
    prop_fail(native->outcome, "native bytes", "%d collectives are predicted, %zu ran", nuses,
              json_array_size(rows));
    nuses = 0;
  }
  for (int i = 0; i < nuses; ++i) {
    json_int_t sent = json_integer_value(json_object_get(json_array_get(rows, (size_t)i), "bytes"));
    if (sent != uses[i].bytes) {
      prop_fail(native->outcome, "native bytes", "%s sends %lld bytes, predicted are %lld",
                tspec_op_info(uses[i].op->kind)->name, (long long)sent, (long long)uses[i].bytes);
    }
  }
  json_decref(counts);
}

void prop_native_check(const prop_program_t *program, const prop_compiled_t *compiled, int entry,
                       const prop_check_options_t *options, tspec_eval_t *whole,
                       prop_outcome_t *outcome) {
  native_t native = {program, compiled, options, compiled->global->funcs[entry], outcome};
  bool ready = entry > 0 || (compile(&native) && write_params(&native));
  if (ready && run(&native)) {
    compare_results(&native, entry, whole);
    compare_bytes(&native, entry);
  }
}
