#include "tests/support/program_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 40

typedef struct reader_t {
  tspec_arena_t *arena;
  tspec_diag_t *diag;
  tspec_program_t *program;
  tspec_func_t *func;
  tspec_range_t range; ///< of the line
  const char *line;
  char *words[MAX_WORDS];
  int nwords;
  const char *sharding; ///< text behind '@', or NULL
} reader_t;

_Noreturn static void stop(const reader_t *reader, const char *what) {
  fprintf(stderr, "program text: %s in '%s'\n", what, reader->line);
  abort();
}

tspec_type_t tspec_text_type(tspec_arena_t *arena, const char *text) {
  size_t length = strcspn(text, "[");
  tspec_dtype_t dtype = TSPEC_DTYPE_F32;
  if (!tspec_dtype_parse(text, length, &dtype)) {
    fprintf(stderr, "program text: no type '%s'\n", text);
    abort();
  }
  int64_t dims[8] = {0};
  int rank = 0;
  char *at = strdup(text + length);
  for (char *part = strtok(at, "[], "); part != NULL; part = strtok(NULL, "[], ")) {
    dims[rank++] = strtoll(part, NULL, 10);
  }
  free(at);
  return tspec_type_make(arena, dtype, rank, dims);
}

static const tspec_sharding_t *read_sharding(reader_t *reader, const char *text, int rank) {
  const tspec_sharding_t *sharding =
      tspec_sharding_parse(reader->arena, &reader->program->mesh, text, rank,
                           (tspec_about_t){reader->line, reader->range}, reader->diag);
  if (sharding == NULL) {
    stop(reader, "bad sharding");
  }
  return sharding;
}

static tspec_value_t *find_value(const tspec_func_t *func, const char *name) {
  for (tspec_op_t *op = func->last; op != NULL; op = op->prev) {
    for (int i = 0; i < op->nresults; i++) {
      if (op->results[i]->name != NULL && strcmp(op->results[i]->name, name) == 0) {
        return op->results[i];
      }
    }
  }
  for (int i = 0; i < func->nargs; i++) {
    if (strcmp(func->args[i].name, name) == 0) {
      return func->args[i].value;
    }
  }
  return NULL;
}

tspec_value_t *tspec_text_value(const tspec_program_t *program, const char *name) {
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_value_t *value = find_value(program->funcs[i], name);
    if (value != NULL) {
      return value;
    }
  }
  return NULL;
}

// ---- attributes --------------------------------------------------------------------------------

static tspec_attr_t read_numbers(reader_t *reader, const tspec_attr_spec_t *spec, char *text) {
  int64_t *ints = TSPEC_ARENA_NEW(reader->arena, int64_t, strlen(text));
  double *floats = TSPEC_ARENA_NEW(reader->arena, double, strlen(text));
  int64_t count = 0;
  for (char *part = strtok(text, ","); part != NULL; part = strtok(NULL, ",")) {
    ints[count] = strtoll(part, NULL, 10);
    floats[count++] = strtod(part, NULL);
  }
  return spec->kind == TSPEC_ATTR_INTS ? tspec_attr_ints(spec->name, count, ints)
                                       : tspec_attr_floats(spec->name, count, floats);
}

static tspec_attr_t read_axes(reader_t *reader, const char *name, const char *text) {
  char *list = tspec_arena_printf(reader->arena, "[%s]", text);
  for (char *at = list; *at != '\0'; at++) {
    *at = *at == ',' ? '*' : *at;
  }
  const tspec_sharding_t *parsed = read_sharding(reader, list, text[0] == '\0' ? 0 : 1);
  return text[0] == '\0' ? tspec_attr_axes(name, 0, NULL)
                         : tspec_attr_axes(name, parsed->dims[0].naxes, parsed->dims[0].axes);
}

static tspec_attr_t read_attr(reader_t *reader, const tspec_attr_spec_t *spec, char *text) {
  tspec_dtype_t dtype = TSPEC_DTYPE_F32;
  tspec_reduce_t reduce = TSPEC_REDUCE_SUM;
  switch (spec->kind) {
  case TSPEC_ATTR_INT:
    return tspec_attr_int(spec->name, strtoll(text, NULL, 10));
  case TSPEC_ATTR_FLOAT:
    return tspec_attr_float(spec->name, strtod(text, NULL));
  case TSPEC_ATTR_INTS:
  case TSPEC_ATTR_FLOATS:
    return read_numbers(reader, spec, text);
  case TSPEC_ATTR_STRING:
    return tspec_attr_string(spec->name, text);
  case TSPEC_ATTR_DTYPE:
    if (!tspec_dtype_parse(text, strlen(text), &dtype)) {
      stop(reader, "no dtype");
    }
    return tspec_attr_dtype(spec->name, dtype);
  case TSPEC_ATTR_REDUCE:
    if (!tspec_reduce_parse(text, &reduce)) {
      stop(reader, "no reduction");
    }
    return tspec_attr_reduce(spec->name, reduce);
  case TSPEC_ATTR_AXES:
    return read_axes(reader, spec->name, text);
  case TSPEC_ATTR_SHARDING:
    return tspec_attr_sharding(spec->name, read_sharding(reader, text, -1));
  }
  stop(reader, "no attribute kind");
}

// ---- lines -------------------------------------------------------------------------------------

/// NAME = OP OPERAND.. ATTR=VALUE..
static void read_op(reader_t *reader) {
  tspec_op_kind_t kind = tspec_op_find(reader->words[2]);
  if (kind == TSPEC_OP_COUNT) {
    stop(reader, "no op");
  }
  tspec_value_t *operands[MAX_WORDS];
  tspec_attr_t attrs[MAX_WORDS];
  tspec_op_build_t build = {.kind = kind, .operands = operands, .attrs = attrs};
  build.range = reader->range;
  for (int i = 3; i < reader->nwords; i++) {
    char *equals = strchr(reader->words[i], '=');
    if (equals == NULL) {
      operands[build.noperands] = find_value(reader->func, reader->words[i]);
      if (operands[build.noperands++] == NULL) {
        stop(reader, "no such operand");
      }
      continue;
    }
    *equals = '\0';
    const tspec_attr_spec_t *spec = tspec_op_info(kind)->rules->attrs;
    while (spec != NULL && spec->name != NULL && strcmp(spec->name, reader->words[i]) != 0) {
      spec++;
    }
    if (spec == NULL || spec->name == NULL) {
      stop(reader, "no such attribute");
    }
    attrs[build.nattrs++] = read_attr(reader, spec, equals + 1);
  }
  tspec_op_t *op = tspec_op_create(reader->program, reader->func, NULL, &build, reader->diag);
  if (op != NULL) {
    op->results[0]->name = reader->words[0];
    if (reader->sharding != NULL) {
      op->results[0]->sharding = read_sharding(reader, reader->sharding, op->results[0]->type.rank);
    }
  }
}

static void read_mesh(reader_t *reader) {
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(reader->arena, tspec_mesh_axis_t, reader->nwords);
  for (int i = 1; i < reader->nwords; i++) {
    char *equals = strchr(reader->words[i], '=');
    *equals = '\0';
    char *end = NULL;
    axes[i - 1] = (tspec_mesh_axis_t){reader->words[i], strtoll(equals + 1, &end, 10), 0};
    if (*end == '@') {
      axes[i - 1].bytes_per_second = 1e9 * strtod(end + 1, NULL);
    }
  }
  reader->program->mesh = (tspec_mesh_t){reader->nwords - 1, axes};
}

/// The words from `first` on as one type: sizes may have blanks between them.
static tspec_type_t read_type(reader_t *reader, int first) {
  const char *text = "";
  for (int i = first; i < reader->nwords; i++) {
    text = tspec_arena_printf(reader->arena, "%s%s", text, reader->words[i]);
  }
  return tspec_text_type(reader->arena, text);
}

static void read_param(reader_t *reader) {
  tspec_program_t *program = reader->program;
  tspec_param_t *params = TSPEC_ARENA_NEW(reader->arena, tspec_param_t, program->nparams + 1);
  if (program->nparams > 0) {
    memcpy(params, program->params, sizeof *params * (size_t)program->nparams);
  }
  tspec_param_t *param = &params[program->nparams++];
  program->params = params;
  param->path = reader->words[1];
  param->type = read_type(reader, 2);
  if (reader->sharding != NULL) {
    param->sharding = read_sharding(reader, reader->sharding, param->type.rank);
  }
}

static void add_result(reader_t *reader, tspec_slot_kind_t kind, const char *name,
                       const char *value) {
  tspec_func_t *func = reader->func;
  tspec_result_t *results = TSPEC_ARENA_NEW(reader->arena, tspec_result_t, func->nresults + 1);
  if (func->nresults > 0) {
    memcpy(results, func->results, sizeof *results * (size_t)func->nresults);
  }
  func->results = results;
  tspec_result_t *result = &results[func->nresults++];
  *result = (tspec_result_t){.kind = kind, .name = name, .range = reader->range};
  result->value = find_value(func, value);
  if (result->value == NULL) {
    stop(reader, "no such value");
  }
  if (reader->sharding != NULL) {
    result->sharding = read_sharding(reader, reader->sharding, result->value->type.rank);
  } else if (reader->program->level >= TSPEC_LEVEL_SHARDED) {
    result->sharding = result->value->sharding;
  }
}

static void read_arg(reader_t *reader, bool is_param) {
  const tspec_param_t *param =
      is_param ? tspec_program_find_param(reader->program, reader->words[1]) : NULL;
  tspec_type_t type = is_param ? param->type : read_type(reader, 2);
  tspec_value_t *value = tspec_func_add_arg(reader->program, reader->func,
                                            is_param ? TSPEC_SLOT_PARAM : TSPEC_SLOT_INPUT,
                                            reader->words[1], type, reader->range);
  value->sharding = is_param ? param->sharding : NULL;
  if (reader->sharding != NULL) {
    value->sharding = read_sharding(reader, reader->sharding, type.rank);
  }
}

static void read_level(reader_t *reader) {
  for (int i = TSPEC_LEVEL_GLOBAL; i <= TSPEC_LEVEL_KERNELS; i++) {
    if (strcmp(tspec_level_name((tspec_level_t)i), reader->words[1]) == 0) {
      reader->program->level = (tspec_level_t)i;
      return;
    }
  }
  stop(reader, "no level");
}

static void read_line(reader_t *reader) {
  const char *first = reader->words[0];
  if (reader->nwords > 2 && strcmp(reader->words[1], "=") == 0) {
    read_op(reader);
  } else if (strcmp(first, "level") == 0) {
    read_level(reader);
  } else if (strcmp(first, "mesh") == 0) {
    read_mesh(reader);
  } else if (strcmp(first, "param") == 0) {
    read_param(reader);
  } else if (strcmp(first, "entry") == 0) {
    reader->func = tspec_program_add_func(reader->program, reader->words[1], reader->range);
  } else if (strcmp(first, "input") == 0 || strcmp(first, "read") == 0) {
    read_arg(reader, first[0] == 'r');
  } else if (strcmp(first, "result") == 0) {
    add_result(reader, TSPEC_SLOT_RESULT, reader->words[1], reader->words[1]);
  } else if (strcmp(first, "update") == 0) {
    add_result(reader, TSPEC_SLOT_PARAM, reader->words[1], reader->words[2]);
  } else {
    stop(reader, "no such line");
  }
}

/// Cuts the line into words; what is in braces is one. The sharding behind '@' stands alone.
static void split_line(reader_t *reader, char *line) {
  reader->line = tspec_arena_strdup(reader->arena, line, strlen(line));
  reader->nwords = 0;
  reader->sharding = NULL;
  char *at = strstr(line, " @ ");
  if (at != NULL) {
    *at = '\0';
    reader->sharding = at + 3;
  }
  bool inside = false;
  bool starts = true;
  for (char *c = line; *c != '\0'; c++) {
    if (*c == '{' || *c == '}') {
      inside = *c == '{';
      memmove(c, c + 1, strlen(c));
      c--;
    } else if (*c == ' ' && !inside) {
      *c = '\0';
      starts = true;
    } else if (starts) {
      reader->words[reader->nwords++] = c;
      starts = false;
    }
  }
}

tspec_program_t *tspec_text_program(tspec_arena_t *arena, tspec_diag_t *diag, const char *text) {
  reader_t reader = {.arena = arena, .diag = diag, .program = tspec_program_create(arena, "test")};
  char *copy = tspec_arena_strdup(arena, text, strlen(text));
  char *rest = NULL;
  int errors = diag->nerrors;
  for (char *line = strtok_r(copy, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    reader.range.line++;
    split_line(&reader, line);
    if (reader.nwords == 0) {
      continue;
    }
    bool is_head = strcmp(reader.words[0], "level") == 0 || strcmp(reader.words[0], "mesh") == 0 ||
                   strcmp(reader.words[0], "param") == 0 || strcmp(reader.words[0], "entry") == 0;
    if (reader.func == NULL && !is_head) {
      reader.func = tspec_program_add_func(reader.program, "main", reader.range);
    }
    read_line(&reader);
    if (diag->nerrors > errors) {
      return NULL;
    }
  }
  return reader.program;
}

tspec_dense_t *tspec_text_dense(tspec_type_t type, const char *numbers) {
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  char *end = NULL;
  for (int64_t i = 0; i < dense->count; i++) {
    double number = strtod(numbers, &end);
    if (end == numbers) {
      fprintf(stderr, "program text: %lld numbers wanted\n", (long long)dense->count);
      abort();
    }
    tspec_dense_set(dense, i, number);
    numbers = end;
  }
  return dense;
}

const char *tspec_text_numbers(tspec_arena_t *arena, const tspec_dense_t *dense) {
  const char *text = "";
  for (int64_t i = 0; i < dense->count; i++) {
    const char *piece = "nan";
    if (!tspec_dtype_is_float(dense->type.dtype)) {
      piece = tspec_arena_printf(arena, "%lld", (long long)tspec_dense_get_int(dense, i));
    } else if (!isnan(tspec_dense_get_float(dense, i))) {
      piece = tspec_arena_printf(arena, "%.9g", tspec_dense_get_float(dense, i));
    }
    text = tspec_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : " ", piece);
  }
  return text;
}
