// --explain: which values are meant, and why they are split as they are.
#include "frontend/driver_explain.h"

#include <string.h>

// ---- names of what is in the graph ----

static const tspec_prop_site_t *site_of(const tspec_explained_t *explained, int value) {
  return &explained->map->sites.items[tspec_prop_value_origin(explained->map->graph, value)];
}

const char *tspec_explained_name(const tspec_explained_t *explained, int value) {
  const tspec_prop_site_t *site = site_of(explained, value);
  if (site->param >= 0) {
    return explained->map->program->params[site->param].path;
  }
  return site->value == NULL ? site->result->name : site->value->name;
}

static const char *op_spelling(const tspec_op_t *op) {
  return op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
}

const char *tspec_explained_maker(const tspec_explained_t *explained, int value) {
  const tspec_prop_site_t *site = site_of(explained, value);
  if (site->value == NULL) {
    return "a result";
  }
  return site->value->def == NULL
             ? "an argument"
             : tspec_arena_printf(explained->arena, "'%s'", op_spelling(site->value->def));
}

const tspec_op_t *tspec_explained_op(const tspec_explained_t *explained, int op) {
  int origin = op < 0 ? -1 : tspec_prop_op_origin(explained->map->graph, op);
  return origin < 0 || origin >= (int)explained->map->ops.count ? NULL
                                                                : explained->map->ops.items[origin];
}

const char *tspec_explained_said(const tspec_explained_t *explained, const tspec_said_t *said) {
  const char *place =
      said == NULL || said->range.line == 0
          ? ""
          : tspec_arena_printf(explained->arena, " (%s)",
                               tspec_range_brief(&explained->driver->sources, said->range));
  if (said == NULL || said->rule == NULL) {
    return tspec_arena_printf(explained->arena, "annotation%s", place);
  }
  const char *quote = strchr(said->rule, '"') == NULL ? "\"" : "";
  const char *rule =
      tspec_arena_printf(explained->arena, "rule %s%s%s%s", quote, said->rule, quote, place);
  return said->is_blocked
             ? tspec_arena_printf(explained->arena, "%s, blocked by dim %d", rule, said->blocker)
             : rule;
}

const tspec_said_t *tspec_explained_start(const tspec_explained_t *explained, int value, int dim) {
  const tspec_sharding_t *initial = tspec_prop_initial(explained->map->graph, value);
  return initial == NULL || initial->said == NULL ? NULL : &initial->said[dim];
}

int tspec_explained_constrained(const tspec_explained_t *explained, int value) {
  const tspec_prop_site_t *site = site_of(explained, value);
  const tspec_op_t *op = site->value == NULL ? NULL : site->value->def;
  unsigned traits = op == NULL ? 0 : tspec_op_info(op->kind)->rules->traits;
  bool is_let = (traits & TSPEC_TRAIT_IDENTITY) != 0 && (traits & TSPEC_TRAIT_BARRIER) == 0;
  return is_let && op->operands[0]->name == NULL ? op->operands[0]->id : -1;
}

// ---- what stayed undone ----

int tspec_explained_source_dim(const tspec_explained_t *explained, const tspec_refusal_t *refusal) {
  return refusal->op < 0 ? refusal->dim
                         : tspec_prop_factor_dim(explained->map->graph, refusal->op,
                                                 refusal->source, refusal->factor, 0);
}

/// What took the axis first, where rounds or levels decided that; else "".
static const char *earlier(const tspec_explained_t *explained, const tspec_refusal_t *refusal) {
  const tspec_causes_t *causes = tspec_prop_causes(explained->map->graph);
  int dim = tspec_explained_source_dim(explained, refusal);
  const tspec_cause_t *taken =
      tspec_causes_find(causes, refusal->value, refusal->other_dim, refusal->axis);
  const tspec_cause_t *late =
      dim < 0 ? NULL : tspec_causes_find(causes, refusal->source, dim, refusal->axis);
  if (taken == NULL || late == NULL) {
    return "";
  }
  if (taken->round < late->round) {
    return tspec_arena_printf(explained->arena, ", of priority %d before %d", taken->round,
                              late->round);
  }
  int level = late->level > refusal->level ? late->level : refusal->level;
  return taken->level < level ? tspec_arena_printf(explained->arena, ", at op level %d before %d",
                                                   taken->level, level)
                              : "";
}

static bool is_barrier(const tspec_op_t *op) {
  return op != NULL && (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_BARRIER) != 0;
}

const char *tspec_explained_refusal(const tspec_explained_t *explained,
                                    const tspec_refusal_t *refusal) {
  tspec_arena_t *arena = explained->arena;
  const tspec_said_t *start = tspec_explained_start(explained, refusal->value, refusal->dim);
  const char *axis = tspec_axes_print(arena, explained->mesh, &refusal->axis, 1);
  switch (refusal->reason) {
  case TSPEC_REFUSAL_CLOSED:
    return tspec_arena_printf(arena, "closed by %s", tspec_explained_said(explained, start));
  case TSPEC_REFUSAL_AXIS_USED:
    return tspec_arena_printf(arena, "%s splits dim %d%s", axis, refusal->other_dim,
                              earlier(explained, refusal));
  case TSPEC_REFUSAL_REPLICATED:
    return tspec_arena_printf(arena, "whole along %s by a later priority", axis);
  case TSPEC_REFUSAL_PENDING:
    return tspec_arena_printf(arena, "pending along %s", axis);
  case TSPEC_REFUSAL_BLOCKED:
    return is_barrier(tspec_explained_op(explained, refusal->op))
               ? "blocked: a barrier stands there"
               : "blocked: the op lets no split through there";
  case TSPEC_REFUSAL_NO_DIVIDE:
    return tspec_arena_printf(arena, "%s does not divide what is left of that part of the dim",
                              axis);
  case TSPEC_REFUSAL_CONFLICT:
    return "conflict: the tensors of the op disagree";
  case TSPEC_REFUSAL_LEVEL:
    return "no op level does that";
  case TSPEC_REFUSAL_COUNT:
    break;
  }
  return "";
}

// ---- which values ----

static const tspec_sharding_t *closed(const tspec_explained_t *explained, int value) {
  return tspec_sharding_close(explained->arena, tspec_prop_sharding(explained->map->graph, value));
}

static void add_value(tspec_explained_t *explained, tspec_explained_value_t value) {
  if (value.sharding == NULL) {
    value.sharding = closed(explained, value.value);
  }
  TSPEC_VEC_PUSH(explained->arena, &explained->all, value);
}

static bool is_selected(const tspec_explained_t *explained, const tspec_func_t *func) {
  const tspec_words_t *entries = &explained->driver->command->entries;
  for (size_t i = 0; i < entries->count; i++) {
    if (strcmp(entries->items[i], func->name) == 0) {
      return true;
    }
  }
  return entries->count == 0;
}

static void add_params(tspec_explained_t *explained) {
  const tspec_program_t *program = explained->map->program;
  for (int i = 0; i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    const tspec_prop_uses_t *uses = &explained->map->params[i];
    tspec_explained_value_t value = {.kind = param->is_state ? "state" : "param",
                                     .path = param->path,
                                     .value = uses->values.count > 0 ? uses->values.items[0] : -1,
                                     .type = param->type,
                                     .range = param->range};
    if (value.value < 0) {
      value.sharding = param->sharding == NULL
                           ? tspec_sharding_replicated(explained->arena, param->type.rank)
                           : tspec_sharding_close(explained->arena, param->sharding);
    }
    add_value(explained, value);
  }
}

/// Values without a name are kept apart, for FILE:LINE.
static void add_results(tspec_explained_t *explained, const char *entry, const tspec_op_t *op) {
  for (int i = 0; i < op->nresults; i++) {
    const tspec_value_t *value = op->results[i];
    add_value(explained, (tspec_explained_value_t){.entry = entry,
                                                   .kind = "value",
                                                   .path = value->name,
                                                   .value = value->id,
                                                   .type = value->type,
                                                   .range = value->range});
  }
}

static void add_func(tspec_explained_t *explained, int index) {
  const tspec_func_t *func = explained->map->program->funcs[index];
  for (int i = 0; i < func->nargs; i++) {
    const tspec_value_t *value = func->args[i].value;
    if (func->args[i].kind == TSPEC_SLOT_INPUT) {
      add_value(explained, (tspec_explained_value_t){.entry = func->name,
                                                     .kind = "input",
                                                     .path = func->args[i].name,
                                                     .value = value->id,
                                                     .type = value->type,
                                                     .range = value->range});
    }
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    add_results(explained, func->name, op);
  }
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    if (result->kind == TSPEC_SLOT_RESULT) {
      add_value(explained,
                (tspec_explained_value_t){.entry = func->name,
                                          .kind = "result",
                                          .path = result->name,
                                          .value = explained->map->first_return[index] + i,
                                          .type = result->value->type,
                                          .range = result->range});
    }
  }
}

/// Ways of naming a value, the nearest first.
typedef enum match_t { MATCH_PATH, MATCH_ENTRY, MATCH_END, MATCH_LINE, MATCH_COUNT } match_t;

static bool matches(const tspec_explained_t *explained, const tspec_explained_value_t *value,
                    match_t how, const char *text) {
  if (how == MATCH_LINE) {
    return value->range.line > 0 &&
           strcmp(tspec_range_brief(&explained->driver->sources, value->range), text) == 0;
  }
  if (value->path == NULL) {
    return false;
  }
  size_t length = strlen(value->path);
  switch (how) {
  case MATCH_PATH:
    return strcmp(value->path, text) == 0;
  case MATCH_ENTRY:
    return value->entry != NULL && strncmp(text, value->entry, strlen(value->entry)) == 0 &&
           text[strlen(value->entry)] == '/' &&
           strcmp(text + strlen(value->entry) + 1, value->path) == 0;
  case MATCH_END:
    return length > strlen(text) && value->path[length - strlen(text) - 1] == '/' &&
           strcmp(value->path + length - strlen(text), text) == 0;
  case MATCH_LINE:
  case MATCH_COUNT:
    break;
  }
  return false;
}

static bool select_values(tspec_explained_t *explained, const char *text) {
  bool found = false;
  for (int how = 0; how < MATCH_COUNT && !found; how++) {
    for (size_t i = 0; i < explained->all.count; i++) {
      if (matches(explained, &explained->all.items[i], (match_t)how, text)) {
        TSPEC_VEC_PUSH(explained->arena, &explained->values, explained->all.items[i]);
        found = true;
      }
    }
  }
  return found;
}

/// Names near to one that there is not, the nearest first.
typedef struct near_t {
  int count;
  const char *names[3];
  size_t distances[3];
} near_t;

enum { MOST_NEAR = sizeof((near_t *)NULL)->names / sizeof(const char *) };

static void add_near(near_t *near, const char *name, size_t distance) {
  int at = near->count < MOST_NEAR ? near->count++ : MOST_NEAR;
  for (; at > 0 && near->distances[at - 1] > distance; at--) {
    if (at < MOST_NEAR) {
      near->names[at] = near->names[at - 1];
      near->distances[at] = near->distances[at - 1];
    }
  }
  if (at < MOST_NEAR) {
    near->names[at] = name;
    near->distances[at] = distance;
  }
}

/// How far `text` is from a path, or from its last part.
static size_t path_distance(const char *path, const char *text) {
  const char *slash = strrchr(path, '/');
  size_t whole = tspec_str_distance(path, text);
  size_t last = slash == NULL ? whole : tspec_str_distance(slash + 1, text);
  return last < whole ? last : whole;
}

/// Up to three names that are nearly `text`: "'h' or 'blocks/h'"; NULL: none.
static const char *near_names(const tspec_explained_t *explained, const char *text) {
  size_t most = strlen(text) / 3 > 1 ? strlen(text) / 3 : 1;
  tspec_names_t seen = {0};
  near_t near = {0};
  for (size_t i = 0; i < explained->all.count; i++) {
    const char *path = explained->all.items[i].path;
    if (path == NULL || tspec_names_get(&seen, path) != NULL) {
      continue;
    }
    tspec_names_set(explained->arena, &seen, path, (void *)path);
    size_t distance = path_distance(path, text);
    if (distance <= most) {
      add_near(&near, path, distance);
    }
  }
  const char *list = NULL;
  for (int i = 0; i < near.count; i++) {
    list = tspec_arena_printf(explained->arena, "%s%s'%s'", list == NULL ? "" : list,
                              i == 0               ? ""
                              : i + 1 < near.count ? ", "
                                                   : " or ",
                              near.names[i]);
  }
  return list;
}

static void collect_values(tspec_explained_t *explained) {
  add_params(explained);
  for (int i = 0; i < explained->map->program->nfuncs; i++) {
    if (is_selected(explained, explained->map->program->funcs[i])) {
      add_func(explained, i);
    }
  }
}

/// The values that the command names; all that have a name if it names none.
static bool choose_values(tspec_explained_t *explained, tspec_diag_t *diag) {
  const tspec_words_t *wanted = &explained->driver->command->explained;
  collect_values(explained);
  for (size_t i = 0; i < explained->all.count && wanted->count == 0; i++) {
    if (explained->all.items[i].path != NULL) {
      TSPEC_VEC_PUSH(explained->arena, &explained->values, explained->all.items[i]);
    }
  }
  for (size_t i = 0; i < wanted->count; i++) {
    const char *text = wanted->items[i];
    if (!select_values(explained, text)) {
      const char *names = near_names(explained, text);
      tspec_diag_error(diag, (tspec_range_t){0}, "--explain: there is no value '%s'%s%s%s", text,
                       names == NULL ? " (--shardings shows all)" : "; did you mean ",
                       names == NULL ? "" : names, names == NULL ? "" : "?");
      return false;
    }
  }
  return true;
}

// ---- why ----

enum { BRIEF_REASONS = 5, BRIEF_STEPS = 12 };

static bool same_reasons(const tspec_reasons_t *a, const tspec_reasons_t *b) {
  bool same = a->count == b->count;
  for (int i = 0; same && a->items != b->items && i < a->count; i++) {
    same = a->items[i].nseeds == b->items[i].nseeds &&
           memcmp(a->items[i].seeds, b->items[i].seeds,
                  sizeof *a->items[i].seeds * (size_t)a->items[i].nseeds) == 0;
  }
  return same;
}

/// The set of an effect's reasons; values that are split for the same reasons share it.
static int find_set(tspec_explained_t *explained, int effect) {
  tspec_reasons_t reasons = tspec_explain_reasons(explained->explain, effect);
  int *last = &explained->set_of_seed[reasons.items[0].seeds[0]];
  if (*last == 0 || !same_reasons(&explained->sets.items[*last - 1]->reasons, &reasons)) {
    tspec_explained_set_t *set = TSPEC_ARENA_NEW(explained->arena, tspec_explained_set_t, 1);
    set->reasons = reasons;
    TSPEC_VEC_PUSH(explained->arena, &explained->sets, set);
    *last = (int)explained->sets.count;
  }
  return *last - 1;
}

static void request_chain(tspec_explained_t *explained, tspec_explained_axis_t *axis, int reason) {
  const tspec_explained_set_t *set = explained->sets.items[axis->set];
  TSPEC_VEC_PUSH(explained->arena, &explained->chains,
                 (tspec_chain_request_t){.effect = axis->effect,
                                         .reasons = &set->reasons,
                                         .reason = reason,
                                         .most = explained->is_brief ? BRIEF_STEPS : 0});
  axis->nshown++;
}

/// Asks for the chain of the recorded reason first, then for the others: in brief for the nearest
/// ones, if these are known without their chains.
static void explain_axis(tspec_explained_t *explained, int effect) {
  tspec_explained_axis_t axis = {.effect = effect,
                                 .set = find_set(explained, effect),
                                 .first_chain = (int)explained->chains.count};
  const tspec_reasons_t *reasons = &explained->sets.items[axis.set]->reasons;
  int recorded = tspec_explain_recorded(explained->explain, effect, reasons);
  request_chain(explained, &axis, recorded);
  int nearest[BRIEF_REASONS];
  int nnear = explained->is_brief
                  ? tspec_explain_nearest(explained->explain, effect, BRIEF_REASONS, nearest)
                  : -1;
  int count = nnear < 0 ? reasons->count : nnear;
  for (int i = 0; i < count && (nnear < 0 || axis.nshown < BRIEF_REASONS); i++) {
    int reason = nnear < 0 ? i : nearest[i];
    if (reason != recorded) {
      request_chain(explained, &axis, reason);
    }
  }
  TSPEC_VEC_PUSH(explained->arena, &explained->axes, axis);
}

static int chain_length(const tspec_chain_request_t *request) {
  return request->chain.count + request->chain.nskipped;
}

/// Orders the chains behind the recorded one by length, and in brief drops what is too many.
static void choose_shown(const tspec_explained_t *explained, tspec_explained_axis_t *axis) {
  tspec_chain_request_t *chains = &explained->chains.items[axis->first_chain];
  for (int i = 2; i < axis->nshown; i++) { // stable
    tspec_chain_request_t chain = chains[i];
    int at = i;
    for (; at > 1 && chain_length(&chains[at - 1]) > chain_length(&chain); at--) {
      chains[at] = chains[at - 1];
    }
    chains[at] = chain;
  }
  if (explained->is_brief && axis->nshown > BRIEF_REASONS) {
    axis->nshown = BRIEF_REASONS;
  }
}

static void explain_value(tspec_explained_t *explained, tspec_explained_value_t *value) {
  value->first_axis = (int)explained->axes.count;
  if (value->value < 0) {
    return;
  }
  int end = tspec_explain_first_effect(explained->explain, value->value + 1);
  for (int i = tspec_explain_first_effect(explained->explain, value->value); i < end; i++) {
    explain_axis(explained, i);
    value->naxes++;
  }
}

/// What a reason says, its seeds joined by "together with".
static const char *said_by(const tspec_explained_t *explained, const tspec_reason_t *reason) {
  const char *text = NULL;
  for (int i = 0; i < reason->nseeds; i++) {
    const char *said = tspec_explained_said(
        explained, &tspec_explain_seed(explained->explain, reason->seeds[i])->said);
    text = text == NULL ? said
                        : tspec_arena_printf(explained->arena, "%s together with %s", text, said);
  }
  return text;
}

const char *tspec_explained_summary(const tspec_explained_t *explained,
                                    tspec_explained_set_t *set) {
  if (set->summary != NULL) {
    return set->summary;
  }
  tspec_names_t counts = {0};
  TSPEC_VEC(const char *) texts = {0};
  for (int i = 0; i < set->reasons.count; i++) {
    const char *text = said_by(explained, &set->reasons.items[i]);
    int *count = tspec_names_get(&counts, text);
    if (count == NULL) {
      count = TSPEC_ARENA_NEW(explained->arena, int, 1);
      tspec_names_set(explained->arena, &counts, text, count);
      TSPEC_VEC_PUSH(explained->arena, &texts, text);
    }
    ++*count;
  }
  tspec_buf_t buf = {0};
  for (size_t i = 0; i < texts.count; i++) {
    int count = *(int *)tspec_names_get(&counts, texts.items[i]);
    tspec_buf_printf(&buf, "%s%s", i == 0 ? "" : ", ", texts.items[i]);
    if (count > 1) {
      tspec_buf_printf(&buf, " (%d times)", count);
    }
  }
  set->summary = tspec_arena_strdup(explained->arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return set->summary;
}

bool tspec_driver_explain(tspec_driver_t *driver, tspec_buf_t *buf) {
  if (driver->propagated == NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0},
                     "--explain: '%s' is not propagated by this command; start from the source or "
                     "from level global",
                     driver->command->input);
    return false;
  }
  tspec_explained_t explained = {.driver = driver,
                                 .arena = driver->arena,
                                 .mesh = &driver->propagated->mesh,
                                 .is_brief = driver->command->explained.count == 0};
  explained.explain = tspec_explain_create(driver->arena, driver->propagated);
  explained.map = tspec_explain_map(explained.explain);
  explained.set_of_seed =
      TSPEC_ARENA_NEW(driver->arena, int, tspec_explain_nseeds(explained.explain));
  if (!choose_values(&explained, &driver->diag)) {
    return false;
  }
  for (size_t i = 0; i < explained.values.count; i++) {
    explain_value(&explained, &explained.values.items[i]);
  }
  tspec_explain_chains(explained.explain, (int)explained.chains.count, explained.chains.items,
                       driver->arena);
  for (size_t i = 0; i < explained.axes.count; i++) {
    choose_shown(&explained, &explained.axes.items[i]);
  }
  if (driver->command->explain == TSPEC_REPORT_JSON) {
    tspec_explained_put_json(&explained, buf);
  } else {
    tspec_explained_put_text(&explained, buf);
  }
  return true;
}
