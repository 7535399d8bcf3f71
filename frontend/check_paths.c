#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"
#include "frontend/print.h"

// ---- patterns --------------------------------------------------------------------------------

// POSIX has no \d \w \s. Inside brackets a backslash is an ordinary character, so there the class
// stands without brackets of its own.
static const char *translate_escape(char letter, bool in_brackets) {
  switch (letter) {
  case 'd':
    return in_brackets ? "0-9" : "[0-9]";
  case 'w':
    return in_brackets ? "A-Za-z0-9_" : "[A-Za-z0-9_]";
  case 's':
    return in_brackets ? " \t" : "[ \t]";
  default:
    return NULL;
  }
}

typedef struct translation_t {
  tspec_buf_t posix;
  bool in_brackets;
} translation_t;

static bool refuse_pattern(tspec_checker_t *c, tspec_range_t range, const char *pattern,
                           const char *why) {
  tspec_check_error(c, range, "the pattern \"%s\" %s", pattern, why);
  return false;
}

// "\\d" and its like, and escaped characters. `*at` is the backslash; moves to its character.
static bool translate_backslash(tspec_checker_t *c, const char *pattern, tspec_range_t range,
                                const char **at, translation_t *out) {
  char letter = *++*at;
  const char *class = translate_escape(letter, out->in_brackets);
  if (letter == '\0') {
    return refuse_pattern(c, range, pattern, "ends in a lone '\\'");
  }
  if (class == NULL && isalnum((unsigned char)letter)) {
    return refuse_pattern(
        c, range, pattern,
        tspec_arena_printf(c->arena,
                           "has '\\%c', which is no POSIX extended regular expression; of the "
                           "escaped letters \\d, \\w and \\s are known",
                           letter));
  }
  if (class != NULL) {
    tspec_buf_puts(&out->posix, class);
  } else {
    tspec_buf_append(&out->posix, *at - 1, 2);
  }
  return true;
}

static bool translate(tspec_checker_t *c, const char *pattern, tspec_range_t range,
                      translation_t *out) {
  for (const char *at = pattern; *at != '\0'; ++at) {
    size_t length = 1;
    if (*at == '\\') {
      if (!translate_backslash(c, pattern, range, &at, out)) {
        return false;
      }
      continue;
    }
    if (!out->in_brackets && at[0] == '(' && at[1] == '?') {
      return refuse_pattern(c, range, pattern,
                            "has '(?': groups with options and lookarounds are no POSIX extended "
                            "regular expressions");
    }
    if (out->in_brackets) {
      out->in_brackets = *at != ']';
    } else if (*at == '[') { // "[]a]" and "[^]a]": a bracket that stands first is ordinary
      out->in_brackets = true;
      length = at[1] == '^' ? 2 : 1;
      length += at[length] == ']' ? 1 : 0;
    }
    tspec_buf_append(&out->posix, at, length);
    at += length - 1;
  }
  return true;
}

bool tspec_check_pattern(tspec_checker_t *c, const char *pattern, tspec_range_t range,
                         regex_t *out_regex) {
  translation_t translation = {0};
  bool ok = translate(c, pattern, range, &translation);
  if (ok) {
    int code = regcomp(out_regex, tspec_buf_get(&translation.posix), REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
      char why[128];
      regerror(code, out_regex, why, sizeof why);
      tspec_check_error(c, range, "the pattern \"%s\" is no regular expression: %s", pattern, why);
      ok = false;
    }
  }
  tspec_buf_deinit(&translation.posix);
  return ok;
}

// ---- policies --------------------------------------------------------------------------------

static bool read_policy_axis(tspec_checker_t *c, const tspec_ast_expr_t *expr,
                             tspec_path_rule_t *rule) {
  const char *policy = rule->written->policy.text;
  if (expr->kind != TSPEC_AST_EXPR_NAME) {
    tspec_check_error(c, expr->range, "the axis of '%s' must be the name of a mesh axis", policy);
    return false;
  }
  tspec_ast_name_t name = {expr->u.name, expr->range};
  const char *what = tspec_arena_printf(c->arena, "the policy '%s'", policy);
  rule->policy_axis = tspec_check_mesh_axis(c, name, what, -1);
  return rule->policy_axis >= 0;
}

// megatron(axis)
static bool read_megatron(tspec_checker_t *c, const tspec_ast_path_rule_t *written,
                          tspec_path_rule_t *rule) {
  const tspec_ast_arg_t *arg = written->args.count == 1 ? &written->args.items[0] : NULL;
  if (arg == NULL || (arg->name.text != NULL && strcmp(arg->name.text, "axis") != 0)) {
    tspec_check_error(c, written->range, "'megatron' takes one mesh axis: megatron(axis = ..)");
    return false;
  }
  return read_policy_axis(c, arg->value, rule);
}

static bool read_fsdp(tspec_checker_t *c, const tspec_ast_path_rule_t *written,
                      tspec_path_rule_t *rule) {
  bool has_axis = false, ok = true;
  for (size_t i = 0; i < written->args.count; ++i) {
    const tspec_ast_arg_t *arg = &written->args.items[i];
    const char *name = arg->name.text != NULL ? arg->name.text : i == 0 ? "axis" : "min_elements";
    if (strcmp(name, "axis") == 0) {
      has_axis = true;
      ok = read_policy_axis(c, arg->value, rule) && ok;
    } else if (strcmp(name, "min_elements") == 0) {
      ok = tspec_cv_real(c, tspec_check_expr(c, arg->value), arg->value->range, "'min_elements'",
                         &rule->policy_floor) &&
           ok;
    } else {
      tspec_check_error(c, arg->range, "'fsdp' has no argument '%s'; it has axis, min_elements",
                        name);
      ok = false;
    }
  }
  if (!has_axis) {
    tspec_check_error(c, written->range, "'fsdp' needs a mesh axis: fsdp(axis = ..)");
    ok = false;
  }
  return ok;
}

static bool read_policy(tspec_checker_t *c, const tspec_ast_path_rule_t *written,
                        tspec_path_rule_t *rule) {
  const char *name = written->policy.text;
  if (rule->is_values) {
    tspec_check_error(c, written->policy.range,
                      "'%s' is a policy for parameters: it stands in 'shard params'", name);
    return false;
  }
  if (strcmp(name, "fsdp") == 0) {
    rule->policy = TSPEC_POLICY_FSDP;
    return read_fsdp(c, written, rule);
  }
  if (strcmp(name, "megatron") == 0) {
    rule->policy = TSPEC_POLICY_ABSENT;
    return read_megatron(c, written, rule);
  }
  if (strcmp(name, "auto") == 0) {
    rule->policy = TSPEC_POLICY_ABSENT;
    if (written->args.count > 0) {
      tspec_check_error(c, written->range, "'auto' takes no arguments");
    }
    return written->args.count == 0;
  }
  tspec_check_error(c, written->policy.range,
                    "'%s' is no policy; it is one of fsdp, megatron, auto", name);
  return false;
}

// ---- the list --------------------------------------------------------------------------------

// The names in a sharding are checked even if no value is matched.
static bool check_names(tspec_checker_t *c, const tspec_path_rule_t *rule,
                        const tspec_ast_sharding_t *sharding) {
  const char *what = rule->pattern == NULL
                         ? "the rule 'otherwise'"
                         : tspec_arena_printf(c->arena, "the rule \"%s\"", rule->pattern);
  bool ok = true;
  for (size_t i = 0; i < sharding->nentries; ++i) {
    const tspec_ast_entry_t *entry = &sharding->entries[i];
    tspec_dim_t dim;
    ok = (entry->is_ellipsis || tspec_check_entry_dim(c, entry, what, -1, &dim)) && ok;
  }
  return ok;
}

static bool check_rule(tspec_checker_t *c, tspec_path_rule_t *rule) {
  const tspec_ast_path_rule_t *written = rule->written;
  bool ok = true;
  if (rule->pattern != NULL) {
    rule->is_compiled = tspec_check_pattern(c, rule->pattern, written->pattern_range, &rule->regex);
    ok = rule->is_compiled;
  }
  if (written->policy.text != NULL) {
    return read_policy(c, written, rule) && ok;
  }
  if (written->storage.use != NULL && rule->is_values) {
    tspec_check_error(c, written->storage.use->range,
                      "'use' is for parameters and state: it stands in 'shard params'");
    ok = false;
  }
  return check_names(c, rule, written->storage.stored) &&
         (written->storage.use == NULL || check_names(c, rule, written->storage.use)) && ok;
}

void tspec_check_add_path_rules(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  const char *entry = NULL;
  bool ok = tspec_check_rule_entry(c, decl->u.shard_paths.entry, &entry);
  for (size_t i = 0; i < decl->u.shard_paths.nrules; ++i) {
    const tspec_ast_path_rule_t *written = &decl->u.shard_paths.rules[i];
    tspec_path_rule_t *rule = TSPEC_ARENA_NEW(c->arena, tspec_path_rule_t, 1);
    rule->written = written;
    rule->pattern = written->pattern;
    rule->is_values = decl->kind == TSPEC_AST_DECL_SHARD_VALUES;
    rule->entry = entry;
    rule->is_valid = check_rule(c, rule) && ok;
    if (rule->is_values) {
      TSPEC_VEC_PUSH(c->arena, &c->rules->values, rule);
    } else {
      TSPEC_VEC_PUSH(c->arena, &c->rules->params, rule);
    }
  }
}

static bool matches(const tspec_path_rule_t *rule, const char *path) {
  return rule->pattern == NULL ||
         (rule->is_compiled && regexec(&rule->regex, path, 0, NULL, 0) == 0);
}

tspec_path_rule_t *tspec_check_find_path_rule(tspec_checker_t *c, bool is_values,
                                              const char *path) {
  tspec_path_rule_t *const *items = is_values ? c->rules->values.items : c->rules->params.items;
  size_t count = is_values ? c->rules->values.count : c->rules->params.count;
  tspec_path_rule_t *first = NULL;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < count; ++i) {
      tspec_path_rule_t *rule = items[i];
      if (!tspec_check_rule_holds(c, rule->entry, round) || !matches(rule, path)) {
        continue;
      }
      if (first == NULL) {
        first = rule;
      } else if (rule->shadow == NULL) {
        rule->shadow = first;
        rule->shadowed_path = path;
      }
    }
  }
  return first;
}

// ---- what a rule gives -----------------------------------------------------------------------

static const tspec_sharding_t *replicated(tspec_checker_t *c, const tspec_path_rule_t *rule,
                                          int rank) {
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  *sharding = *tspec_sharding_replicated(c->arena, rank);
  sharding->said = tspec_check_say(c, rank, rule->written->range);
  return sharding;
}

// The largest dim that the axis divides, stack dims aside; the first of equals.
static const tspec_sharding_t *apply_fsdp(tspec_checker_t *c, const tspec_path_rule_t *rule,
                                          const tspec_declared_t *declared) {
  tspec_type_t type = declared->type;
  int64_t size = c->program->mesh.axes[rule->policy_axis].size;
  double elements = 1;
  int best = -1;
  for (int i = declared->nstack; i < type.rank; ++i) {
    elements *= (double)type.dims[i];
    if (type.dims[i] % size == 0 && (best < 0 || type.dims[i] > type.dims[best])) {
      best = i;
    }
  }
  if (best < 0 || elements < rule->policy_floor) {
    return replicated(c, rule, type.rank);
  }
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, type.rank);
  tspec_axis_t *axis = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, 1);
  *axis = tspec_axis_full(&c->program->mesh, rule->policy_axis);
  dims[best] = (tspec_dim_t){.naxes = 1, .axes = axis};
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){
      .rank = type.rank, .dims = dims, .said = tspec_check_say(c, type.rank, rule->written->range)};
  return sharding;
}

const tspec_sharding_t *tspec_check_apply_path_rule(tspec_checker_t *c, tspec_path_rule_t *rule,
                                                    const tspec_declared_t *declared) {
  if (!rule->is_valid) {
    return NULL;
  }
  ++rule->nmatched;
  int64_t copies = 1;
  for (int i = 0; i < declared->nstack; ++i) {
    copies *= declared->type.dims[i];
  }
  if (!rule->is_values && tspec_type_elems(declared->type) == copies) {
    return replicated(c, rule, declared->type.rank);
  }
  if (rule->policy == TSPEC_POLICY_FSDP) {
    return apply_fsdp(c, rule, declared);
  }
  if (rule->policy == TSPEC_POLICY_ABSENT) {
    const char *name = rule->written->policy.text;
    tspec_check_absent(c, declared->range, tspec_arena_printf(c->arena, "the policy '%s'", name));
    return NULL;
  }
  const tspec_sharding_t *sharding =
      tspec_check_written(c, rule->written->storage.stored, declared, rule->written->range);
  if (sharding != NULL && rule->written->storage.use != NULL) {
    c->declaring->use =
        tspec_check_written(c, rule->written->storage.use, declared, rule->written->range);
    sharding = c->declaring->use == NULL ? NULL : sharding;
  }
  rule->is_valid = sharding != NULL; // one report of a rule is enough
  return sharding;
}

// ---- lint ------------------------------------------------------------------------------------

static void lint_rule(tspec_checker_t *c, const tspec_path_rule_t *rule) {
  if (rule->is_valid && rule->pattern != NULL && rule->nmatched == 0) {
    if (rule->shadow != NULL) {
      tspec_check_warning(c, rule->written->range,
                          "this rule is never used: all that it matches, '%s' first, an earlier "
                          "rule takes",
                          rule->shadowed_path);
      tspec_check_note(c, rule->shadow->written->range, "the earlier rule");
    } else if (rule->overridden != NULL) {
      tspec_check_warning(c, rule->written->range,
                          "this rule is never used: '%s' has a sharding of its own, which wins",
                          rule->overridden);
    } else if (!rule->is_values || !tspec_check_any_failed(c)) {
      tspec_check_warning(c, rule->written->range, "this rule is never used: \"%s\" matches no %s",
                          rule->pattern, rule->is_values ? "let or call" : "parameter or state");
    }
  } else if (rule->overridden != NULL && c->options->lint) {
    tspec_check_warning(c, rule->written->range,
                        "this rule is not used for '%s', which has a sharding of its own",
                        rule->overridden);
  }
}

static void finish_list(tspec_checker_t *c, tspec_path_rule_t *const *rules, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    lint_rule(c, rules[i]);
    if (rules[i]->is_compiled) {
      regfree(&rules[i]->regex);
      rules[i]->is_compiled = false;
    }
  }
}

void tspec_check_path_rules_finish(tspec_checker_t *c) {
  finish_list(c, c->rules->params.items, c->rules->params.count);
  finish_list(c, c->rules->values.items, c->rules->values.count);
}
