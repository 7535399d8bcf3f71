#include <string.h>

#include "frontend/check_rules.h"
#include "frontend/print.h"

// ---- collecting ------------------------------------------------------------------------------

bool tspec_check_rule_entry(tspec_checker_t *c, tspec_ast_name_t name, const char **out_entry) {
  *out_entry = name.text;
  if (name.text == NULL) {
    return true;
  }
  tspec_names_t entries = {0};
  for (size_t i = 0; i < c->globals.count; ++i) {
    tspec_global_t *global = c->globals.items[i];
    if (global->kind == TSPEC_GLOBAL_ENTRY) {
      tspec_names_set(c->arena, &entries, global->name.text, global);
    }
  }
  if (tspec_names_get(&entries, name.text) != NULL) {
    return true;
  }
  const char *nearest = tspec_names_nearest(&entries, name.text);
  tspec_check_error(c, name.range, "there is no entry '%s'%s%s%s", name.text,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
  return false;
}

bool tspec_check_rule_holds(const tspec_checker_t *c, const char *entry, int round) {
  if (round == 1) {
    return entry == NULL;
  }
  return entry != NULL && c->entry != NULL && strcmp(entry, c->entry->fn->name.text) == 0;
}

static void add_axis_rules(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  const char *entry = NULL;
  bool ok = tspec_check_rule_entry(c, decl->u.shard_axes.entry, &entry);
  for (size_t i = 0; i < decl->u.shard_axes.nrules; ++i) {
    const tspec_ast_axis_rule_t *written = &decl->u.shard_axes.rules[i];
    tspec_axis_rule_t *rule = TSPEC_ARENA_NEW(c->arena, tspec_axis_rule_t, 1);
    rule->axis = written->axis.text;
    rule->written = &written->entry;
    rule->range = written->range;
    rule->entry = entry;
    const tspec_global_t *axis = tspec_home_find(&c->user, rule->axis);
    rule->is_declared = axis != NULL && axis->kind == TSPEC_GLOBAL_AXIS;
    const char *what = tspec_arena_printf(c->arena, "the rule for '%s'", rule->axis);
    rule->is_valid = tspec_check_entry_dim(c, &written->entry, what, -1, &rule->dim) && ok;
    for (int k = 1; k < rule->dim.naxes; ++k) {
      for (int m = 0; m < k; ++m) {
        const char *name = c->program->mesh.axes[rule->dim.axes[k].axis].name;
        if (tspec_axis_clash(rule->dim.axes[k], rule->dim.axes[m])) {
          bool overlap = tspec_axis_overlap(rule->dim.axes[k], rule->dim.axes[m]);
          tspec_check_error(c, written->entry.range,
                            overlap ? "%s uses mesh axis '%s' twice"
                                    : "%s cuts mesh axis '%s' in two different ways",
                            what, name);
          rule->is_valid = false;
        }
      }
    }
    TSPEC_VEC_PUSH(c->arena, &c->rules->axes, rule);
  }
}

static void add_rules(tspec_checker_t *c, const tspec_item_t *item) {
  if (item->decl->kind == TSPEC_AST_DECL_SHARD_AXES) {
    add_axis_rules(c, item->decl);
  } else if (item->decl->kind == TSPEC_AST_DECL_SHARD_PARAMS ||
             item->decl->kind == TSPEC_AST_DECL_SHARD_VALUES) {
    tspec_check_add_path_rules(c, item->decl);
  }
}

void tspec_check_rules(tspec_checker_t *c, const tspec_items_t *items) {
  c->rules = TSPEC_ARENA_NEW(c->arena, tspec_rules_t, 1);
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, &c->user, NULL);
  c->frame = &frame;
  for (int origin = 2; origin >= 0; origin -= 2) { // rules files first
    for (size_t i = 0; i < items->count; ++i) {
      const tspec_item_t *item = &items->items[i];
      if ((item->origin == 2) == (origin == 2) && item->origin != 3) {
        add_rules(c, item);
      }
    }
  }
  tspec_check_flush_trace(c);
  c->frame = NULL;
}

void tspec_check_rules_enter(tspec_checker_t *c) {
  c->rules->value_cache = (tspec_names_t){0};
}

// ---- who said it -----------------------------------------------------------------------------

// The rule as written, on one line.
static const char *rule_text(tspec_checker_t *c, tspec_range_t range) {
  const tspec_source_t *source = tspec_sources_get(c->sources, range.file);
  const char *at = source->text + source->line_starts[range.line - 1] + range.col - 1;
  const char *end = source->text + source->line_starts[range.end_line - 1] + range.end_col - 1;
  char *text = tspec_arena_alloc(c->arena, (size_t)(end - at) + 1);
  size_t length = 0;
  for (; at < end; ++at) {
    bool is_space = *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r';
    if (!is_space) {
      text[length++] = *at;
    } else if (length > 0 && text[length - 1] != ' ') {
      text[length++] = ' ';
    }
  }
  text[length] = '\0';
  return text;
}

tspec_said_t *tspec_check_say(tspec_checker_t *c, int rank, tspec_range_t rule) {
  tspec_said_t *said = TSPEC_ARENA_NEW(c->arena, tspec_said_t, rank);
  const char *text = rule_text(c, rule);
  for (int i = 0; i < rank; ++i) {
    said[i] = (tspec_said_t){.range = rule, .rule = text};
  }
  return said;
}

// ---- shard axes ------------------------------------------------------------------------------
// The order that Flax, T5X and MaxText rely on: the rules are walked, not the dims.

typedef enum dim_state_t { DIM_NOTHING, DIM_BLOCKED, DIM_DONE } dim_state_t;

typedef struct resolve_t {
  const tspec_declared_t *declared;
  tspec_dim_t *dims;
  dim_state_t *states;
  tspec_axis_rule_t **fired; ///< the rule of each dim, or the first that was blocked
  int *blockers;             ///< of a blocked dim: the dim that has the mesh axes
} resolve_t;

// The dim that uses a mesh axis of `rule` already, or -1.
static int find_user(const resolve_t *r, const tspec_axis_rule_t *rule, tspec_axis_t *out_axis) {
  for (int i = 0; i < r->declared->type.rank; ++i) {
    for (int k = 0; r->states[i] == DIM_DONE && k < r->dims[i].naxes; ++k) {
      for (int m = 0; m < rule->dim.naxes; ++m) {
        if (tspec_axis_clash(rule->dim.axes[m], r->dims[i].axes[k])) {
          *out_axis = r->dims[i].axes[k];
          return i;
        }
      }
    }
  }
  return -1;
}

// The dims that `rule` could not decide, where `user` is the dim that has its mesh axes.
static tspec_axis_block_t *block_of(const resolve_t *r, tspec_axis_rule_t *rule, int user) {
  return r->fired[user] == rule ? &rule->doubled : &rule->blocked;
}

static void remember_block(tspec_checker_t *c, const resolve_t *r, int dim, int user,
                           tspec_axis_t axis, tspec_axis_rule_t *rule) {
  tspec_axis_block_t *block = block_of(r, rule, user);
  if (block->note != NULL) {
    return;
  }
  const tspec_mesh_axis_t *mesh_axis = &c->program->mesh.axes[axis.axis];
  const tspec_axis_rule_t *by = r->fired[user];
  block->note =
      tspec_arena_printf(c->arena,
                         "'%s' (dim %d of '%s', size %lld), as mesh axis '%s' (size %lld) splits "
                         "dim %d ('%s') already",
                         rule->axis, dim, r->declared->path, (long long)r->declared->type.dims[dim],
                         mesh_axis->name, (long long)mesh_axis->size, user, by->axis);
  block->by = by->range;
  block->at = r->declared->range;
}

static void apply_axis_rule(tspec_checker_t *c, resolve_t *r, tspec_axis_rule_t *rule) {
  for (int i = 0; i < r->declared->type.rank; ++i) {
    const char *name = r->declared->axes[i];
    if (name == NULL || strcmp(name, rule->axis) != 0) {
      continue;
    }
    if (r->states[i] == DIM_DONE) {
      if (rule->shadow == NULL && r->fired[i] != rule) {
        rule->shadow = r->fired[i];
      }
      continue;
    }
    tspec_axis_t axis;
    int user = find_user(r, rule, &axis);
    if (user >= 0) {
      remember_block(c, r, i, user, axis, rule);
      if (r->states[i] == DIM_NOTHING) {
        r->states[i] = DIM_BLOCKED;
        r->fired[i] = rule;
        r->blockers[i] = user;
      }
      continue;
    }
    r->states[i] = DIM_DONE;
    r->dims[i] = rule->dim;
    r->fired[i] = rule;
    ++rule->nfired;
  }
}

static const tspec_sharding_t *resolve_axes(tspec_checker_t *c, const tspec_declared_t *declared) {
  int rank = declared->type.rank;
  resolve_t r = {declared, TSPEC_ARENA_NEW(c->arena, tspec_dim_t, rank),
                 TSPEC_ARENA_NEW(c->arena, dim_state_t, rank),
                 TSPEC_ARENA_NEW(c->arena, tspec_axis_rule_t *, rank),
                 TSPEC_ARENA_NEW(c->arena, int, rank)};
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < c->rules->axes.count; ++i) {
      tspec_axis_rule_t *rule = c->rules->axes.items[i];
      if (rule->is_valid && tspec_check_rule_holds(c, rule->entry, round)) {
        apply_axis_rule(c, &r, rule);
      }
    }
  }
  for (int i = 0; i < rank; ++i) {
    if (r.states[i] == DIM_NOTHING) { // a stack dim is unsplit unless a rule says otherwise
      r.dims[i].open = i >= declared->nstack;
    } else if (r.states[i] == DIM_BLOCKED) {
      ++block_of(&r, r.fired[i], r.blockers[i])->nleft;
    }
  }
  tspec_said_t *said = TSPEC_ARENA_NEW(c->arena, tspec_said_t, rank);
  for (int i = 0; i < rank; ++i) {
    if (r.fired[i] != NULL) {
      said[i] = (tspec_said_t){r.fired[i]->range, rule_text(c, r.fired[i]->range),
                               r.states[i] == DIM_BLOCKED, r.blockers[i]};
    }
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = rank, .dims = r.dims, .said = said};
  return sharding;
}

// ---- the order of language.md 3 --------------------------------------------------------------

static tspec_path_rule_t *find_value_rule(tspec_checker_t *c, const char *path) {
  if (c->rules->values.count == 0) {
    return NULL;
  }
  tspec_path_rule_t *rule = tspec_names_get(&c->rules->value_cache, path);
  if (rule == NULL) {
    rule = tspec_check_find_path_rule(c, true, path);
    tspec_names_set(c->arena, &c->rules->value_cache, path,
                    rule == NULL ? &c->rules->no_rule : rule);
  }
  return rule == &c->rules->no_rule ? NULL : rule;
}

// The path rule for a declared value, or NULL.
static tspec_path_rule_t *find_path_rule(tspec_checker_t *c, const tspec_declared_t *declared) {
  if (declared->kind == TSPEC_DECLARED_PARAM || declared->kind == TSPEC_DECLARED_STATE) {
    return tspec_check_find_path_rule(c, false, declared->path);
  }
  return declared->kind == TSPEC_DECLARED_LET ? find_value_rule(c, declared->path) : NULL;
}

static const tspec_sharding_t *or_null(const tspec_sharding_t *sharding) {
  return sharding == NULL || tspec_check_says_nothing(sharding) ? NULL : sharding;
}

const tspec_sharding_t *tspec_check_starting_sharding(tspec_checker_t *c,
                                                      const tspec_declared_t *declared) {
  tspec_path_rule_t *rule = find_path_rule(c, declared);
  if (declared->written != NULL) {
    if (rule != NULL) {
      rule->overridden = declared->path;
    }
    return or_null(tspec_check_written(c, declared->written, declared, (tspec_range_t){0}));
  }
  if (rule != NULL) {
    return or_null(tspec_check_apply_path_rule(c, rule, declared));
  }
  if (declared->axes != NULL && declared->kind != TSPEC_DECLARED_CHECKED) {
    return or_null(resolve_axes(c, declared));
  }
  return NULL;
}

const tspec_sharding_t *tspec_check_call_sharding(tspec_checker_t *c, const char *path,
                                                  tspec_type_t type, tspec_range_t range) {
  tspec_path_rule_t *rule = find_value_rule(c, path);
  if (rule == NULL) {
    return NULL;
  }
  tspec_declared_t declared = {
      .kind = TSPEC_DECLARED_LET, .path = path, .type = type, .range = range};
  return or_null(tspec_check_apply_path_rule(c, rule, &declared));
}

// ---- lint ------------------------------------------------------------------------------------

static void lint_unknown_axis(tspec_checker_t *c, const tspec_axis_rule_t *rule) {
  tspec_names_t axes = {0};
  for (size_t i = 0; i < c->globals.count; ++i) {
    tspec_global_t *global = c->globals.items[i];
    if (global->kind == TSPEC_GLOBAL_AXIS) {
      tspec_names_set(c->arena, &axes, global->name.text, global);
    }
  }
  const char *nearest = tspec_names_nearest(&axes, rule->axis);
  tspec_check_warning(c, rule->range,
                      "this rule is never used: there is no logical axis '%s'%s%s%s", rule->axis,
                      nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "'?" : "");
}

bool tspec_check_any_failed(const tspec_checker_t *c) {
  for (size_t i = 0; i < c->entries.count; ++i) {
    if (c->entries.items[i]->failed) {
      return true;
    }
  }
  return false;
}

static void note_blocker(tspec_checker_t *c, const tspec_axis_rule_t *rule) {
  tspec_check_note(c, rule->blocked.by,
                   "by this rule, which comes first; another mesh axis for '%s', or its rule "
                   "before this one, would split it",
                   rule->axis);
  tspec_check_note(c, rule->blocked.at, "the value is declared here");
}

// The rows and columns of one axis ("f32[batch, batch]") are no conflict of rules, and often meant.
static void lint_doubled(tspec_checker_t *c, const tspec_axis_rule_t *rule) {
  if (!c->options->lint || rule->doubled.nleft == 0) {
    return;
  }
  tspec_check_warning(c, rule->range, "this rule splits one dim of its axis and leaves unsplit %s",
                      rule->doubled.note);
  tspec_check_note(c, rule->doubled.at,
                   "the value is declared here; an axis of its own for the other dim "
                   "('axis %s_2 = %s') lets a rule speak of it",
                   rule->axis, rule->axis);
}

static void lint_axis_rule(tspec_checker_t *c, const tspec_axis_rule_t *rule) {
  if (!rule->is_valid) {
    return;
  }
  const tspec_axis_block_t *blocked = &rule->blocked;
  if (!rule->is_declared) {
    lint_unknown_axis(c, rule);
  } else if (rule->nfired == 0 && blocked->nleft == 0 && rule->shadow != NULL) {
    tspec_check_warning(c, rule->range, "this rule is never used: an earlier rule for '%s' wins",
                        rule->axis);
    tspec_check_note(c, rule->shadow->range, "the earlier rule");
  } else if (blocked->nleft > 0) {
    tspec_check_warning(c, rule->range, "this rule is blocked and leaves unsplit %s",
                        blocked->note);
    note_blocker(c, rule);
  } else if (blocked->note != NULL && (rule->nfired == 0 || c->options->lint)) {
    tspec_check_warning(c, rule->range, "this rule is blocked and leaves to a later one %s",
                        blocked->note);
    note_blocker(c, rule);
  } else if (rule->nfired == 0 && blocked->note == NULL && !tspec_check_any_failed(c)) {
    tspec_check_warning(c, rule->range,
                        "this rule is never used: no declared value has a dim '%s' that it could "
                        "decide",
                        rule->axis);
  }
  lint_doubled(c, rule);
}

void tspec_check_rules_finish(tspec_checker_t *c) {
  for (size_t i = 0; i < c->rules->axes.count; ++i) {
    lint_axis_rule(c, c->rules->axes.items[i]);
  }
  tspec_check_path_rules_finish(c);
}
