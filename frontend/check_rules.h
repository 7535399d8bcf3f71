// What the files of the checker share about shardings: `shard` rules and written shardings.
#ifndef TSPEC_FRONTEND_CHECK_RULES_H
#define TSPEC_FRONTEND_CHECK_RULES_H

#include <regex.h>

#include "frontend/check_internal.h"

// ---- declared values -------------------------------------------------------------------------

/// A value with a declaration that may give it a sharding.
typedef enum tspec_declared_kind_t {
  TSPEC_DECLARED_PARAM,
  TSPEC_DECLARED_STATE,
  TSPEC_DECLARED_INPUT,
  TSPEC_DECLARED_RESULT,
  TSPEC_DECLARED_LET,
  TSPEC_DECLARED_CHECKED, ///< formals and results of plain functions: only '@' says something
} tspec_declared_kind_t;

typedef struct tspec_declared_t {
  tspec_declared_kind_t kind;
  const char *path;
  tspec_type_t type;
  int nstack;              ///< leading dims that come from stacks
  const char *const *axes; ///< axis name or NULL of each dim of `type`; NULL: no type is written
  const tspec_ast_sharding_t *written; ///< '@', or NULL
  tspec_range_t range;
} tspec_declared_t;

void tspec_check_rules(tspec_checker_t *c, const tspec_items_t *items);
/// The starting sharding (docs/language.md 3), or NULL if it says nothing or after a report.
const tspec_sharding_t *tspec_check_starting_sharding(tspec_checker_t *c,
                                                      const tspec_declared_t *declared);
/// What `shard values` says of a call's result at `path`, or NULL.
const tspec_sharding_t *tspec_check_call_sharding(tspec_checker_t *c, const char *path,
                                                  tspec_type_t type, tspec_range_t range);
/// Warns of rules that were blocked, shadowed or never used; frees the compiled patterns.
void tspec_check_rules_finish(tspec_checker_t *c);
/// True if an entry has errors: what it would have used is not known.
bool tspec_check_any_failed(const tspec_checker_t *c);
/// An entry starts: forget what was found for the one before.
void tspec_check_rules_enter(tspec_checker_t *c);

/// A written sharding for a value of that type; NULL after a report. `rule` is the place of the
/// rule that it stands in, or all zero.
const tspec_sharding_t *tspec_check_written(tspec_checker_t *c, const tspec_ast_sharding_t *written,
                                            const tspec_declared_t *declared, tspec_range_t rule);
/// What a rule at that place says of `rank` dims.
tspec_said_t *tspec_check_say(tspec_checker_t *c, int rank, tspec_range_t rule);
/// One entry of an axis rule or of a sharding. `what`: "the rule for 'batch'" or "'w1'"; dim -1:
/// none.
bool tspec_check_entry_dim(tspec_checker_t *c, const tspec_ast_entry_t *entry, const char *what,
                           int dim, tspec_dim_t *out_dim);
/// Index of a mesh axis, or -1 after a report.
int tspec_check_mesh_axis(tspec_checker_t *c, tspec_ast_name_t name, const char *what, int dim);
/// Every dim is '?', nothing is pending.
bool tspec_check_says_nothing(const tspec_sharding_t *sharding);

// ---- rules -----------------------------------------------------------------------------------

/// Dims that a rule could not decide, as its mesh axes split other dims of their tensors.
typedef struct tspec_axis_block_t {
  int nleft;        ///< dims that ended unsplit because of that
  const char *note; ///< the first one, in words; NULL: there is none
  tspec_range_t by; ///< the place of the rule that took the mesh axis
  tspec_range_t at; ///< the value
} tspec_axis_block_t;

/// One line of `shard axes`, and what became of it.
typedef struct tspec_axis_rule_t {
  const char *axis;
  tspec_range_t range;
  const char *entry; ///< "in logits", or NULL: all entries
  tspec_dim_t dim;   ///< what it gives
  const tspec_ast_entry_t *written;
  bool is_valid;    ///< its mesh axes exist
  bool is_declared; ///< the logical axis exists
  int nfired;
  tspec_axis_block_t blocked;             ///< by other rules
  tspec_axis_block_t doubled;             ///< by itself: a name on two dims, whose first it splits
  const struct tspec_axis_rule_t *shadow; ///< a rule that took a dim of its axis before it
} tspec_axis_rule_t;

typedef enum tspec_policy_t {
  TSPEC_POLICY_NONE,
  TSPEC_POLICY_FSDP,
  TSPEC_POLICY_ABSENT, ///< checked, but not compiled
} tspec_policy_t;

/// One line of `shard params` or `shard values`.
typedef struct tspec_path_rule_t {
  const tspec_ast_path_rule_t *written;
  const char *pattern; ///< NULL: otherwise
  regex_t regex;       ///< if `is_compiled`
  bool is_compiled;
  bool is_values;
  const char *entry; ///< "in logits", or NULL
  tspec_policy_t policy;
  int policy_axis; ///< mesh axis, if it takes one
  double policy_floor;
  bool is_valid;
  int nmatched;                           ///< values that it gave a sharding
  const struct tspec_path_rule_t *shadow; ///< an earlier rule that took a path that it matches, too
  const char *shadowed_path;
  const char *overridden; ///< a path whose '@' won over it
} tspec_path_rule_t;

struct tspec_rules_t {
  TSPEC_VEC(tspec_axis_rule_t *) axes;
  TSPEC_VEC(tspec_path_rule_t *) params;
  TSPEC_VEC(tspec_path_rule_t *) values;
  tspec_names_t value_cache; ///< path -> rule of the entry, or &no_rule
  tspec_path_rule_t no_rule;
};

/// Translates `\d \w \s` and compiles. False after a report.
bool tspec_check_pattern(tspec_checker_t *c, const char *pattern, tspec_range_t range,
                         regex_t *out_regex);
/// The first path rule that matches, or NULL. `is_values`: of `shard values`.
tspec_path_rule_t *tspec_check_find_path_rule(tspec_checker_t *c, bool is_values, const char *path);
void tspec_check_add_path_rules(tspec_checker_t *c, const tspec_ast_decl_t *decl);
/// The sharding that a path rule gives; NULL after a report.
const tspec_sharding_t *tspec_check_apply_path_rule(tspec_checker_t *c, tspec_path_rule_t *rule,
                                                    const tspec_declared_t *declared);
void tspec_check_path_rules_finish(tspec_checker_t *c);
/// The name of an `in` entry, checked. `out_entry` is NULL if there is none. False after a report.
bool tspec_check_rule_entry(tspec_checker_t *c, tspec_ast_name_t name, const char **out_entry);
/// The rules for all entries come after those of the entry that is checked.
bool tspec_check_rule_holds(const tspec_checker_t *c, const char *entry, int round);

#endif
