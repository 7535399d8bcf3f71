// What --explain tells, before it is text or JSON.
#ifndef TSPEC_FRONTEND_DRIVER_EXPLAIN_H
#define TSPEC_FRONTEND_DRIVER_EXPLAIN_H

#include "frontend/driver.h"
#include "passes/explain.h"

/// All reasons of some axes.
typedef struct tspec_explained_set_t {
  tspec_reasons_t reasons;
  const char *summary; ///< how often each annotation or rule is among them, or NULL: not needed yet
} tspec_explained_set_t;

/// One axis on one dim, with its reasons.
typedef struct tspec_explained_axis_t {
  int effect;
  int set;         ///< into the sets
  int nshown;      ///< reasons with their chains: the recorded one, then the nearest
  int first_chain; ///< into the chains, as many
} tspec_explained_axis_t;

/// A value by the name that a user knows it by.
typedef struct tspec_explained_value_t {
  const char *entry; ///< NULL: a parameter or state of the program
  const char *kind;  ///< "param", "state", "input", "value", "result"
  const char *path;
  int value; ///< of the graph; -1: a parameter that no entry reads
  tspec_type_t type;
  const tspec_sharding_t *sharding; ///< closed
  tspec_range_t range;
  int first_axis; ///< into the axes, as many as its effects
  int naxes;
} tspec_explained_value_t;

typedef struct tspec_explained_t {
  const tspec_driver_t *driver;
  tspec_arena_t *arena;
  tspec_explain_t *explain;
  const tspec_prop_map_t *map;
  const tspec_mesh_t *mesh;
  TSPEC_VEC(tspec_explained_value_t) all; ///< that have a name
  TSPEC_VEC(tspec_explained_value_t) values;
  TSPEC_VEC(tspec_explained_axis_t) axes;
  TSPEC_VEC(tspec_explained_set_t *) sets;
  int *set_of_seed; ///< by seed: 1 + the last set that begins with it, or 0
  bool is_brief; ///< all values: of many reasons and of long chains only the first ones are listed
  TSPEC_VEC(tspec_chain_request_t) chains;
} tspec_explained_t;

/// The name of a value of the graph, or NULL.
const char *tspec_explained_name(const tspec_explained_t *explained, int value);
/// "'@'" of the op that makes a value, "an argument" or "a result".
const char *tspec_explained_maker(const tspec_explained_t *explained, int value);
/// The op of a record, or NULL (an edge, a result that is returned).
const tspec_op_t *tspec_explained_op(const tspec_explained_t *explained, int op);
/// "rule "mlp -> model" (gpt.tspec:9)", "annotation (gpt.tspec:12)".
const char *tspec_explained_said(const tspec_explained_t *explained, const tspec_said_t *said);
/// What a value started with on a dim, or NULL.
const tspec_said_t *tspec_explained_start(const tspec_explained_t *explained, int value, int dim);
/// What the constraint of a let reads, if that has no name of its own: the same to the user. Or -1.
int tspec_explained_constrained(const tspec_explained_t *explained, int value);
/// The dim of a refused extension's source that has the factor.
int tspec_explained_source_dim(const tspec_explained_t *explained, const tspec_refusal_t *refusal);
/// "rule "mlp -> model" (gpt.tspec:9) (4 times), annotation (gpt.tspec:12)": all reasons of a set.
const char *tspec_explained_summary(const tspec_explained_t *explained, tspec_explained_set_t *set);
/// Why an extension stayed undone, in words.
const char *tspec_explained_refusal(const tspec_explained_t *explained,
                                    const tspec_refusal_t *refusal);

// ---- driver_explain_text.c, driver_explain_json.c ----

void tspec_explained_put_text(const tspec_explained_t *explained, tspec_buf_t *buf);
void tspec_explained_put_json(const tspec_explained_t *explained, tspec_buf_t *buf);

#endif
