// Gives every value a sharding: a program's entries become one propagation graph
// (ir/shard/propagate.h), which is run, read back, and closed.
#include "ir/shard/propagate.h"
#include "ir/base/vec.h"
#include "ir/shard/decompose.h"
#include "passes/pass.h"

// A value of the program by its id in the graph.
typedef struct site_t {
  tspec_func_t *func;
  tspec_value_t *value;
  struct copy_t *copies;
} site_t;

// A copy of an op that the graph made for one reader; copies of the same value are a list.
typedef struct copy_t {
  struct copy_t *next;
  const tspec_sharding_t *sharding;
  tspec_value_t *value;
} copy_t;

// All uses of one parameter: a group.
typedef struct members_t {
  TSPEC_VEC(int) values;
} members_t;

typedef struct mapping_t {
  tspec_pass_run_t *run;
  tspec_program_t *program;
  tspec_arena_t *arena; // the program's: causes and rules outlive the pass
  tspec_prop_graph_t *graph;
  TSPEC_VEC(site_t) sites;     // by graph value; results that are returned have no value
  TSPEC_VEC(tspec_op_t *) ops; // by graph op; edges and returns are NULL
  tspec_names_t param_names;
  members_t *params; // by parameter
} mapping_t;

static const tspec_sharding_t *drop_ones(mapping_t *map, const tspec_sharding_t *sharding) {
  return sharding == NULL ? NULL : tspec_sharding_drop_ones(map->arena, sharding);
}

static bool is_param_slot(tspec_slot_kind_t kind) {
  return kind == TSPEC_SLOT_PARAM || kind == TSPEC_SLOT_STATE;
}

static int param_index(const mapping_t *map, const char *path) {
  const tspec_param_t *param = tspec_names_get(&map->param_names, path);
  TSPEC_CHECK(param != NULL, "'%s' is no parameter", path);
  return (int)(param - map->program->params);
}

// ---- program to graph -------------------------------------------------------------------------

static void note_site(mapping_t *map, int id, tspec_func_t *func, tspec_value_t *value) {
  while ((int)map->sites.count <= id) {
    TSPEC_VEC_PUSH(map->arena, &map->sites, (site_t){0});
  }
  map->sites.items[id] = (site_t){func, value, NULL};
}

static void add_value(mapping_t *map, tspec_func_t *func, tspec_value_t *value,
                      const tspec_sharding_t *sharding) {
  value->id = tspec_prop_add_value(map->graph, value->type, drop_ones(map, sharding));
  note_site(map, value->id, func, value);
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

static void add_op(mapping_t *map, tspec_func_t *func, tspec_op_t *op) {
  const tspec_attr_t *stated = tspec_op_get_attr(op, "sharding");
  int *operands = TSPEC_ARENA_NEW(map->run->scratch, int, op->noperands);
  int *results = TSPEC_ARENA_NEW(map->run->scratch, int, op->nresults);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = op->operands[i]->id;
  }
  for (int i = 0; i < op->nresults; i++) {
    add_value(map, func, op->results[i], stated == NULL ? NULL : stated->sharding);
    results[i] = op->results[i]->id;
  }
  tspec_rule_fn_t rule = tspec_op_info(op->kind)->rules->rule;
  tspec_op_view_t view = tspec_op_view(op, map->arena);
  int id = tspec_prop_add_op(
      map->graph, &(tspec_prop_op_t){.rule = rule == NULL ? NULL : rule(&view, map->arena, false),
                                     .traits = prop_traits(op),
                                     .noperands = op->noperands,
                                     .operands = operands,
                                     .nresults = op->nresults,
                                     .results = results});
  while ((int)map->ops.count <= id) {
    TSPEC_VEC_PUSH(map->arena, &map->ops, NULL);
  }
  map->ops.items[id] = op;
}

static void add_return(mapping_t *map, tspec_func_t *func, tspec_result_t *result) {
  const tspec_sharding_t *sharding = result->sharding;
  int param = is_param_slot(result->kind) ? param_index(map, result->name) : -1;
  if (sharding == NULL && param >= 0) {
    sharding = map->program->params[param].sharding;
  }
  int id = tspec_prop_add_return(map->graph, result->value->id, drop_ones(map, sharding));
  note_site(map, id, func, NULL);
  if (param >= 0) {
    TSPEC_VEC_PUSH(map->arena, &map->params[param].values, id);
  }
}

static void add_arg(mapping_t *map, tspec_func_t *func, const tspec_arg_t *arg) {
  if (!is_param_slot(arg->kind)) {
    add_value(map, func, arg->value, arg->value->sharding);
    return;
  }
  int param = param_index(map, arg->name);
  add_value(map, func, arg->value, map->program->params[param].sharding);
  TSPEC_VEC_PUSH(map->arena, &map->params[param].values, arg->value->id);
}

static void add_func(mapping_t *map, tspec_func_t *func) {
  for (int i = 0; i < func->nargs; i++) {
    add_arg(map, func, &func->args[i]);
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    add_op(map, func, op);
  }
}

static int *build_graph(mapping_t *map) {
  int *first_return = TSPEC_ARENA_NEW(map->run->scratch, int, map->program->nfuncs);
  map->graph = tspec_prop_graph_create(map->arena, &map->program->mesh);
  map->param_names = tspec_program_param_names(map->program, map->run->scratch);
  map->params = TSPEC_ARENA_NEW(map->run->scratch, members_t, map->program->nparams);
  for (int i = 0; i < map->program->nfuncs; i++) {
    add_func(map, map->program->funcs[i]);
  }
  for (int i = 0; i < map->program->nfuncs; i++) {
    tspec_func_t *func = map->program->funcs[i];
    first_return[i] = (int)map->sites.count;
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
  return first_return;
}

// ---- graph to program -------------------------------------------------------------------------

static const tspec_sharding_t *final_sharding(const mapping_t *map, int id) {
  return tspec_sharding_close(map->arena, tspec_prop_sharding(map->graph, id));
}

static tspec_value_t *read_value(mapping_t *map, int id);

// A copy of a constant (or of a broadcast of one) next to it, for readers that want it split so.
static tspec_value_t *make_copy(mapping_t *map, int id) {
  site_t *site = &map->sites.items[tspec_prop_value_origin(map->graph, id)];
  const tspec_sharding_t *sharding = final_sharding(map, id);
  for (const copy_t *copy = site->copies; copy != NULL; copy = copy->next) {
    if (tspec_sharding_same_layout(copy->sharding, sharding)) {
      return copy->value;
    }
  }
  tspec_value_t *value = site->value;
  if (!tspec_sharding_same_layout(value->sharding, sharding)) {
    int op = tspec_prop_definition(map->graph, id);
    const tspec_op_t *origin = value->def;
    tspec_value_t **operands =
        TSPEC_ARENA_NEW(map->run->scratch, tspec_value_t *, origin->noperands);
    for (int i = 0; i < origin->noperands; i++) {
      operands[i] = read_value(map, tspec_prop_operand(map->graph, op, i));
    }
    tspec_op_t *made = tspec_op_create(map->program, site->func, origin->next,
                                       &(tspec_op_build_t){.kind = origin->kind,
                                                           .noperands = origin->noperands,
                                                           .operands = operands,
                                                           .nattrs = origin->nattrs,
                                                           .attrs = origin->attrs,
                                                           .result_types = &value->type,
                                                           .range = origin->range,
                                                           .spelling = origin->spelling,
                                                           .because = origin->because},
                                       map->run->diag);
    TSPEC_CHECK(made != NULL);
    made->results[0]->sharding = sharding;
    made->results[0]->name = value->name;
    value = made->results[0];
  }
  copy_t *copy = TSPEC_ARENA_NEW(map->run->scratch, copy_t, 1);
  *copy = (copy_t){site->copies, sharding, value};
  site->copies = copy;
  return value;
}

static tspec_value_t *read_value(mapping_t *map, int id) {
  if (id < (int)map->sites.count && map->sites.items[id].value != NULL) {
    return map->sites.items[id].value;
  }
  return make_copy(map, id);
}

static void set_shardings(mapping_t *map) {
  for (size_t id = 0; id < map->sites.count; id++) {
    tspec_value_t *value = map->sites.items[id].value;
    if (value != NULL) {
      value->sharding = final_sharding(map, (int)id);
    }
  }
}

// A constraint says from now on where its value lies: all of it, without axes of size 1.
static void set_constraint(mapping_t *map, tspec_op_t *op) {
  if (tspec_op_get_attr(op, "sharding") != NULL) {
    tspec_op_set_attr(map->program, op, tspec_attr_sharding("sharding", op->results[0]->sharding));
  }
}

static void set_operands(mapping_t *map) {
  size_t nops = map->ops.count;
  for (size_t id = 0; id < nops; id++) {
    tspec_op_t *op = map->ops.items[id];
    for (int i = 0; op != NULL && i < op->noperands; i++) {
      op->operands[i] = read_value(map, tspec_prop_operand(map->graph, (int)id, i));
    }
    if (op != NULL) {
      set_constraint(map, op);
    }
  }
}

static void set_results(mapping_t *map, const int *first_return) {
  int returned = 0;
  for (int i = 0; i < map->program->nfuncs; i++) {
    tspec_func_t *func = map->program->funcs[i];
    for (int r = 0; r < func->nresults; r++) {
      func->results[r].sharding = final_sharding(map, first_return[i] + r);
      func->results[r].value = read_value(map, tspec_prop_returned(map->graph, returned++));
    }
  }
}

// A parameter lies everywhere as where it is read, or as it is declared if nothing reads it.
static void set_params(mapping_t *map) {
  for (int i = 0; i < map->program->nparams; i++) {
    tspec_param_t *param = &map->program->params[i];
    if (map->params[i].values.count > 0) {
      param->sharding = final_sharding(map, map->params[i].values.items[0]);
    } else if (param->sharding == NULL) {
      param->sharding = tspec_sharding_replicated(map->arena, param->type.rank);
    } else {
      param->sharding = tspec_sharding_close(map->arena, drop_ones(map, param->sharding));
    }
  }
}

bool tspec_pass_propagate(tspec_pass_run_t *run) {
  mapping_t map = {.run = run, .program = run->program, .arena = run->program->arena};
  int *first_return = build_graph(&map);
  tspec_prop_run(map.graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL});
  set_shardings(&map);
  set_operands(&map);
  set_results(&map, first_return);
  set_params(&map);
  for (int i = 0; i < run->program->nfuncs; i++) {
    tspec_func_remove_dead(run->program->funcs[i]);
  }
  run->program->causes = tspec_prop_causes(map.graph);
  run->program->level = TSPEC_LEVEL_SHARDED;
  return true;
}
