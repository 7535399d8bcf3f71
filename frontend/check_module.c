#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

static void check_members(tspec_checker_t *c, const tspec_ast_decls_t *decls,
                          const tspec_global_t *module);

const char *tspec_check_join_path(tspec_checker_t *c, const char *path, const char *name) {
  return path[0] == '\0' ? name : tspec_arena_printf(c->arena, "%s/%s", path, name);
}

// ---- names of members ------------------------------------------------------------------------

// A member of the instance that the frame declares, or a global at top level.
static bool add_member(tspec_checker_t *c, tspec_ast_name_t name, tspec_cv_t cv,
                       const tspec_ast_decl_t *decl) {
  tspec_instance_t *self = c->frame->self;
  tspec_range_t old = {0};
  if (self != NULL) {
    const tspec_named_t *named = tspec_names_get(&self->members, name.text);
    old = named != NULL ? named->range : old;
  } else {
    const tspec_global_t *global = tspec_names_get(&c->frame->home->globals, name.text);
    old = global != NULL ? global->name.range : old;
  }
  if (old.line > 0) {
    tspec_check_error(c, name.range, "'%s' is declared twice", name.text);
    tspec_check_note(c, old, "first declared here");
    return false;
  }
  if (self != NULL) {
    tspec_named_set(c->arena, &self->members, name.text, cv, name.range);
    return true;
  }
  tspec_global_t *global = TSPEC_ARENA_NEW(c->arena, tspec_global_t, 1);
  *global = (tspec_global_t){.kind = TSPEC_GLOBAL_MEMBER,
                             .name = name,
                             .home = c->frame->home,
                             .decl = decl,
                             .is_done = true,
                             .cv = cv};
  tspec_names_set(c->arena, &c->frame->home->globals, name.text, global);
  TSPEC_VEC_PUSH(c->arena, &c->globals, global);
  return true;
}

// ---- parameters and state --------------------------------------------------------------------

// The type as stored: stack dims in front; f32 parameters as `precision params` says.
static tspec_type_t stored_type(tspec_checker_t *c, tspec_type_t type, bool is_state) {
  const tspec_instance_t *self = c->frame->self;
  int nstack = self == NULL ? 0 : self->nstack;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, nstack + type.rank);
  for (int i = 0; i < nstack; ++i) {
    dims[i] = self->stack_sizes[i];
  }
  for (int i = 0; i < type.rank; ++i) {
    dims[nstack + i] = type.dims[i];
  }
  bool converted = !is_state && type.dtype == TSPEC_DTYPE_F32;
  return tspec_type_make(c->arena, converted ? c->params_dtype : type.dtype, nstack + type.rank,
                         dims);
}

static const char *const *stored_axes(tspec_checker_t *c, int rank, const char *const *axes) {
  const tspec_instance_t *self = c->frame->self;
  int nstack = self == NULL ? 0 : self->nstack;
  const char **all = TSPEC_ARENA_NEW(c->arena, const char *, nstack + rank);
  for (int i = 0; i < nstack; ++i) {
    all[i] = self->stack_axes[i];
  }
  for (int i = 0; i < rank; ++i) {
    all[nstack + i] = axes[i];
  }
  return all;
}

// A tree starts as the parameters or filled with a number.
static void check_tree_init(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  const tspec_ast_expr_t *value = decl->u.param.value;
  tspec_param_t param = {0};
  tspec_type_t scalar = {.dtype = TSPEC_DTYPE_F32};
  if (value->kind == TSPEC_AST_EXPR_NAME && strcmp(value->u.name, "params") == 0) {
    return;
  }
  if (tspec_check_init(c, value, scalar, &param) && param.init != TSPEC_INIT_FILL) {
    tspec_check_error(c, value->range, "a tree starts as params, a number, zeros, ones or full(v)");
  }
}

// The type and the initial value as declared. False after a report.
static bool read_param(tspec_checker_t *c, const tspec_ast_decl_t *decl, tspec_param_t *param,
                       tspec_type_t *out_type, const char *const **out_axes) {
  const char *what = tspec_arena_printf(c->arena, "'%s'", param->path);
  if (!tspec_check_concrete_type(c, decl->u.param.type, what, out_type, out_axes) ||
      !tspec_check_init(c, decl->u.param.value, *out_type, param)) {
    return false;
  }
  param->type = stored_type(c, *out_type, param->is_state);
  if (!tspec_type_fits(param->type)) {
    tspec_check_error(c, decl->u.param.name.range, "%s is %s, more than 2^50 bytes", what,
                      tspec_type_print(c->arena, param->type));
    return false;
  }
  return true;
}

// How it is stored and used. Parts that are not compiled mark the slot.
static void place_param(tspec_checker_t *c, const tspec_ast_decl_t *decl, tspec_param_t *param,
                        const char *const *axes, tspec_slot_t *slot) {
  const tspec_ast_sharding_t *use = decl->u.param.storage.use;
  tspec_declared_t declared = {.kind =
                                   param->is_state ? TSPEC_DECLARED_STATE : TSPEC_DECLARED_PARAM,
                               .path = param->path,
                               .type = param->type,
                               .nstack = slot->nstack,
                               .axes = axes,
                               .written = decl->u.param.storage.stored,
                               .range = decl->u.param.name.range};
  c->declaring = slot;
  param->sharding = tspec_check_starting_sharding(c, &declared);
  if (use != NULL) {
    slot->use = tspec_check_written(c, use, &declared, (tspec_range_t){0});
  }
  c->declaring = NULL;
  slot->sharding = param->sharding;
}

static void check_param(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  tspec_ast_name_t name = decl->u.param.name;
  tspec_slot_t *slot = TSPEC_ARENA_NEW(c->arena, tspec_slot_t, 1);
  *slot = (tspec_slot_t){.path = tspec_check_join_path(c, c->frame->path, name.text),
                         .is_state = decl->kind == TSPEC_AST_DECL_STATE,
                         .is_tree = decl->u.param.is_tree,
                         .owner = c->frame->self,
                         .order = (int)c->slots.count,
                         .range = tspec_check_user_range(c, name.range)};
  tspec_cv_t cv = {.kind = TSPEC_CV_SLOT, .u.slot = slot};
  if (slot->is_tree) {
    check_tree_init(c, decl);
    add_member(c, name, cv, decl);
    return;
  }
  tspec_param_t param = {.path = slot->path, .is_state = slot->is_state, .range = slot->range};
  tspec_type_t type = {0};
  const char *const *axes = NULL;
  if (!read_param(c, decl, &param, &type, &axes)) {
    add_member(c, name, tspec_cv_error(), decl);
    return;
  }
  slot->type = param.type;
  slot->nstack = param.type.rank - type.rank;
  slot->was_f32 = !slot->is_state && type.dtype == TSPEC_DTYPE_F32;
  place_param(c, decl, &param, stored_axes(c, type.rank, axes), slot);
  if (!add_member(c, name, cv, decl)) {
    return;
  }
  TSPEC_VEC_PUSH(c->arena, &c->params, param);
  TSPEC_VEC_PUSH(c->arena, &c->slots, slot);
  if (!slot->is_state) {
    TSPEC_VEC_PUSH(c->arena, &c->trained, slot);
  }
}

// ---- instances -------------------------------------------------------------------------------

// The instance's place: "blocks", or "layer/3" with the family that it is in.
static bool place_instance(tspec_checker_t *c, const tspec_ast_decl_t *decl, const char **out_path,
                           int64_t *out_index) {
  *out_path = tspec_check_join_path(c, c->frame->path, decl->u.instance.name.text);
  if (decl->u.instance.index == NULL) {
    return true;
  }
  const tspec_ast_expr_t *index = decl->u.instance.index;
  if (!tspec_cv_whole(c, tspec_check_expr(c, index), index->range, "the index of an instance",
                      out_index)) {
    return false;
  }
  if (*out_index < 0) {
    tspec_check_error(c, index->range, "the index of an instance must be at least 0, but is %lld",
                      (long long)*out_index);
    return false;
  }
  *out_path = tspec_arena_printf(c->arena, "%s/%lld", *out_path, (long long)*out_index);
  return true;
}

static tspec_family_t *find_family(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  tspec_ast_name_t name = decl->u.instance.name;
  const tspec_cv_t *old = NULL;
  if (c->frame->self != NULL) {
    const tspec_named_t *named = tspec_names_get(&c->frame->self->members, name.text);
    old = named != NULL ? &named->cv : NULL;
  } else {
    const tspec_global_t *global = tspec_names_get(&c->frame->home->globals, name.text);
    old = global != NULL && global->kind == TSPEC_GLOBAL_MEMBER ? &global->cv : NULL;
  }
  if (old != NULL && old->kind == TSPEC_CV_FAMILY) {
    return old->u.family;
  }
  tspec_family_t *family = TSPEC_ARENA_NEW(c->arena, tspec_family_t, 1);
  family->path = tspec_check_join_path(c, c->frame->path, name.text);
  tspec_cv_t cv = {.kind = TSPEC_CV_FAMILY, .u.family = family};
  return add_member(c, name, cv, decl) ? family : NULL;
}

static bool add_instance(tspec_checker_t *c, const tspec_ast_decl_t *decl, int64_t index,
                         tspec_cv_t cv) {
  if (decl->u.instance.index == NULL) {
    return add_member(c, decl->u.instance.name, cv, decl);
  }
  tspec_family_t *family = find_family(c, decl);
  if (family == NULL) {
    return false;
  }
  const char *key = tspec_arena_printf(c->arena, "%lld", (long long)index);
  const tspec_named_t *old = tspec_names_get(&family->items, key);
  if (old != NULL) {
    tspec_check_error(c, decl->range, "'%s[%s]' is declared twice", decl->u.instance.name.text,
                      key);
    tspec_check_note(c, old->range, "first declared here");
    return false;
  }
  tspec_named_set(c->arena, &family->items, key, cv, decl->range);
  return true;
}

static tspec_global_t *find_module(tspec_checker_t *c, tspec_ast_name_t name) {
  tspec_cv_t cv;
  if (!tspec_check_lookup(c, name.text, name.range, &cv)) {
    tspec_check_undeclared(c, name.text, name.range);
    return NULL;
  }
  if (cv.kind != TSPEC_CV_MODULE) {
    if (cv.kind != TSPEC_CV_ERROR) {
      tspec_check_error(c, name.range, "'%s' is no module, but %s", name.text,
                        tspec_check_describe(c, cv));
    }
    return NULL;
  }
  return cv.u.module;
}

// Stack dims of the instance: those around it, then its own.
static bool set_stack(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                      tspec_instance_t *instance) {
  const tspec_instance_t *around = c->frame->self;
  int n = around == NULL ? 0 : around->nstack;
  int64_t *sizes = TSPEC_ARENA_NEW(c->arena, int64_t, n + 1);
  const char **axes = TSPEC_ARENA_NEW(c->arena, const char *, n + 1);
  for (int i = 0; i < n; ++i) {
    sizes[i] = around->stack_sizes[i];
    axes[i] = around->stack_axes[i];
  }
  const tspec_ast_expr_t *count = decl->u.instance.stack;
  if (count != NULL) {
    tspec_cv_t cv = tspec_check_expr(c, count);
    if (!tspec_cv_whole(c, cv, count->range, "the size of a stack", &sizes[n])) {
      return false;
    }
    if (sizes[n] < 1) {
      tspec_check_error(c, count->range, "the size of a stack must be at least 1, but is %lld",
                        (long long)sizes[n]);
      return false;
    }
    axes[n++] = cv.axis;
  }
  instance->nstack = n;
  instance->stack_sizes = sizes;
  instance->stack_axes = axes;
  return true;
}

// A module in a declaration of itself, directly or through others.
static bool is_module_cycle(tspec_checker_t *c, const tspec_global_t *module, tspec_range_t range) {
  for (const tspec_frame_t *at = c->frame; at != NULL; at = at->caller) {
    if (at->self == NULL || at->self->module != module) {
      continue;
    }
    tspec_check_error(c, range, "module '%s' would hold an instance of itself", module->name.text);
    for (const tspec_frame_t *step = c->frame; step != NULL; step = step->caller) {
      if (step->self != NULL) {
        tspec_check_note(c, step->self->range, "'%s' of module '%s' is declared here",
                         step->self->path, step->self->module->name.text);
      }
      if (step == at) {
        break;
      }
    }
    c->trace = NULL; // the instances are named
    return true;
  }
  return false;
}

// Module parameters become the instance's arguments; an 'axis' one keeps the caller's axis name.
static bool bind_module(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                        tspec_instance_t *instance) {
  const tspec_ast_decl_t *module = instance->module->decl;
  const tspec_ast_formals_t *formals = &module->u.module.formals;
  tspec_arg_values_t args;
  if (!tspec_check_args(c, &decl->u.instance.args, decl->range, &args)) {
    return false;
  }
  tspec_frame_t frame;
  tspec_frame_init(&frame, c->frame, instance->home, NULL);
  c->frame = &frame;
  const char *what = tspec_arena_printf(c->arena, "module '%s'", instance->module->name.text);
  bool ok = tspec_check_bind(c, formals, instance->module->name.range, what, &args);
  for (size_t i = 0; ok && i < formals->count; ++i) {
    const tspec_ast_formal_t *formal = &formals->items[i];
    tspec_named_t *local = tspec_frame_find(&frame, formal->name.text);
    tspec_operand_t operand = {local->cv, local->range};
    if (formal->type != NULL) {
      local->cv = tspec_check_fits(c, formal->type, operand, formal->name.text, NULL);
    }
    tspec_named_set(c->arena, &instance->args, formal->name.text, local->cv, formal->name.range);
  }
  tspec_check_flush_trace(c);
  c->frame = frame.caller;
  return ok;
}

static void declare_instance_members(tspec_checker_t *c, tspec_instance_t *instance,
                                     tspec_range_t range) {
  if (!tspec_check_enter(c, range, "instances")) {
    return;
  }
  tspec_frame_t frame;
  tspec_frame_init(&frame, c->frame, instance->home, instance);
  frame.in_decls = true;
  frame.call_range = range;
  c->frame = &frame;
  check_members(c, &instance->module->decl->u.module.members, instance->module);
  tspec_check_flush_trace(c);
  c->frame = frame.caller;
  tspec_check_leave(c);
}

static void check_instance(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  const char *path = NULL;
  int64_t index = 0;
  tspec_global_t *module = find_module(c, decl->u.instance.module);
  bool placed = place_instance(c, decl, &path, &index);
  if (module == NULL || !placed || is_module_cycle(c, module, decl->range)) {
    if (placed) {
      add_instance(c, decl, index, tspec_cv_error());
    }
    return;
  }
  tspec_instance_t *instance = TSPEC_ARENA_NEW(c->arena, tspec_instance_t, 1);
  instance->path = path;
  instance->range = decl->range;
  instance->module = module;
  instance->home = module->home;
  instance->around = c->frame->self;
  instance->is_stack = decl->u.instance.stack != NULL;
  instance->is_remat = decl->u.instance.remat;
  if (!set_stack(c, decl, instance) || !bind_module(c, decl, instance)) {
    add_instance(c, decl, index, tspec_cv_error());
    return;
  }
  if (add_instance(c, decl, index,
                   (tspec_cv_t){.kind = TSPEC_CV_INSTANCE, .u.instance = instance})) {
    declare_instance_members(c, instance, decl->range);
  }
}

static void check_method(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                         const tspec_global_t *module) {
  tspec_instance_t *self = c->frame->self;
  const tspec_ast_fn_t *fn = &decl->u.fn;
  tspec_closure_t *closure = TSPEC_ARENA_NEW(c->arena, tspec_closure_t, 1);
  closure->info = tspec_check_fn_info(c, decl, self->home, module);
  closure->self = self;
  closure->name = fn->name.text == NULL
                      ? self->path
                      : tspec_arena_printf(c->arena, "%s.%s", self->path, fn->name.text);
  if (fn->name.text != NULL) {
    add_member(c, fn->name, (tspec_cv_t){.kind = TSPEC_CV_FUNCTION, .u.function = closure}, decl);
    return;
  }
  if (self->call != NULL) {
    tspec_check_error(c, decl->range, "module '%s' has two calls here", module->name.text);
    tspec_check_note(c, self->call_range, "the first is here; name one of them: fn name(..)");
    return;
  }
  self->call = closure;
  self->call_range = decl->range;
}

// ---- for, if ---------------------------------------------------------------------------------

static void check_for(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                      const tspec_global_t *module) {
  int64_t lo = 0, hi = 0;
  if (!tspec_check_loop(c, decl->u.loop.lo, decl->u.loop.hi, &lo, &hi)) {
    return;
  }
  size_t nlive = c->frame->live.count;
  for (int64_t i = lo; i < hi; ++i) {
    tspec_frame_add(c, decl->u.loop.var, tspec_cv_number((double)i));
    check_members(c, &decl->u.loop.body, module);
    tspec_frame_trim(c, nlive);
  }
}

static void check_if(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                     const tspec_global_t *module) {
  for (size_t i = 0; i < decl->u.cond.narms; ++i) {
    const tspec_ast_decl_arm_t *arm = &decl->u.cond.arms[i];
    double cond = 1;
    if (arm->cond != NULL && !tspec_cv_real(c, tspec_check_expr(c, arm->cond), arm->cond->range,
                                            "the condition of an 'if'", &cond)) {
      return;
    }
    if (cond != 0) {
      check_members(c, &arm->body, module);
      return;
    }
  }
}

static void check_member(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                         const tspec_global_t *module) {
  if (decl->kind == TSPEC_AST_DECL_PARAM || decl->kind == TSPEC_AST_DECL_STATE) {
    check_param(c, decl);
  } else if (decl->kind == TSPEC_AST_DECL_INSTANCE) {
    check_instance(c, decl);
  } else if (decl->kind == TSPEC_AST_DECL_FUNCTION && module != NULL) {
    check_method(c, decl, module);
  } else if (decl->kind == TSPEC_AST_DECL_FOR) {
    check_for(c, decl, module);
  } else if (decl->kind == TSPEC_AST_DECL_IF) {
    check_if(c, decl, module);
  }
}

static void check_members(tspec_checker_t *c, const tspec_ast_decls_t *decls,
                          const tspec_global_t *module) {
  for (size_t i = 0; i < decls->count; ++i) {
    check_member(c, decls->items[i], module);
  }
}

void tspec_check_members(tspec_checker_t *c, const tspec_items_t *items) {
  tspec_frame_t frame;
  for (size_t i = 0; i < items->count; ++i) {
    if (items->items[i].origin == 2) {
      continue;
    }
    tspec_frame_init(&frame, NULL, items->items[i].home, NULL);
    frame.in_decls = true;
    c->frame = &frame;
    check_member(c, items->items[i].decl, NULL);
    tspec_check_flush_trace(c);
    c->frame = NULL;
  }
}
