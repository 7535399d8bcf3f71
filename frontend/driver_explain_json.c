// --explain=json. The schema stands in docs/explain.md.
#include "frontend/driver_explain.h"
#include "frontend/json.h"
#include "passes/layouts.h"

static void put_place(const tspec_explained_t *explained, const char *key, tspec_range_t range,
                      tspec_buf_t *buf) {
  tspec_json_text(buf, key,
                  range.line == 0 ? NULL : tspec_range_brief(&explained->driver->sources, range));
}

static void put_axis_name(const tspec_explained_t *explained, tspec_axis_t axis, tspec_buf_t *buf) {
  tspec_json_text(buf, "axis", tspec_axes_print(explained->arena, explained->mesh, &axis, 1));
}

/// "value": its name or null, "entry": null for parameters, "made_by": where it has no name.
static void put_value_name(const tspec_explained_t *explained, const char *key, int value,
                           tspec_buf_t *buf) {
  const tspec_prop_site_t *site =
      &explained->map->sites.items[tspec_prop_value_origin(explained->map->graph, value)];
  const char *name = tspec_explained_name(explained, value);
  tspec_json_text(buf, key, name);
  tspec_json_text(buf, "entry", site->param >= 0 ? NULL : site->func->name);
  if (name == NULL) {
    tspec_json_text(buf, "made_by", tspec_explained_maker(explained, value));
    put_place(explained, "made_at", site->value->range, buf);
  }
}

static void put_said(const tspec_explained_t *explained, const tspec_said_t *said,
                     tspec_buf_t *buf) {
  bool is_rule = said != NULL && said->rule != NULL;
  tspec_json_text(buf, "said_by", is_rule ? "rule" : "annotation");
  tspec_json_text(buf, "rule", is_rule ? said->rule : NULL);
  bool is_blocked = is_rule && said->is_blocked;
  tspec_json_bool(buf, "blocked", is_blocked);
  tspec_json_number(buf, "blocked_by", is_blocked ? said->blocker : -1);
  put_place(explained, "line", said == NULL ? (tspec_range_t){0} : said->range, buf);
}

static void put_seed(const tspec_explained_t *explained, int index, int indent, tspec_buf_t *buf) {
  const tspec_seed_t *seed = tspec_explain_seed(explained->explain, index);
  tspec_json_item(buf, indent);
  tspec_buf_puts(buf, "{");
  put_value_name(explained, "value", seed->value, buf);
  tspec_json_number(buf, "dim", seed->dim);
  put_axis_name(explained, seed->axis, buf);
  put_said(explained, &seed->said, buf);
  tspec_buf_puts(buf, "}");
}

static const char *factor_kind(const tspec_explained_t *explained, int op, int factor) {
  static const char *const kinds[] = {
      [TSPEC_FACTOR_PASS_THROUGH] = "pass-through",
      [TSPEC_FACTOR_REDUCTION] = "reduction",
      [TSPEC_FACTOR_NEED_REPLICATION] = "need-replication",
      [TSPEC_FACTOR_PERMUTATION] = "permutation",
  };
  const tspec_factor_rule_t *rule = op < 0 ? NULL : tspec_prop_op_rule(explained->map->graph, op);
  return rule == NULL || factor < 0 ? NULL : kinds[rule->factors[factor].kind];
}

/// The op that an axis went through or stopped at.
static void put_op(const tspec_explained_t *explained, int id, int factor, tspec_buf_t *buf) {
  const tspec_op_t *op = tspec_explained_op(explained, id);
  tspec_json_text(buf, "op", op == NULL ? NULL : tspec_op_info(op->kind)->name);
  tspec_json_text(buf, "spelling", op == NULL ? NULL : op->spelling);
  put_place(explained, "line", op == NULL ? (tspec_range_t){0} : op->range, buf);
  tspec_json_text(buf, "factor", factor < 0 ? NULL : tspec_factor_name(explained->arena, factor));
  tspec_json_text(buf, "factor_kind", factor_kind(explained, id, factor));
}

static void put_step(const tspec_explained_t *explained, const tspec_chain_step_t *step,
                     tspec_buf_t *buf) {
  tspec_json_item(buf, 8);
  tspec_buf_puts(buf, "{");
  put_value_name(explained, "value", step->value, buf);
  tspec_json_number(buf, "dim", step->dim);
  put_axis_name(explained, step->axis, buf);
  tspec_json_text(buf, "by", tspec_cause_kind_name(step->kind));
  put_op(explained, step->op, step->factor, buf);
  tspec_json_number(buf, "level", step->level);
  tspec_json_number(buf, "priority", step->round);
  tspec_buf_puts(buf, "}");
}

static void put_reason(const tspec_explained_t *explained, const tspec_reason_t *reason,
                       const tspec_chain_t *chain, tspec_buf_t *buf) {
  tspec_json_item(buf, 6);
  tspec_buf_puts(buf, "{");
  tspec_json_key(buf, "seeds");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < reason->nseeds; i++) {
    put_seed(explained, reason->seeds[i], 8, buf);
  }
  tspec_buf_puts(buf, "]");
  tspec_json_key(buf, "chain");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < chain->count; i++) {
    put_step(explained, &chain->steps[i], buf);
  }
  tspec_buf_puts(buf, "]");
  tspec_json_number(buf, "skipped", chain->nskipped);
  tspec_buf_puts(buf, "}");
}

static void put_axis(const tspec_explained_t *explained, const tspec_explained_axis_t *axis,
                     tspec_buf_t *buf) {
  const tspec_effect_t *effect = tspec_explain_effect(explained->explain, axis->effect);
  tspec_json_item(buf, 4);
  tspec_buf_puts(buf, "{");
  tspec_json_number(buf, "dim", effect->dim);
  put_axis_name(explained, effect->axis, buf);
  tspec_json_number(buf, "all_reasons", axis->set);
  tspec_json_key(buf, "reasons");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < axis->nshown; i++) {
    const tspec_chain_request_t *request = &explained->chains.items[axis->first_chain + i];
    put_reason(explained, &request->reasons->items[request->reason], &request->chain, buf);
  }
  tspec_buf_puts(buf, "]}");
}

static void put_refusal(const tspec_explained_t *explained, const tspec_refusal_t *refusal,
                        tspec_buf_t *buf) {
  tspec_json_item(buf, 4);
  tspec_buf_puts(buf, "{");
  tspec_json_number(buf, "dim", refusal->dim);
  put_axis_name(explained, refusal->axis, buf);
  tspec_json_text(buf, "reason", tspec_refusal_reason_name(refusal->reason));
  tspec_json_text(buf, "because", tspec_explained_refusal(explained, refusal));
  tspec_json_number(buf, "other_dim", refusal->other_dim);
  tspec_json_key(buf, "from");
  tspec_buf_puts(buf, "{");
  put_value_name(explained, "value", refusal->source, buf);
  tspec_json_number(buf, "dim", tspec_explained_source_dim(explained, refusal));
  tspec_buf_puts(buf, "}");
  put_op(explained, refusal->op, refusal->factor, buf);
  tspec_buf_puts(buf, "}");
}

/// Dims that are not split because that was said.
static void put_closed(const tspec_explained_t *explained, const tspec_explained_value_t *value,
                       tspec_buf_t *buf) {
  const tspec_sharding_t *initial =
      value->value < 0 ? NULL : tspec_prop_initial(explained->map->graph, value->value);
  tspec_json_key(buf, "closed");
  tspec_buf_puts(buf, "[");
  for (int d = 0; initial != NULL && d < initial->rank; d++) {
    if (!initial->dims[d].open) {
      tspec_json_item(buf, 4);
      tspec_buf_puts(buf, "{");
      tspec_json_number(buf, "dim", d);
      put_said(explained, tspec_explained_start(explained, value->value, d), buf);
      tspec_buf_puts(buf, "}");
    }
  }
  tspec_buf_puts(buf, "]");
}

static void put_refusals_of(const tspec_explained_t *explained, int value, tspec_buf_t *buf) {
  const tspec_causes_t *causes = tspec_prop_causes(explained->map->graph);
  const tspec_refusal_t *refusal = value < 0 ? NULL : tspec_causes_first_refusal(causes, value);
  for (; refusal != NULL; refusal = tspec_causes_next_refusal(causes, refusal)) {
    put_refusal(explained, refusal, buf);
  }
}

static void put_refusals(const tspec_explained_t *explained, int value, tspec_buf_t *buf) {
  tspec_json_key(buf, "refused");
  tspec_buf_puts(buf, "[");
  put_refusals_of(explained, value, buf);
  put_refusals_of(explained, value < 0 ? -1 : tspec_explained_constrained(explained, value), buf);
  tspec_buf_puts(buf, "]");
}

static void put_value(const tspec_explained_t *explained, const tspec_explained_value_t *value,
                      tspec_buf_t *buf) {
  tspec_json_item(buf, 2);
  tspec_buf_puts(buf, "{");
  tspec_json_text(buf, "entry", value->entry);
  tspec_json_text(buf, "kind", value->kind);
  tspec_json_text(buf, "path", value->path);
  put_place(explained, "line", value->range, buf);
  tspec_json_text(buf, "dtype", tspec_dtype_name(value->type.dtype));
  tspec_json_key(buf, "shape");
  tspec_json_dims(buf, value->type);
  tspec_json_text(buf, "sharding",
                  tspec_sharding_print(explained->arena, explained->mesh, value->sharding));
  tspec_json_key(buf, "axes");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < value->naxes; i++) {
    put_axis(explained, &explained->axes.items[value->first_axis + i], buf);
  }
  tspec_buf_puts(buf, "]");
  put_closed(explained, value, buf);
  put_refusals(explained, value->value, buf);
  tspec_buf_puts(buf, "}");
}

/// All that is said, and the reasons of all axes as numbers of it: those that are alike once.
static void put_sets(const tspec_explained_t *explained, tspec_buf_t *buf) {
  tspec_json_key(buf, "seeds");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < tspec_explain_nseeds(explained->explain); i++) {
    put_seed(explained, i, 2, buf);
  }
  tspec_buf_puts(buf, "]");
  tspec_json_key(buf, "reasons");
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; i < explained->sets.count; i++) {
    const tspec_reasons_t *reasons = &explained->sets.items[i]->reasons;
    tspec_json_item(buf, 2);
    for (int r = 0; r < reasons->count; r++) {
      tspec_buf_puts(buf, r == 0 ? "[[" : ", [");
      for (int k = 0; k < reasons->items[r].nseeds; k++) {
        tspec_buf_printf(buf, "%s%d", k == 0 ? "" : ", ", reasons->items[r].seeds[k]);
      }
      tspec_buf_puts(buf, "]");
    }
    tspec_buf_puts(buf, "]");
  }
  tspec_buf_puts(buf, "]");
}

static void put_spent(const char *key, tspec_spent_t spent, tspec_buf_t *buf) {
  tspec_json_key(buf, key);
  tspec_buf_puts(buf, "{");
  tspec_json_number(buf, "bytes", spent.bytes);
  tspec_json_number(buf, "cost", spent.cost);
  tspec_buf_puts(buf, "}");
}

static void put_moved(const tspec_explained_t *explained, const tspec_moved_t *moved,
                      tspec_buf_t *buf) {
  tspec_arena_t *arena = explained->driver->arena;
  tspec_json_item(buf, 4);
  tspec_buf_puts(buf, "{");
  tspec_json_text(buf, "value", moved->name);
  tspec_json_text(buf, "propagated", tspec_sharding_print(arena, explained->mesh, moved->was));
  tspec_json_text(buf, "lies", tspec_sharding_print(arena, explained->mesh, moved->now));
  tspec_buf_puts(buf, "}");
}

/// The entries whose layouts are chosen by cost.
static void put_layouts(const tspec_explained_t *explained, tspec_buf_t *buf) {
  const tspec_program_t *program = explained->driver->program;
  tspec_json_key(buf, "layouts");
  tspec_buf_puts(buf, "[");
  for (int i = 0; i < program->nfuncs; i++) {
    const tspec_by_cost_t *by_cost = program->funcs[i]->by_cost;
    if (by_cost == NULL) {
      continue;
    }
    tspec_json_item(buf, 2);
    tspec_buf_puts(buf, "{");
    tspec_json_text(buf, "entry", program->funcs[i]->name);
    put_spent("by_cost", by_cost->spent, buf);
    put_spent("by_vote", by_cost->by_vote, buf);
    tspec_json_key(buf, "moved");
    tspec_buf_puts(buf, "[");
    for (int k = 0; k < by_cost->nmoved; k++) {
      put_moved(explained, &by_cost->moved[k], buf);
    }
    tspec_buf_puts(buf, "]}");
  }
  tspec_buf_puts(buf, "]");
}

void tspec_explained_put_json(const tspec_explained_t *explained, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "{");
  tspec_json_text(buf, "program", explained->map->program->name);
  tspec_json_key(buf, "mesh");
  tspec_json_mesh(buf, explained->mesh);
  tspec_json_key(buf, "values");
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; i < explained->values.count; i++) {
    put_value(explained, &explained->values.items[i], buf);
  }
  tspec_buf_puts(buf, "]");
  put_sets(explained, buf);
  put_layouts(explained, buf);
  tspec_json_key(buf, "collectives");
  tspec_buf_printf(buf, "[%s]}\n", tspec_buf_get(&explained->driver->collectives));
}
