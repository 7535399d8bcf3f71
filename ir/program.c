#include "ir/program.h"

#include <string.h>

const char *tspec_level_name(tspec_level_t level) {
  switch (level) {
  case TSPEC_LEVEL_GLOBAL:
    return "global";
  case TSPEC_LEVEL_SHARDED:
    return "sharded";
  case TSPEC_LEVEL_LOCAL:
    return "local";
  case TSPEC_LEVEL_KERNELS:
    return "kernels";
  }
  return "?";
}

static const char *copy_string(tspec_arena_t *arena, const char *text) {
  return text == NULL ? NULL : tspec_arena_strdup(arena, text, strlen(text));
}

// ---- building ----------------------------------------------------------------------------------

tspec_program_t *tspec_program_create(tspec_arena_t *arena, const char *name) {
  tspec_program_t *program = TSPEC_ARENA_NEW(arena, tspec_program_t, 1);
  program->arena = arena;
  program->name = copy_string(arena, name);
  program->shardings = TSPEC_ARENA_NEW(arena, tspec_intern_t, 1);
  *program->shardings = tspec_sharding_set(arena);
  return program;
}

const tspec_sharding_t *tspec_program_sharding(const tspec_program_t *program,
                                               const tspec_sharding_t *sharding) {
  return tspec_intern(program->shardings, sharding);
}

/// An array with one more, zeroed item at the end. Arrays of functions and arguments are short.
static void *append_item(tspec_arena_t *arena, const void *items, int count, size_t item_bytes) {
  char *grown = tspec_arena_alloc(arena, item_bytes * ((size_t)count + 1));
  if (count > 0) {
    memcpy(grown, items, item_bytes * (size_t)count);
  }
  return grown;
}

tspec_func_t *tspec_program_add_func(tspec_program_t *program, const char *name,
                                     tspec_range_t range) {
  tspec_func_t *func = TSPEC_ARENA_NEW(program->arena, tspec_func_t, 1);
  func->name = copy_string(program->arena, name);
  func->range = range;
  program->funcs =
      append_item(program->arena, program->funcs, program->nfuncs, sizeof *program->funcs);
  program->funcs[program->nfuncs++] = func;
  return func;
}

tspec_param_t *tspec_program_find_param(const tspec_program_t *program, const char *path) {
  for (int i = 0; i < program->nparams; i++) {
    if (strcmp(program->params[i].path, path) == 0) {
      return &program->params[i];
    }
  }
  return NULL;
}

tspec_names_t tspec_program_param_names(const tspec_program_t *program, tspec_arena_t *arena) {
  tspec_names_t names = {0};
  for (int i = program->nparams - 1; i >= 0; i--) { // of two with one path the first stands
    tspec_names_set(arena, &names, program->params[i].path, &program->params[i]);
  }
  return names;
}

tspec_func_t *tspec_program_find_func(const tspec_program_t *program, const char *name) {
  for (int i = 0; i < program->nfuncs; i++) {
    if (strcmp(program->funcs[i]->name, name) == 0) {
      return program->funcs[i];
    }
  }
  return NULL;
}

static tspec_value_t *new_value(tspec_arena_t *arena, tspec_type_t type, tspec_op_t *def, int index,
                                tspec_range_t range) {
  tspec_value_t *value = TSPEC_ARENA_NEW(arena, tspec_value_t, 1);
  value->type = type;
  value->def = def;
  value->index = index;
  value->range = range;
  value->offset_bytes = -1;
  return value;
}

tspec_value_t *tspec_func_add_arg(tspec_program_t *program, tspec_func_t *func,
                                  tspec_slot_kind_t kind, const char *name, tspec_type_t type,
                                  tspec_range_t range) {
  tspec_arena_t *arena = program->arena;
  tspec_value_t *value = new_value(arena, type, NULL, func->nargs, range);
  value->name = copy_string(arena, name);
  if (func->nargs >= func->args_room) {
    func->args_room = 2 * func->nargs + 4;
    tspec_arg_t *grown = TSPEC_ARENA_NEW(arena, tspec_arg_t, func->args_room);
    for (int i = 0; i < func->nargs; i++) {
      grown[i] = func->args[i];
    }
    func->args = grown;
  }
  func->args[func->nargs++] = (tspec_arg_t){kind, value->name, value};
  return value;
}

static tspec_attr_t copy_attr(const tspec_program_t *program, tspec_attr_t attr) {
  tspec_arena_t *arena = program->arena;
  attr.name = copy_string(arena, attr.name);
  size_t count = (size_t)attr.count;
  switch (attr.kind) {
  case TSPEC_ATTR_INTS:
    attr.ints = tspec_arena_copy(arena, attr.ints, count * sizeof *attr.ints);
    break;
  case TSPEC_ATTR_FLOATS:
    attr.floats = tspec_arena_copy(arena, attr.floats, count * sizeof *attr.floats);
    break;
  case TSPEC_ATTR_AXES:
    attr.axes = tspec_arena_copy(arena, attr.axes, count * sizeof *attr.axes);
    break;
  case TSPEC_ATTR_STRING:
    attr.string = copy_string(arena, attr.string);
    break;
  case TSPEC_ATTR_SHARDING:
    attr.sharding = tspec_program_sharding(program, attr.sharding);
    break;
  case TSPEC_ATTR_INT:
  case TSPEC_ATTR_FLOAT:
  case TSPEC_ATTR_DTYPE:
  case TSPEC_ATTR_REDUCE:
    break;
  }
  return attr;
}

static tspec_attr_t *copy_attrs(const tspec_program_t *program, const tspec_attr_t *attrs,
                                int nattrs) {
  tspec_attr_t *copies = TSPEC_ARENA_NEW(program->arena, tspec_attr_t, nattrs);
  for (int i = 0; i < nattrs; i++) {
    copies[i] = copy_attr(program, attrs[i]);
  }
  return copies;
}

static void link_before(tspec_func_t *func, tspec_op_t *op, tspec_op_t *before) {
  op->next = before;
  op->prev = before == NULL ? func->last : before->prev;
  if (op->prev == NULL) {
    func->first = op;
  } else {
    op->prev->next = op;
  }
  if (before == NULL) {
    func->last = op;
  } else {
    before->prev = op;
  }
}

/// Result types: the given ones, or those of the op's `infer`. NULL after reporting.
static const tspec_type_t *result_types(tspec_arena_t *arena, const tspec_op_build_t *build,
                                        const tspec_op_t *op, tspec_diag_t *diag) {
  const tspec_op_rules_t *rules = tspec_op_info(build->kind)->rules;
  tspec_op_view_t view = tspec_op_view(op, arena);
  if (!tspec_op_check_form(&view, diag)) {
    return NULL;
  }
  if (build->result_types != NULL) {
    return build->result_types;
  }
  TSPEC_CHECK(rules->infer != NULL, "op '%s' needs result types", tspec_op_info(build->kind)->name);
  tspec_type_t *types = TSPEC_ARENA_NEW(arena, tspec_type_t, op->nresults);
  return rules->infer(&view, arena, diag, types) ? types : NULL;
}

/// The results of a new op, which are not there yet: a view of it has none. False after reporting.
/// `one_each`: one per operand, of which there must be some.
static bool make_results(tspec_arena_t *arena, const tspec_op_build_t *build, tspec_op_t *op,
                         bool one_each, tspec_diag_t *diag) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  bool none = op->nresults == 0 && !one_each;
  const tspec_type_t *types = none ? NULL : result_types(&work, build, op, diag);
  bool ok = none || types != NULL;
  for (int i = 0; ok && i < op->nresults; i++) {
    ok = tspec_type_fits(types[i]);
    if (!ok) {
      tspec_diag_error(diag, build->range, "'%s' would make %s, more than 2^50 bytes",
                       tspec_op_info(build->kind)->name, tspec_type_print(&work, types[i]));
    }
  }
  for (int i = 0; ok && i < op->nresults; i++) {
    tspec_type_t type = tspec_type_make(arena, types[i].dtype, types[i].rank, types[i].dims);
    op->results[i] = new_value(arena, type, op, i, build->range);
  }
  tspec_arena_deinit(&work);
  return ok;
}

tspec_op_t *tspec_op_create(tspec_program_t *program, tspec_func_t *func, tspec_op_t *before,
                            const tspec_op_build_t *build, tspec_diag_t *diag) {
  tspec_arena_t *arena = program->arena;
  const tspec_op_info_t *info = tspec_op_info(build->kind);
  tspec_op_t *op = TSPEC_ARENA_NEW(arena, tspec_op_t, 1);
  op->kind = build->kind;
  op->noperands = build->noperands;
  op->operands =
      tspec_arena_copy(arena, build->operands, sizeof *op->operands * (size_t)build->noperands);
  op->nattrs = build->nattrs;
  op->attrs = copy_attrs(program, build->attrs, build->nattrs);
  op->range = build->range;
  op->spelling = copy_string(arena, build->spelling);
  op->because = copy_string(arena, build->because);
  bool one_each = info->nresults < 0 && info->rules->infer != NULL;
  int nresults = one_each             ? build->noperands
                 : info->nresults < 0 ? build->nresults
                                      : info->nresults;
  op->results = TSPEC_ARENA_NEW(arena, tspec_value_t *, nresults);
  op->nresults = nresults;
  if (!make_results(arena, build, op, one_each, diag)) {
    return NULL;
  }
  link_before(func, op, before);
  return op;
}

void tspec_op_insert(tspec_func_t *func, tspec_op_t *op, tspec_op_t *before) {
  link_before(func, op, before);
}

void tspec_op_remove(tspec_func_t *func, tspec_op_t *op) {
  if (op->prev == NULL) {
    func->first = op->next;
  } else {
    op->prev->next = op->next;
  }
  if (op->next == NULL) {
    func->last = op->prev;
  } else {
    op->next->prev = op->prev;
  }
  op->prev = NULL;
  op->next = NULL;
}

void tspec_value_replace(tspec_func_t *func, tspec_value_t *from, tspec_value_t *to,
                         const tspec_op_t *except) {
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; op != except && i < op->noperands; i++) {
      if (op->operands[i] == from) {
        op->operands[i] = to;
      }
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    if (func->results[i].value == from) {
      func->results[i].value = to;
    }
  }
}

int tspec_func_number(tspec_func_t *func) {
  int next = 0;
  for (int i = 0; i < func->nargs; i++) {
    func->args[i].value->id = next++;
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      op->results[i]->id = next++;
    }
  }
  return next;
}

static bool is_read(const tspec_op_t *op, const int *nreads) {
  for (int i = 0; i < op->nresults; i++) {
    if (nreads[op->results[i]->id] > 0) {
      return true;
    }
  }
  return op->nresults == 0; // it stands there for what it does
}

void tspec_func_remove_dead(tspec_func_t *func) {
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  int *nreads = TSPEC_ARENA_NEW(&scratch, int, tspec_func_number(func));
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->noperands; i++) {
      nreads[op->operands[i]->id]++;
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    nreads[func->results[i].value->id]++;
  }
  for (tspec_op_t *op = func->last; op != NULL;) {
    tspec_op_t *prev = op->prev;
    bool is_terminal = (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_TERMINAL) != 0;
    if (!is_terminal && !is_read(op, nreads)) {
      for (int i = 0; i < op->noperands; i++) {
        nreads[op->operands[i]->id]--;
      }
      tspec_op_remove(func, op);
    }
    op = prev;
  }
  tspec_arena_deinit(&scratch);
  tspec_func_number(func);
}

// ---- reading -----------------------------------------------------------------------------------

static const tspec_value_t *origin_tensor(const tspec_value_t *value) {
  bool sliced = value->def != NULL && value->def->kind == TSPEC_OP_slice;
  return sliced ? value->def->operands[0] : value;
}

tspec_value_t *tspec_op_tensor(const tspec_op_t *op, int tensor) {
  return tensor < op->noperands ? op->operands[tensor] : op->results[tensor - op->noperands];
}

tspec_op_view_t tspec_op_view(const tspec_op_t *op, tspec_arena_t *arena) {
  tspec_type_t *operands = TSPEC_ARENA_NEW(arena, tspec_type_t, op->noperands);
  tspec_operand_origin_t *origins = TSPEC_ARENA_NEW(arena, tspec_operand_origin_t, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = op->operands[i]->type;
    origins[i].tensor = origin_tensor(op->operands[i]);
    origins[i].sliced = origins[i].tensor != op->operands[i];
  }
  int nresults = op->nresults > 0 && op->results[0] != NULL ? op->nresults : 0;
  tspec_type_t *results = TSPEC_ARENA_NEW(arena, tspec_type_t, nresults);
  for (int i = 0; i < nresults; i++) {
    results[i] = op->results[i]->type;
  }
  return (tspec_op_view_t){
      .kind = op->kind,
      .noperands = op->noperands,
      .operands = operands,
      .nresults = nresults,
      .results = results,
      .nattrs = op->nattrs,
      .attrs = op->attrs,
      .origins = origins,
      .range = op->range,
      .spelling = op->spelling,
  };
}

const tspec_attr_t *tspec_op_get_attr(const tspec_op_t *op, const char *name) {
  for (int i = 0; i < op->nattrs; i++) {
    if (strcmp(op->attrs[i].name, name) == 0) {
      return &op->attrs[i];
    }
  }
  return NULL;
}

void tspec_op_set_attr(tspec_program_t *program, tspec_op_t *op, tspec_attr_t attr) {
  tspec_attr_t copy = copy_attr(program, attr);
  for (int i = 0; i < op->nattrs; i++) {
    if (strcmp(op->attrs[i].name, attr.name) == 0) {
      op->attrs[i] = copy;
      return;
    }
  }
  op->attrs = append_item(program->arena, op->attrs, op->nattrs, sizeof *op->attrs);
  op->attrs[op->nattrs++] = copy;
}

tspec_attr_t tspec_attr_int(const char *name, int64_t value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_INT, .i = value};
}

tspec_attr_t tspec_attr_ints(const char *name, int64_t count, const int64_t *values) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_INTS, .count = count, .ints = values};
}

tspec_attr_t tspec_attr_float(const char *name, double value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_FLOAT, .f = value};
}

tspec_attr_t tspec_attr_floats(const char *name, int64_t count, const double *values) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_FLOATS, .count = count, .floats = values};
}

tspec_attr_t tspec_attr_string(const char *name, const char *value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_STRING, .string = value};
}

tspec_attr_t tspec_attr_dtype(const char *name, tspec_dtype_t value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_DTYPE, .dtype = value};
}

tspec_attr_t tspec_attr_reduce(const char *name, tspec_reduce_t value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_REDUCE, .reduce = value};
}

tspec_attr_t tspec_attr_axes(const char *name, int64_t count, const tspec_axis_t *axes) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_AXES, .count = count, .axes = axes};
}

tspec_attr_t tspec_attr_sharding(const char *name, const tspec_sharding_t *value) {
  return (tspec_attr_t){.name = name, .kind = TSPEC_ATTR_SHARDING, .sharding = value};
}
