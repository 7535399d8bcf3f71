#include <math.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/print.h"

// ---- names and members -----------------------------------------------------------------------

bool tspec_check_slot_visible(tspec_checker_t *c, const tspec_slot_t *slot, tspec_range_t range) {
  const char *what = slot->is_state ? "state" : "parameter";
  if (c->entry == NULL) {
    tspec_check_error(c, range, "the %s '%s' is known at run time only", what, slot->path);
  } else if (c->manual != NULL) {
    tspec_check_error(c, range,
                      "the body of the 'manual' function '%s' sees its arguments and compile-time "
                      "numbers: pass the %s '%s' to it",
                      tspec_check_manual_name(c), what, slot->path);
  } else if (!tspec_check_is_running(slot->owner)) {
    tspec_check_error(c, range,
                      "the %s '%s' is stacked: only a call of its stack reads it, copy by copy",
                      what, slot->path);
  } else {
    return true;
  }
  tspec_check_note(c, slot->range, "declared here");
  return false;
}

// A slot whose value no op of the entry can be given: of a copy, of a tree.
static tspec_cv_t read_absent(tspec_checker_t *c, const tspec_slot_t *slot, tspec_range_t range) {
  if (slot->is_tree) {
    tspec_check_absent(c, range, "a tree as state");
    return tspec_check_params_tree(c, range);
  }
  tspec_site_t site = {range, slot->path};
  tspec_value_t *value = tspec_emit_absent(c, site, tspec_check_slot_type(slot), 0, NULL);
  return tspec_cv_tensor(slot->was_f32 ? tspec_emit_convert(c, site, value, c->compute_dtype)
                                       : value);
}

tspec_cv_t tspec_check_read(tspec_checker_t *c, tspec_slot_t *slot, tspec_range_t range) {
  if (!tspec_check_slot_visible(c, slot, range)) {
    return tspec_cv_error();
  }
  if (slot->absent != NULL) {
    tspec_check_absent(c, range, slot->absent);
  }
  if (slot->is_tree || slot->nstack > 0) {
    return read_absent(c, slot, range);
  }
  if (slot->read_in != c->entry) {
    tspec_slot_kind_t kind = slot->is_state ? TSPEC_SLOT_STATE : TSPEC_SLOT_PARAM;
    tspec_value_t *arg =
        tspec_func_add_arg(c->program, c->entry->func, kind, slot->path, slot->type, slot->range);
    arg->sharding = slot->sharding;
    slot->read_in = c->entry;
    slot->value = arg;
    if (slot->was_f32) {
      slot->value = tspec_emit_convert(c, (tspec_site_t){range, NULL}, arg, c->compute_dtype);
    }
    if (slot->use != NULL) {
      const char *use = tspec_arena_printf(c->arena, "use of %s", slot->path);
      slot->value = tspec_emit_barrier(c, (tspec_site_t){range, use}, slot->value, slot->use);
    }
    TSPEC_VEC_PUSH(c->arena, &c->entry->reads, slot);
  }
  return tspec_cv_tensor(slot->value);
}

static tspec_cv_t check_name(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_cv_t cv;
  if (tspec_check_lookup(c, expr->u.name, expr->range, &cv)) {
    return cv;
  }
  tspec_check_undeclared(c, expr->u.name, expr->range);
  return tspec_cv_error();
}

static tspec_cv_t check_member(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_cv_t base = tspec_check_reference(c, expr->u.member.base);
  tspec_ast_name_t name = expr->u.member.name;
  if (base.kind == TSPEC_CV_ERROR) {
    return base;
  }
  if (base.kind != TSPEC_CV_INSTANCE) {
    tspec_check_error(c, expr->range, "'.%s' needs an instance before it, but this is %s",
                      name.text, tspec_check_describe(c, base));
    return tspec_cv_error();
  }
  const tspec_instance_t *instance = base.u.instance;
  const tspec_named_t *named = tspec_names_get(&instance->members, name.text);
  if (named != NULL) {
    return named->cv;
  }
  const char *nearest = tspec_names_nearest(&instance->members, name.text);
  tspec_check_error(c, name.range, "'%s' of module '%s' has no member '%s'%s%s%s", instance->path,
                    instance->module->name.text, name.text,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
  tspec_check_note(c, instance->module->name.range, "the module is declared here");
  return tspec_cv_error();
}

static tspec_cv_t check_list(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  list->count = expr->u.list.count;
  list->items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, list->count);
  bool ok = true;
  for (size_t i = 0; i < list->count; ++i) {
    list->items[i] = tspec_check_expr(c, expr->u.list.items[i]);
    ok = ok && !tspec_cv_is_error(list->items[i]);
  }
  return ok ? (tspec_cv_t){.kind = TSPEC_CV_LIST, .u.list = list} : tspec_cv_error();
}

// ---- operators -------------------------------------------------------------------------------

static tspec_cv_t unary_leaf(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const tspec_site_t *site = context;
  tspec_op_kind_t kind = site->spelling[0] == '-' ? TSPEC_OP_neg : TSPEC_OP_not;
  tspec_value_t *value = tspec_check_tensor(c, *site, *x);
  return tspec_cv_tensor(tspec_emit_simple(c, *site, kind, 1, &value));
}

static tspec_cv_t check_unary(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_ast_unary_t op = expr->u.unary.op;
  tspec_cv_t x = tspec_check_expr(c, expr->u.unary.operand);
  if (x.kind == TSPEC_CV_NUMBER) {
    return tspec_cv_number(op == TSPEC_AST_UNARY_NEG ? -x.u.number : x.u.number == 0);
  }
  tspec_site_t site = {expr->range, op == TSPEC_AST_UNARY_NEG ? "-" : "!"};
  if (x.kind == TSPEC_CV_TREE) {
    tspec_operand_t operand = {x, expr->u.unary.operand->range};
    return tspec_check_map_tree(c, site, 1, &operand, unary_leaf, &site);
  }
  tspec_value_t *value =
      tspec_check_tensor(c, site, (tspec_operand_t){x, expr->u.unary.operand->range});
  tspec_op_kind_t kind = op == TSPEC_AST_UNARY_NEG ? TSPEC_OP_neg : TSPEC_OP_not;
  return tspec_cv_tensor(tspec_emit_simple(c, site, kind, 1, &value));
}

static tspec_op_kind_t binary_kind(tspec_ast_binary_t op) {
  static const tspec_op_kind_t kKinds[TSPEC_AST_BINARY_COUNT] = {
      [TSPEC_AST_BINARY_OR] = TSPEC_OP_or,   [TSPEC_AST_BINARY_AND] = TSPEC_OP_and,
      [TSPEC_AST_BINARY_EQ] = TSPEC_OP_eq,   [TSPEC_AST_BINARY_NE] = TSPEC_OP_ne,
      [TSPEC_AST_BINARY_LT] = TSPEC_OP_lt,   [TSPEC_AST_BINARY_LE] = TSPEC_OP_le,
      [TSPEC_AST_BINARY_GT] = TSPEC_OP_gt,   [TSPEC_AST_BINARY_GE] = TSPEC_OP_ge,
      [TSPEC_AST_BINARY_ADD] = TSPEC_OP_add, [TSPEC_AST_BINARY_SUB] = TSPEC_OP_sub,
      [TSPEC_AST_BINARY_MUL] = TSPEC_OP_mul, [TSPEC_AST_BINARY_DIV] = TSPEC_OP_div,
      [TSPEC_AST_BINARY_REM] = TSPEC_OP_rem, [TSPEC_AST_BINARY_MATMUL] = TSPEC_OP_dot,
      [TSPEC_AST_BINARY_POW] = TSPEC_OP_pow,
  };
  return kKinds[op];
}

// Strings and element types can be compared at compile time.
static bool compare_names(tspec_ast_binary_t op, tspec_cv_t a, tspec_cv_t b, tspec_cv_t *out_cv) {
  bool comparable = (op == TSPEC_AST_BINARY_EQ || op == TSPEC_AST_BINARY_NE) && a.kind == b.kind &&
                    (a.kind == TSPEC_CV_STRING || a.kind == TSPEC_CV_DTYPE);
  if (comparable) {
    bool equal =
        a.kind == TSPEC_CV_STRING ? strcmp(a.u.string, b.u.string) == 0 : a.u.dtype == b.u.dtype;
    *out_cv = tspec_cv_number(equal == (op == TSPEC_AST_BINARY_EQ));
  }
  return comparable;
}

/// An operator on the leaves of trees.
typedef struct binary_leaf_t {
  tspec_site_t site;
  tspec_ast_binary_t op;
} binary_leaf_t;

static tspec_cv_t binary_leaf(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const binary_leaf_t *leaf = context;
  return tspec_check_binary(c, leaf->site, leaf->op, x[0], x[1]);
}

tspec_cv_t tspec_check_binary(tspec_checker_t *c, tspec_site_t site, tspec_ast_binary_t op,
                              tspec_operand_t a, tspec_operand_t b) {
  tspec_cv_t result;
  if (a.cv.kind == TSPEC_CV_ERROR || b.cv.kind == TSPEC_CV_ERROR) {
    return tspec_cv_error();
  }
  if (a.cv.kind == TSPEC_CV_NUMBER && b.cv.kind == TSPEC_CV_NUMBER) {
    return tspec_number_binary(c, op, a.cv.u.number, b.cv.u.number, site.range);
  }
  if (compare_names(op, a.cv, b.cv, &result)) {
    return result;
  }
  bool has_tree = a.cv.kind == TSPEC_CV_TREE || b.cv.kind == TSPEC_CV_TREE;
  if (has_tree && op != TSPEC_AST_BINARY_MATMUL) {
    binary_leaf_t leaf = {site, op};
    return tspec_check_map_tree(c, site, 2, (tspec_operand_t[]){a, b}, binary_leaf, &leaf);
  }
  if (op == TSPEC_AST_BINARY_MATMUL) {
    return tspec_check_matmul(c, site, a, b);
  }
  if (op == TSPEC_AST_BINARY_POW) {
    return tspec_check_power(c, site, a, b);
  }
  tspec_value_t *values[2];
  if (!tspec_check_match(c, site, 2, (tspec_operand_t[]){a, b}, values)) {
    return tspec_cv_error();
  }
  if (op == TSPEC_AST_BINARY_DIV && !tspec_dtype_is_float(values[0]->type.dtype)) {
    tspec_check_error(c, site.range,
                      "'/' needs floats, but these are %s; floor_div(a, b) divides integers, "
                      "f32(x) converts",
                      tspec_dtype_name(values[0]->type.dtype));
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_simple(c, site, binary_kind(op), 2, values));
}

enum { MAX_PRODUCT_EXPONENT = 16 };

// Exponentiation by squaring, as products.
static tspec_value_t *emit_product(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x, int n) {
  tspec_value_t *result = NULL;
  for (tspec_value_t *square = x; n > 0; n /= 2) {
    if (n % 2 == 1) {
      result = result == NULL ? square
                              : tspec_emit_simple(c, site, TSPEC_OP_mul, 2,
                                                  (tspec_value_t *[]){result, square});
    }
    if (n > 1) {
      square = tspec_emit_simple(c, site, TSPEC_OP_mul, 2, (tspec_value_t *[]){square, square});
    }
  }
  return result;
}

// A whole exponent is a product, as in JAX: exact, and defined for negative bases.
tspec_cv_t tspec_check_power(tspec_checker_t *c, tspec_site_t site, tspec_operand_t x,
                             tspec_operand_t n) {
  if (x.cv.kind == TSPEC_CV_TENSOR && n.cv.kind == TSPEC_CV_NUMBER) {
    double number = n.cv.u.number;
    tspec_value_t *base = x.cv.u.tensor;
    bool is_float = tspec_dtype_is_float(base->type.dtype);
    bool whole = number == floor(number) && fabs(number) <= MAX_PRODUCT_EXPONENT &&
                 base->type.dtype != TSPEC_DTYPE_BOOL;
    if (whole && number == 0) {
      return tspec_cv_tensor(tspec_emit_constant(c, site, base->type, 1));
    }
    if (whole && (number > 0 || is_float)) {
      tspec_value_t *product = emit_product(c, site, base, (int)fabs(number));
      if (number > 0 || product == NULL) {
        return tspec_cv_tensor(product);
      }
      tspec_value_t *operands[] = {tspec_emit_constant(c, site, base->type, 1), product};
      return tspec_cv_tensor(tspec_emit_simple(c, site, TSPEC_OP_div, 2, operands));
    }
  }
  tspec_value_t *values[2];
  if (!tspec_check_match(c, site, 2, (tspec_operand_t[]){x, n}, values)) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_simple(c, site, TSPEC_OP_pow, 2, values));
}

static tspec_cv_t check_binary_expr(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_ast_binary_t op = expr->u.binary.op;
  tspec_operand_t a = {tspec_check_expr(c, expr->u.binary.lhs), expr->u.binary.lhs->range};
  tspec_operand_t b = {tspec_check_expr(c, expr->u.binary.rhs), expr->u.binary.rhs->range};
  tspec_site_t site = {expr->range, tspec_ast_binary_name(op)};
  return tspec_check_binary(c, site, op, a, b);
}

// ---- all -------------------------------------------------------------------------------------

tspec_cv_t tspec_check_reference(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  if (!tspec_check_spend(c, expr->range, 1)) {
    return tspec_cv_error();
  }
  switch (expr->kind) {
  case TSPEC_AST_EXPR_NUMBER:
    return tspec_cv_number(expr->u.number.value);
  case TSPEC_AST_EXPR_STRING:
    return (tspec_cv_t){.kind = TSPEC_CV_STRING, .u.string = expr->u.string};
  case TSPEC_AST_EXPR_BOOL:
    return tspec_cv_number(expr->u.boolean);
  case TSPEC_AST_EXPR_DTYPE:
    return (tspec_cv_t){.kind = TSPEC_CV_DTYPE, .u.dtype = expr->u.dtype};
  case TSPEC_AST_EXPR_NAME:
    return check_name(c, expr);
  case TSPEC_AST_EXPR_LIST:
    return check_list(c, expr);
  case TSPEC_AST_EXPR_CALL:
    return tspec_check_call(c, expr);
  case TSPEC_AST_EXPR_INDEX:
    return tspec_check_index(c, expr);
  case TSPEC_AST_EXPR_MEMBER:
    return check_member(c, expr);
  case TSPEC_AST_EXPR_UNARY:
    return check_unary(c, expr);
  case TSPEC_AST_EXPR_BINARY:
    return check_binary_expr(c, expr);
  case TSPEC_AST_EXPR_SCAN:
    return tspec_check_scan(c, expr);
  }
  return tspec_cv_error();
}

tspec_cv_t tspec_check_expr(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_cv_t cv = tspec_check_reference(c, expr);
  if (cv.kind == TSPEC_CV_SLOT) {
    return tspec_check_read(c, cv.u.slot, expr->range);
  }
  if (cv.kind == TSPEC_CV_PARAMS) {
    tspec_check_absent(c, expr->range, "'params' as a tree");
    return c->entry == NULL ? tspec_cv_error() : tspec_check_params_tree(c, expr->range);
  }
  return cv;
}
