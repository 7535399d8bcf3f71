#include "tests/property/program.h"

#include <string.h>

#include "tests/property/gen.h"

const char *const prop_mesh_names[PROP_MAX_MESH] = {"x", "y", "z"};

// ---- random numbers ----------------------------------------------------------------------------

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t prop_random_bits(prop_random_t *random) {
  random->state += 0x9E3779B97F4A7C15u;
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int prop_random_below(prop_random_t *random, int n) {
  return (int)((prop_random_bits(random) >> 33) % (uint64_t)n);
}

bool prop_random_chance(prop_random_t *random, int percent) {
  return prop_random_below(random, 100) < percent;
}

// ---- types -------------------------------------------------------------------------------------

int64_t prop_type_count(const prop_type_t *type) {
  int64_t count = 1;
  for (int i = 0; i < type->rank; ++i) {
    count *= type->dims[i];
  }
  return count;
}

bool prop_type_equal(const prop_type_t *a, const prop_type_t *b) {
  bool equal = a->dtype == b->dtype && a->rank == b->rank;
  for (int i = 0; equal && i < a->rank; ++i) {
    equal = a->dims[i] == b->dims[i];
  }
  return equal;
}

int prop_program_nranks(const prop_program_t *program) {
  int nranks = 1;
  for (int i = 0; i < program->nmesh; ++i) {
    nranks *= program->mesh[i];
  }
  return nranks;
}

int prop_program_nops(const prop_program_t *program) {
  int nops = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    nops += program->nodes[i].kind == PROP_OP;
  }
  return nops;
}

int prop_program_size(prop_program_t *program, int value) {
  for (int i = 0; i < program->nsizes; ++i) {
    if (program->sizes[i].value == value && !program->sizes[i].named) {
      return i;
    }
  }
  if (program->nsizes == PROP_MAX_SIZES) {
    return -1;
  }
  program->sizes[program->nsizes] = (prop_size_t){.value = value};
  return program->nsizes++;
}

// ---- bounds ------------------------------------------------------------------------------------

static void infer_leaf(const prop_program_t *program, prop_node_t *node) {
  node->type = (prop_type_t){.dtype = node->dtype, .rank = node->rank};
  for (int i = 0; i < node->rank; ++i) {
    node->type.dims[i] = program->sizes[node->sizes[i]].value;
  }
  bool unit = tspec_dtype_is_float(node->dtype) && !program->ints;
  node->lo = node->dtype == TSPEC_DTYPE_U8 || node->dtype == TSPEC_DTYPE_BOOL ? 0 : unit ? -1 : -4;
  node->hi = node->dtype == TSPEC_DTYPE_U8 ? 8 : node->dtype == TSPEC_DTYPE_BOOL ? 1 : unit ? 1 : 4;
  node->err = 0;
}

static bool is_splat(const prop_program_t *program, const prop_node_t *node) {
  bool splat = node->noperands > 0;
  for (int i = 0; i < node->noperands; ++i) {
    splat = splat && program->nodes[node->operands[i]].splat;
  }
  return splat || node->gen == &prop_gen_constant;
}

bool prop_node_infer(const prop_program_t *program, prop_node_t *node) {
  enum { MAX_ELEMENTS = 3000 };
  if (node->kind != PROP_OP) {
    infer_leaf(program, node);
    return prop_type_count(&node->type) <= MAX_ELEMENTS;
  }
  for (int i = 0; i < node->noperands; ++i) {
    const prop_node_t *operand = &program->nodes[node->operands[i]];
    if (operand->entry >= 0 && operand->entry != node->entry) {
      return false;
    }
  }
  if (node->gen->inexact && program->ints) {
    return false;
  }
  node->splat = is_splat(program, node);
  return node->gen->infer(program, node) && node->type.rank <= PROP_MAX_RANK &&
         prop_type_count(&node->type) <= MAX_ELEMENTS;
}

static bool sharding_fits(const prop_sharding_t *sharding, int rank) {
  return sharding->written != PROP_WRITTEN_DIMS || sharding->rank == rank;
}

bool prop_program_infer(prop_program_t *program) {
  for (int i = 0; i < program->nnodes; ++i) {
    prop_node_t *node = &program->nodes[i];
    if (!prop_node_infer(program, node) || !sharding_fits(&node->sharding, node->type.rank)) {
      return false;
    }
  }
  for (int e = 0; e < program->nentries; ++e) {
    const prop_entry_t *entry = &program->entries[e];
    for (int i = 0; i < entry->nresults; ++i) {
      const prop_result_t *result = &entry->results[i];
      if (!sharding_fits(&result->sharding, program->nodes[result->node].type.rank)) {
        return false;
      }
    }
  }
  return true;
}

// ---- removing ----------------------------------------------------------------------------------

static void mark_needed(const prop_program_t *program, bool *needed) {
  for (int e = 0; e < program->nentries; ++e) {
    for (int i = 0; i < program->entries[e].nresults; ++i) {
      needed[program->entries[e].results[i].node] = true;
    }
  }
  for (int i = program->nnodes - 1; i >= 0; --i) {
    for (int k = 0; needed[i] && k < program->nodes[i].noperands; ++k) {
      needed[program->nodes[i].operands[k]] = true;
    }
  }
}

void prop_program_compact(prop_program_t *program) {
  bool needed[PROP_MAX_NODES] = {0};
  int place[PROP_MAX_NODES] = {0};
  mark_needed(program, needed);
  int count = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    if (!needed[i]) {
      continue;
    }
    place[i] = count;
    if (count != i) {
      program->nodes[count] = program->nodes[i];
    }
    prop_node_t *node = &program->nodes[count++];
    for (int k = 0; k < node->noperands; ++k) {
      node->operands[k] = place[node->operands[k]];
    }
  }
  program->nnodes = count;
  for (int e = 0; e < program->nentries; ++e) {
    for (int i = 0; i < program->entries[e].nresults; ++i) {
      program->entries[e].results[i].node = place[program->entries[e].results[i].node];
    }
  }
}
