#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/print.h"

// A dim with a size: the size, and the axis name if it is a bare axis.
static bool check_dim(tspec_checker_t *c, const tspec_ast_dim_t *dim, int64_t *out_size,
                      const char **out_axis) {
  tspec_cv_t cv = tspec_check_expr(c, dim->expr);
  if (!tspec_cv_whole(c, cv, dim->range, "a dim", out_size)) {
    return false;
  }
  if (*out_size < 1) {
    tspec_check_error(c, dim->range, "a dim must be at least 1, but is %lld", (long long)*out_size);
    return false;
  }
  *out_axis = dim->expr->kind == TSPEC_AST_EXPR_NAME ? cv.axis : NULL;
  return true;
}

bool tspec_check_concrete_type(tspec_checker_t *c, const tspec_ast_type_t *type, const char *what,
                               tspec_type_t *out_type, const char *const **out_axes) {
  if (type->bind.text != NULL) {
    tspec_check_error(c, type->bind.range, "the element type of %s must be written, not '$%s'",
                      what, type->bind.text);
    return false;
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, type->ndims);
  const char **axes = TSPEC_ARENA_NEW(c->arena, const char *, type->ndims);
  bool ok = true;
  for (size_t i = 0; i < type->ndims; ++i) {
    const tspec_ast_dim_t *dim = &type->dims[i];
    if (dim->kind != TSPEC_AST_DIM_EXPR) {
      tspec_check_error(c, dim->range, "dim %zu of %s needs a size, not '%s'", i, what,
                        tspec_check_text(c, dim->range));
      ok = false;
    } else {
      ok = check_dim(c, dim, &dims[i], &axes[i]) && ok;
    }
  }
  *out_type = tspec_type_make(c->arena, type->dtype, (int)type->ndims, dims);
  *out_axes = axes;
  if (ok && !tspec_type_fits(*out_type)) {
    tspec_check_error(c, type->range, "%s is %s, more than 2^50 bytes", what,
                      tspec_type_print(c->arena, *out_type));
    return false;
  }
  return ok;
}

// ---- values against types --------------------------------------------------------------------

typedef struct fit_t {
  const tspec_ast_type_t *type;
  tspec_operand_t operand;
  const char *what;
  tspec_type_t got;
  const char **axes;
} fit_t;

static void note_type(tspec_checker_t *c, const fit_t *fit) {
  tspec_check_note(c, fit->type->range, "the type is %s", tspec_print_type(c->arena, fit->type));
}

// A name that '$' binds: new, or a number that must agree.
static bool bind_size(tspec_checker_t *c, const fit_t *fit, const tspec_ast_dim_t *dim, int index,
                      int64_t size) {
  const tspec_named_t *bound = tspec_frame_find(c->frame, dim->name.text);
  if (bound == NULL) {
    tspec_frame_add(c, dim->name, tspec_cv_number((double)size));
    return true;
  }
  if (bound->cv.kind == TSPEC_CV_NUMBER && bound->cv.u.number == (double)size) {
    return true;
  }
  tspec_check_error(
      c, fit->operand.range, "%s is %s: its dim %d is %lld, but '%s' is %s", fit->what,
      tspec_type_print(c->arena, fit->got), index, (long long)size, dim->name.text,
      bound->cv.kind == TSPEC_CV_NUMBER ? tspec_number_text(c->arena, bound->cv.u.number)
                                        : tspec_check_describe(c, bound->cv));
  tspec_check_note(c, bound->range, "'%s' got its value here", dim->name.text);
  return false;
}

static bool fit_dim(tspec_checker_t *c, const fit_t *fit, const tspec_ast_dim_t *dim, int index) {
  int64_t size = fit->got.dims[index], wanted = 0;
  if (dim->kind == TSPEC_AST_DIM_BIND) {
    return bind_size(c, fit, dim, index, size);
  }
  if (!check_dim(c, dim, &wanted, &fit->axes[index])) {
    return false;
  }
  if (wanted == size) {
    return true;
  }
  const char *text = tspec_print_expr(c->arena, dim->expr);
  bool named = dim->expr->kind != TSPEC_AST_EXPR_NUMBER;
  tspec_check_error(c, fit->operand.range, "%s is %s: its dim %d is %lld, wanted %lld%s%s%s",
                    fit->what, tspec_type_print(c->arena, fit->got), index, (long long)size,
                    (long long)wanted, named ? " ('" : "", named ? text : "", named ? "')" : "");
  note_type(c, fit);
  return false;
}

// '...': any leading dims, the same ones in the whole signature.
static bool fit_lead(tspec_checker_t *c, const fit_t *fit, int nlead) {
  tspec_frame_t *frame = c->frame;
  if (!frame->has_lead) {
    frame->has_lead = true;
    frame->nlead = nlead;
    frame->lead = fit->got.dims;
    return true;
  }
  tspec_type_t want = {.dtype = fit->got.dtype, .rank = frame->nlead, .dims = frame->lead};
  tspec_type_t got = {.dtype = fit->got.dtype, .rank = nlead, .dims = fit->got.dims};
  if (tspec_shape_equal(want, got)) {
    return true;
  }
  tspec_check_error(c, fit->operand.range,
                    "%s is %s: its leading dims differ from those that '...' "
                    "stood for before, as in %s",
                    fit->what, tspec_type_print(c->arena, fit->got),
                    tspec_type_print(c->arena, want));
  note_type(c, fit);
  return false;
}

static bool fit_shape(tspec_checker_t *c, const fit_t *fit) {
  const tspec_ast_type_t *type = fit->type;
  int ndims = (int)type->ndims;
  bool open = ndims > 0 && type->dims[0].kind == TSPEC_AST_DIM_ELLIPSIS;
  int fixed = open ? ndims - 1 : ndims;
  if (open ? fit->got.rank < fixed : fit->got.rank != fixed) {
    tspec_check_error(c, fit->operand.range, "%s is %s with %d dims, wanted %s%d", fit->what,
                      tspec_type_print(c->arena, fit->got), fit->got.rank, open ? "at least " : "",
                      fixed);
    note_type(c, fit);
    return false;
  }
  int nlead = fit->got.rank - fixed;
  bool ok = !open || fit_lead(c, fit, nlead);
  for (int i = 0; i < fixed; ++i) {
    ok = fit_dim(c, fit, &type->dims[ndims - fixed + i], nlead + i) && ok;
  }
  return ok;
}

static bool is_dtype_fit(const tspec_checker_t *c, tspec_dtype_t written, tspec_dtype_t got) {
  return got == written || (written == TSPEC_DTYPE_F32 && got == c->compute_dtype);
}

static bool fit_dtype(tspec_checker_t *c, const fit_t *fit) {
  const tspec_ast_type_t *type = fit->type;
  tspec_dtype_t got = fit->got.dtype, wanted = type->dtype;
  tspec_cv_t cv = {.kind = TSPEC_CV_DTYPE, .u.dtype = got};
  if (type->bind.text != NULL) {
    const tspec_named_t *bound = tspec_frame_find(c->frame, type->bind.text);
    if (bound == NULL) {
      tspec_frame_add(c, type->bind, cv);
      return true;
    }
    wanted = bound->cv.kind == TSPEC_CV_DTYPE ? bound->cv.u.dtype : TSPEC_DTYPE_COUNT;
    if (wanted == got) {
      return true;
    }
  } else if (is_dtype_fit(c, wanted, got)) {
    return true;
  }
  const char *name = wanted == TSPEC_DTYPE_COUNT ? "no element type" : tspec_dtype_name(wanted);
  tspec_check_error(c, fit->operand.range, "%s is %s, wanted element type %s; %s(..) converts",
                    fit->what, tspec_type_print(c->arena, fit->got), name, name);
  note_type(c, fit);
  return false;
}

// The dtype that a number takes as a value of the type.
static tspec_dtype_t number_dtype(tspec_checker_t *c, const tspec_ast_type_t *type) {
  if (type->bind.text != NULL) {
    const tspec_named_t *bound = tspec_frame_find(c->frame, type->bind.text);
    if (bound != NULL && bound->cv.kind == TSPEC_CV_DTYPE) {
      return bound->cv.u.dtype;
    }
    tspec_frame_add(c, type->bind,
                    (tspec_cv_t){.kind = TSPEC_CV_DTYPE, .u.dtype = c->compute_dtype});
    return c->compute_dtype;
  }
  return type->dtype == TSPEC_DTYPE_F32 ? c->compute_dtype : type->dtype;
}

static tspec_cv_t fit_number(tspec_checker_t *c, const fit_t *fit) {
  if (fit->type->ndims > 0 &&
      !(fit->type->ndims == 1 && fit->type->dims[0].kind == TSPEC_AST_DIM_ELLIPSIS)) {
    tspec_check_error(c, fit->operand.range,
                      "%s is a number, wanted a tensor with dims; full([..], x) makes one",
                      fit->what);
    note_type(c, fit);
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_type_make(c->arena, number_dtype(c, fit->type), 0, NULL);
  tspec_site_t site = {fit->operand.range, NULL};
  return tspec_cv_tensor(
      tspec_check_number_tensor(c, site, fit->operand.cv.u.number, type, fit->operand.range));
}

tspec_cv_t tspec_check_fits(tspec_checker_t *c, const tspec_ast_type_t *type,
                            tspec_operand_t operand, const char *what,
                            const char *const **out_axes) {
  fit_t fit = {.type = type, .operand = operand, .what = what};
  fit.axes =
      TSPEC_ARENA_NEW(c->arena, const char *,
                      operand.cv.kind == TSPEC_CV_TENSOR ? operand.cv.u.tensor->type.rank : 0);
  if (out_axes != NULL) {
    *out_axes = fit.axes;
  }
  if (operand.cv.kind == TSPEC_CV_ERROR) {
    return operand.cv;
  }
  if (operand.cv.kind == TSPEC_CV_NUMBER) {
    return fit_number(c, &fit);
  }
  if (operand.cv.kind != TSPEC_CV_TENSOR) {
    tspec_check_error(c, operand.range, "%s is %s, wanted %s", what,
                      tspec_check_describe(c, operand.cv), tspec_print_type(c->arena, type));
    return tspec_cv_error();
  }
  fit.got = operand.cv.u.tensor->type;
  bool ok = fit_dtype(c, &fit);
  return fit_shape(c, &fit) && ok ? operand.cv : tspec_cv_error();
}
