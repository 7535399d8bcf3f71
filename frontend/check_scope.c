#include <string.h>

#include "frontend/check_ops.h"

tspec_cv_t tspec_cv_error(void) {
  return (tspec_cv_t){.kind = TSPEC_CV_ERROR};
}

tspec_cv_t tspec_cv_number(double number) {
  return (tspec_cv_t){.kind = TSPEC_CV_NUMBER, .u.number = number};
}

tspec_cv_t tspec_cv_tensor(tspec_value_t *value) {
  if (value == NULL) {
    return tspec_cv_error();
  }
  return (tspec_cv_t){.kind = TSPEC_CV_TENSOR, .u.tensor = value};
}

tspec_cv_t tspec_cv_tuple(tspec_checker_t *c, size_t count, const tspec_cv_t *items) {
  for (size_t i = 0; i < count; ++i) {
    if (items[i].kind == TSPEC_CV_ERROR) {
      return tspec_cv_error();
    }
  }
  if (count < 2) {
    return count == 1 ? items[0] : (tspec_cv_t){.kind = TSPEC_CV_NONE};
  }
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  list->count = count;
  list->items = tspec_arena_copy(c->arena, items, count * sizeof *items);
  return (tspec_cv_t){.kind = TSPEC_CV_TUPLE, .u.list = list};
}

bool tspec_cv_is_error(tspec_cv_t cv) {
  return cv.kind == TSPEC_CV_ERROR;
}

void tspec_named_set(tspec_arena_t *arena, tspec_names_t *names, const char *name, tspec_cv_t cv,
                     tspec_range_t range) {
  tspec_named_t *named = TSPEC_ARENA_NEW(arena, tspec_named_t, 1);
  *named = (tspec_named_t){.name = name, .cv = cv, .range = range};
  tspec_names_set(arena, names, name, named);
}

// ---- frames ----------------------------------------------------------------------------------

void tspec_frame_init(tspec_frame_t *frame, tspec_frame_t *caller, tspec_home_t *home,
                      tspec_instance_t *self) {
  memset(frame, 0, sizeof *frame);
  frame->caller = caller;
  frame->home = home;
  frame->self = self;
  frame->path = self != NULL ? self->path : "";
}

tspec_named_t *tspec_frame_find(const tspec_frame_t *frame, const char *name) {
  return tspec_names_get(&frame->locals, name);
}

void tspec_frame_add(tspec_checker_t *c, tspec_ast_name_t name, tspec_cv_t cv) {
  tspec_frame_t *frame = c->frame;
  if (strcmp(name.text, "_") == 0) {
    return;
  }
  tspec_named_t *old = tspec_frame_find(frame, name.text);
  if (old != NULL) {
    tspec_check_error(c, name.range, "'%s' is already a local here; '%s = ...' rebinds it",
                      name.text, name.text);
    tspec_check_note(c, old->range, "declared here");
    return;
  }
  tspec_named_set(c->arena, &frame->locals, name.text, cv, name.range);
  tspec_named_t *local = tspec_frame_find(frame, name.text);
  local->scan = frame->scan;
  TSPEC_VEC_PUSH(c->arena, &frame->live, local);
}

void tspec_frame_trim(tspec_checker_t *c, size_t nlive) {
  tspec_frame_t *frame = c->frame;
  while (frame->live.count > nlive) {
    const tspec_named_t *local = frame->live.items[--frame->live.count];
    tspec_names_set(c->arena, &frame->locals, local->name, NULL);
  }
}

// ---- lookup ----------------------------------------------------------------------------------

tspec_global_t *tspec_home_find(const tspec_home_t *home, const char *name) {
  for (; home != NULL; home = home->outer) {
    tspec_global_t *global = tspec_names_get(&home->globals, name);
    if (global != NULL) {
      return global;
    }
  }
  return NULL;
}

// A local, a member or an argument of the module.
static tspec_named_t *find_near(const tspec_frame_t *frame, const char *name) {
  tspec_named_t *local = tspec_frame_find(frame, name);
  if (local != NULL || frame->self == NULL) {
    return local;
  }
  const tspec_names_t *first = frame->in_decls ? &frame->self->args : &frame->self->members;
  const tspec_names_t *second = frame->in_decls ? &frame->self->members : &frame->self->args;
  tspec_named_t *named = tspec_names_get(first, name);
  return named != NULL ? named : tspec_names_get(second, name);
}

static tspec_cv_t global_meaning(tspec_checker_t *c, tspec_global_t *global, tspec_range_t range) {
  switch (global->kind) {
  case TSPEC_GLOBAL_AXIS:
  case TSPEC_GLOBAL_CONST: {
    if (!tspec_check_global_number(c, global, range)) {
      return tspec_cv_error();
    }
    tspec_cv_t cv = tspec_cv_number(global->number);
    cv.axis = global->kind == TSPEC_GLOBAL_AXIS ? global->name.text : NULL;
    return cv;
  }
  case TSPEC_GLOBAL_FUNCTION:
  case TSPEC_GLOBAL_MEMBER:
    return global->cv;
  case TSPEC_GLOBAL_MODULE:
    return (tspec_cv_t){.kind = TSPEC_CV_MODULE, .u.module = global};
  case TSPEC_GLOBAL_ENTRY:
    tspec_check_error(c, range, "'%s' is an entry: entries are not called from the program",
                      global->name.text);
    tspec_check_note(c, global->name.range, "declared here; a plain 'fn' can be shared");
    return tspec_cv_error();
  case TSPEC_GLOBAL_OPTIMIZER:
    tspec_check_error(c, range, "'%s' is an optimizer: it stands after 'with' alone",
                      global->name.text);
    return tspec_cv_error();
  }
  return tspec_cv_error();
}

bool tspec_check_lookup(tspec_checker_t *c, const char *name, tspec_range_t range,
                        tspec_cv_t *out_cv) {
  const tspec_named_t *near = find_near(c->frame, name);
  if (near != NULL) {
    *out_cv = near->cv;
    return true;
  }
  tspec_global_t *global = tspec_home_find(c->frame->home, name);
  if (global != NULL) {
    *out_cv = global_meaning(c, global, range);
    return true;
  }
  const tspec_builtin_t *builtin = tspec_names_get(&c->builtins, name);
  if (builtin != NULL) {
    *out_cv = (tspec_cv_t){.kind = TSPEC_CV_BUILTIN, .u.builtin = builtin};
    return true;
  }
  if (strcmp(name, "params") == 0) {
    *out_cv = (tspec_cv_t){.kind = TSPEC_CV_PARAMS};
    return true;
  }
  return false;
}

bool tspec_check_declared_at(tspec_checker_t *c, const char *name, tspec_range_t *out_range) {
  const tspec_named_t *near = find_near(c->frame, name);
  if (near != NULL) {
    *out_range = near->range;
    return near->range.line > 0;
  }
  const tspec_global_t *global = tspec_home_find(c->frame->home, name);
  if (global != NULL) {
    *out_range = global->name.range;
  }
  return global != NULL;
}

// ---- "did you mean" --------------------------------------------------------------------------

typedef struct nearest_t {
  const char *wanted;
  const char *best;
  size_t distance;
  tspec_range_t range;
} nearest_t;

static void consider(nearest_t *nearest, const char *name, tspec_range_t range) {
  size_t distance = tspec_str_distance(name, nearest->wanted);
  if (distance < nearest->distance) {
    *nearest = (nearest_t){nearest->wanted, name, distance, range};
  }
}

static void consider_named(nearest_t *nearest, const tspec_names_t *names) {
  for (size_t i = 0; i < names->count; ++i) {
    const tspec_named_t *named = names->entries[i].value;
    if (named != NULL) {
      consider(nearest, named->name, named->range);
    }
  }
}

void tspec_check_undeclared(tspec_checker_t *c, const char *name, tspec_range_t range) {
  size_t length = strlen(name), limit = length < 2 ? 0 : length < 6 ? 1 : length / 3;
  nearest_t nearest = {.wanted = name, .distance = limit + 1};
  const tspec_ast_decl_t *late = tspec_names_get(&c->late, name);
  if (late != NULL) {
    tspec_check_error(c, range,
                      "'%s' is known later: sizes are computed of numbers, axes and consts "
                      "alone",
                      name);
    tspec_check_note(c, late->range, "'%s' is declared here", name);
    return;
  }
  consider_named(&nearest, &c->frame->locals);
  if (c->frame->self != NULL) {
    consider_named(&nearest, &c->frame->self->members);
    consider_named(&nearest, &c->frame->self->args);
  }
  for (const tspec_home_t *home = c->frame->home; home != NULL; home = home->outer) {
    for (size_t i = 0; i < home->globals.count; ++i) {
      const tspec_global_t *global = home->globals.entries[i].value;
      consider(&nearest, global->name.text, global->name.range);
    }
  }
  for (size_t i = 0; i < c->builtins.count; ++i) {
    consider(&nearest, c->builtins.entries[i].name, (tspec_range_t){0});
  }
  if (tspec_mesh_find(&c->program->mesh, name) >= 0) {
    tspec_check_error(c, range,
                      "'%s' is a mesh axis: it has a meaning in shardings, 'shard' rules and "
                      "'over', not in an expression",
                      name);
  } else if (nearest.best != NULL) {
    tspec_check_error(c, range, "'%s' is not declared; did you mean '%s'?", name, nearest.best);
    if (nearest.range.line > 0) {
      tspec_check_note(c, nearest.range, "'%s' is declared here", nearest.best);
    }
  } else {
    tspec_check_error(c, range, "'%s' is not declared", name);
  }
}
