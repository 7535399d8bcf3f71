#include "frontend/check_ops.h"
#include "frontend/print.h"

// ---- lists and families ----------------------------------------------------------------------

// The one index of a list or of instances; false after a report.
static bool single_index(tspec_checker_t *c, const tspec_ast_expr_t *expr, const char *what,
                         int64_t *out_index) {
  const tspec_ast_index_t *index = &expr->u.index.indices[0];
  if (expr->u.index.nindices != 1 || index->kind != TSPEC_AST_INDEX_EXPR) {
    tspec_check_error(c, expr->range, "%s takes one index", what);
    return false;
  }
  return tspec_cv_whole(c, tspec_check_expr(c, index->lo), index->range, "this index", out_index);
}

static tspec_cv_t index_list(tspec_checker_t *c, const tspec_ast_expr_t *expr, tspec_cv_t base) {
  int64_t index = 0, count = (int64_t)base.u.list->count;
  if (!single_index(c, expr, "a list", &index)) {
    return tspec_cv_error();
  }
  if (index < -count || index >= count) {
    tspec_check_error(c, expr->range, "index %lld is out of %s with %lld items", (long long)index,
                      tspec_check_describe(c, base), (long long)count);
    return tspec_cv_error();
  }
  return base.u.list->items[index < 0 ? index + count : index];
}

static tspec_cv_t index_family(tspec_checker_t *c, const tspec_ast_expr_t *expr,
                               const tspec_family_t *family) {
  int64_t index = 0;
  if (!single_index(c, expr, "an instance", &index)) {
    return tspec_cv_error();
  }
  const tspec_named_t *named =
      tspec_names_get(&family->items, tspec_arena_printf(c->arena, "%lld", (long long)index));
  if (named == NULL) {
    tspec_check_error(c, expr->range, "there is no '%s[%lld]'; %zu instances are declared",
                      family->path, (long long)index, family->items.count);
    const tspec_named_t *first = family->items.entries[0].value;
    tspec_check_note(c, first->range, "the first is declared here");
    return tspec_cv_error();
  }
  return named->cv;
}

// ---- tensors ---------------------------------------------------------------------------------

/// What the indices make of the dims.
typedef struct view_t {
  tspec_value_t *x;
  int64_t *starts, *ends, *steps;
  bool *dropped;
  size_t nindices;
  int nplaces; ///< run-time indices, after x itself in `places`
  tspec_value_t **places;
  tspec_value_t *ids; ///< the one that takes rows, or NULL
} view_t;

static view_t start_view(tspec_checker_t *c, tspec_value_t *x, size_t nindices) {
  int rank = x->type.rank;
  view_t view = {.x = x, .nindices = nindices};
  view.starts = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  view.ends = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  view.steps = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  view.dropped = TSPEC_ARENA_NEW(c->arena, bool, rank);
  view.places = TSPEC_ARENA_NEW(c->arena, tspec_value_t *, rank + 1);
  view.places[view.nplaces++] = x;
  for (int i = 0; i < rank; ++i) {
    view.ends[i] = x->type.dims[i];
    view.steps[i] = 1;
  }
  return view;
}

// An index that is a tensor: a scalar is a dynamic slice, another one, alone, a take.
static bool index_at_run_time(tspec_checker_t *c, view_t *view, int dim, tspec_value_t *place,
                              tspec_range_t range) {
  tspec_type_t type = place->type;
  if (!tspec_dtype_is_integer(type.dtype)) {
    tspec_check_error(c, range, "an index must be a whole number or an i32 tensor, but this is %s",
                      tspec_type_print(c->arena, type));
    return false;
  }
  if (type.rank > 0 && view->nindices > 1) {
    tspec_check_error(c, range,
                      "an index that is a tensor stands alone, x[ids], but this one, %s, is among "
                      "%zu",
                      tspec_type_print(c->arena, type), view->nindices);
    return false;
  }
  tspec_check_absent(c, range,
                     type.rank == 0 ? "a run-time index" : "an index that is a tensor ('take')");
  view->ids = type.rank > 0 ? place : NULL;
  view->places[view->nplaces++] = place;
  view->ends[dim] = 1;
  view->dropped[dim] = true;
  return true;
}

static bool index_dim(tspec_checker_t *c, view_t *view, int dim, const tspec_ast_index_t *index) {
  tspec_cv_t cv = tspec_check_expr(c, index->lo);
  if (cv.kind == TSPEC_CV_TENSOR) {
    return index_at_run_time(c, view, dim, cv.u.tensor, index->range);
  }
  int64_t at = 0, size = view->x->type.dims[dim];
  if (!tspec_cv_whole(c, cv, index->range, "an index", &at)) {
    return false;
  }
  if (at < -size || at >= size) {
    tspec_check_error(c, index->range, "index %lld is out of dim %d of %s", (long long)at, dim,
                      tspec_type_print(c->arena, view->x->type));
    return false;
  }
  view->starts[dim] = at < 0 ? at + size : at;
  view->ends[dim] = view->starts[dim] + 1;
  view->dropped[dim] = true;
  return true;
}

// A bound as NumPy takes it: negative ones count from the end, then it is clamped.
static bool slice_bound(tspec_checker_t *c, const tspec_ast_expr_t *expr, int64_t size,
                        int64_t *bound) {
  if (expr == NULL) {
    return true;
  }
  tspec_cv_t cv = tspec_check_expr(c, expr);
  if (!tspec_cv_whole(c, cv, expr->range, "the bound of a slice", bound)) {
    return false;
  }
  *bound = *bound < 0 ? *bound + size : *bound;
  *bound = *bound < 0 ? 0 : *bound > size ? size : *bound;
  return true;
}

static bool slice_dim(tspec_checker_t *c, view_t *view, int dim, const tspec_ast_index_t *index) {
  int64_t size = view->x->type.dims[dim];
  if (!slice_bound(c, index->lo, size, &view->starts[dim]) ||
      !slice_bound(c, index->hi, size, &view->ends[dim])) {
    return false;
  }
  if (index->step != NULL &&
      !tspec_cv_whole(c, tspec_check_expr(c, index->step), index->step->range,
                      "the step of a slice", &view->steps[dim])) {
    return false;
  }
  if (index->step != NULL && view->steps[dim] < 1) {
    tspec_check_error(c, index->step->range,
                      "the step of a slice must be at least 1, but is %lld; reverse(x, dims) turns "
                      "a dim around",
                      (long long)view->steps[dim]);
    return false;
  }
  if (view->starts[dim] >= view->ends[dim]) {
    tspec_check_error(c, index->range, "this slice of dim %d of %s is empty", dim,
                      tspec_type_print(c->arena, view->x->type));
    return false;
  }
  return true;
}

// Walks the indices; '...' stands for the dims that the others leave.
static bool apply_indices(tspec_checker_t *c, const tspec_ast_expr_t *expr, view_t *view) {
  int rank = view->x->type.rank, used = 0;
  for (size_t i = 0; i < expr->u.index.nindices; ++i) {
    used += expr->u.index.indices[i].kind != TSPEC_AST_INDEX_ELLIPSIS;
  }
  if (used > rank) {
    tspec_check_error(c, expr->range, "%d indices for %s with %d dims", used,
                      tspec_type_print(c->arena, view->x->type), rank);
    return false;
  }
  bool ok = true, dots = false;
  for (size_t i = 0, dim = 0; i < expr->u.index.nindices; ++i) {
    const tspec_ast_index_t *index = &expr->u.index.indices[i];
    if (index->kind == TSPEC_AST_INDEX_ELLIPSIS) {
      if (dots) {
        tspec_check_error(c, index->range, "'...' stands twice among the indices");
        return false;
      }
      dots = true;
      dim += (size_t)(rank - used);
      continue;
    }
    ok = (index->kind == TSPEC_AST_INDEX_EXPR ? index_dim(c, view, (int)dim, index)
                                              : slice_dim(c, view, (int)dim, index)) &&
         ok;
    ++dim;
  }
  return ok;
}

// The type of a view at run-time places.
static tspec_type_t viewed_type(tspec_checker_t *c, const view_t *view) {
  tspec_type_t type = view->x->type;
  if (view->ids != NULL) {
    return tspec_check_taken(c, type, view->ids->type);
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, type.rank);
  int rank = 0;
  for (int i = 0; i < type.rank; ++i) {
    if (!view->dropped[i]) {
      dims[rank++] = (view->ends[i] - view->starts[i] + view->steps[i] - 1) / view->steps[i];
    }
  }
  return (tspec_type_t){.dtype = type.dtype, .rank = rank, .dims = dims};
}

static tspec_cv_t index_tensor(tspec_checker_t *c, const tspec_ast_expr_t *expr, tspec_value_t *x) {
  view_t view = start_view(c, x, expr->u.index.nindices);
  if (!apply_indices(c, expr, &view)) {
    return tspec_cv_error();
  }
  tspec_site_t site = {expr->range, "[..]"};
  if (view.nplaces > 1) {
    return tspec_cv_tensor(
        tspec_emit_absent(c, site, viewed_type(c, &view), view.nplaces, view.places));
  }
  tspec_value_t *part = tspec_emit_slice(c, site, x, view.starts, view.ends, view.steps);
  if (part == NULL) {
    return tspec_cv_error();
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, x->type.rank);
  int rank = 0;
  for (int i = 0; i < x->type.rank; ++i) {
    if (!view.dropped[i]) {
      dims[rank++] = part->type.dims[i];
    }
  }
  return tspec_cv_tensor(tspec_emit_reshape(c, site, part, rank, dims));
}

tspec_cv_t tspec_check_index(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  const tspec_ast_expr_t *base_expr = expr->u.index.base;
  tspec_cv_t base = tspec_check_expr(c, base_expr);
  switch (base.kind) {
  case TSPEC_CV_ERROR:
    return base;
  case TSPEC_CV_LIST:
    return index_list(c, expr, base);
  case TSPEC_CV_FAMILY:
    return index_family(c, expr, base.u.family);
  case TSPEC_CV_TENSOR:
    return index_tensor(c, expr, base.u.tensor);
  case TSPEC_CV_NONE:
  case TSPEC_CV_NUMBER:
  case TSPEC_CV_STRING:
  case TSPEC_CV_DTYPE:
  case TSPEC_CV_TUPLE:
  case TSPEC_CV_FUNCTION:
  case TSPEC_CV_BUILTIN:
  case TSPEC_CV_INSTANCE:
  case TSPEC_CV_SLOT:
  case TSPEC_CV_MODULE:
  case TSPEC_CV_PARAMS:
  case TSPEC_CV_TREE:
  case TSPEC_CV_MESH_AXIS:
    break;
  }
  tspec_check_error(c, base_expr->range, "%s cannot be indexed", tspec_check_describe(c, base));
  return tspec_cv_error();
}
