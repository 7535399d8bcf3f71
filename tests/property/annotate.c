// Random shardings and rules.
#include "tests/property/gen.h"
#include "tests/property/generate.h"

/// Parts of mesh axes that one sharding may still use.
typedef struct parts_t {
  int count;
  prop_piece_t pieces[2 * PROP_MAX_MESH];
} parts_t;

// Each axis whole, or, where its size has two factors, cut in two.
static parts_t cut_mesh(const prop_program_t *program, prop_random_t *random) {
  parts_t parts = {0};
  for (int i = 0; i < program->nmesh; ++i) {
    int size = program->mesh[i], major = size == 6 && prop_random_chance(random, 50) ? 3 : 2;
    if ((size == 4 || size == 6) && prop_random_chance(random, 30)) {
      parts.pieces[parts.count++] = (prop_piece_t){i, 1, major};
      parts.pieces[parts.count++] = (prop_piece_t){i, major, size / major};
    } else {
      parts.pieces[parts.count++] = (prop_piece_t){.axis = i};
    }
  }
  return parts;
}

static prop_piece_t take_part(parts_t *parts, prop_random_t *random) {
  int at = prop_random_below(random, parts->count);
  prop_piece_t piece = parts->pieces[at];
  parts->pieces[at] = parts->pieces[--parts->count];
  return piece;
}

static prop_dim_t random_dim(parts_t *parts, prop_random_t *random) {
  prop_dim_t dim = {0};
  int kind = prop_random_below(random, 100);
  dim.open = kind < 30 || (kind >= 75 && kind < 85);
  if (kind >= 50) {
    int wanted = prop_random_chance(random, 75) ? 1 : 2;
    while (dim.npieces < wanted && parts->count > 0) {
      dim.pieces[dim.npieces++] = take_part(parts, random);
    }
  }
  if (prop_random_chance(random, 8)) {
    dim.priority = 1 + prop_random_below(random, 3);
  }
  return dim;
}

static void add_pending(const parts_t *parts, prop_random_t *random, prop_sharding_t *sharding) {
  static const tspec_reduce_t kinds[] = {TSPEC_REDUCE_SUM, TSPEC_REDUCE_SUM, TSPEC_REDUCE_SUM,
                                         TSPEC_REDUCE_MAX, TSPEC_REDUCE_MIN};
  sharding->kind = kinds[prop_random_below(random, 5)];
  for (int i = 0; i < parts->count; ++i) {
    if (parts->pieces[i].size == 0 && prop_random_chance(random, 70)) {
      sharding->pending[sharding->npending++] = parts->pieces[i].axis;
    }
  }
}

static prop_sharding_t random_sharding(const prop_program_t *program, prop_random_t *random,
                                       const prop_type_t *type, bool may_pend) {
  prop_sharding_t sharding = {.written = PROP_WRITTEN_DIMS, .rank = type->rank};
  parts_t parts = cut_mesh(program, random);
  if (type->rank == 0 || prop_random_chance(random, 8)) {
    sharding.written = PROP_WRITTEN_EMPTY;
  }
  for (int i = 0; sharding.written == PROP_WRITTEN_DIMS && i < type->rank; ++i) {
    sharding.dims[i] = random_dim(&parts, random);
  }
  sharding.dots = prop_random_chance(random, 20);
  if (may_pend && type->dtype != TSPEC_DTYPE_BOOL && prop_random_chance(random, 20)) {
    add_pending(&parts, random, &sharding);
  }
  return sharding;
}

static void annotate_nodes(prop_program_t *program, prop_random_t *random, int leaves, int lets) {
  for (int i = 0; i < program->nnodes; ++i) {
    prop_node_t *node = &program->nodes[i];
    bool op = node->kind == PROP_OP;
    bool always = op && node->gen == &prop_gen_constraint;
    if (always || prop_random_chance(random, op ? lets : leaves)) {
      node->sharding = random_sharding(program, random, &node->type, op);
      node->sharding.by_rule = node->kind != PROP_INPUT && prop_random_chance(random, 15);
      if (node->kind == PROP_PARAM && prop_random_chance(random, 30)) {
        node->use = random_sharding(program, random, &node->type, false);
      }
    }
    if (op && prop_random_chance(random, 20)) {
      node->typed = prop_random_chance(random, 60) ? PROP_TYPED_NAMES : PROP_TYPED_NUMBERS;
    }
  }
}

// An operand of a sum is split by the axes that the sum is to be pending over.
static void split_operand(prop_program_t *program, prop_random_t *random, const prop_node_t *sum,
                          const prop_sharding_t *pending) {
  int index = prop_random_below(random, sum->noperands), dims[PROP_MAX_RANK];
  int count = prop_summed_dims(program, sum, index, dims);
  prop_node_t *operand = &program->nodes[sum->operands[index]];
  if (count == 0 || operand->sharding.npending > 0) {
    return;
  }
  prop_sharding_t split = {.written = PROP_WRITTEN_DIMS, .rank = operand->type.rank};
  int chosen = dims[prop_random_below(random, count)];
  for (int i = 0; i < split.rank; ++i) {
    split.dims[i].open = true;
    for (int k = 0; i == chosen && k < pending->npending; ++k) {
      split.dims[i].pieces[split.dims[i].npieces++] = (prop_piece_t){.axis = pending->pending[k]};
    }
  }
  operand->sharding = split;
}

static bool is_sum(const prop_node_t *node) {
  return node->gen == &prop_gen_dot || node->gen == &prop_gen_reduce;
}

// A value and what it is made of are declared pending over the same axes: linear ops pass partial
// results on, others must not.
static void add_pending_chain(prop_program_t *program, prop_random_t *random, int node,
                              const prop_sharding_t *pending, int depth) {
  prop_node_t *at = &program->nodes[node];
  if (at->kind != PROP_OP || at->type.dtype == TSPEC_DTYPE_BOOL || depth == 0) {
    return;
  }
  at->sharding = *pending;
  at->sharding.rank = at->type.rank;
  if (at->type.rank == 0) {
    at->sharding.written = PROP_WRITTEN_EMPTY;
  }
  // a sum makes partial results, or passes on those of what it reads
  bool begins = is_sum(at) && prop_random_chance(random, 75);
  if (begins && prop_random_chance(random, 85)) {
    split_operand(program, random, at, pending);
  }
  for (int i = 0; i < at->noperands && !begins; ++i) {
    if (prop_random_chance(random, 75)) {
      add_pending_chain(program, random, at->operands[i], pending, depth - 1);
    }
  }
}

static bool is_extreme(const prop_node_t *node) {
  return node->gen == &prop_gen_reduce &&
         (node->form == TSPEC_REDUCE_MAX || node->form == TSPEC_REDUCE_MIN);
}

// Where a chain ends: most often at what reads a sum, a maximum or a minimum.
static int choose_end(const prop_program_t *program, prop_random_t *random) {
  bool extremes = prop_random_chance(random, 30);
  int found[PROP_MAX_NODES], count = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    for (int k = 0; k < node->noperands; ++k) {
      const prop_node_t *operand = &program->nodes[node->operands[k]];
      if ((extremes ? is_extreme(operand) : is_sum(operand)) &&
          node->type.dtype != TSPEC_DTYPE_BOOL) {
        found[count++] = i;
        break;
      }
    }
  }
  return count > 0 && prop_random_chance(random, 70) ? found[prop_random_below(random, count)]
                                                     : prop_random_below(random, program->nnodes);
}

// The kind in which what a value sums, or its operands sum, can be pending.
static tspec_reduce_t kind_of_sums(const prop_program_t *program, const prop_node_t *node,
                                   tspec_reduce_t otherwise) {
  tspec_reduce_t kind = otherwise;
  for (int k = -1; k < node->noperands; ++k) {
    const prop_node_t *at = k < 0 ? node : &program->nodes[node->operands[k]];
    if (is_sum(at)) {
      kind = at->gen == &prop_gen_reduce && at->form <= TSPEC_REDUCE_MIN ? (tspec_reduce_t)at->form
                                                                         : TSPEC_REDUCE_SUM;
    }
  }
  return kind;
}

static void annotate_chains(prop_program_t *program, prop_random_t *random) {
  int wanted = prop_random_chance(random, 40) ? 0 : 1 + prop_random_below(random, 4);
  for (int i = 0; i < wanted && program->nmesh > 0; ++i) {
    prop_sharding_t pending = {.written = PROP_WRITTEN_DIMS};
    for (int d = 0; d < PROP_MAX_RANK; ++d) {
      pending.dims[d].open = prop_random_chance(random, 80);
    }
    parts_t parts = {0};
    for (int axis = 0; axis < program->nmesh; ++axis) {
      parts.pieces[parts.count++] = (prop_piece_t){.axis = axis};
    }
    add_pending(&parts, random, &pending);
    int end = choose_end(program, random);
    if (prop_random_chance(random, 70)) {
      pending.kind = kind_of_sums(program, &program->nodes[end], pending.kind);
    }
    add_pending_chain(program, random, end, &pending, 4);
  }
}

static void annotate_results(prop_program_t *program, prop_random_t *random, int percent) {
  for (int e = 0; e < program->nentries; ++e) {
    for (int i = 0; i < program->entries[e].nresults; ++i) {
      prop_result_t *result = &program->entries[e].results[i];
      result->names = prop_random_chance(random, 50);
      if (prop_random_chance(random, percent)) {
        const prop_type_t *type = &program->nodes[result->node].type;
        result->sharding = random_sharding(program, random, type, false);
      }
    }
  }
}

static void add_rules(prop_program_t *program, prop_random_t *random) {
  int wanted = prop_random_chance(random, 50) ? 0 : 1 + prop_random_below(random, 4);
  for (int i = 0; i < wanted; ++i) {
    int size = prop_random_below(random, program->nsizes);
    if (program->sizes[size].named) {
      parts_t parts = cut_mesh(program, random);
      prop_rule_t *rule = &program->rules[program->nrules++];
      *rule = (prop_rule_t){.size = size, .dim = random_dim(&parts, random), .entry = -1};
      if (prop_random_chance(random, 25)) {
        rule->entry = prop_random_below(random, program->nentries);
      }
    }
  }
}

// Some values without a type and a sharding are written where they are read. As each reader has
// its copy, `written` limits how long that gets.
static void inline_nodes(prop_program_t *program, prop_random_t *random, int percent) {
  enum { MOST = 6 };
  int written[PROP_MAX_NODES] = {0}; // ops in the text of a value
  for (int i = 0; i < program->nnodes; ++i) {
    prop_node_t *node = &program->nodes[i];
    written[i] = node->kind == PROP_OP;
    for (int k = 0; k < node->noperands; ++k) {
      int operand = node->operands[k];
      written[i] += program->nodes[operand].inlined ? written[operand] : 0;
    }
    node->inlined = node->kind == PROP_OP && node->typed == PROP_TYPED_NOT &&
                    node->sharding.written == PROP_WRITTEN_NOT && written[i] <= MOST &&
                    prop_random_chance(random, percent);
  }
}

void prop_annotate(prop_program_t *program, prop_random_t *random) {
  static const int often[] = {0, 10, 30, 60};
  annotate_nodes(program, random, prop_random_chance(random, 80) ? 60 : 10,
                 often[prop_random_below(random, 4)]);
  annotate_chains(program, random);
  annotate_results(program, random, prop_random_chance(random, 50) ? 50 : 0);
  add_rules(program, random);
  inline_nodes(program, random, prop_random_chance(random, 60) ? 30 : 0);
}
