// Kind "propagate": a program with some shardings, and those that all values end with.
#include "case.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/axes.h"
#include "ir/shard/propagate.h"

typedef struct program_t {
  case_t *c;
  tspec_prop_graph_t *graph;
} program_t;

static void add_ops(program_t *program, json_t *ops);

static case_value_t *add_value(program_t *program, case_value_t *value) {
  value->id = tspec_prop_add_value(program->graph, value->type, value->sharding);
  return value;
}

static int id_of(const program_t *program, json_t *name) {
  const case_value_t *value = case_find(program->c, json_string_value(name));
  TSPEC_CHECK(value->id >= 0, "'%s' has no id yet", value->name);
  return value->id;
}

static unsigned traits_of(const char *name) {
  if (strcmp(name, "clamp") == 0) {
    return TSPEC_PROP_ELEMENTWISE;
  }
  if (strcmp(name, "dynamic_slice") == 0 || strcmp(name, "dynamic_update_slice") == 0) {
    return TSPEC_PROP_SLICE_LIKE;
  }
  tspec_op_kind_t kind = case_op_kind(name);
  if (kind == TSPEC_OP_COUNT) {
    return 0;
  }
  unsigned ours = tspec_op_info(kind)->rules->traits;
  unsigned traits = 0;
  traits |=
      (ours & (TSPEC_TRAIT_ELEMENTWISE | TSPEC_TRAIT_IDENTITY)) != 0 ? TSPEC_PROP_ELEMENTWISE : 0u;
  traits |= (ours & TSPEC_TRAIT_RESHAPE_LIKE) != 0 ? TSPEC_PROP_RESHAPE_LIKE : 0u;
  traits |= (ours & TSPEC_TRAIT_BROADCAST) != 0 ? TSPEC_PROP_BROADCAST : 0u;
  traits |= (ours & TSPEC_TRAIT_CONSTANT_LIKE) != 0 ? TSPEC_PROP_CONSTANT_LIKE : 0u;
  return traits | (strcmp(name, "constraint") == 0 ? TSPEC_PROP_CONSTRAINT : 0u);
}

static void add_plain_op(program_t *program, const case_op_t *op) {
  int *operands = TSPEC_ARENA_NEW(program->c->arena, int, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = op->operands[i]->id;
  }
  int *results = TSPEC_ARENA_NEW(program->c->arena, int, op->nresults);
  for (int i = 0; i < op->nresults; i++) {
    results[i] = add_value(program, op->results[i])->id;
  }
  tspec_prop_op_t plain = {.rule = case_rule(program->c, op),
                           .traits = traits_of(op->name),
                           .noperands = op->noperands,
                           .operands = operands,
                           .nresults = op->nresults,
                           .results = results};
  const char *direction = case_text(op->json, "direction");
  if (direction != NULL) {
    plain.is_barrier = true;
    plain.barrier = strcmp(direction, "forward") == 0    ? TSPEC_PROP_FORWARD
                    : strcmp(direction, "backward") == 0 ? TSPEC_PROP_BACKWARD
                                                         : TSPEC_PROP_NONE;
  }
  tspec_prop_add_op(program->graph, &plain);
}

// ---- ops with regions ---------------------------------------------------------------------------

static json_t *yielded(json_t *region, size_t index) {
  return json_array_get(json_object_get(region, "yield"), index);
}

static void define_args(program_t *program, json_t *op) {
  size_t i;
  json_t *arg;
  json_array_foreach(json_object_get(op, "args"), i, arg) {
    add_value(program, case_define(program->c, arg, "name", NULL));
  }
}

static int arg_id(const program_t *program, json_t *op, int index) {
  json_t *arg = json_array_get(json_object_get(op, "args"), (size_t)index);
  return id_of(program, json_object_get(arg, "name"));
}

static void add_while(program_t *program, const case_op_t *op) {
  json_t *body = json_object_get(op->json, "body");
  define_args(program, op->json);
  add_ops(program, json_object_get(json_object_get(op->json, "cond"), "ops"));
  add_ops(program, json_object_get(body, "ops"));
  for (int i = 0; i < op->nresults; i++) {
    int owner = add_value(program, op->results[i])->id;
    int target = arg_id(program, op->json, i);
    int sources[2] = {op->operands[i]->id, id_of(program, yielded(body, (size_t)i))};
    tspec_prop_add_edge(program->graph, owner, 2, sources, 1, &target);
  }
}

static void add_case(program_t *program, const case_op_t *op) {
  json_t *branches = json_object_get(op->json, "branches");
  int nbranches = (int)json_array_size(branches);
  int *sources = TSPEC_ARENA_NEW(program->c->arena, int, nbranches);
  for (int b = 0; b < nbranches; b++) {
    add_ops(program, json_object_get(json_array_get(branches, (size_t)b), "ops"));
  }
  for (int i = 0; i < op->nresults; i++) {
    for (int b = 0; b < nbranches; b++) {
      sources[b] = id_of(program, yielded(json_array_get(branches, (size_t)b), (size_t)i));
    }
    int owner = add_value(program, op->results[i])->id;
    tspec_prop_add_edge(program->graph, owner, nbranches, sources, 0, NULL);
  }
}

static void add_call(program_t *program, const case_op_t *op) {
  json_t *body = json_object_get(op->json, "body");
  define_args(program, op->json);
  for (int i = 0; i < op->noperands; i++) {
    int owner = arg_id(program, op->json, i);
    tspec_prop_add_edge(program->graph, owner, 1, &op->operands[i]->id, 0, NULL);
  }
  add_ops(program, json_object_get(body, "ops"));
  for (int i = 0; i < op->nresults; i++) {
    int source = id_of(program, yielded(body, (size_t)i));
    int owner = add_value(program, op->results[i])->id;
    tspec_prop_add_edge(program->graph, owner, 1, &source, 0, NULL);
  }
}

static void add_opt_barrier(program_t *program, const case_op_t *op) {
  for (int i = 0; i < op->nresults; i++) {
    int owner = add_value(program, op->results[i])->id;
    tspec_prop_add_edge(program->graph, owner, 1, &op->operands[i]->id, 0, NULL);
  }
}

/// Outside and inside share one sharding; inside does not see the manual axes.
static void add_manual(program_t *program, const case_op_t *op) {
  case_t *c = program->c;
  int nmanual = 0;
  tspec_axis_t *manual = case_axes(c, json_object_get(op->json, "manual_axes"), &nmanual);
  json_t *body = json_object_get(op->json, "body");
  for (int i = 0; i < op->noperands; i++) {
    json_t *in = json_array_get(json_object_get(op->json, "in_shardings"), (size_t)i);
    int outside = tspec_prop_add_value(program->graph, op->operand_types[i], case_sharding(c, in));
    json_t *entry = json_array_get(json_object_get(op->json, "args"), (size_t)i);
    case_value_t *arg = case_define(c, entry, "name", NULL);
    arg->id = tspec_prop_add_view(program->graph, outside, arg->type, manual, nmanual);
    tspec_prop_add_edge(program->graph, outside, 1, &op->operands[i]->id, 0, NULL);
  }
  add_ops(program, json_object_get(body, "ops"));
  for (int i = 0; i < op->nresults; i++) {
    int source = id_of(program, yielded(body, (size_t)i));
    const case_value_t *inner = case_find(c, json_string_value(yielded(body, (size_t)i)));
    int outside = add_value(program, op->results[i])->id;
    int owner = tspec_prop_add_view(program->graph, outside, inner->type, manual, nmanual);
    tspec_prop_add_edge(program->graph, owner, 1, &source, 0, NULL);
  }
}

static void add_ops(program_t *program, json_t *ops) {
  static const struct {
    const char *name;
    void (*add)(program_t *program, const case_op_t *op);
  } rows[] = {
      {"call", add_call},     {"case", add_case},
      {"manual", add_manual}, {"opt_barrier", add_opt_barrier},
      {"while", add_while},
  };
  size_t i;
  json_t *json;
  json_array_foreach(ops, i, json) {
    case_op_t op = case_read_op(program->c, json);
    void (*add)(program_t *, const case_op_t *) = add_plain_op;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      if (strcmp(rows[r].name, op.name) == 0) {
        add = rows[r].add;
      }
    }
    add(program, &op);
  }
}

static void add_groups(program_t *program) {
  size_t i, m;
  json_t *group, *member;
  json_array_foreach(json_object_get(program->c->json, "groups"), i, group) {
    int *ids = TSPEC_ARENA_NEW(program->c->arena, int, json_array_size(group));
    json_array_foreach(group, m, member) {
      ids[m] = id_of(program, member);
    }
    tspec_prop_add_group(program->graph, (int)json_array_size(group), ids);
  }
}

static void add_outputs(program_t *program) {
  size_t i;
  json_t *output;
  json_array_foreach(json_object_get(program->c->json, "outputs"), i, output) {
    int value = id_of(program, json_object_get(output, "value"));
    case_value_t *out = case_define(program->c, output, "name", NULL);
    out->type = case_find(program->c, case_text(output, "value"))->type;
    out->id = tspec_prop_add_return(program->graph, value, out->sharding);
  }
}

static tspec_prop_strategy_t strategy_of(const case_t *c) {
  static const char *const names[] = {
      [TSPEC_PROP_BASIC] = "basic",
      [TSPEC_PROP_AGGRESSIVE] = "aggressive",
      [TSPEC_PROP_OP_PRIORITY] = "op_priority",
      [TSPEC_PROP_USER_PRIORITY] = "user_priority",
      [TSPEC_PROP_FULL] = "full_pipeline",
  };
  const char *name = case_text(c->json, "strategy");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i], name) == 0) {
      return (tspec_prop_strategy_t)i;
    }
  }
  TSPEC_CHECK(false, "strategy '%s'", name);
  return TSPEC_PROP_BASIC;
}

// ---- Shardy's last step of the whole pipeline ---------------------------------------------------
// Inputs and results must divide evenly there; ours need not, so it is no part of the engine.

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static tspec_dim_t divide_evenly(const case_t *c, const tspec_dim_t *dim, int64_t size) {
  tspec_axis_t *axes = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, dim->naxes);
  tspec_dim_t even = *dim;
  even.axes = axes;
  even.naxes = 0;
  for (int i = 0; i < dim->naxes; i++) {
    tspec_axis_t piece = dim->axes[i];
    int64_t common = gcd(size, piece.size);
    if (common > 1) {
      axes[even.naxes++] = tspec_axis_major(piece, common);
    }
    if (common != piece.size) {
      break;
    }
    size /= common;
  }
  // Pieces of axes are not for the outside, unless they were written.
  while (dim->open && even.naxes > 0 && !tspec_axis_is_full(&c->mesh, axes[even.naxes - 1])) {
    even.naxes--;
  }
  return even;
}

static const tspec_sharding_t *make_even(const case_t *c, const case_value_t *value,
                                         const tspec_sharding_t *sharding) {
  tspec_sharding_t *even = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, sharding->rank);
  for (int i = 0; i < sharding->rank; i++) {
    dims[i] = divide_evenly(c, &sharding->dims[i], value->type.dims[i]);
  }
  *even = *sharding;
  even->dims = dims;
  return even;
}

static bool is_outside(const case_t *c, const char *name) {
  static const char *const lists[] = {"inputs", "outputs"};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(c->json, lists[l]), i, entry) {
      if (strcmp(case_text(entry, "name"), name) == 0) {
        return true;
      }
    }
  }
  return false;
}

// ---- comparing ----------------------------------------------------------------------------------

static const tspec_sharding_t *without_details(const case_t *c, const tspec_sharding_t *sharding,
                                               bool axes_only) {
  if (axes_only) {
    return tspec_sharding_close(c->arena, sharding);
  }
  tspec_sharding_t *plain = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, sharding->rank);
  *plain = *sharding;
  plain->dims = dims;
  for (int i = 0; i < sharding->rank; i++) {
    dims[i] = sharding->dims[i];
    dims[i].priority = 0;
  }
  return plain;
}

static verdict_t compare(program_t *program, const char *name, json_t *expected) {
  case_t *c = program->c;
  const case_value_t *value = case_find(c, name);
  bool axes_only = case_text(c->json, "compare") != NULL;
  const tspec_sharding_t *got = tspec_prop_sharding(program->graph, value->id);
  if (strategy_of(c) == TSPEC_PROP_FULL && is_outside(c, name)) {
    got = make_even(c, value, got);
  }
  const tspec_sharding_t *wanted = json_is_null(expected)
                                       ? tspec_sharding_open(c->arena, value->type.rank)
                                       : case_sharding(c, expected);
  got = without_details(c, got, axes_only);
  wanted = without_details(c, wanted, axes_only);
  if (tspec_sharding_equal(got, wanted)) {
    return VERDICT_PASSED;
  }
  tspec_buf_printf(c->complaint, "  %s: got %s, wanted %s\n", name, case_print(c, got),
                   case_print(c, wanted));
  return VERDICT_FAILED;
}

verdict_t case_run_propagate(case_t *c) {
  program_t program = {.c = c, .graph = tspec_prop_graph_create(c->arena, &c->mesh)};
  size_t i;
  json_t *json;
  json_array_foreach(json_object_get(c->json, "inputs"), i, json) {
    add_value(&program, case_find(c, case_text(json, "name")));
  }
  add_ops(&program, json_object_get(c->json, "ops"));
  add_outputs(&program);
  add_groups(&program);
  tspec_prop_options_t options = {.strategy = strategy_of(c), .conservative = c->conservative};
  tspec_prop_run(program.graph, &options);
  verdict_t verdict = VERDICT_PASSED;
  const char *name;
  json_object_foreach(json_object_get(c->json, "expect"), name, json) {
    if (compare(&program, name, json) == VERDICT_FAILED) {
      verdict = VERDICT_FAILED;
    }
  }
  return verdict;
}
