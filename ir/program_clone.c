// Copies of a program, into the same or another arena.
#include <string.h>

#include "ir/program.h"

typedef struct cloner_t {
  tspec_arena_t *arena;
  const tspec_program_t *copy;
  bool shares;            ///< what never changes stays the original's
  tspec_value_t **values; ///< of the function in work: copies by id of the original
} cloner_t;

static const void *copy_bytes(const cloner_t *cloner, const void *bytes, size_t size_bytes) {
  return cloner->shares ? bytes : tspec_arena_copy(cloner->arena, bytes, size_bytes);
}

static const char *copy_string(const cloner_t *cloner, const char *text) {
  return text == NULL ? NULL : copy_bytes(cloner, text, strlen(text) + 1);
}

static tspec_type_t copy_type(const cloner_t *cloner, tspec_type_t type) {
  type.dims = copy_bytes(cloner, type.dims, sizeof *type.dims * (size_t)type.rank);
  return type;
}

static const tspec_sharding_t *copy_sharding(const cloner_t *cloner,
                                             const tspec_sharding_t *sharding) {
  return sharding == NULL ? NULL : tspec_program_sharding(cloner->copy, sharding);
}

static tspec_value_t *copy_value(cloner_t *cloner, const tspec_value_t *value, tspec_op_t *def) {
  tspec_value_t *copy = tspec_arena_copy(cloner->arena, value, sizeof *value);
  copy->type = copy_type(cloner, value->type);
  copy->sharding = copy_sharding(cloner, value->sharding);
  copy->name = copy_string(cloner, value->name);
  copy->def = def;
  cloner->values[value->id] = copy;
  return copy;
}

static tspec_attr_t copy_attr(const cloner_t *cloner, tspec_attr_t attr) {
  attr.name = copy_string(cloner, attr.name);
  size_t count = (size_t)attr.count;
  switch (attr.kind) {
  case TSPEC_ATTR_INTS:
    attr.ints = copy_bytes(cloner, attr.ints, count * sizeof *attr.ints);
    break;
  case TSPEC_ATTR_FLOATS:
    attr.floats = copy_bytes(cloner, attr.floats, count * sizeof *attr.floats);
    break;
  case TSPEC_ATTR_AXES:
    attr.axes = copy_bytes(cloner, attr.axes, count * sizeof *attr.axes);
    break;
  case TSPEC_ATTR_STRING:
    attr.string = copy_string(cloner, attr.string);
    break;
  case TSPEC_ATTR_SHARDING:
    attr.sharding = copy_sharding(cloner, attr.sharding);
    break;
  case TSPEC_ATTR_INT:
  case TSPEC_ATTR_FLOAT:
  case TSPEC_ATTR_DTYPE:
  case TSPEC_ATTR_REDUCE:
    break;
  }
  return attr;
}

static tspec_op_t *copy_op(cloner_t *cloner, const tspec_op_t *op) {
  tspec_op_t *copy = tspec_arena_copy(cloner->arena, op, sizeof *op);
  copy->operands = TSPEC_ARENA_NEW(cloner->arena, tspec_value_t *, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    copy->operands[i] = cloner->values[op->operands[i]->id];
  }
  copy->results = TSPEC_ARENA_NEW(cloner->arena, tspec_value_t *, op->nresults);
  for (int i = 0; i < op->nresults; i++) {
    copy->results[i] = copy_value(cloner, op->results[i], copy);
  }
  copy->attrs = TSPEC_ARENA_NEW(cloner->arena, tspec_attr_t, op->nattrs);
  for (int i = 0; i < op->nattrs; i++) {
    copy->attrs[i] = copy_attr(cloner, op->attrs[i]);
  }
  copy->spelling = copy_string(cloner, op->spelling);
  copy->because = copy_string(cloner, op->because);
  copy->prev = NULL;
  copy->next = NULL;
  return copy;
}

static void copy_ops(cloner_t *cloner, const tspec_func_t *func, tspec_func_t *copy) {
  copy->first = NULL;
  copy->last = NULL;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_op_t *made = copy_op(cloner, op);
    made->prev = copy->last;
    if (copy->last == NULL) {
      copy->first = made;
    } else {
      copy->last->next = made;
    }
    copy->last = made;
  }
}

static tspec_func_t *copy_func(cloner_t *cloner, tspec_func_t *func) {
  tspec_arena_t *arena = cloner->arena;
  tspec_func_t *copy = tspec_arena_copy(arena, func, sizeof *func);
  cloner->values = TSPEC_ARENA_NEW(arena, tspec_value_t *, tspec_func_number(func));
  copy->name = copy_string(cloner, func->name);
  copy->args = tspec_arena_copy(arena, func->args, sizeof *func->args * (size_t)func->nargs);
  copy->args_room = func->nargs;
  for (int i = 0; i < func->nargs; i++) {
    copy->args[i].name = copy_string(cloner, func->args[i].name);
    copy->args[i].value = copy_value(cloner, func->args[i].value, NULL);
  }
  copy_ops(cloner, func, copy);
  copy->results =
      tspec_arena_copy(arena, func->results, sizeof *func->results * (size_t)func->nresults);
  for (int i = 0; i < func->nresults; i++) {
    copy->results[i].name = copy_string(cloner, func->results[i].name);
    copy->results[i].value = cloner->values[func->results[i].value->id];
    copy->results[i].sharding = copy_sharding(cloner, func->results[i].sharding);
  }
  return copy;
}

static void copy_mesh(const cloner_t *cloner, tspec_mesh_t *mesh) {
  tspec_arena_t *arena = cloner->arena;
  tspec_mesh_axis_t *axes = tspec_arena_copy(arena, mesh->axes, sizeof *axes * (size_t)mesh->naxes);
  for (int i = 0; i < mesh->naxes; i++) {
    axes[i].name = copy_string(cloner, axes[i].name);
  }
  mesh->axes = axes;
}

static void copy_params(const cloner_t *cloner, tspec_program_t *program) {
  tspec_arena_t *arena = cloner->arena;
  size_t bytes = sizeof *program->params * (size_t)program->nparams;
  program->params = tspec_arena_copy(arena, program->params, bytes);
  for (int i = 0; i < program->nparams; i++) {
    tspec_param_t *param = &program->params[i];
    param->path = copy_string(cloner, param->path);
    param->type = copy_type(cloner, param->type);
    param->sharding = copy_sharding(cloner, param->sharding);
    param->init_text = copy_string(cloner, param->init_text);
  }
}

static void copy_promises(const cloner_t *cloner, tspec_program_t *program) {
  tspec_arena_t *arena = cloner->arena;
  size_t bytes = sizeof *program->promises * (size_t)program->npromises;
  program->promises = tspec_arena_copy(arena, program->promises, bytes);
  for (int i = 0; i < program->npromises; i++) {
    tspec_promise_t *promise = &program->promises[i];
    promise->entry = copy_string(cloner, promise->entry);
    promise->what = copy_string(cloner, promise->what);
    promise->compare = copy_string(cloner, promise->compare);
    promise->text = copy_string(cloner, promise->text);
    const char **over = TSPEC_ARENA_NEW(arena, const char *, promise->nover);
    for (int k = 0; k < promise->nover; k++) {
      over[k] = copy_string(cloner, promise->over[k]);
    }
    promise->over = over;
  }
}

static tspec_program_t *copy_program(const tspec_program_t *program, tspec_arena_t *arena,
                                     bool shares) {
  tspec_program_t *copy = tspec_arena_copy(arena, program, sizeof *program);
  cloner_t cloner = {.arena = arena, .copy = copy, .shares = shares};
  copy->arena = arena;
  copy->shardings = TSPEC_ARENA_NEW(arena, tspec_intern_t, 1);
  *copy->shardings = tspec_sharding_set(arena);
  copy->name = copy_string(&cloner, program->name);
  copy->kernels_room = 0; // shared: what is added to the copy goes elsewhere
  copy_mesh(&cloner, &copy->mesh);
  copy_params(&cloner, copy);
  copy_promises(&cloner, copy);
  copy->funcs = TSPEC_ARENA_NEW(arena, tspec_func_t *, program->nfuncs);
  for (int i = 0; i < program->nfuncs; i++) {
    copy->funcs[i] = copy_func(&cloner, program->funcs[i]);
  }
  return copy;
}

tspec_program_t *tspec_program_clone(const tspec_program_t *program, tspec_arena_t *arena) {
  return copy_program(program, arena, false);
}

tspec_program_t *tspec_program_fork(const tspec_program_t *program, tspec_arena_t *arena) {
  return copy_program(program, arena, true);
}
