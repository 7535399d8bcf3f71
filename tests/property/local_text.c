#include "tests/property/local_text.h"

typedef struct printer_t {
  const tspec_program_t *program;
  tspec_arena_t *arena;
  tspec_buf_t *out;
} printer_t;

static void print_sharding(const printer_t *p, const tspec_sharding_t *sharding) {
  tspec_buf_puts(p->out, " @ ");
  tspec_buf_puts(
      p->out, sharding == NULL ? "?" : tspec_sharding_print(p->arena, &p->program->mesh, sharding));
}

static void print_value(const printer_t *p, const tspec_value_t *value) {
  tspec_buf_printf(p->out, "%%%d %s: %s", value->id, value->name == NULL ? "" : value->name,
                   tspec_type_print(p->arena, value->type));
  print_sharding(p, value->sharding);
}

static void print_attr(const printer_t *p, const tspec_attr_t *attr) {
  tspec_buf_t *out = p->out;
  tspec_buf_printf(out, " %s=", attr->name);
  switch (attr->kind) {
  case TSPEC_ATTR_INT:
    tspec_buf_printf(out, "%lld", (long long)attr->i);
    break;
  case TSPEC_ATTR_INTS:
    for (int64_t i = 0; i < attr->count; ++i) {
      tspec_buf_printf(out, "%lld,", (long long)attr->ints[i]);
    }
    break;
  case TSPEC_ATTR_FLOAT:
    tspec_buf_printf(out, "%a", attr->f);
    break;
  case TSPEC_ATTR_FLOATS:
    for (int64_t i = 0; i < attr->count; ++i) {
      tspec_buf_printf(out, "%a,", attr->floats[i]);
    }
    break;
  case TSPEC_ATTR_STRING:
    tspec_buf_puts(out, attr->string);
    break;
  case TSPEC_ATTR_DTYPE:
    tspec_buf_puts(out, tspec_dtype_name(attr->dtype));
    break;
  case TSPEC_ATTR_REDUCE:
    tspec_buf_puts(out, tspec_reduce_name(attr->reduce));
    break;
  case TSPEC_ATTR_AXES:
    tspec_buf_puts(out,
                   tspec_axes_print(p->arena, &p->program->mesh, attr->axes, (int)attr->count));
    break;
  case TSPEC_ATTR_SHARDING:
    print_sharding(p, attr->sharding);
    break;
  }
}

static void print_op(const printer_t *p, const tspec_op_t *op) {
  tspec_buf_printf(p->out, "  %s(", tspec_op_info(op->kind)->name);
  for (int i = 0; i < op->noperands; ++i) {
    tspec_buf_printf(p->out, "%s%%%d", i == 0 ? "" : ", ", op->operands[i]->id);
  }
  tspec_buf_puts(p->out, ")");
  for (int i = 0; i < op->nattrs; ++i) {
    print_attr(p, &op->attrs[i]);
  }
  for (int i = 0; i < op->nresults; ++i) {
    tspec_buf_puts(p->out, " -> ");
    print_value(p, op->results[i]);
  }
  tspec_buf_printf(p->out, " because %s\n", op->because == NULL ? "-" : op->because);
}

static void print_func(const printer_t *p, tspec_func_t *func) {
  tspec_func_number(func);
  tspec_buf_printf(p->out, "%s\n", func->name);
  for (int i = 0; i < func->nargs; ++i) {
    tspec_buf_printf(p->out, "  %s = ", func->args[i].name);
    print_value(p, func->args[i].value);
    tspec_buf_puts(p->out, "\n");
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    print_op(p, op);
  }
  for (int i = 0; i < func->nresults; ++i) {
    tspec_buf_printf(p->out, "  %s = %%%d", func->results[i].name, func->results[i].value->id);
    print_sharding(p, func->results[i].sharding);
    tspec_buf_puts(p->out, "\n");
  }
}

void prop_local_text(tspec_program_t *program, tspec_arena_t *arena, tspec_buf_t *out) {
  printer_t p = {program, arena, out};
  for (int i = 0; i < program->nparams; ++i) {
    const tspec_param_t *param = &program->params[i];
    tspec_buf_printf(out, "%s: %s", param->path, tspec_type_print(arena, param->type));
    print_sharding(&p, param->sharding);
    tspec_buf_puts(out, "\n");
  }
  for (int i = 0; i < program->nfuncs; ++i) {
    print_func(&p, program->funcs[i]);
  }
}
