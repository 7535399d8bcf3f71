#include "ir/mlir/irdl.h"

#include "ir/op_rules.h"

// In IRDL a variable that stands twice means "the same type", so every operand, result and
// attribute has one of its own. For the same reason the elements of a variadic list must be of one
// type: values of different types go through to_any.
static int put_values(tspec_buf_t *buf, const char *what, int count, int next) {
  if (count == 0) {
    return next;
  }
  int first = next;
  int nvars = count < 0 ? 1 : count;
  for (int i = 0; i < nvars; i++) {
    tspec_buf_printf(buf, "    %%%d = irdl.any\n", next++);
  }
  tspec_buf_printf(buf, "    irdl.%s(", what);
  for (int i = 0; i < nvars; i++) {
    tspec_buf_printf(buf, "%s%c%d: %s%%%d", i > 0 ? ", " : "", what[0], i,
                     count < 0 ? "variadic " : "", first + i);
  }
  tspec_buf_puts(buf, ")\n");
  return next;
}

/// IRDL's attributes are all required ones; optional ones stay unnamed, since IRDL accepts any
/// other.
static void put_attrs(tspec_buf_t *buf, const char *const *names, int count, int next) {
  if (count == 0) {
    return;
  }
  for (int i = 0; i < count; i++) {
    tspec_buf_printf(buf, "    %%%d = irdl.any\n", next + i);
  }
  tspec_buf_puts(buf, "    irdl.attributes {");
  for (int i = 0; i < count; i++) {
    tspec_buf_printf(buf, "%s\"%s\" = %%%d", i > 0 ? ", " : "", names[i], next + i);
  }
  tspec_buf_puts(buf, "}\n");
}

enum { MAX_ATTRS = 32 };

static void put_op(tspec_buf_t *buf, const tspec_op_info_t *info) {
  const char *names[MAX_ATTRS];
  int count = 0;
  for (const tspec_attr_spec_t *spec = info->rules->attrs; spec != NULL && spec->name != NULL;
       spec++) {
    if (spec->required && count < MAX_ATTRS) {
      names[count++] = spec->name;
    }
  }
  tspec_buf_printf(buf, "  irdl.operation @%s {\n", info->name);
  int next = put_values(buf, "operands", info->noperands, 0);
  next = put_values(buf, "results", info->nresults, next);
  put_attrs(buf, names, count, next);
  tspec_buf_puts(buf, "  }\n");
}

/// An op that stands in the module, not in a function.
static void put_module_op(tspec_buf_t *buf, const char *name, const char *const *attrs, int count) {
  tspec_buf_printf(buf, "  irdl.operation @%s {\n", name);
  put_attrs(buf, attrs, count, 0);
  tspec_buf_puts(buf, "  }\n");
}

void tspec_dialect_print_irdl(tspec_buf_t *buf) {
  static const char *const kMesh[] = {"axes", "sizes"};
  static const char *const kParam[] = {"path", "type", "init", "init_args"};
  static const char *const kExpect[] = {"entry", "what", "compare", "value"};
  tspec_buf_puts(buf, "irdl.dialect @tspec {\n"
                      "  irdl.attribute @sharding {\n"
                      "    %0 = irdl.any\n"
                      "    irdl.parameters(notation: %0)\n"
                      "  }\n"
                      "  irdl.type @any\n"
                      "  irdl.operation @to_any {\n"
                      "    %0 = irdl.any\n"
                      "    irdl.operands(value: %0)\n"
                      "    %1 = irdl.base @tspec::@any\n"
                      "    irdl.results(any: %1)\n"
                      "  }\n"
                      "  irdl.operation @from_any {\n"
                      "    %0 = irdl.base @tspec::@any\n"
                      "    irdl.operands(any: %0)\n"
                      "    %1 = irdl.any\n"
                      "    irdl.results(value: %1)\n"
                      "  }\n");
  put_module_op(buf, "mesh", kMesh, 2);
  put_module_op(buf, "param", kParam, 4);
  put_module_op(buf, "expect", kExpect, 4);
  for (int kind = 0; kind < TSPEC_OP_COUNT; kind++) {
    put_op(buf, tspec_op_info((tspec_op_kind_t)kind));
  }
  tspec_buf_puts(buf, "}\n");
}
