#include <math.h>

#include "frontend/check_ops.h"
#include "ir/eval/scalar.h"

const char *tspec_number_text(tspec_arena_t *arena, double number) {
  tspec_buf_t buf = {0};
  if (number == floor(number) && fabs(number) < 1e15) {
    tspec_buf_printf(&buf, "%.0f", number);
  } else {
    tspec_buf_put_double(&buf, number);
  }
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

// ---- axes and consts -------------------------------------------------------------------------

// The members of the cycle that `global` closes: all busy ones from it on, in order of declaration.
static void report_cycle(tspec_checker_t *c, const tspec_global_t *global, tspec_range_t range) {
  tspec_check_error(c, range, "'%s' depends on itself", global->name.text);
  for (size_t i = 0; i < c->globals.count; ++i) {
    const tspec_global_t *other = c->globals.items[i];
    if (other->is_busy) {
      tspec_check_note(c, other->name.range, "'%s' is part of the cycle", other->name.text);
    }
  }
}

static bool check_axis_size(tspec_checker_t *c, const tspec_global_t *global, tspec_range_t range) {
  int64_t size = 0;
  const char *what = tspec_arena_printf(c->arena, "the size of axis '%s'", global->name.text);
  if (!tspec_cv_whole(c, tspec_cv_number(global->number), range, what, &size)) {
    return false;
  }
  if (size < 1) {
    tspec_check_error(c, range, "%s must be at least 1, but is %s", what,
                      tspec_number_text(c->arena, global->number));
    return false;
  }
  return true;
}

static bool evaluate_global(tspec_checker_t *c, tspec_global_t *global) {
  tspec_frame_t *saved = c->frame;
  tspec_entry_t *entry = c->entry;
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, global->home, NULL);
  c->frame = &frame;
  c->entry = NULL;
  tspec_cv_t cv = tspec_check_expr(c, global->expr);
  tspec_check_leave(c);
  const char *what = global->kind == TSPEC_GLOBAL_AXIS ? "an axis" : "a const";
  bool ok = tspec_cv_real(c, cv, global->expr->range, what, &global->number);
  if (ok && global->kind == TSPEC_GLOBAL_AXIS) {
    ok = check_axis_size(c, global, global->expr->range);
  }
  tspec_check_flush_trace(c);
  c->entry = entry;
  c->frame = saved;
  return ok;
}

bool tspec_check_global_number(tspec_checker_t *c, tspec_global_t *global, tspec_range_t range) {
  if (global->is_done) {
    return !global->failed;
  }
  if (global->is_busy) {
    report_cycle(c, global, range);
    return false;
  }
  global->is_busy = true;
  if (global->is_set) {
    global->failed =
        global->kind == TSPEC_GLOBAL_AXIS && !check_axis_size(c, global, global->name.range);
  } else {
    global->failed = !tspec_check_enter(c, range, "sizes") || !evaluate_global(c, global);
  }
  global->is_busy = false;
  global->is_done = true;
  return !global->failed;
}

// ---- operators -------------------------------------------------------------------------------

double tspec_number_mod(double a, double b) {
  double rem = fmod(a, b);
  return rem != 0 && (rem < 0) != (b < 0) ? rem + b : rem;
}

static bool divides_by_zero(tspec_ast_binary_t op, double b) {
  return b == 0 && (op == TSPEC_AST_BINARY_DIV || op == TSPEC_AST_BINARY_REM);
}

tspec_cv_t tspec_number_binary(tspec_checker_t *c, tspec_ast_binary_t op, double a, double b,
                               tspec_range_t range) {
  if (divides_by_zero(op, b)) {
    tspec_check_error(c, range, "%s %s 0: division by zero", tspec_number_text(c->arena, a),
                      tspec_ast_binary_name(op));
    return tspec_cv_error();
  }
  switch (op) {
  case TSPEC_AST_BINARY_OR:
    return tspec_cv_number(a != 0 || b != 0);
  case TSPEC_AST_BINARY_AND:
    return tspec_cv_number(a != 0 && b != 0);
  case TSPEC_AST_BINARY_EQ:
    return tspec_cv_number(a == b);
  case TSPEC_AST_BINARY_NE:
    return tspec_cv_number(a != b);
  case TSPEC_AST_BINARY_LT:
    return tspec_cv_number(a < b);
  case TSPEC_AST_BINARY_LE:
    return tspec_cv_number(a <= b);
  case TSPEC_AST_BINARY_GT:
    return tspec_cv_number(a > b);
  case TSPEC_AST_BINARY_GE:
    return tspec_cv_number(a >= b);
  case TSPEC_AST_BINARY_ADD:
    return tspec_cv_number(a + b);
  case TSPEC_AST_BINARY_SUB:
    return tspec_cv_number(a - b);
  case TSPEC_AST_BINARY_MUL:
    return tspec_cv_number(a * b);
  case TSPEC_AST_BINARY_DIV:
    return tspec_cv_number(a / b);
  case TSPEC_AST_BINARY_REM:
    return tspec_cv_number(tspec_number_mod(a, b));
  case TSPEC_AST_BINARY_POW:
    return tspec_cv_number(pow(a, b));
  case TSPEC_AST_BINARY_MATMUL:
  case TSPEC_AST_BINARY_COUNT:
    break;
  }
  tspec_check_error(c, range, "'%s' needs tensors, not numbers", tspec_ast_binary_name(op));
  return tspec_cv_error();
}

double tspec_number_function(tspec_op_kind_t kind, double x) {
  tspec_element_t result = tspec_scalar_eval(kind, TSPEC_DTYPE_F64, &(tspec_element_t){.f = x});
  return kind == TSPEC_OP_isfinite ? (double)result.i : result.f;
}

double tspec_number_convert(tspec_dtype_t dtype, double number) {
  if (tspec_dtype_is_float(dtype)) {
    return tspec_dtype_round(dtype, number);
  }
  if (dtype == TSPEC_DTYPE_BOOL) {
    return number != 0;
  }
  if (isnan(number)) {
    return 0;
  }
  double lo = tspec_dtype_min(dtype), hi = tspec_dtype_max(dtype);
  return number < lo ? lo : number > hi ? hi : trunc(number);
}

// ---- where numbers are needed ----------------------------------------------------------------

bool tspec_cv_real(tspec_checker_t *c, tspec_cv_t cv, tspec_range_t range, const char *what,
                   double *out_value) {
  if (cv.kind == TSPEC_CV_NUMBER) {
    *out_value = cv.u.number;
    return true;
  }
  if (cv.kind == TSPEC_CV_TENSOR || cv.kind == TSPEC_CV_SLOT) {
    tspec_check_error(c, range, "%s must be known at compile time, but this is %s", what,
                      tspec_check_describe(c, cv));
  } else if (cv.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, range, "%s must be a number, but this is %s", what,
                      tspec_check_describe(c, cv));
  }
  return false;
}

bool tspec_check_loop(tspec_checker_t *c, const tspec_ast_expr_t *lo, const tspec_ast_expr_t *hi,
                      int64_t *out_lo, int64_t *out_hi) {
  bool ok = tspec_cv_whole(c, tspec_check_expr(c, lo), lo->range, "the bound of a 'for'", out_lo);
  ok = tspec_cv_whole(c, tspec_check_expr(c, hi), hi->range, "the bound of a 'for'", out_hi) && ok;
  if (ok && *out_hi - *out_lo > TSPEC_CHECK_MAX_LOOP) {
    tspec_check_error(c, hi->range, "this 'for' would be unrolled %lld times; %d is the limit",
                      (long long)(*out_hi - *out_lo), TSPEC_CHECK_MAX_LOOP);
    return false;
  }
  return ok && (*out_hi <= *out_lo || tspec_check_spend(c, hi->range, *out_hi - *out_lo));
}

bool tspec_cv_whole(tspec_checker_t *c, tspec_cv_t cv, tspec_range_t range, const char *what,
                    int64_t *out_value) {
  double number = 0;
  if (!tspec_cv_real(c, cv, range, what, &number)) {
    return false;
  }
  if (number != floor(number) || fabs(number) > 9007199254740992.0) {
    tspec_check_error(c, range, "%s must be a whole number, but is %s", what,
                      tspec_number_text(c->arena, number));
    return false;
  }
  *out_value = (int64_t)number;
  return true;
}
