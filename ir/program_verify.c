// What must hold of a program at its level, op by op.
#include "ir/program_verify.h"

#include <string.h>

#include "ir/base/str.h"

// ---- messages ----------------------------------------------------------------------------------

void tspec_verifier_fail(tspec_verifier_t *verifier, const char *format, ...) {
  tspec_buf_t text = {0};
  tspec_range_t range = {0};
  if (verifier->after != NULL) {
    tspec_buf_printf(&text, "after pass '%s': ", verifier->after);
  }
  if (verifier->op != NULL) {
    const tspec_op_t *op = verifier->op;
    tspec_buf_printf(&text, "op '%s'", tspec_op_info(op->kind)->name);
    if (op->nresults > 0 && op->results[0]->name != NULL) {
      tspec_buf_printf(&text, " (%s)", op->results[0]->name);
    }
    tspec_buf_printf(&text, " of '%s': ", verifier->func->name);
    range = op->range;
  } else if (verifier->func != NULL) {
    tspec_buf_printf(&text, "entry '%s': ", verifier->func->name);
    range = verifier->func->range;
  }
  va_list args;
  va_start(args, format);
  tspec_buf_vprintf(&text, format, args);
  va_end(args);
  tspec_diag_error(verifier->diag, range, "%s", tspec_buf_get(&text));
  tspec_buf_deinit(&text);
  verifier->ok = false;
}

const char *tspec_verifier_axes(tspec_verifier_t *verifier, const tspec_axis_t *axes, int naxes) {
  return tspec_axes_print(&verifier->scratch, &verifier->program->mesh, axes, naxes);
}

const char *tspec_verifier_value(tspec_verifier_t *verifier, const tspec_value_t *value) {
  tspec_arena_t *arena = &verifier->scratch;
  const char *name = value->name != NULL ? tspec_arena_printf(arena, "'%s'", value->name)
                                         : tspec_arena_printf(arena, "%%%d", value->id);
  const char *type = tspec_type_print(arena, value->type);
  if (value->sharding == NULL) {
    return tspec_arena_printf(arena, "%s %s", name, type);
  }
  return tspec_arena_printf(arena, "%s %s @ %s", name, type,
                            tspec_sharding_print(arena, &verifier->program->mesh, value->sharding));
}

// ---- shardings ---------------------------------------------------------------------------------

static bool is_closed(const tspec_sharding_t *sharding) {
  for (int i = 0; i < sharding->rank; i++) {
    if (sharding->dims[i].open) {
      return false;
    }
  }
  return true;
}

/// A sharding of a value of that type: rank, axes, closed from `sharded` on.
static void check_sharding(tspec_verifier_t *verifier, const char *what, tspec_type_t type,
                           const tspec_sharding_t *sharding) {
  bool must_be_there = verifier->program->level >= TSPEC_LEVEL_SHARDED;
  if (sharding == NULL) {
    if (must_be_there) {
      tspec_verifier_fail(verifier, "%s has no sharding", what);
    }
    return;
  }
  if (sharding->rank != type.rank) {
    tspec_verifier_fail(verifier, "%s: the sharding has %d entries, wanted %d", what,
                        sharding->rank, type.rank);
    return;
  }
  tspec_range_t range = verifier->op != NULL ? verifier->op->range : (tspec_range_t){0};
  if (!tspec_sharding_check(&verifier->program->mesh, sharding, what, range, verifier->diag)) {
    tspec_verifier_fail(verifier, "%s has no legal sharding", what);
    return;
  }
  if (must_be_there && !is_closed(sharding)) {
    tspec_verifier_fail(verifier, "%s has open dims, wanted closed ones", what);
  }
}

static void check_value_sharding(tspec_verifier_t *verifier, const tspec_value_t *value) {
  check_sharding(verifier, tspec_verifier_value(verifier, value), value->type, value->sharding);
}

// ---- ops ---------------------------------------------------------------------------------------

static bool is_collective(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) != 0 ||
         op->kind == TSPEC_OP_make_pending;
}

/// Whether ops of this kind may stand at the level.
static bool belongs_to_level(const tspec_op_t *op, tspec_level_t level) {
  bool of_kernels =
      op->kind == TSPEC_OP_kernel || op->kind == TSPEC_OP_gemm || op->kind == TSPEC_OP_view;
  bool moves = op->kind == TSPEC_OP_reshard;
  bool states = (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0;
  switch (level) {
  case TSPEC_LEVEL_GLOBAL:
    return !of_kernels && !moves && !is_collective(op);
  case TSPEC_LEVEL_SHARDED:
    return !of_kernels && !is_collective(op);
  case TSPEC_LEVEL_LOCAL:
    return !of_kernels && !states;
  case TSPEC_LEVEL_KERNELS:
    return of_kernels || (is_collective(op) && op->kind != TSPEC_OP_make_pending);
  }
  return false;
}

/// Result types are those that `infer` gives. False if the op cannot be looked at further.
static bool check_types(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_op_info_t *info = tspec_op_info(op->kind);
  int wanted = info->nresults >= 0          ? info->nresults
               : info->rules->infer != NULL ? op->noperands
                                            : op->nresults;
  if (op->nresults != wanted) {
    tspec_verifier_fail(verifier, "it has %d results, wanted %d", op->nresults, wanted);
    return false;
  }
  tspec_op_view_t view = tspec_op_view(op, &verifier->scratch);
  if (!tspec_op_check_form(&view, verifier->diag)) {
    tspec_verifier_fail(verifier, "it is not of the form that its row in the op table states");
    return false;
  }
  if (info->rules->infer == NULL) {
    return true;
  }
  tspec_type_t *types = TSPEC_ARENA_NEW(&verifier->scratch, tspec_type_t, op->nresults);
  if (!info->rules->infer(&view, &verifier->scratch, verifier->diag, types)) {
    tspec_verifier_fail(verifier, "its operands do not fit");
    return false;
  }
  for (int i = 0; i < op->nresults; i++) {
    if (!tspec_type_equal(types[i], op->results[i]->type)) {
      tspec_verifier_fail(verifier, "result %s should have type %s",
                          tspec_verifier_value(verifier, op->results[i]),
                          tspec_type_print(&verifier->scratch, types[i]));
      return false;
    }
  }
  return true;
}

/// A reshard lies as it says; closed dims of constraints and barriers, too, and open ones begin so.
static void check_stated_sharding(tspec_verifier_t *verifier, const tspec_op_t *op,
                                  const tspec_attr_t *attr) {
  const tspec_sharding_t *stated = attr->sharding;
  const char *text = tspec_sharding_print(&verifier->scratch, &verifier->program->mesh, stated);
  check_sharding(verifier, tspec_arena_printf(&verifier->scratch, "the stated %s", text),
                 op->results[0]->type,
                 verifier->program->level == TSPEC_LEVEL_GLOBAL || op->kind != TSPEC_OP_reshard
                     ? tspec_sharding_close(&verifier->scratch, stated)
                     : stated);
  const tspec_sharding_t *got = op->results[0]->sharding;
  if (got == NULL || got->rank != stated->rank) {
    return;
  }
  bool fits = op->kind != TSPEC_OP_reshard || tspec_sharding_same_layout(got, stated);
  for (int i = 0; fits && i < got->rank; i++) {
    const tspec_dim_t *wanted = &stated->dims[i];
    const tspec_dim_t *dim = &got->dims[i];
    fits = wanted->open ? dim->naxes >= wanted->naxes : dim->naxes == wanted->naxes;
    for (int k = 0; fits && !wanted->open && k < wanted->naxes; k++) {
      fits = tspec_axis_equal(wanted->axes[k], dim->axes[k]);
    }
  }
  if (!fits) {
    tspec_verifier_fail(verifier, "its result is %s, but it states %s",
                        tspec_verifier_value(verifier, op->results[0]), text);
  }
}

/// From `reshard` on every op computes its blocks from its operands' blocks.
static bool must_fit_together(const tspec_verifier_t *verifier) {
  if (verifier->program->level == TSPEC_LEVEL_SHARDED) {
    return verifier->after != NULL && strcmp(verifier->after, "reshard") == 0;
  }
  return verifier->program->level >= TSPEC_LEVEL_LOCAL;
}

/// Values of one group have one sharding, so as many dims.
static void check_group(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_attr_t *group = tspec_op_get_attr(op, "group");
  if (group == NULL) {
    return;
  }
  const char *name = tspec_arena_printf(verifier->kept, "%lld", (long long)group->i);
  const tspec_value_t *first = tspec_names_get(&verifier->groups, name);
  if (first == NULL) {
    tspec_names_set(verifier->kept, &verifier->groups, name, op->results[0]);
  } else if (first->type.rank != op->results[0]->type.rank) {
    tspec_verifier_fail(verifier, "group %s has values of %d dims and of %d", name,
                        first->type.rank, op->results[0]->type.rank);
  }
}

static void check_op_shardings(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_attr_t *stated = tspec_op_get_attr(op, "sharding");
  if (stated != NULL) {
    check_stated_sharding(verifier, op, stated);
  }
  for (int i = 0; i < op->nresults; i++) {
    if (verifier->program->level == TSPEC_LEVEL_GLOBAL && op->results[i]->sharding != NULL) {
      tspec_verifier_fail(verifier, "result %s has a sharding, but the level is global",
                          tspec_verifier_value(verifier, op->results[i]));
    }
    check_value_sharding(verifier, op->results[i]);
  }
  if (!verifier->ok || !must_fit_together(verifier)) {
    return;
  }
  if (is_collective(op)) {
    tspec_verify_collective(verifier, op);
  } else if (op->kind != TSPEC_OP_reshard) {
    tspec_verify_factors(verifier, op);
  }
}

/// `defined` holds by id what stands before the op.
static bool check_operands_defined(tspec_verifier_t *verifier, const tspec_op_t *op,
                                   const tspec_value_t **defined, int nvalues) {
  for (int i = 0; i < op->noperands; i++) {
    const tspec_value_t *value = op->operands[i];
    if (value == NULL || value->id < 0 || value->id >= nvalues || defined[value->id] != value) {
      tspec_verifier_fail(verifier, "operand %d is not defined before it", i);
      return false;
    }
  }
  return true;
}

static void check_op(tspec_verifier_t *verifier, const tspec_op_t *op,
                     const tspec_value_t **defined, int nvalues) {
  verifier->op = op;
  if ((op->next == NULL ? verifier->func->last : op->next->prev) != op) {
    tspec_verifier_fail(verifier, "the list of ops is broken behind it");
  }
  if (!belongs_to_level(op, verifier->program->level)) {
    tspec_verifier_fail(verifier, "it cannot stand at level %s",
                        tspec_level_name(verifier->program->level));
  }
  if (check_operands_defined(verifier, op, defined, nvalues) && check_types(verifier, op)) {
    check_op_shardings(verifier, op);
    check_group(verifier, op);
  }
  for (int i = 0; i < op->nresults; i++) {
    if (op->results[i]->def != op || op->results[i]->index != i) {
      tspec_verifier_fail(verifier, "result %d does not know its op", i);
    }
    defined[op->results[i]->id] = op->results[i];
  }
  verifier->op = NULL;
}

// ---- entries -----------------------------------------------------------------------------------

/// An argument or result that stands for a parameter is of its type and lies like it.
static void check_against_param(tspec_verifier_t *verifier, const char *path,
                                const tspec_value_t *value) {
  const tspec_param_t *param = tspec_names_get(&verifier->params, path);
  if (param == NULL) {
    tspec_verifier_fail(verifier, "'%s' is no parameter or state", path);
    return;
  }
  if (!tspec_type_equal(param->type, value->type)) {
    tspec_verifier_fail(verifier, "%s stands for the parameter '%s' of type %s",
                        tspec_verifier_value(verifier, value), path,
                        tspec_type_print(&verifier->scratch, param->type));
  }
  if (verifier->program->level >= TSPEC_LEVEL_SHARDED && param->sharding != NULL &&
      value->sharding != NULL && !tspec_sharding_same_layout(param->sharding, value->sharding)) {
    tspec_verifier_fail(
        verifier, "%s stands for the parameter '%s', which lies as %s",
        tspec_verifier_value(verifier, value), path,
        tspec_sharding_print(&verifier->scratch, &verifier->program->mesh, param->sharding));
  }
}

static bool is_slot_of_param(tspec_slot_kind_t kind) {
  return kind == TSPEC_SLOT_PARAM || kind == TSPEC_SLOT_STATE;
}

static void check_arg(tspec_verifier_t *verifier, int index, const tspec_value_t **defined) {
  const tspec_arg_t *arg = &verifier->func->args[index];
  if (arg->value->def != NULL || arg->value->index != index) {
    tspec_verifier_fail(verifier, "argument %d does not know its place", index);
  }
  check_value_sharding(verifier, arg->value);
  if (arg->value->sharding != NULL && arg->value->sharding->npending > 0) {
    tspec_verifier_fail(verifier, "argument %s is pending",
                        tspec_verifier_value(verifier, arg->value));
  }
  if (is_slot_of_param(arg->kind)) {
    check_against_param(verifier, arg->name, arg->value);
  } else if (arg->kind != TSPEC_SLOT_INPUT) {
    tspec_verifier_fail(verifier, "argument '%s' is neither an input nor a parameter", arg->name);
  }
  defined[arg->value->id] = arg->value;
}

static void check_result(tspec_verifier_t *verifier, const tspec_result_t *result,
                         const tspec_value_t **defined, int nvalues) {
  const tspec_value_t *value = result->value;
  if (value == NULL || value->id < 0 || value->id >= nvalues || defined[value->id] != value) {
    tspec_verifier_fail(verifier, "result '%s' is not defined in it", result->name);
    return;
  }
  if (is_slot_of_param(result->kind)) {
    check_against_param(verifier, result->name, value);
  } else if (result->kind != TSPEC_SLOT_RESULT) {
    tspec_verifier_fail(verifier, "result '%s' is neither a result nor a parameter", result->name);
  }
  if (result->sharding != NULL || must_fit_together(verifier)) {
    check_sharding(verifier, tspec_arena_printf(&verifier->scratch, "result '%s'", result->name),
                   value->type, result->sharding);
  }
  if (!must_fit_together(verifier) || value->sharding == NULL || result->sharding == NULL) {
    return;
  }
  if (value->sharding->npending > 0 ||
      !tspec_sharding_same_layout(value->sharding, result->sharding)) {
    tspec_verifier_fail(
        verifier, "result '%s' is %s, wanted %s", result->name,
        tspec_verifier_value(verifier, value),
        tspec_sharding_print(&verifier->scratch, &verifier->program->mesh, result->sharding));
  }
}

static void check_func(tspec_verifier_t *verifier, tspec_func_t *func) {
  verifier->func = func;
  int nvalues = tspec_func_number(func);
  tspec_arena_t kept;
  tspec_arena_init(&kept);
  const tspec_value_t **defined = TSPEC_ARENA_NEW(&kept, const tspec_value_t *, nvalues);
  for (int i = 0; i < func->nargs; i++) {
    check_arg(verifier, i, defined);
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    check_op(verifier, op, defined, nvalues);
    tspec_arena_deinit(&verifier->scratch);
  }
  for (int i = 0; i < func->nresults; i++) {
    check_result(verifier, &func->results[i], defined, nvalues);
  }
  tspec_arena_deinit(&kept);
  verifier->func = NULL;
}

static void check_params(tspec_verifier_t *verifier) {
  const tspec_program_t *program = verifier->program;
  for (int i = 0; i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    const char *what = tspec_arena_printf(&verifier->scratch, "parameter '%s'", param->path);
    check_sharding(verifier, what, param->type, param->sharding);
    if (param->sharding != NULL && param->sharding->npending > 0) {
      tspec_verifier_fail(verifier, "%s is pending", what);
    }
    if (tspec_names_get(&verifier->params, param->path) != param) {
      tspec_verifier_fail(verifier, "%s stands twice in the program", what);
    }
  }
}

bool tspec_program_verify(const tspec_program_t *program, const char *after, tspec_diag_t *diag) {
  tspec_verifier_t verifier = {.program = program, .after = after, .diag = diag, .ok = true};
  tspec_arena_init(&verifier.scratch);
  tspec_arena_t kept;
  tspec_arena_init(&kept);
  verifier.kept = &kept;
  verifier.params = tspec_program_param_names(program, &kept);
  check_params(&verifier);
  for (int i = 0; i < program->nfuncs; i++) {
    check_func(&verifier, program->funcs[i]);
    if (tspec_program_find_func(program, program->funcs[i]->name) != program->funcs[i]) {
      tspec_verifier_fail(&verifier, "entry '%s' stands twice in the program",
                          program->funcs[i]->name);
    }
  }
  tspec_arena_deinit(&kept);
  tspec_arena_deinit(&verifier.scratch);
  return verifier.ok;
}
