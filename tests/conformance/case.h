// One case of the conformance corpus (tests/data/propagation.jsonl): facts derived from Shardy's
// tests. What the runners of the kinds share.
#ifndef TSPEC_TESTS_CONFORMANCE_CASE_H
#define TSPEC_TESTS_CONFORMANCE_CASE_H

#include <jansson.h>
#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/str.h"
#include "ir/base/vec.h"
#include "ir/op_rules.h"
#include "ir/shard/factor.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

typedef enum verdict_t {
  VERDICT_PASSED,
  VERDICT_FAILED,
  VERDICT_SKIPPED,
} verdict_t;

typedef struct case_value_t {
  const char *name;
  tspec_type_t type;
  const tspec_sharding_t *sharding; ///< NULL: none
  json_t *definition;               ///< op, or NULL
  int id;                           ///< of the runner
} case_value_t;

typedef struct case_t {
  tspec_arena_t *arena;
  json_t *json;
  const char *id;
  bool conservative;
  tspec_mesh_t mesh;
  tspec_names_t values;   ///< case_value_t by name
  tspec_buf_t *complaint; ///< got and wanted, of a case that failed
} case_t;

/// The operands and results of one op, looked up.
typedef struct case_op_t {
  json_t *json;
  const char *name;
  int noperands;
  case_value_t **operands;
  tspec_type_t *operand_types;
  int nresults;
  case_value_t **results;
  tspec_type_t *result_types;
} case_op_t;

/// Reads mesh and inputs.
void case_init(case_t *c, tspec_arena_t *arena, json_t *json, tspec_buf_t *complaint);
/// Defines the value that an entry (input, argument, result) describes; its name is under `key`.
case_value_t *case_define(case_t *c, json_t *entry, const char *key, json_t *definition);
case_value_t *case_find(const case_t *c, const char *name);
/// Looks up operands and defines results.
case_op_t case_read_op(case_t *c, json_t *op);

const char *case_text(json_t *object, const char *key); ///< NULL if it is not there
bool case_flag(json_t *object, const char *key);
int64_t case_int(json_t *object, const char *key, int64_t otherwise);
/// A list of integers; `out_count` 0 if it is not there.
int64_t *case_ints(const case_t *c, json_t *object, const char *key, int64_t *out_count);
bool case_ints_contain(json_t *list, int64_t value);

tspec_axis_t case_axis(const case_t *c, const char *token);
/// A list of axis tokens, merged.
tspec_axis_t *case_axes(const case_t *c, json_t *tokens, int *out_count);
/// The sharding of an entry with "sharding", "open", "priority", ..., or NULL.
const tspec_sharding_t *case_sharding(const case_t *c, json_t *entry);
/// With openness, and replicated axes behind it.
const char *case_print(const case_t *c, const tspec_sharding_t *sharding);

/// The kind in the op table, or TSPEC_OP_COUNT.
tspec_op_kind_t case_op_kind(const char *name);
/// The rule of an op: from the op table, the one that is written in it, or for ops that the
/// language lacks from case_foreign_rule. NULL: none.
const tspec_factor_rule_t *case_rule(const case_t *c, const case_op_t *op);
const tspec_factor_rule_t *case_foreign_rule(const case_t *c, const case_op_t *op);

verdict_t case_run_rule(case_t *c);
verdict_t case_run_propagate(case_t *c);
verdict_t case_run_reshard(case_t *c);
verdict_t case_run_fuse(case_t *c);
verdict_t case_run_insert_reshards(case_t *c);

#endif
