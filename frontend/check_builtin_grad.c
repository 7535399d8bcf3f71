// Gradients, and ops that say how a value is computed or placed. Not compiled.
#include "frontend/check_ops.h"

// The type that a gradient by `x` has. Inputs and parameters written f32 have gradients of the type
// they are stored in, as their conversion to the compute dtype is differentiated, too.
static tspec_type_t gradient_type(const tspec_value_t *x) {
  const tspec_op_t *def = x->def;
  bool is_read = def != NULL && def->kind == TSPEC_OP_convert && def->operands[0]->def == NULL &&
                 def->operands[0]->type.dtype == TSPEC_DTYPE_F32;
  return is_read ? def->operands[0]->type : x->type;
}

static tspec_cv_t gradient_by(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const tspec_builtin_call_t *call = context;
  tspec_type_t type =
      x->cv.kind == TSPEC_CV_SLOT ? x->cv.u.slot->type : gradient_type(x->cv.u.tensor);
  if (!tspec_dtype_is_float(type.dtype)) {
    tspec_check_error(c, x->range, "'grad' differentiates by floats, but this is %s",
                      tspec_type_print(c->arena, type));
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 0, NULL));
}

bool tspec_check_loss(tspec_checker_t *c, tspec_site_t site, tspec_operand_t loss) {
  const tspec_value_t *value = tspec_check_tensor(c, site, loss);
  if (value != NULL && (value->type.rank != 0 || !tspec_dtype_is_float(value->type.dtype))) {
    tspec_check_error(c, loss.range, "'%s' needs a scalar float as its loss, but this is %s%s",
                      site.spelling, tspec_type_print(c->arena, value->type),
                      value->type.rank > 0 ? "; mean(x) or sum(x) makes one" : "");
    return false;
  }
  return value != NULL;
}

tspec_cv_t tspec_builtin_grad(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_operand_t x = call->args[1];
  if (!tspec_check_loss(c, call->site, call->args[0])) {
    return tspec_cv_error();
  }
  bool is_tree_slot = x.cv.kind == TSPEC_CV_SLOT && x.cv.u.slot->is_tree;
  if (x.cv.kind == TSPEC_CV_PARAMS || is_tree_slot) {
    x.cv = tspec_check_params_tree(c, x.range);
  }
  if (x.cv.kind == TSPEC_CV_TREE) {
    return tspec_check_map_tree(c, call->site, 1, &x, gradient_by, call);
  }
  if (x.cv.kind != TSPEC_CV_SLOT && x.cv.kind != TSPEC_CV_TENSOR) {
    tspec_check_error(c, x.range,
                      "'grad' differentiates by a value, a parameter, a state or params, but this "
                      "is %s",
                      tspec_check_describe(c, x.cv));
    return tspec_cv_error();
  }
  return gradient_by(c, call, &x);
}

// The second argument was computed before, but its type does not depend on the tree's values.
tspec_cv_t tspec_builtin_with_params(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  bool ok = tspec_check_like_params(c, call->args[0], "'tree' of 'with_params'");
  return ok ? call->args[1].cv : tspec_cv_error();
}

tspec_cv_t tspec_builtin_remat(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  (void)c;
  return call->args[0].cv;
}

tspec_cv_t tspec_builtin_barrier(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  return x == NULL ? tspec_cv_error() : tspec_cv_tensor(tspec_emit_barrier(c, call->site, x, NULL));
}

// Gives its arguments.
tspec_cv_t tspec_builtin_same_sharding(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (call->nrest < 2) {
    tspec_check_error(c, call->site.range, "'same_sharding' takes two tensors or more");
    return tspec_cv_error();
  }
  tspec_cv_t *items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, call->nrest);
  for (int i = 0; i < call->nrest; ++i) {
    items[i] = tspec_cv_tensor(tspec_check_tensor(c, call->site, call->rest[i]));
    if (tspec_cv_is_error(items[i])) {
      return items[i];
    }
    if (items[i].u.tensor->type.rank != items[0].u.tensor->type.rank) {
      tspec_check_error(c, call->rest[i].range,
                        "'same_sharding' of %s and %s: one sharding needs one number of dims",
                        tspec_check_describe(c, items[0]), tspec_check_describe(c, items[i]));
      return tspec_cv_error();
    }
  }
  int64_t group = c->ngroups++;
  for (int i = 0; i < call->nrest; ++i) {
    tspec_value_t *member = tspec_emit_same_sharding(c, call->site, items[i].u.tensor, group);
    if (member == NULL) {
      return tspec_cv_error();
    }
    items[i] = tspec_cv_tensor(member);
  }
  return tspec_cv_tuple(c, (size_t)call->nrest, items);
}
