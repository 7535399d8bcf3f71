// --explain as text.
#include <string.h>

#include "frontend/driver_explain.h"

static const char *place_of(const tspec_explained_t *explained, tspec_range_t range) {
  return tspec_range_brief(&explained->driver->sources, range);
}

static const char *label_of(const tspec_explained_t *explained, int value) {
  const char *name = tspec_explained_name(explained, value);
  return name != NULL ? name : tspec_explained_maker(explained, value);
}

/// "w1 dim 1"
static void put_dim(const tspec_explained_t *explained, int value, int dim, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "%s dim %d", label_of(explained, value), dim);
}

static const tspec_seed_t *seed_of(const tspec_explained_t *explained, int seed) {
  return tspec_explain_seed(explained->explain, seed);
}

/// Names the value at which was said what holds for another one with the same sharding
/// (same_sharding).
static void put_elsewhere(const tspec_explained_t *explained, int value, int said, int dim,
                          tspec_buf_t *buf) {
  const tspec_prop_site_t *sites = explained->map->sites.items;
  if (sites[value].value != sites[said].value &&
      strcmp(label_of(explained, value), label_of(explained, said)) != 0) {
    tspec_buf_puts(buf, " <- ");
    put_dim(explained, said, dim, buf);
    tspec_buf_puts(buf, " (same sharding)");
  }
}

/// " <- w1 dim 1 <- rule "mlp -> model" (gpt.tspec:9)": what has a name on the way.
static void put_chain(const tspec_explained_t *explained, const tspec_reason_t *reason,
                      const tspec_chain_t *chain, tspec_buf_t *buf) {
  int end = chain->seed;
  for (int i = 1; i < chain->count; i++) {
    const tspec_chain_step_t *step = &chain->steps[i];
    if (i + 1 == chain->count && chain->nskipped > 0) {
      tspec_buf_printf(buf, " <- %d more steps", chain->nskipped);
    }
    if (i + 1 == chain->count || tspec_explained_name(explained, step->value) != NULL) {
      tspec_buf_puts(buf, " <- ");
      put_dim(explained, step->value, step->dim, buf);
    }
  }
  if (end >= 0 && chain->count > 0) {
    const tspec_seed_t *seed = seed_of(explained, end);
    put_elsewhere(explained, chain->steps[chain->count - 1].value, seed->value, seed->dim, buf);
  }
  tspec_buf_printf(
      buf, " <- %s",
      tspec_explained_said(explained, end < 0 ? NULL : &seed_of(explained, end)->said));
  for (int i = 0; i < reason->nseeds; i++) {
    if (reason->seeds[i] != end) {
      const tspec_seed_t *seed = seed_of(explained, reason->seeds[i]);
      tspec_buf_puts(buf, ", together with ");
      put_dim(explained, seed->value, seed->dim, buf);
      tspec_buf_printf(buf, " on %s <- %s",
                       tspec_axes_print(explained->arena, explained->mesh, &seed->axis, 1),
                       tspec_explained_said(explained, &seed->said));
    }
  }
  tspec_buf_puts(buf, "\n");
}

static const char *factor_text(const tspec_explained_t *explained, int op, int factor) {
  static const char *const kinds[] = {
      [TSPEC_FACTOR_PASS_THROUGH] = "",
      [TSPEC_FACTOR_REDUCTION] = ", a reduced dim",
      [TSPEC_FACTOR_NEED_REPLICATION] = ", needed whole",
      [TSPEC_FACTOR_PERMUTATION] = ", with neighbours",
  };
  const tspec_factor_rule_t *rule = tspec_prop_op_rule(explained->map->graph, op);
  return rule == NULL || factor < 0
             ? ""
             : tspec_arena_printf(explained->arena, " factor %s%s",
                                  tspec_factor_name(explained->arena, factor),
                                  kinds[rule->factors[factor].kind]);
}

/// One op that the axis went through: "'@' factor j, line 12".
static void put_op(const tspec_explained_t *explained, const tspec_chain_step_t *step,
                   tspec_buf_t *buf) {
  const tspec_op_t *op = tspec_explained_op(explained, step->op);
  if (op == NULL || step->kind == TSPEC_CAUSE_CONSTRAINT) {
    tspec_buf_puts(buf, tspec_cause_kind_name(step->kind));
    return;
  }
  tspec_buf_printf(buf, "'%s'%s",
                   op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name,
                   factor_text(explained, step->op, step->factor));
  if (op->range.file == explained->driver->file) {
    tspec_buf_printf(buf, ", line %u", op->range.line);
  } else if (op->range.line > 0) {
    tspec_buf_printf(buf, ", %s", place_of(explained, op->range));
  }
}

/// The ops that the axis went through, from the value back; of many the first ones.
static void put_ops(const tspec_explained_t *explained, const tspec_chain_t *chain,
                    tspec_buf_t *buf) {
  enum { SHOWN = 5 };
  int nops = 0;
  for (int i = 0; i < chain->count; i++) {
    const tspec_chain_step_t *step = &chain->steps[i];
    bool is_copy = step->kind == TSPEC_CAUSE_OP && tspec_explained_op(explained, step->op) == NULL;
    if (step->kind == TSPEC_CAUSE_ANNOTATION || is_copy) {
      continue;
    }
    if (nops++ < SHOWN) {
      tspec_buf_puts(buf, nops == 1 ? "    through " : "; ");
      put_op(explained, step, buf);
    }
  }
  int nmore = chain->nskipped + (nops > SHOWN ? nops - SHOWN : 0);
  if (nmore > 0) {
    tspec_buf_printf(buf, "; %d more", nmore);
  }
  tspec_buf_puts(buf, nops > 0 ? "\n" : "");
}

/// One reason as text, to be told from others.
typedef struct line_t {
  const char *text;
  int count; ///< reasons that read alike: of unrolled layers
} line_t;

typedef TSPEC_VEC(line_t) lines_t;

static void add_line(const tspec_explained_t *explained, lines_t *lines, tspec_names_t *seen,
                     const char *text) {
  size_t *at = tspec_names_get(seen, text);
  if (at != NULL) {
    lines->items[*at].count++;
    return;
  }
  at = TSPEC_ARENA_NEW(explained->arena, size_t, 1);
  *at = lines->count;
  tspec_names_set(explained->arena, seen, text, at);
  TSPEC_VEC_PUSH(explained->arena, lines, (line_t){text, 1});
}

/// Those of the shown reasons, which are in order; the recorded one first.
static lines_t reason_lines(const tspec_explained_t *explained,
                            const tspec_explained_axis_t *axis) {
  lines_t lines = {0};
  tspec_names_t seen = {0};
  for (int i = 0; i < axis->nshown; i++) {
    const tspec_chain_request_t *request = &explained->chains.items[axis->first_chain + i];
    tspec_buf_t text = {0};
    put_chain(explained, &request->reasons->items[request->reason], &request->chain, &text);
    put_ops(explained, &request->chain, &text);
    add_line(explained, &lines, &seen,
             tspec_arena_strdup(explained->arena, tspec_buf_get(&text), text.length));
    tspec_buf_deinit(&text);
  }
  return lines;
}

static void put_axis(const tspec_explained_t *explained, const char *head,
                     const tspec_explained_axis_t *axis, tspec_buf_t *buf) {
  const tspec_effect_t *effect = tspec_explain_effect(explained->explain, axis->effect);
  lines_t lines = reason_lines(explained, axis);
  for (size_t i = 0; i < lines.count; i++) {
    const line_t *line = &lines.items[i];
    const char *end = strchr(line->text, '\n');
    if (i == 0) {
      tspec_buf_printf(buf, "%s: dim %d on %s", head, effect->dim,
                       tspec_axes_print(explained->arena, explained->mesh, &effect->axis, 1));
    } else {
      tspec_buf_puts(buf, "  or");
    }
    tspec_buf_append(buf, line->text, (size_t)(end - line->text));
    if (line->count > 1) {
      tspec_buf_printf(buf, " (%d times)", line->count);
    }
    tspec_buf_puts(buf, end);
  }
  tspec_explained_set_t *set = explained->sets.items[axis->set];
  if (axis->nshown < set->reasons.count) {
    tspec_buf_printf(buf, "  %d reasons in all: %s\n", set->reasons.count,
                     tspec_explained_summary(explained, set));
  }
}

/// A dim that is not split: what closes it, or that no axis came.
static void put_whole_dim(const tspec_explained_t *explained, const char *head, int value, int dim,
                          tspec_buf_t *buf) {
  const tspec_prop_graph_t *graph = explained->map->graph;
  const tspec_sharding_t *initial = tspec_prop_initial(graph, value);
  tspec_buf_printf(buf, "%s: dim %d whole", head, dim);
  if (initial == NULL || initial->dims[dim].open) {
    tspec_buf_puts(buf, ": nothing splits it\n");
    return;
  }
  int said = tspec_prop_initial_value(graph, value);
  put_elsewhere(explained, value, said, dim, buf);
  tspec_buf_printf(buf, " <- %s\n",
                   tspec_explained_said(explained, tspec_explained_start(explained, value, dim)));
}

/// "h [data] sum(model): pending over model <- annotation (gpt.tspec:9)": only where it was said.
static void put_pending(const tspec_explained_t *explained, const char *head, int value,
                        tspec_buf_t *buf) {
  const tspec_sharding_t *initial = tspec_prop_initial(explained->map->graph, value);
  if (initial != NULL && initial->npending > 0) {
    const tspec_said_t *said =
        initial->rank == 0 ? NULL : tspec_explained_start(explained, value, 0);
    tspec_buf_printf(
        buf, "%s: pending over %s <- %s\n", head,
        tspec_axes_print(explained->arena, explained->mesh, initial->pending, initial->npending),
        tspec_explained_said(explained, said));
  }
}

static void put_refusals(const tspec_explained_t *explained, const char *head, int value,
                         tspec_names_t *seen, tspec_buf_t *buf) {
  const tspec_causes_t *causes = tspec_prop_causes(explained->map->graph);
  for (const tspec_refusal_t *refusal = tspec_causes_first_refusal(causes, value); refusal != NULL;
       refusal = tspec_causes_next_refusal(causes, refusal)) {
    const tspec_op_t *op = tspec_explained_op(explained, refusal->op);
    const char *source = label_of(explained, refusal->source);
    int dim = tspec_explained_source_dim(explained, refusal);
    const char *text = tspec_arena_printf(
        explained->arena, "%s: dim %d not on %s of %s dim %d%s: %s\n", head, refusal->dim,
        tspec_axes_print(explained->arena, explained->mesh, &refusal->axis, 1), source, dim,
        op == NULL ? ""
                   : tspec_arena_printf(explained->arena, " through '%s' (%s)",
                                        op->spelling != NULL ? op->spelling
                                                             : tspec_op_info(op->kind)->name,
                                        place_of(explained, op->range)),
        tspec_explained_refusal(explained, refusal));
    if (tspec_names_get(seen, text) == NULL) {
      tspec_names_set(explained->arena, seen, text, (void *)text);
      tspec_buf_puts(buf, text);
    }
  }
}

static const char *head_of(const tspec_explained_t *explained,
                           const tspec_explained_value_t *value) {
  bool several = explained->map->program->nfuncs > 1 && value->entry != NULL;
  const char *name =
      value->path != NULL ? value->path : tspec_explained_maker(explained, value->value);
  return tspec_arena_printf(
      explained->arena, "%s%s%s%s %s", strcmp(value->kind, "result") == 0 ? "result " : "", name,
      several ? " in " : "", several ? value->entry : "",
      tspec_sharding_print(explained->arena, explained->mesh, value->sharding));
}

static void put_value(const tspec_explained_t *explained, const tspec_explained_value_t *value,
                      tspec_buf_t *buf) {
  const char *head = head_of(explained, value);
  if (value->value < 0) {
    tspec_buf_printf(buf, "%s: as declared: nothing reads it\n", head);
    return;
  }
  int next = 0;
  for (int d = 0; d < value->type.rank; d++) {
    bool split = false;
    for (; next < value->naxes; next++) {
      const tspec_explained_axis_t *axis = &explained->axes.items[value->first_axis + next];
      if (tspec_explain_effect(explained->explain, axis->effect)->dim != d) {
        break;
      }
      put_axis(explained, head, axis, buf);
      split = true;
    }
    if (!split) {
      put_whole_dim(explained, head, value->value, d, buf);
    }
  }
  if (value->type.rank == 0) {
    tspec_buf_printf(buf, "%s: a scalar\n", head);
  }
  put_pending(explained, head, value->value, buf);
  tspec_names_t seen = {0};
  put_refusals(explained, head, value->value, &seen, buf);
  int read = tspec_explained_constrained(explained, value->value);
  if (read >= 0) {
    put_refusals(explained, head, read, &seen, buf);
  }
}

void tspec_explained_put_text(const tspec_explained_t *explained, tspec_buf_t *buf) {
  for (size_t i = 0; i < explained->values.count; i++) {
    put_value(explained, &explained->values.items[i], buf);
  }
  tspec_buf_puts(buf, tspec_buf_get(&explained->driver->collectives));
}
