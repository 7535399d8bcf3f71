#include "ir/op_rules.h"

#include <string.h>

static const tspec_op_info_t op_table[TSPEC_OP_COUNT] = {
#define TSPEC_OP(id, name, operands, results) {name, operands, results, &tspec_rules_##id},
#include "ir/ops.def"
#undef TSPEC_OP
};

const tspec_op_info_t *tspec_op_info(tspec_op_kind_t kind) {
  TSPEC_CHECK((unsigned)kind < (unsigned)TSPEC_OP_COUNT, "op kind %d", (int)kind);
  return &op_table[kind];
}

tspec_op_kind_t tspec_op_find(const char *name) {
  // The rows are sorted by name.
  int low = 0;
  int high = TSPEC_OP_COUNT;
  while (low < high) {
    int middle = (low + high) / 2;
    int order = strcmp(name, op_table[middle].name);
    if (order == 0) {
      return (tspec_op_kind_t)middle;
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return TSPEC_OP_COUNT;
}

const tspec_attr_t *tspec_op_attr(const tspec_op_view_t *view, const char *name) {
  for (int i = 0; i < view->nattrs; i++) {
    if (strcmp(view->attrs[i].name, name) == 0) {
      return &view->attrs[i];
    }
  }
  return NULL;
}

int64_t tspec_op_attr_int(const tspec_op_view_t *view, const char *name, int64_t otherwise) {
  const tspec_attr_t *attr = tspec_op_attr(view, name);
  return attr == NULL ? otherwise : attr->i;
}

static const char *attr_kind_name(tspec_attr_kind_t kind) {
  switch (kind) {
  case TSPEC_ATTR_INT:
    return "an integer";
  case TSPEC_ATTR_INTS:
    return "a list of integers";
  case TSPEC_ATTR_FLOAT:
    return "a number";
  case TSPEC_ATTR_FLOATS:
    return "a list of numbers";
  case TSPEC_ATTR_STRING:
    return "a string";
  case TSPEC_ATTR_DTYPE:
    return "a dtype";
  case TSPEC_ATTR_REDUCE:
    return "a reduction";
  case TSPEC_ATTR_AXES:
    return "a list of mesh axes";
  case TSPEC_ATTR_SHARDING:
    return "a sharding";
  }
  return "?";
}

static const tspec_attr_spec_t *find_spec(const tspec_attr_spec_t *specs, const char *name) {
  for (; specs != NULL && specs->name != NULL; specs++) {
    if (strcmp(specs->name, name) == 0) {
      return specs;
    }
  }
  return NULL;
}

static bool check_given_attrs(const tspec_op_view_t *view, const tspec_op_info_t *info,
                              tspec_diag_t *diag) {
  bool ok = true;
  for (int i = 0; i < view->nattrs; i++) {
    const tspec_attr_t *attr = &view->attrs[i];
    const tspec_attr_spec_t *spec = find_spec(info->rules->attrs, attr->name);
    if (spec == NULL) {
      tspec_diag_error(diag, view->range, "op '%s' has no attribute '%s'", info->name, attr->name);
      ok = false;
    } else if (spec->kind != attr->kind) {
      tspec_diag_error(diag, view->range, "attribute '%s' of op '%s' must be %s, got %s",
                       attr->name, info->name, attr_kind_name(spec->kind),
                       attr_kind_name(attr->kind));
      ok = false;
    }
  }
  return ok;
}

bool tspec_op_check_form(const tspec_op_view_t *view, tspec_diag_t *diag) {
  const tspec_op_info_t *info = tspec_op_info(view->kind);
  bool ok = true;
  if (info->noperands >= 0 && view->noperands != info->noperands) {
    tspec_diag_error(diag, view->range, "op '%s' takes %d operands, got %d", info->name,
                     info->noperands, view->noperands);
    ok = false;
  }
  const tspec_attr_spec_t *spec = info->rules->attrs;
  for (; spec != NULL && spec->name != NULL; spec++) {
    if (spec->required && tspec_op_attr(view, spec->name) == NULL) {
      tspec_diag_error(diag, view->range, "op '%s' needs the attribute '%s'", info->name,
                       spec->name);
      ok = false;
    }
  }
  return check_given_attrs(view, info, diag) && ok;
}

tspec_linear_t tspec_op_linear(const tspec_op_view_t *view, tspec_reduce_t kind) {
  const tspec_op_rules_t *rules = tspec_op_info(view->kind)->rules;
  if (rules->linear_over != NULL) {
    return rules->linear_over(view, kind);
  }
  return kind == TSPEC_REDUCE_SUM ? rules->linear : TSPEC_LINEAR_NONE;
}
