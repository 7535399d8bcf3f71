#include "passes/prop_map.h"

#include <stdlib.h>

#include "ir/shard/decompose.h"

static bool is_param_slot(tspec_slot_kind_t kind) {
  return kind == TSPEC_SLOT_PARAM || kind == TSPEC_SLOT_STATE;
}

static int param_index(const tspec_prop_map_t *map, const char *path) {
  const tspec_param_t *param = tspec_names_get(&map->param_names, path);
  TSPEC_CHECK(param != NULL, "'%s' is no parameter", path);
  return (int)(param - map->program->params);
}

static void note_site(tspec_prop_map_t *map, int id, tspec_prop_site_t site) {
  while ((int)map->sites.count <= id) {
    TSPEC_VEC_PUSH(map->arena, &map->sites, (tspec_prop_site_t){0});
  }
  map->sites.items[id] = site;
}

static const tspec_sharding_t *starting(tspec_prop_map_t *map, int declaration,
                                        const tspec_sharding_t *sharding) {
  if (sharding == NULL) {
    return NULL;
  }
  sharding = tspec_sharding_drop_ones(map->arena, sharding);
  return map->start == NULL
             ? sharding
             : map->start(map->user, &(tspec_prop_start_t){
                                         declaration, tspec_prop_nvalues(map->graph), sharding});
}

static void add_value(tspec_prop_map_t *map, tspec_func_t *func, tspec_value_t *value, int param,
                      const tspec_sharding_t *sharding) {
  int declaration = param >= 0 ? param : map->ndeclarations++;
  value->id = tspec_prop_add_value(map->graph, value->type, starting(map, declaration, sharding));
  note_site(map, value->id, (tspec_prop_site_t){func, value, NULL, param});
  if (param >= 0) {
    TSPEC_VEC_PUSH(map->arena, &map->params[param].values, value->id);
  }
}

static unsigned prop_traits(const tspec_op_t *op) {
  static const struct {
    unsigned ours;
    unsigned theirs;
  } pairs[] = {
      {TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY, TSPEC_PROP_ELEMENTWISE},
      {TSPEC_TRAIT_RESHAPE_LIKE, TSPEC_PROP_RESHAPE_LIKE},
      {TSPEC_TRAIT_BROADCAST, TSPEC_PROP_BROADCAST},
      {TSPEC_TRAIT_CONSTANT_LIKE, TSPEC_PROP_CONSTANT_LIKE},
  };
  unsigned traits = tspec_op_info(op->kind)->rules->traits;
  unsigned prop = op->kind == TSPEC_OP_constraint ? TSPEC_PROP_CONSTRAINT : 0;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    prop |= (traits & pairs[i].ours) != 0 ? pairs[i].theirs : 0;
  }
  return prop;
}

// True for what is split per use (tspec_prop_split_constants).
static bool is_copied(const tspec_op_t *def) {
  return def != NULL && (tspec_op_info(def->kind)->rules->traits &
                         (TSPEC_TRAIT_CONSTANT_LIKE | TSPEC_TRAIT_BROADCAST)) != 0;
}

// The op's result is in its group, and so is what it reads: except partial sums, which are the
// let's alone, and constants, which are split per use.
static void note_members(tspec_prop_map_t *map, const tspec_op_t *op) {
  const tspec_attr_t *group = tspec_op_get_attr(op, "group");
  if (group == NULL) {
    return;
  }
  tspec_prop_member_t result = {group->i, op->results[0]->id};
  TSPEC_VEC_PUSH(map->arena, &map->members, result);
  const tspec_op_t *def = op->operands[0]->def;
  const tspec_attr_t *stated = def == NULL ? NULL : tspec_op_get_attr(def, "sharding");
  bool partial = stated != NULL && stated->sharding->npending > 0;
  if (!partial && !is_copied(def)) {
    tspec_prop_member_t operand = {group->i, op->operands[0]->id};
    TSPEC_VEC_PUSH(map->arena, &map->members, operand);
  }
}

static int compare_members(const void *a, const void *b) {
  const tspec_prop_member_t *first = a, *second = b;
  if (first->group != second->group) {
    return first->group < second->group ? -1 : 1;
  }
  return (first->value > second->value) - (first->value < second->value);
}

static void add_groups(tspec_prop_map_t *map) {
  tspec_prop_member_t *members = map->members.items;
  size_t count = map->members.count;
  if (count > 0) {
    qsort(members, count, sizeof *members, compare_members);
  }
  int *values = TSPEC_ARENA_NEW(map->arena, int, count);
  for (size_t first = 0, end = 0; first < count; first = end) {
    for (end = first; end < count && members[end].group == members[first].group; end++) {
      values[end] = members[end].value;
    }
    tspec_prop_add_group(map->graph, (int)(end - first), values + first);
  }
}

static const tspec_factor_rule_t *rule_of(tspec_prop_map_t *map, const tspec_op_t *op,
                                          tspec_arena_t *work) {
  tspec_rule_fn_t rule = tspec_op_info(op->kind)->rules->rule;
  tspec_op_view_t view = tspec_op_view(op, work);
  return rule == NULL ? NULL : tspec_intern(&map->rules, rule(&view, work, false));
}

static void add_op(tspec_prop_map_t *map, tspec_func_t *func, tspec_op_t *op) {
  const tspec_attr_t *stated = tspec_op_get_attr(op, "sharding");
  tspec_arena_t work;
  tspec_arena_init(&work);
  int *operands = TSPEC_ARENA_NEW(&work, int, op->noperands);
  int *results = TSPEC_ARENA_NEW(&work, int, op->nresults);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = op->operands[i]->id;
  }
  for (int i = 0; i < op->nresults; i++) {
    add_value(map, func, op->results[i], -1, stated == NULL ? NULL : stated->sharding);
    results[i] = op->results[i]->id;
  }
  note_members(map, op);
  unsigned traits = tspec_op_info(op->kind)->rules->traits;
  int id = tspec_prop_add_op(map->graph,
                             &(tspec_prop_op_t){.rule = rule_of(map, op, &work),
                                                .traits = prop_traits(op),
                                                .is_barrier = (traits & TSPEC_TRAIT_BARRIER) != 0,
                                                .barrier = TSPEC_PROP_NONE,
                                                .noperands = op->noperands,
                                                .operands = operands,
                                                .nresults = op->nresults,
                                                .results = results});
  tspec_arena_deinit(&work);
  while ((int)map->ops.count <= id) {
    TSPEC_VEC_PUSH(map->arena, &map->ops, NULL);
  }
  map->ops.items[id] = op;
}

static void add_return(tspec_prop_map_t *map, tspec_func_t *func, tspec_result_t *result) {
  const tspec_sharding_t *sharding = result->sharding;
  int param = is_param_slot(result->kind) ? param_index(map, result->name) : -1;
  if (sharding == NULL && param >= 0) {
    sharding = map->program->params[param].sharding;
  }
  int declaration = param >= 0 && result->sharding == NULL ? param : map->ndeclarations++;
  int id =
      tspec_prop_add_return(map->graph, result->value->id, starting(map, declaration, sharding));
  note_site(map, id, (tspec_prop_site_t){func, NULL, result, param});
  if (param >= 0) {
    TSPEC_VEC_PUSH(map->arena, &map->params[param].values, id);
  }
}

static void add_arg(tspec_prop_map_t *map, tspec_func_t *func, const tspec_arg_t *arg) {
  int param = is_param_slot(arg->kind) ? param_index(map, arg->name) : -1;
  add_value(map, func, arg->value, param,
            param < 0 ? arg->value->sharding : map->program->params[param].sharding);
}

static void add_func(tspec_prop_map_t *map, tspec_func_t *func) {
  for (int i = 0; i < func->nargs; i++) {
    add_arg(map, func, &func->args[i]);
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    add_op(map, func, op);
  }
}

// How many there will be, before any is added: in the graph, with the copies of constants.
typedef struct counts_t {
  int nsites;
  int nops;
  int ncopies;
} counts_t;

static counts_t count(const tspec_program_t *program) {
  counts_t counts = {0};
  for (int i = 0; i < program->nfuncs; i++) {
    const tspec_func_t *func = program->funcs[i];
    counts.nsites += func->nargs + func->nresults;
    for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
      counts.nops++;
      counts.nsites += op->nresults;
      for (int k = 0; k < op->noperands; k++) {
        counts.ncopies += is_copied(op->operands[k]->def);
      }
    }
  }
  return counts;
}

static void reserve(tspec_prop_map_t *map) {
  counts_t counts = count(map->program);
  tspec_prop_reserve(map->graph, counts.nsites + counts.ncopies, counts.nops + counts.ncopies);
  TSPEC_VEC_RESERVE(map->arena, &map->sites, counts.nsites);
  TSPEC_VEC_RESERVE(map->arena, &map->ops, counts.nops);
}

static void build_graph(tspec_prop_map_t *map) {
  map->first_return = TSPEC_ARENA_NEW(map->arena, int, map->program->nfuncs);
  map->ndeclarations = map->program->nparams;
  map->graph = tspec_prop_graph_create(map->arena, &map->program->mesh);
  reserve(map);
  map->param_names = tspec_program_param_names(map->program, map->arena);
  map->params = TSPEC_ARENA_NEW(map->arena, tspec_prop_uses_t, map->program->nparams);
  for (int i = 0; i < map->program->nfuncs; i++) {
    add_func(map, map->program->funcs[i]);
  }
  for (int i = 0; i < map->program->nfuncs; i++) {
    tspec_func_t *func = map->program->funcs[i];
    map->first_return[i] = (int)map->sites.count;
    for (int r = 0; r < func->nresults; r++) {
      add_return(map, func, &func->results[r]);
    }
  }
  for (int i = 0; i < map->program->nparams; i++) {
    if (map->params[i].values.count > 1) {
      tspec_prop_add_group(map->graph, (int)map->params[i].values.count,
                           map->params[i].values.items);
    }
  }
  add_groups(map);
}

tspec_prop_map_t *tspec_prop_map_create(tspec_arena_t *arena, tspec_program_t *program,
                                        tspec_prop_start_fn_t start, void *user) {
  tspec_prop_map_t *map = TSPEC_ARENA_NEW(arena, tspec_prop_map_t, 1);
  *map = (tspec_prop_map_t){.program = program,
                            .arena = arena,
                            .rules = tspec_factor_rule_set(arena),
                            .start = start,
                            .user = user};
  build_graph(map);
  return map;
}
