// One object for all factor rules that are equal.
#include "ir/shard/factor.h"

// ---- hash ---------------------------------------------------------------------------------------

static uint64_t hash_maps(uint64_t hash, int nmaps, const tspec_factor_map_t *maps) {
  hash = tspec_hash_number(hash, (uint64_t)nmaps);
  for (int i = 0; i < nmaps; i++) {
    hash = tspec_hash_number(hash, (uint64_t)maps[i].rank);
    for (int d = 0; d < maps[i].rank; d++) {
      for (int f = 0; f < maps[i].dims[d].nfactors; f++) {
        hash = tspec_hash_number(hash, (uint64_t)maps[i].dims[d].factors[f]);
      }
    }
  }
  return hash;
}

static uint64_t hash_rule(const void *object) {
  const tspec_factor_rule_t *rule = object;
  uint64_t hash = tspec_hash_number(TSPEC_HASH_START, (uint64_t)rule->nfactors);
  for (int f = 0; f < rule->nfactors; f++) {
    hash = tspec_hash_number(hash, (uint64_t)rule->factors[f].size);
    hash = tspec_hash_number(hash, (uint64_t)rule->factors[f].kind);
  }
  hash = hash_maps(hash, rule->noperands, rule->operands);
  return hash_maps(hash, rule->nresults, rule->results);
}

// ---- equality -----------------------------------------------------------------------------------

static bool dims_equal(const tspec_factor_dim_t *a, const tspec_factor_dim_t *b) {
  bool equal = a->nfactors == b->nfactors;
  for (int f = 0; equal && f < a->nfactors; f++) {
    equal = a->factors[f] == b->factors[f];
  }
  return equal;
}

static bool maps_equal(int nmaps, const tspec_factor_map_t *a, const tspec_factor_map_t *b) {
  bool equal = true;
  for (int i = 0; equal && i < nmaps; i++) {
    equal = a[i].rank == b[i].rank;
    for (int d = 0; equal && d < a[i].rank; d++) {
      equal = dims_equal(&a[i].dims[d], &b[i].dims[d]);
    }
  }
  return equal;
}

static bool is_same(const void *first, const void *second) {
  const tspec_factor_rule_t *a = first, *b = second;
  bool same = a->nfactors == b->nfactors && a->noperands == b->noperands &&
              a->nresults == b->nresults && a->reduce == b->reduce &&
              a->gathers_partials == b->gathers_partials;
  for (int f = 0; same && f < a->nfactors; f++) {
    same = a->factors[f].size == b->factors[f].size && a->factors[f].kind == b->factors[f].kind &&
           a->factors[f].blocked == b->factors[f].blocked;
  }
  return same && maps_equal(a->noperands, a->operands, b->operands) &&
         maps_equal(a->nresults, a->results, b->results);
}

// ---- copies -------------------------------------------------------------------------------------

static const tspec_factor_map_t *copy_maps(tspec_arena_t *arena, int nmaps,
                                           const tspec_factor_map_t *maps) {
  tspec_factor_map_t *copies = TSPEC_ARENA_NEW(arena, tspec_factor_map_t, nmaps);
  for (int i = 0; i < nmaps; i++) {
    tspec_factor_dim_t *dims =
        tspec_arena_copy(arena, maps[i].dims, sizeof *dims * (size_t)maps[i].rank);
    for (int d = 0; d < maps[i].rank; d++) {
      dims[d].factors = tspec_arena_copy(arena, dims[d].factors,
                                         sizeof *dims[d].factors * (size_t)dims[d].nfactors);
    }
    copies[i] = (tspec_factor_map_t){maps[i].rank, dims};
  }
  return copies;
}

static const void *copy_rule(tspec_arena_t *arena, const void *object) {
  const tspec_factor_rule_t *rule = object;
  tspec_factor_rule_t *copy = tspec_arena_copy(arena, rule, sizeof *rule);
  copy->factors =
      tspec_arena_copy(arena, rule->factors, sizeof *rule->factors * (size_t)rule->nfactors);
  copy->operands = copy_maps(arena, rule->noperands, rule->operands);
  copy->results = copy_maps(arena, rule->nresults, rule->results);
  return copy;
}

tspec_intern_t tspec_factor_rule_set(tspec_arena_t *arena) {
  static const tspec_intern_kind_t kind = {hash_rule, is_same, copy_rule};
  return (tspec_intern_t){.kind = &kind, .arena = arena};
}
