#include <math.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/print.h"

// The standard deviation of a normal distribution cut at two of its standard deviations, for a
// standard one: sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)). JAX divides by it, too.
static const double kCutStddev = 0.87962566103423978;

enum { MAX_ARGS = 2 };

typedef enum fan_t { FAN_NONE, FAN_XAVIER, FAN_HE, FAN_LECUN } fan_t;

typedef struct initializer_t {
  const char *name;
  tspec_init_kind_t kind;
  int nargs;
  const char *args[MAX_ARGS];
  bool optional; ///< all arguments have defaults: those below
  double defaults[MAX_ARGS];
  fan_t fan;
} initializer_t;

static const initializer_t kInitializers[] = {
    {"zeros", TSPEC_INIT_FILL, 0, {NULL, NULL}, true, {0, 0}, FAN_NONE},
    {"ones", TSPEC_INIT_FILL, 0, {NULL, NULL}, true, {1, 0}, FAN_NONE},
    {"full", TSPEC_INIT_FILL, 1, {"v", NULL}, false, {0, 0}, FAN_NONE},
    {"normal", TSPEC_INIT_NORMAL, 1, {"stddev", NULL}, true, {1, 0}, FAN_NONE},
    {"truncated_normal", TSPEC_INIT_TRUNCATED_NORMAL, 1, {"stddev", NULL}, false, {1, 0}, FAN_NONE},
    {"uniform", TSPEC_INIT_UNIFORM, 2, {"lo", "hi"}, false, {0, 1}, FAN_NONE},
    {"xavier_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, {NULL, NULL}, true, {0, 0}, FAN_XAVIER},
    {"xavier_uniform", TSPEC_INIT_UNIFORM, 0, {NULL, NULL}, true, {0, 0}, FAN_XAVIER},
    {"he_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, {NULL, NULL}, true, {0, 0}, FAN_HE},
    {"lecun_normal", TSPEC_INIT_TRUNCATED_NORMAL, 0, {NULL, NULL}, true, {0, 0}, FAN_LECUN},
};

enum { NINITIALIZERS = sizeof kInitializers / sizeof kInitializers[0] };

// The initializer that `expr` names: a bare name or a call. NULL: an ordinary expression.
static const initializer_t *find_initializer(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  const tspec_ast_expr_t *head = expr->kind == TSPEC_AST_EXPR_CALL ? expr->u.call.callee : expr;
  if (head->kind != TSPEC_AST_EXPR_NAME) {
    return NULL;
  }
  tspec_range_t range;
  const char *name = head->u.name;
  if (tspec_check_declared_at(c, name, &range)) {
    return NULL;
  }
  for (int i = 0; i < NINITIALIZERS; ++i) {
    if (strcmp(kInitializers[i].name, name) == 0) {
      return &kInitializers[i];
    }
  }
  return NULL;
}

static int find_arg(const initializer_t *init, const char *name) {
  for (int i = 0; i < init->nargs; ++i) {
    if (strcmp(init->args[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

static bool read_args(tspec_checker_t *c, const initializer_t *init, const tspec_ast_expr_t *expr,
                      double *out_args) {
  bool given[MAX_ARGS] = {false};
  size_t count = expr->kind == TSPEC_AST_EXPR_CALL ? expr->u.call.args.count : 0;
  for (size_t i = 0; i < count; ++i) {
    const tspec_ast_arg_t *arg = &expr->u.call.args.items[i];
    int index = arg->name.text != NULL ? find_arg(init, arg->name.text) : (int)i;
    if (index < 0 || index >= init->nargs || index >= MAX_ARGS || given[index]) {
      tspec_check_error(c, arg->range, "'%s' takes no such argument; it has %d: %s%s%s", init->name,
                        init->nargs, init->nargs > 0 ? init->args[0] : "none",
                        init->nargs > 1 ? ", " : "", init->nargs > 1 ? init->args[1] : "");
      return false;
    }
    given[index] = true;
    if (!tspec_cv_real(c, tspec_check_expr(c, arg->value), arg->range,
                       "an argument of an initializer", &out_args[index])) {
      return false;
    }
  }
  for (int i = 0; i < init->nargs && i < MAX_ARGS && !init->optional; ++i) {
    if (!given[i]) {
      tspec_check_error(c, expr->range, "'%s' needs its argument '%s'", init->name, init->args[i]);
      return false;
    }
  }
  return true;
}

// Fans of the unstacked matrix: the last two dims are in and out, all before them count to both.
static bool apply_fans(tspec_checker_t *c, const initializer_t *init, tspec_type_t type,
                       tspec_range_t range, double *out_args) {
  if (type.rank < 2) {
    tspec_check_error(c, range, "'%s' needs at least two dims (in and out), but the type is %s",
                      init->name, tspec_type_print(c->arena, type));
    return false;
  }
  double field = 1;
  for (int i = 0; i + 2 < type.rank; ++i) {
    field *= (double)type.dims[i];
  }
  double fan_in = field * (double)type.dims[type.rank - 2];
  double fan_out = field * (double)type.dims[type.rank - 1];
  double variance = 1 / fan_in;
  if (init->fan == FAN_XAVIER) {
    variance = 2 / (fan_in + fan_out);
  } else if (init->fan == FAN_HE) {
    variance = 2 / fan_in;
  }
  if (init->kind == TSPEC_INIT_UNIFORM) {
    out_args[0] = -sqrt(3 * variance);
    out_args[1] = sqrt(3 * variance);
  } else {
    out_args[0] = sqrt(variance) / kCutStddev;
  }
  return true;
}

static bool check_fill(tspec_checker_t *c, double number, tspec_type_t type, tspec_range_t range) {
  bool is_bool = type.dtype == TSPEC_DTYPE_BOOL;
  if (tspec_dtype_is_float(type.dtype) ||
      (is_bool ? number == 0 || number == 1 : number == floor(number))) {
    return true;
  }
  tspec_check_error(c, range, "%s is no value of %s", tspec_number_text(c->arena, number),
                    tspec_type_print(c->arena, type));
  return false;
}

static const char *nearest_initializer(const char *name) {
  const char *best = NULL;
  size_t distance = strlen(name) / 3 + 1;
  for (int i = 0; i < NINITIALIZERS; ++i) {
    size_t d = tspec_str_distance(kInitializers[i].name, name);
    if (d < distance || (d == 1 && best == NULL)) {
      best = kInitializers[i].name;
      distance = d;
    }
  }
  return best;
}

// An expression that is no initializer must be a number; a misspelt name gets a hint.
static bool check_number_init(tspec_checker_t *c, const tspec_ast_expr_t *expr, tspec_type_t type,
                              tspec_param_t *out_param) {
  const tspec_ast_expr_t *head = expr->kind == TSPEC_AST_EXPR_CALL ? expr->u.call.callee : expr;
  tspec_cv_t cv;
  if (head->kind == TSPEC_AST_EXPR_NAME && !tspec_check_lookup(c, head->u.name, head->range, &cv)) {
    const char *nearest = nearest_initializer(head->u.name);
    tspec_check_error(c, head->range, "'%s' is no initializer%s%s%s", head->u.name,
                      nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "'?" : "");
    return false;
  }
  double number = 0;
  if (!tspec_cv_real(c, tspec_check_expr(c, expr), expr->range, "an initial value", &number) ||
      !check_fill(c, number, type, expr->range)) {
    return false;
  }
  out_param->init = TSPEC_INIT_FILL;
  out_param->init_args[0] = number;
  return true;
}

bool tspec_check_init(tspec_checker_t *c, const tspec_ast_expr_t *expr, tspec_type_t type,
                      tspec_param_t *out_param) {
  out_param->init_text = tspec_print_expr(c->arena, expr);
  const initializer_t *init = find_initializer(c, expr);
  if (init == NULL) {
    return check_number_init(c, expr, type, out_param);
  }
  double args[2] = {init->defaults[0], init->defaults[1]};
  if (!read_args(c, init, expr, args)) {
    return false;
  }
  if (init->fan != FAN_NONE && !apply_fans(c, init, type, expr->range, args)) {
    return false;
  }
  if (init->kind == TSPEC_INIT_FILL ? !check_fill(c, args[0], type, expr->range)
                                    : !tspec_dtype_is_float(type.dtype)) {
    if (init->kind != TSPEC_INIT_FILL) {
      tspec_check_error(c, expr->range, "'%s' draws floats, but the type is %s", init->name,
                        tspec_type_print(c->arena, type));
    }
    return false;
  }
  if (init->kind != TSPEC_INIT_FILL && init->fan == FAN_NONE &&
      (init->kind == TSPEC_INIT_UNIFORM ? args[0] > args[1] : args[0] < 0)) {
    tspec_check_error(c, expr->range,
                      init->kind == TSPEC_INIT_UNIFORM ? "'uniform' needs lo <= hi"
                                                       : "a standard deviation cannot be negative");
    return false;
  }
  out_param->init = init->kind;
  bool is_normal = init->kind == TSPEC_INIT_NORMAL || init->kind == TSPEC_INIT_TRUNCATED_NORMAL;
  out_param->init_args[0] = is_normal ? 0 : args[0];
  out_param->init_args[1] = is_normal ? args[0] : args[1];
  return true;
}
