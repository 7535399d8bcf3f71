// Trees: a tensor for each parameter, as `params`, gradients and averages are. Not compiled.
#include "frontend/check_ops.h"

tspec_cv_t tspec_check_params_tree(tspec_checker_t *c, tspec_range_t range) {
  if (!tspec_check_spend(c, range, (int64_t)c->trained.count)) {
    return tspec_cv_error();
  }
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  list->count = c->trained.count;
  list->items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, list->count);
  tspec_site_t site = {range, "params"};
  for (size_t i = 0; i < list->count; ++i) {
    list->items[i] =
        tspec_cv_tensor(tspec_emit_absent(c, site, c->trained.items[i]->type, 0, NULL));
  }
  return (tspec_cv_t){.kind = TSPEC_CV_TREE, .u.list = list};
}

static void note_leaf(tspec_checker_t *c, size_t leaf) {
  const tspec_slot_t *slot = c->trained.items[leaf];
  tspec_check_note(c, slot->range, "in the tree, for the parameter '%s'", slot->path);
}

// Beside trees there are numbers and scalars alone. Gives the first tree.
static const tspec_cvs_t *check_operands(tspec_checker_t *c, tspec_site_t site, int noperands,
                                         const tspec_operand_t *operands) {
  const tspec_cvs_t *tree = NULL;
  for (int i = 0; i < noperands; ++i) {
    tspec_cv_t cv = operands[i].cv;
    if (cv.kind == TSPEC_CV_TREE) {
      tree = tree == NULL ? cv.u.list : tree;
    } else if (cv.kind != TSPEC_CV_NUMBER &&
               !(cv.kind == TSPEC_CV_TENSOR && cv.u.tensor->type.rank == 0)) {
      if (cv.kind != TSPEC_CV_ERROR) {
        tspec_check_error(c, operands[i].range,
                          "'%s' of a tree takes trees and scalars, but this is %s", site.spelling,
                          tspec_check_describe(c, cv));
      }
      return NULL;
    }
  }
  return tree;
}

tspec_cv_t tspec_check_map_tree(tspec_checker_t *c, tspec_site_t site, int noperands,
                                const tspec_operand_t *operands, tspec_leaf_fn_t fn,
                                const void *context) {
  const tspec_cvs_t *first = check_operands(c, site, noperands, operands);
  if (first == NULL || !tspec_check_spend(c, site.range, (int64_t)first->count)) {
    return tspec_cv_error();
  }
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  list->count = first->count;
  list->items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, first->count);
  tspec_operand_t *leaves = TSPEC_ARENA_NEW(c->arena, tspec_operand_t, noperands);
  for (size_t i = 0; i < first->count; ++i) {
    for (int k = 0; k < noperands; ++k) {
      bool is_tree = operands[k].cv.kind == TSPEC_CV_TREE;
      leaves[k].cv = is_tree ? operands[k].cv.u.list->items[i] : operands[k].cv;
      leaves[k].range = operands[k].range;
    }
    list->items[i] = fn(c, context, leaves);
    if (list->items[i].kind == TSPEC_CV_ERROR) {
      note_leaf(c, i);
      return tspec_cv_error();
    }
  }
  return (tspec_cv_t){.kind = TSPEC_CV_TREE, .u.list = list};
}

tspec_cv_t tspec_check_sum_tree(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  const tspec_cvs_t *tree = call->args[0].cv.u.list;
  if (call->given[1] || call->given[2]) {
    tspec_check_error(c, call->site.range, "'sum' of a tree adds up everything: no dims, no keep");
    return tspec_cv_error();
  }
  tspec_type_t type = {.dtype = c->compute_dtype};
  for (size_t i = 0; i < tree->count; ++i) {
    tspec_dtype_t dtype = tree->items[i].u.tensor->type.dtype;
    dtype = dtype == TSPEC_DTYPE_BOOL ? TSPEC_DTYPE_I32 : dtype;
    if (i > 0 && dtype != type.dtype) {
      tspec_check_error(c, call->site.range, "'sum' of a tree of %s and %s; f32(tree) converts",
                        tspec_dtype_name(type.dtype), tspec_dtype_name(dtype));
      note_leaf(c, i);
      return tspec_cv_error();
    }
    type.dtype = dtype;
  }
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 0, NULL));
}

bool tspec_check_like_params(tspec_checker_t *c, tspec_operand_t tree, const char *what) {
  if (tree.cv.kind != TSPEC_CV_TREE) {
    if (tree.cv.kind != TSPEC_CV_ERROR) {
      tspec_check_error(c, tree.range, "%s must be a tree like the parameters, but this is %s",
                        what, tspec_check_describe(c, tree.cv));
    }
    return false;
  }
  for (size_t i = 0; i < tree.cv.u.list->count; ++i) {
    tspec_type_t got = tree.cv.u.list->items[i].u.tensor->type;
    tspec_type_t wanted = c->trained.items[i]->type;
    if (!tspec_type_equal(got, wanted)) {
      tspec_check_error(c, tree.range, "%s has %s in place of %s", what,
                        tspec_type_print(c->arena, got), tspec_type_print(c->arena, wanted));
      note_leaf(c, i);
      return false;
    }
  }
  return true;
}
