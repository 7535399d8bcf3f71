#include "ir/shard/factor.h"

#include <inttypes.h>

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/base/vec.h"

typedef TSPEC_VEC(int) int_vec_t;
typedef TSPEC_VEC(tspec_factor_t) factor_vec_t;

struct tspec_rule_builder_state_t {
  factor_vec_t factors;
  int_vec_t **operands; ///< [operand][dim]
  int_vec_t **results;
};

static int_vec_t **make_lists(tspec_arena_t *arena, int ntypes, const tspec_type_t *types) {
  int_vec_t **lists = TSPEC_ARENA_NEW(arena, int_vec_t *, ntypes);
  for (int i = 0; i < ntypes; i++) {
    lists[i] = TSPEC_ARENA_NEW(arena, int_vec_t, types[i].rank);
  }
  return lists;
}

void tspec_rule_builder_init(tspec_rule_builder_t *builder, tspec_arena_t *arena, int noperands,
                             const tspec_type_t *operand_types, int nresults,
                             const tspec_type_t *result_types) {
  *builder = (tspec_rule_builder_t){.arena = arena,
                                    .noperands = noperands,
                                    .nresults = nresults,
                                    .operand_types = operand_types,
                                    .result_types = result_types};
  builder->state = TSPEC_ARENA_NEW(arena, struct tspec_rule_builder_state_t, 1);
  builder->state->operands = make_lists(arena, noperands, operand_types);
  builder->state->results = make_lists(arena, nresults, result_types);
}

int tspec_rule_builder_factor(tspec_rule_builder_t *builder, int64_t size,
                              tspec_factor_kind_t kind) {
  factor_vec_t *factors = &builder->state->factors;
  TSPEC_VEC_PUSH(builder->arena, factors, (tspec_factor_t){.size = size, .kind = kind});
  return (int)factors->count - 1;
}

void tspec_rule_builder_block(tspec_rule_builder_t *builder, int factor) {
  TSPEC_CHECK(factor >= 0 && (size_t)factor < builder->state->factors.count);
  builder->state->factors.items[factor].blocked = true;
}

/// A factor of size 1 adds nothing to a dim that has another one.
static void map_dim(tspec_rule_builder_t *builder, int_vec_t *list, int factor) {
  TSPEC_CHECK(factor >= 0 && (size_t)factor < builder->state->factors.count);
  if (list->count == 0 || builder->state->factors.items[factor].size != 1) {
    TSPEC_VEC_PUSH(builder->arena, list, factor);
  }
}

void tspec_rule_builder_map_operand(tspec_rule_builder_t *builder, int operand, int dim,
                                    int factor) {
  TSPEC_CHECK(operand >= 0 && operand < builder->noperands);
  TSPEC_CHECK(dim >= 0 && dim < builder->operand_types[operand].rank);
  map_dim(builder, &builder->state->operands[operand][dim], factor);
}

void tspec_rule_builder_map_result(tspec_rule_builder_t *builder, int result, int dim, int factor) {
  TSPEC_CHECK(result >= 0 && result < builder->nresults);
  TSPEC_CHECK(dim >= 0 && dim < builder->result_types[result].rank);
  map_dim(builder, &builder->state->results[result][dim], factor);
}

static const tspec_type_t *first_tensor(const tspec_rule_builder_t *builder) {
  for (int i = 0; i < builder->nresults; i++) {
    if (builder->result_types[i].rank > 0) {
      return &builder->result_types[i];
    }
  }
  for (int i = 0; i < builder->noperands; i++) {
    if (builder->operand_types[i].rank > 0) {
      return &builder->operand_types[i];
    }
  }
  return NULL;
}

void tspec_rule_builder_pointwise(tspec_rule_builder_t *builder) {
  const tspec_type_t *shape = first_tensor(builder);
  for (int dim = 0; shape != NULL && dim < shape->rank; dim++) {
    int factor = tspec_rule_builder_factor(builder, shape->dims[dim], TSPEC_FACTOR_PASS_THROUGH);
    for (int i = 0; i < builder->noperands; i++) {
      if (builder->operand_types[i].rank == shape->rank) {
        tspec_rule_builder_map_operand(builder, i, dim, factor);
      }
    }
    for (int i = 0; i < builder->nresults; i++) {
      if (builder->result_types[i].rank == shape->rank) {
        tspec_rule_builder_map_result(builder, i, dim, factor);
      }
    }
  }
}

static const tspec_factor_map_t *finish_maps(tspec_rule_builder_t *builder, int ntypes,
                                             const tspec_type_t *types, int_vec_t **lists) {
  tspec_factor_map_t *maps = TSPEC_ARENA_NEW(builder->arena, tspec_factor_map_t, ntypes);
  for (int i = 0; i < ntypes; i++) {
    int rank = types[i].rank;
    tspec_factor_dim_t *dims = TSPEC_ARENA_NEW(builder->arena, tspec_factor_dim_t, rank);
    for (int dim = 0; dim < rank; dim++) {
      int_vec_t *list = &lists[i][dim];
      if (list->count == 0) {
        int filler = tspec_rule_builder_factor(builder, 1, TSPEC_FACTOR_PASS_THROUGH);
        TSPEC_VEC_PUSH(builder->arena, list, filler);
      }
      dims[dim] = (tspec_factor_dim_t){.nfactors = (int)list->count, .factors = list->items};
    }
    maps[i] = (tspec_factor_map_t){.rank = rank, .dims = dims};
  }
  return maps;
}

const tspec_factor_rule_t *tspec_rule_builder_finish(tspec_rule_builder_t *builder) {
  struct tspec_rule_builder_state_t *state = builder->state;
  tspec_factor_rule_t *rule = TSPEC_ARENA_NEW(builder->arena, tspec_factor_rule_t, 1);
  rule->noperands = builder->noperands;
  rule->operands =
      finish_maps(builder, builder->noperands, builder->operand_types, state->operands);
  rule->nresults = builder->nresults;
  rule->results = finish_maps(builder, builder->nresults, builder->result_types, state->results);
  rule->nfactors = (int)state->factors.count;
  rule->factors = state->factors.items;
  rule->reduce = TSPEC_REDUCE_SUM;
  return rule;
}

// ---- printing -----------------------------------------------------------------------------------

const char *tspec_factor_name(tspec_arena_t *arena, int factor) {
  const int nletters = 'z' - 'i' + 1;
  return factor < nletters ? tspec_arena_printf(arena, "%c", 'i' + factor)
                           : tspec_arena_printf(arena, "z_%d", factor - nletters + 1);
}

static void print_factor(tspec_buf_t *buf, int factor) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_buf_puts(buf, tspec_factor_name(&work, factor));
  tspec_arena_deinit(&work);
}

static void print_maps(tspec_buf_t *buf, int nmaps, const tspec_factor_map_t *maps) {
  tspec_buf_puts(buf, "(");
  for (int i = 0; i < nmaps; i++) {
    tspec_buf_puts(buf, i > 0 ? ",[" : "[");
    for (int dim = 0; dim < maps[i].rank; dim++) {
      tspec_buf_puts(buf, dim > 0 ? ", " : "");
      for (int f = 0; f < maps[i].dims[dim].nfactors; f++) {
        print_factor(buf, maps[i].dims[dim].factors[f]);
      }
    }
    tspec_buf_puts(buf, "]");
  }
  tspec_buf_puts(buf, ")");
}

/// " name={i, k}" with the factors of a kind, or with the blocked ones; nothing if there are none.
static void print_set(tspec_buf_t *buf, const tspec_factor_rule_t *rule, const char *name,
                      tspec_factor_kind_t kind, bool blocked) {
  bool any = false;
  for (int i = 0; i < rule->nfactors; i++) {
    const tspec_factor_t *factor = &rule->factors[i];
    if (blocked ? factor->blocked : factor->kind == kind) {
      if (any) {
        tspec_buf_puts(buf, ", ");
      } else {
        tspec_buf_printf(buf, " %s={", name);
      }
      print_factor(buf, i);
      any = true;
    }
  }
  tspec_buf_puts(buf, any ? "}" : "");
}

const char *tspec_factor_rule_print(tspec_arena_t *arena, const tspec_factor_rule_t *rule) {
  tspec_buf_t buf = {0};
  print_maps(&buf, rule->noperands, rule->operands);
  tspec_buf_puts(&buf, "->");
  print_maps(&buf, rule->nresults, rule->results);
  tspec_buf_puts(&buf, " {");
  for (int i = 0; i < rule->nfactors; i++) {
    tspec_buf_puts(&buf, i > 0 ? ", " : "");
    print_factor(&buf, i);
    tspec_buf_printf(&buf, "=%" PRId64, rule->factors[i].size);
  }
  tspec_buf_puts(&buf, "}");
  print_set(&buf, rule, "reduction", TSPEC_FACTOR_REDUCTION, false);
  print_set(&buf, rule, "need_replication", TSPEC_FACTOR_NEED_REPLICATION, false);
  print_set(&buf, rule, "permutation", TSPEC_FACTOR_PERMUTATION, false);
  print_set(&buf, rule, "blocked_propagation", TSPEC_FACTOR_PASS_THROUGH, true);
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}
