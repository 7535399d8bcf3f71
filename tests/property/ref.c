#include "tests/property/ref.h"

#include <stdlib.h>

#include "tests/property/data.h"

static FILE *open_file(const prop_program_t *program, const char *dir, const char *ending) {
  char path[500];
  snprintf(path, sizeof path, "%s/%llu%s", dir, (unsigned long long)program->seed, ending);
  FILE *file = fopen(path, "w");
  TSPEC_CHECK(file != NULL, "cannot write '%s'", path);
  return file;
}

static void write_type(tspec_type_t type, FILE *file) {
  fprintf(file, "%s ", tspec_dtype_name(type.dtype));
  for (int i = 0; i < type.rank; ++i) {
    fprintf(file, "%s%lld", i == 0 ? "" : ",", (long long)type.dims[i]);
  }
  fputs(type.rank == 0 ? "-" : "", file);
}

static void write_elements(const tspec_dense_t *dense, FILE *file) {
  fputs(" :", file);
  for (int64_t i = 0; i < dense->count; ++i) {
    if (tspec_dtype_is_float(dense->type.dtype)) {
      fprintf(file, " %.17g", tspec_dense_get_float(dense, i));
    } else {
      fprintf(file, " %lld", (long long)tspec_dense_get_int(dense, i));
    }
  }
  fputc('\n', file);
}

FILE *prop_ref_open(const prop_program_t *program, const tspec_program_t *global, const char *dir) {
  tspec_buf_t text = {0};
  prop_program_print(program, &text);
  FILE *file = open_file(program, dir, ".tspec");
  fputs(tspec_buf_get(&text), file);
  fclose(file);
  tspec_buf_deinit(&text);
  file = open_file(program, dir, ".txt");
  for (int i = 0; i < global->nparams; ++i) {
    const tspec_param_t *param = &global->params[i];
    tspec_dense_t *value = prop_data_leaf(program, param->path, param->type);
    fprintf(file, "param %s ", param->path);
    write_type(param->type, file);
    write_elements(value, file);
    tspec_dense_destroy(value);
  }
  return file;
}

void prop_ref_write_entry(const prop_program_t *program, int entry, const tspec_program_t *global,
                          tspec_eval_t *whole, FILE *file) {
  const tspec_func_t *func = global->funcs[entry];
  prop_inputs_t *inputs = malloc(sizeof *inputs);
  TSPEC_CHECK(inputs != NULL, "out of memory");
  prop_data_inputs(program, func, inputs);
  for (int i = 0; i < inputs->count; ++i) {
    fprintf(file, "in %s %s ", func->name, inputs->items[i].name);
    write_type(inputs->items[i].whole->type, file);
    write_elements(inputs->items[i].whole, file);
  }
  prop_data_free(inputs);
  free(inputs);
  for (int i = 0; i < func->nresults; ++i) {
    tspec_dense_t *result = tspec_eval_result_at(whole, i);
    fprintf(file, "out %s %s ", func->name, func->results[i].name);
    write_type(result->type, file);
    fprintf(file, " %.9g", prop_data_allowed(program, entry, i));
    write_elements(result, file);
    tspec_dense_destroy(result);
  }
}
