#include "tests/property/survey.h"

#include <string.h>

#include "tests/property/compile.h"
#include "tests/property/gen.h"

#define FEATURES(X)                                                                                \
  X(WHOLE_NUMBERS, "whole numbers only")                                                           \
  X(FRACTIONS, "fractions")                                                                        \
  X(OPS_20, "5 to 20 ops")                                                                         \
  X(OPS_40, "21 to 40 ops")                                                                        \
  X(OPS_60, "41 to 60 ops")                                                                        \
  X(ENTRIES, "several entries")                                                                    \
  X(RESULTS, "several results")                                                                    \
  X(PARAMS, "parameters")                                                                          \
  X(SCALAR, "a scalar")                                                                            \
  X(RANK_4, "a tensor of 4 dims or more")                                                          \
  X(SIZE_ONE, "a dim of size 1")                                                                   \
  X(BROADCAST, "operands that broadcast")                                                          \
  X(READ_TWICE, "an op that reads a value twice")                                                  \
  X(TYPED_NUMBERS, "a let with sizes in its type")                                                 \
  X(TYPED_NAMES, "a let with axis names in its type")                                              \
  X(INLINED, "an expression without a name")                                                       \
  X(INLINED_TWICE, "the same expression twice")                                                    \
  X(SPLAT, "an op on numbers alone")                                                               \
  X(MESH_NONE, "no mesh")                                                                          \
  X(MESH_1, "a mesh of 1 axis")                                                                    \
  X(MESH_2, "a mesh of 2 axes")                                                                    \
  X(MESH_3, "a mesh of 3 axes")                                                                    \
  X(MESH_SIZE_1, "a mesh axis of size 1")                                                          \
  X(MESH_SIZE_2, "a mesh axis of size 2")                                                          \
  X(MESH_SIZE_3, "a mesh axis of size 3")                                                          \
  X(MESH_SIZE_4, "a mesh axis of size 4")                                                          \
  X(MESH_SIZE_5, "a mesh axis of size 5")                                                          \
  X(MESH_SIZE_6, "a mesh axis of size 6")                                                          \
  X(RANKS_24, "more than 24 ranks")                                                                \
  X(ON_INPUT, "a sharding on an input")                                                            \
  X(ON_PARAM, "a sharding on a parameter")                                                         \
  X(ON_LET, "a sharding on a let")                                                                 \
  X(ON_RESULT, "a sharding on a result")                                                           \
  X(USE, "a sharding that a parameter is used with")                                               \
  X(PRIORITY, "a priority")                                                                        \
  X(BY_PARAM_RULE, "a rule for a parameter")                                                       \
  X(BY_LET_RULE, "a rule for a let")                                                               \
  X(BY_AXIS_RULE, "a rule for an axis")                                                            \
  X(BY_ENTRY_RULE, "a rule for an axis in one entry")                                              \
  X(WHOLE, "the sharding []")                                                                      \
  X(DOTS, "'...' in a sharding")                                                                   \
  X(CLOSED, "a closed dim without axes")                                                           \
  X(OPEN, "an open dim without axes")                                                              \
  X(CLOSED_SPLIT, "a closed dim with axes")                                                        \
  X(OPEN_SPLIT, "an open dim with axes")                                                           \
  X(TUPLE, "a dim with several axes")                                                              \
  X(PIECE, "a piece of an axis")                                                                   \
  X(EVEN, "a dim that its axes divide")                                                            \
  X(UNEVEN, "a dim that its axes do not divide")                                                   \
  X(SMALLER, "a dim smaller than its axes")                                                        \
  X(PENDING_SUM, "a let that is a pending sum")                                                    \
  X(PENDING_MAX, "a let that is a pending maximum")                                                \
  X(PENDING_MIN, "a let that is a pending minimum")                                                \
  X(PENDING_AXES, "a let that is pending over several axes")

typedef enum feature_t {
#define X(id, text) HAS_##id,
  FEATURES(X)
#undef X
      NFEATURES
} feature_t;
_Static_assert((int)NFEATURES <= (int)PROP_MAX_FEATURES, "more features than places");

/// What one program has.
typedef struct found_t {
  const prop_program_t *program;
  bool features[NFEATURES];
  bool dtypes[TSPEC_DTYPE_COUNT];
  bool rows[PROP_MAX_ROWS];
  int nreads[PROP_MAX_NODES];
} found_t;

static void note(found_t *found, feature_t feature, bool has) {
  found->features[feature] |= has;
}

// ---- shardings ---------------------------------------------------------------------------------

static void note_dim(found_t *found, const prop_dim_t *dim, int64_t size) {
  int pieces = 1;
  for (int i = 0; i < dim->npieces; ++i) {
    int part = dim->pieces[i].size;
    note(found, HAS_PIECE, part > 0);
    pieces *= part > 0 ? part : found->program->mesh[dim->pieces[i].axis];
  }
  bool split = dim->npieces > 0;
  note(found, HAS_CLOSED, !split && !dim->open);
  note(found, HAS_OPEN, !split && dim->open);
  note(found, HAS_CLOSED_SPLIT, split && !dim->open);
  note(found, HAS_OPEN_SPLIT, split && dim->open);
  note(found, HAS_PRIORITY, dim->priority > 0 && (dim->open || split));
  note(found, HAS_TUPLE, dim->npieces > 1);
  note(found, HAS_EVEN, pieces > 1 && size % pieces == 0);
  note(found, HAS_UNEVEN, pieces > 1 && size > pieces && size % pieces != 0);
  note(found, HAS_SMALLER, size < pieces);
}

static void note_sharding(found_t *found, feature_t where, const prop_sharding_t *sharding,
                          const prop_type_t *type) {
  if (sharding->written == PROP_WRITTEN_NOT) {
    return;
  }
  note(found, where, true);
  note(found, HAS_WHOLE, sharding->written == PROP_WRITTEN_EMPTY && type->rank > 0);
  note(found, HAS_DOTS, sharding->dots);
  for (int i = 0; sharding->written == PROP_WRITTEN_DIMS && i < type->rank; ++i) {
    note_dim(found, &sharding->dims[i], type->dims[i]);
  }
  bool pending = sharding->npending > 0;
  note(found, HAS_PENDING_SUM, pending && sharding->kind == TSPEC_REDUCE_SUM);
  note(found, HAS_PENDING_MAX, pending && sharding->kind == TSPEC_REDUCE_MAX);
  note(found, HAS_PENDING_MIN, pending && sharding->kind == TSPEC_REDUCE_MIN);
  note(found, HAS_PENDING_AXES, sharding->npending > 1);
}

// ---- values ------------------------------------------------------------------------------------

static void note_operands(found_t *found, const prop_node_t *node) {
  for (int i = 0; i < node->noperands; ++i) {
    bool again = ++found->nreads[node->operands[i]] > 1;
    note(found, HAS_INLINED_TWICE, again && prop_operand(found->program, node, i)->inlined);
  }
  for (int i = 1; i < node->noperands; ++i) {
    const prop_type_t *a = &prop_operand(found->program, node, i - 1)->type;
    const prop_type_t *b = &prop_operand(found->program, node, i)->type;
    // the rows of operators and of select
    bool stretches = node->gen->make == prop_gen_add.make || node->gen == &prop_gen_select;
    bool same =
        a->rank == b->rank && memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank) == 0;
    note(found, HAS_BROADCAST, stretches && !same);
    note(found, HAS_READ_TWICE, node->operands[i - 1] == node->operands[i]);
  }
}

static void note_row(found_t *found, const prop_gen_t *gen) {
  for (int i = 0; i < prop_gen_count(); ++i) {
    found->rows[i] |= prop_gen_at(i) == gen;
  }
}

static void note_node(found_t *found, const prop_node_t *node) {
  found->dtypes[node->type.dtype] = true;
  note(found, HAS_SCALAR, node->type.rank == 0);
  note(found, HAS_RANK_4, node->type.rank >= 4);
  for (int i = 0; i < node->type.rank; ++i) {
    note(found, HAS_SIZE_ONE, node->type.dims[i] == 1);
  }
  note(found, HAS_PARAMS, node->kind == PROP_PARAM);
  feature_t where = node->kind == PROP_INPUT ? HAS_ON_INPUT
                    : node->sharding.by_rule
                        ? (node->kind == PROP_PARAM ? HAS_BY_PARAM_RULE : HAS_BY_LET_RULE)
                    : node->kind == PROP_PARAM ? HAS_ON_PARAM
                                               : HAS_ON_LET;
  note_sharding(found, where, &node->sharding, &node->type);
  if (node->sharding.written != PROP_WRITTEN_NOT) {
    note_sharding(found, HAS_USE, &node->use, &node->type);
  }
  note(found, HAS_TYPED_NUMBERS, node->typed == PROP_TYPED_NUMBERS);
  note(found, HAS_TYPED_NAMES, node->typed == PROP_TYPED_NAMES);
  note(found, HAS_INLINED, node->inlined);
  note(found, HAS_SPLAT, node->kind == PROP_OP && node->splat && node->noperands > 0);
  if (node->kind == PROP_OP) {
    note_row(found, node->gen);
    note_operands(found, node);
  }
}

// ---- programs ----------------------------------------------------------------------------------

static void note_mesh(found_t *found) {
  const prop_program_t *program = found->program;
  note(found, (feature_t)(HAS_MESH_NONE + program->nmesh), true);
  for (int i = 0; i < program->nmesh; ++i) {
    note(found, (feature_t)(HAS_MESH_SIZE_1 + program->mesh[i] - 1), true);
  }
  note(found, HAS_RANKS_24, prop_program_nranks(program) > 24);
}

static void note_program(found_t *found) {
  const prop_program_t *program = found->program;
  int nops = prop_program_nops(program);
  note(found, program->ints ? HAS_WHOLE_NUMBERS : HAS_FRACTIONS, true);
  note(found, nops <= 20 ? HAS_OPS_20 : nops <= 40 ? HAS_OPS_40 : HAS_OPS_60, true);
  note(found, HAS_ENTRIES, program->nentries > 1);
  note_mesh(found);
  for (int i = 0; i < program->nnodes; ++i) {
    note_node(found, &program->nodes[i]);
  }
  for (int e = 0; e < program->nentries; ++e) {
    const prop_entry_t *entry = &program->entries[e];
    note(found, HAS_RESULTS, entry->nresults > 1);
    for (int i = 0; i < entry->nresults; ++i) {
      note_sharding(found, HAS_ON_RESULT, &entry->results[i].sharding,
                    &program->nodes[entry->results[i].node].type);
    }
  }
  for (int i = 0; i < program->nrules; ++i) {
    note(found, program->rules[i].entry < 0 ? HAS_BY_AXIS_RULE : HAS_BY_ENTRY_RULE, true);
  }
}

bool prop_survey_add(prop_survey_t *survey, const prop_program_t *program) {
  found_t found = {.program = program};
  note_program(&found);
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_buf_t text = {0};
  prop_program_print(program, &text);
  prop_compiled_t compiled;
  prop_outcome_t outcome = {.ok = true};
  bool ok = prop_compile(tspec_buf_get(&text), TSPEC_COST_BYTES, &arena, &compiled, &outcome);
  for (int i = 0; i < TSPEC_OP_COUNT; ++i) {
    found.rows[i] |= compiled.ops[i];
  }
  tspec_buf_deinit(&text);
  tspec_arena_deinit(&arena);
  for (int i = 0; i < NFEATURES; ++i) {
    survey->features[i] += found.features[i];
  }
  for (int i = 0; i < TSPEC_DTYPE_COUNT; ++i) {
    survey->dtypes[i] += found.dtypes[i];
  }
  for (int i = 0; i < prop_gen_count(); ++i) {
    survey->rows[i] += found.rows[i];
  }
  int nops = prop_program_nops(program);
  survey->bad_size += nops < 5 || nops > 60;
  ++survey->nprograms;
  return ok;
}

// ---- printing ----------------------------------------------------------------------------------

static int print_line(int count, const char *kind, const char *name, FILE *stream) {
  fprintf(stream, "%7d %s%s%s\n", count, kind, name, count == 0 ? "   MISSING" : "");
  return count == 0;
}

int prop_survey_print(const prop_survey_t *survey, FILE *stream) {
  static const char *const texts[] = {
#define X(id, text) text,
      FEATURES(X)
#undef X
  };
  int nmissing = 0;
  fprintf(stream, "of %d programs there are with\n", survey->nprograms);
  for (int i = 0; i < NFEATURES; ++i) {
    nmissing += print_line(survey->features[i], "", texts[i], stream);
  }
  for (int i = 0; i < TSPEC_DTYPE_COUNT; ++i) {
    nmissing += print_line(survey->dtypes[i], "dtype ", tspec_dtype_name((tspec_dtype_t)i), stream);
  }
  for (int i = 0; i < prop_gen_count(); ++i) {
    nmissing += print_line(survey->rows[i], "op ", prop_gen_at(i)->name, stream);
  }
  if (survey->bad_size > 0) {
    fprintf(stream, "%d programs have fewer than 5 or more than 60 ops\n", survey->bad_size);
    ++nmissing;
  }
  fprintf(stream, "%d missing\n", nmissing);
  return nmissing;
}
