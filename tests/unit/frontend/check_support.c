#include "tests/unit/frontend/check_support.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/parser.h"

static void init(checked_t *checked) {
  memset(checked, 0, sizeof *checked);
  tspec_arena_init(&checked->arena);
  tspec_sources_init(&checked->sources, &checked->arena);
  tspec_diag_init(&checked->diag, &checked->sources, NULL);
}

static void run(checked_t *checked, uint32_t file, const tspec_check_options_t *options) {
  const tspec_ast_file_t *tree =
      tspec_parse(&checked->arena, &checked->sources, file, &checked->diag);
  if (checked->diag.nerrors == 0) {
    checked->program =
        tspec_check(&checked->arena, &checked->sources, tree, options, &checked->diag);
  }
  if (checked->program != NULL) {
    tspec_program_verify(checked->program, "the checker", &checked->diag);
  }
}

void check_text(checked_t *checked, const char *text, const tspec_check_options_t *options) {
  init(checked);
  run(checked, tspec_sources_add(&checked->sources, "t.tspec", text, strlen(text)), options);
}

void check_file(checked_t *checked, const char *path, const tspec_check_options_t *options) {
  init(checked);
  uint32_t file = tspec_sources_read(&checked->sources, path);
  if (file != 0) {
    run(checked, file, options);
  }
}

void checked_deinit(checked_t *checked) {
  tspec_arena_deinit(&checked->arena);
}

const char *checked_messages(checked_t *checked) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  for (size_t i = 0; i < checked->diag.count; ++i) {
    tspec_message_print(&checked->sources, &checked->diag.messages[i], stream);
  }
  fclose(stream);
  const char *copy = tspec_arena_strdup(&checked->arena, text, length);
  free(text);
  return copy;
}

int checked_count(const checked_t *checked, const char *text) {
  int count = 0;
  for (size_t i = 0; i < checked->diag.count; ++i) {
    count += strstr(checked->diag.messages[i].text, text) != NULL;
  }
  return count;
}

static const char *print_sharding(checked_t *checked, const tspec_sharding_t *sharding) {
  return sharding == NULL
             ? "none"
             : tspec_sharding_print(&checked->arena, &checked->program->mesh, sharding);
}

static void print_ints(tspec_buf_t *buf, const tspec_attr_t *attr) {
  for (int64_t i = 0; i < attr->count; ++i) {
    tspec_buf_printf(buf, "%s%lld", i > 0 ? "," : "", (long long)attr->ints[i]);
  }
}

static void print_attr(checked_t *checked, tspec_buf_t *buf, const tspec_attr_t *attr) {
  if (attr->kind == TSPEC_ATTR_INTS && attr->count == 0) {
    return;
  }
  tspec_buf_printf(buf, " %s=", attr->name);
  switch (attr->kind) {
  case TSPEC_ATTR_INT:
    tspec_buf_printf(buf, "%lld", (long long)attr->i);
    break;
  case TSPEC_ATTR_INTS:
    print_ints(buf, attr);
    break;
  case TSPEC_ATTR_FLOAT:
    tspec_buf_put_double(buf, attr->f);
    break;
  case TSPEC_ATTR_FLOATS:
    tspec_buf_put_double(buf, attr->floats[0]);
    break;
  case TSPEC_ATTR_STRING:
    tspec_buf_puts(buf, attr->string);
    break;
  case TSPEC_ATTR_DTYPE:
    tspec_buf_puts(buf, tspec_dtype_name(attr->dtype));
    break;
  case TSPEC_ATTR_REDUCE:
    tspec_buf_puts(buf, tspec_reduce_name(attr->reduce));
    break;
  case TSPEC_ATTR_AXES:
    break;
  case TSPEC_ATTR_SHARDING:
    tspec_buf_puts(buf, print_sharding(checked, attr->sharding));
    break;
  }
}

static const char *take(checked_t *checked, tspec_buf_t *buf) {
  const char *text = tspec_arena_strdup(&checked->arena, tspec_buf_get(buf), buf->length);
  tspec_buf_deinit(buf);
  return text;
}

static const char *value_text(checked_t *checked, const tspec_value_t *value) {
  return value->def == NULL ? value->name : tspec_arena_printf(&checked->arena, "%%%d", value->id);
}

const char *checked_ops(checked_t *checked, const char *entry) {
  tspec_buf_t buf = {0};
  tspec_func_t *func = tspec_program_find_func(checked->program, entry);
  int nargs = func->nargs;
  tspec_func_number(func);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    op->results[0]->id -= nargs - 1; // the first op is %1
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_buf_printf(&buf, "%%%d = %s", op->results[0]->id, tspec_op_info(op->kind)->name);
    for (int i = 0; i < op->noperands; ++i) {
      tspec_buf_printf(&buf, " %s", value_text(checked, op->operands[i]));
    }
    for (int i = 0; i < op->nattrs; ++i) {
      print_attr(checked, &buf, &op->attrs[i]);
    }
    const tspec_value_t *result = op->results[0];
    tspec_buf_printf(&buf, " : %s", tspec_type_print(&checked->arena, result->type));
    if (result->name != NULL) {
      tspec_buf_printf(&buf, " @%s", result->name);
    }
    tspec_buf_puts(&buf, "\n");
  }
  return take(checked, &buf);
}

const char *checked_kinds(checked_t *checked, const char *entry) {
  tspec_buf_t buf = {0};
  const tspec_func_t *func = tspec_program_find_func(checked->program, entry);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_buf_printf(&buf, "%s%s", op->prev != NULL ? " " : "", tspec_op_info(op->kind)->name);
  }
  return take(checked, &buf);
}

const char *checked_param(checked_t *checked, const char *path) {
  const tspec_param_t *param = tspec_program_find_param(checked->program, path);
  return param == NULL ? "?" : print_sharding(checked, param->sharding);
}

const char *checked_input(checked_t *checked, const char *entry, const char *name) {
  const tspec_func_t *func = tspec_program_find_func(checked->program, entry);
  for (int i = 0; func != NULL && i < func->nargs; ++i) {
    if (func->args[i].kind == TSPEC_SLOT_INPUT && strcmp(func->args[i].name, name) == 0) {
      return print_sharding(checked, func->args[i].value->sharding);
    }
  }
  return "?";
}

const char *checked_result(checked_t *checked, const char *entry, const char *name) {
  const tspec_func_t *func = tspec_program_find_func(checked->program, entry);
  for (int i = 0; func != NULL && i < func->nresults; ++i) {
    if (strcmp(func->results[i].name, name) == 0) {
      return print_sharding(checked, func->results[i].sharding);
    }
  }
  return "?";
}

const char *checked_constraint(checked_t *checked, const char *entry, const char *name) {
  const tspec_func_t *func = tspec_program_find_func(checked->program, entry);
  for (const tspec_op_t *op = func != NULL ? func->first : NULL; op != NULL; op = op->next) {
    if (op->kind == TSPEC_OP_constraint && strcmp(op->results[0]->name, name) == 0) {
      return print_sharding(checked, tspec_op_get_attr(op, "sharding")->sharding);
    }
  }
  return "?";
}
