// Gives every value a sharding: a program's entries become one propagation graph
// (passes/prop_map.h), which is run, read back, and closed.
#include "ir/shard/decompose.h"
#include "passes/pass.h"
#include "passes/prop_map.h"

// A copy of an op that the graph made for one reader; copies of the same value are a list.
typedef struct copy_t {
  struct copy_t *next;
  const tspec_sharding_t *sharding;
  tspec_value_t *value;
} copy_t;

typedef struct propagate_t {
  tspec_pass_run_t *run;
  tspec_prop_map_t *map; // in scratch
  copy_t **copies;       // by value of the graph
} propagate_t;

// The program's own closed one.
static const tspec_sharding_t *keep_closed(const propagate_t *pass,
                                           const tspec_sharding_t *sharding) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  sharding = tspec_sharding_close(&work, sharding);
  sharding = tspec_program_sharding(pass->run->program, sharding);
  tspec_arena_deinit(&work);
  return sharding;
}

static const tspec_sharding_t *final_sharding(const propagate_t *pass, int id) {
  return keep_closed(pass, tspec_prop_sharding(pass->map->graph, id));
}

static tspec_value_t *read_value(propagate_t *pass, int id);

// A copy of a constant (or of a broadcast of one) next to it, for readers that want it split so.
static tspec_value_t *make_copy(propagate_t *pass, int id) {
  int origin_id = tspec_prop_value_origin(pass->map->graph, id);
  const tspec_prop_site_t *site = &pass->map->sites.items[origin_id];
  const tspec_sharding_t *sharding = final_sharding(pass, id);
  for (const copy_t *copy = pass->copies[origin_id]; copy != NULL; copy = copy->next) {
    if (tspec_sharding_same_layout(copy->sharding, sharding)) {
      return copy->value;
    }
  }
  tspec_value_t *value = site->value;
  if (!tspec_sharding_same_layout(value->sharding, sharding)) {
    int op = tspec_prop_definition(pass->map->graph, id);
    const tspec_op_t *origin = value->def;
    tspec_value_t **operands =
        TSPEC_ARENA_NEW(pass->run->scratch, tspec_value_t *, origin->noperands);
    for (int i = 0; i < origin->noperands; i++) {
      operands[i] = read_value(pass, tspec_prop_operand(pass->map->graph, op, i));
    }
    tspec_op_t *made = tspec_op_create(pass->map->program, site->func, origin->next,
                                       &(tspec_op_build_t){.kind = origin->kind,
                                                           .noperands = origin->noperands,
                                                           .operands = operands,
                                                           .nattrs = origin->nattrs,
                                                           .attrs = origin->attrs,
                                                           .result_types = &value->type,
                                                           .range = origin->range,
                                                           .spelling = origin->spelling,
                                                           .because = origin->because},
                                       pass->run->diag);
    TSPEC_CHECK(made != NULL);
    made->results[0]->sharding = sharding;
    made->results[0]->name = value->name;
    value = made->results[0];
  }
  copy_t *copy = TSPEC_ARENA_NEW(pass->run->scratch, copy_t, 1);
  *copy = (copy_t){pass->copies[origin_id], sharding, value};
  pass->copies[origin_id] = copy;
  return value;
}

static tspec_value_t *read_value(propagate_t *pass, int id) {
  if (id < (int)pass->map->sites.count && pass->map->sites.items[id].value != NULL) {
    return pass->map->sites.items[id].value;
  }
  return make_copy(pass, id);
}

static void set_shardings(propagate_t *pass) {
  for (size_t id = 0; id < pass->map->sites.count; id++) {
    tspec_value_t *value = pass->map->sites.items[id].value;
    if (value != NULL) {
      value->sharding = final_sharding(pass, (int)id);
    }
  }
}

// A constraint says from now on where its value lies: all of it, without axes of size 1.
static void set_constraint(propagate_t *pass, tspec_op_t *op) {
  if (tspec_op_get_attr(op, "sharding") != NULL) {
    tspec_op_set_attr(pass->map->program, op,
                      tspec_attr_sharding("sharding", op->results[0]->sharding));
  }
}

static void set_operands(propagate_t *pass) {
  size_t nops = pass->map->ops.count;
  for (size_t id = 0; id < nops; id++) {
    tspec_op_t *op = pass->map->ops.items[id];
    for (int i = 0; op != NULL && i < op->noperands; i++) {
      op->operands[i] = read_value(pass, tspec_prop_operand(pass->map->graph, (int)id, i));
    }
    if (op != NULL) {
      set_constraint(pass, op);
    }
  }
}

// True if a result's declaration says nothing of where it lies.
static bool is_undeclared(const tspec_result_t *result) {
  bool undeclared = result->kind == TSPEC_SLOT_RESULT && result->value->type.rank > 0;
  for (int d = 0; result->sharding != NULL && d < result->sharding->rank; d++) {
    const tspec_dim_t *dim = &result->sharding->dims[d];
    undeclared = undeclared && dim->open && dim->naxes == 0;
  }
  return undeclared;
}

static void set_results(propagate_t *pass) {
  int returned = 0;
  for (int i = 0; i < pass->map->program->nfuncs; i++) {
    tspec_func_t *func = pass->map->program->funcs[i];
    for (int r = 0; r < func->nresults; r++) {
      func->results[r].is_free = is_undeclared(&func->results[r]);
      func->results[r].sharding = final_sharding(pass, pass->map->first_return[i] + r);
      func->results[r].value = read_value(pass, tspec_prop_returned(pass->map->graph, returned++));
    }
  }
}

// A parameter lies everywhere as where it is read, or as it is declared if nothing reads it.
static void set_params(propagate_t *pass) {
  for (int i = 0; i < pass->map->program->nparams; i++) {
    tspec_param_t *param = &pass->map->program->params[i];
    if (pass->map->params[i].values.count > 0) {
      param->sharding = final_sharding(pass, pass->map->params[i].values.items[0]);
    } else if (param->sharding == NULL) {
      param->sharding = keep_closed(pass, tspec_sharding_open(pass->map->arena, param->type.rank));
    } else {
      param->sharding =
          keep_closed(pass, tspec_sharding_drop_ones(pass->map->arena, param->sharding));
    }
  }
}

bool tspec_pass_propagate(tspec_pass_run_t *run) {
  tspec_prop_map_t *map = tspec_prop_map_create(run->scratch, run->program, NULL, NULL);
  propagate_t pass = {
      .run = run, .map = map, .copies = TSPEC_ARENA_NEW(run->scratch, copy_t *, map->sites.count)};
  tspec_prop_run(map->graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL, .silent = true});
  set_shardings(&pass);
  set_operands(&pass);
  set_results(&pass);
  set_params(&pass);
  for (int i = 0; i < run->program->nfuncs; i++) {
    tspec_func_remove_dead(run->program->funcs[i]);
  }
  run->program->level = TSPEC_LEVEL_SHARDED;
  return true;
}
