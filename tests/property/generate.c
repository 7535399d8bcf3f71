#include "tests/property/generate.h"

#include <string.h>

#include "tests/property/gen.h"

static int random_mesh_size(prop_random_t *random) {
  static const int sizes[] = {1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6};
  return sizes[prop_random_below(random, sizeof sizes / sizeof sizes[0])];
}

static void make_mesh(prop_program_t *program, prop_random_t *random, int most) {
  int naxes = prop_random_below(random, 20);
  program->nmesh = naxes == 0 ? 0 : naxes < 6 ? 1 : naxes < 14 ? 2 : 3;
  if (most == 0) {
    most = prop_random_chance(random, 97) ? 24 : 216;
  }
  do {
    for (int i = 0; i < program->nmesh; ++i) {
      program->mesh[i] = random_mesh_size(random);
    }
  } while (prop_program_nranks(program) > most);
}

// From a stream of their own, so that the rest of a seed's program does not depend on them.
static void make_speeds(prop_program_t *program) {
  static const int speeds[] = {0, 1, 1, 2, 4, 10, 100};
  prop_random_t random = {program->seed * 0x9E3779B97F4A7C15u + 1};
  bool stated = prop_random_chance(&random, 30);
  for (int i = 0; i < program->nmesh && stated; ++i) {
    program->speeds[i] = speeds[prop_random_below(&random, sizeof speeds / sizeof speeds[0])];
  }
}

static void make_sizes(prop_program_t *program, prop_random_t *random) {
  static const int sizes[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 12};
  program->nsizes = 3 + prop_random_below(random, 4);
  for (int i = 0; i < program->nsizes; ++i) {
    program->sizes[i].value = sizes[prop_random_below(random, sizeof sizes / sizeof sizes[0])];
    program->sizes[i].named = prop_random_chance(random, 60);
  }
}

static prop_type_t random_type(prop_make_t *make) {
  static const int ranks[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 4};
  prop_type_t type = {.dtype = prop_random_dtype(make->random),
                      .rank = ranks[prop_random_below(make->random, 10)]};
  for (int i = 0; i < type.rank; ++i) {
    int size = prop_random_below(make->random, make->program->nsizes);
    type.dims[i] = make->program->sizes[size].value;
  }
  return type;
}

static const prop_gen_t *random_gen(prop_random_t *random) {
  int total = 0;
  for (int i = 0; i < prop_gen_count(); ++i) {
    total += prop_gen_at(i)->weight;
  }
  int left = prop_random_below(random, total), i = 0;
  while (left >= prop_gen_at(i)->weight) {
    left -= prop_gen_at(i++)->weight;
  }
  return prop_gen_at(i);
}

// An op like one that is there, on the same first operand: equal but for something, or altogether.
static const prop_gen_t *choose_twin(prop_make_t *make) {
  const prop_program_t *program = make->program;
  if (program->nnodes == 0) {
    return NULL;
  }
  const prop_node_t *node = &program->nodes[prop_random_below(make->random, program->nnodes)];
  if (node->kind != PROP_OP || node->entry != make->entry || node->noperands == 0) {
    return NULL;
  }
  make->first = node->operands[0];
  return node->gen;
}

// One more op. What does not fit is taken back, with the leaves that were made for it.
static bool add_op(prop_make_t *make) {
  prop_program_t *program = make->program;
  int nnodes = program->nnodes, nsizes = program->nsizes;
  make->first = -1;
  make->splat_only = prop_random_chance(make->random, 8);
  const prop_gen_t *twin = prop_random_chance(make->random, 15) ? choose_twin(make) : NULL;
  prop_node_t node = {
      .kind = PROP_OP, .gen = twin != NULL ? twin : random_gen(make->random), .entry = make->entry};
  if (!(node.gen->inexact && program->ints) && node.gen->make(node.gen, make, &node) &&
      program->nnodes < PROP_MAX_NODES && prop_node_infer(program, &node)) {
    program->nodes[program->nnodes++] = node;
    return true;
  }
  program->nnodes = nnodes;
  program->nsizes = nsizes;
  return false;
}

// What nothing reads is a result, the latest first; sometimes a value that is read is one, too.
static void choose_results(prop_make_t *make) {
  prop_program_t *program = make->program;
  prop_entry_t *entry = &program->entries[make->entry];
  bool read[PROP_MAX_NODES] = {0};
  for (int i = 0; i < program->nnodes; ++i) {
    for (int k = 0; k < program->nodes[i].noperands; ++k) {
      read[program->nodes[i].operands[k]] = true;
    }
  }
  for (int i = program->nnodes - 1; i >= 0 && entry->nresults < PROP_MAX_RESULTS; --i) {
    const prop_node_t *node = &program->nodes[i];
    bool op = node->kind == PROP_OP && node->entry == make->entry;
    if ((op && !read[i]) || (op && prop_random_chance(make->random, 5)) ||
        (!op && (node->entry < 0 || node->entry == make->entry) &&
         prop_random_chance(make->random, 2))) {
      entry->results[entry->nresults++] = (prop_result_t){.node = i};
    }
  }
  if (entry->nresults == 0) {
    prop_type_t type = random_type(make);
    int leaf = prop_new_leaf(make, &type);
    entry->results[entry->nresults++] = (prop_result_t){.node = leaf < 0 ? 0 : leaf};
  }
}

static void make_entry(prop_make_t *make, int nops) {
  for (int i = 0; i < 2; ++i) {
    prop_type_t type = random_type(make);
    prop_new_leaf(make, &type);
  }
  for (int tries = 0, count = 0; count < nops && tries < 20 * nops; ++tries) {
    count += add_op(make);
  }
  make->splat_only = false;
  choose_results(make);
}

void prop_generate(uint64_t seed, const prop_generate_options_t *options, prop_program_t *program) {
  prop_random_t random = {seed * 0x2545F4914F6CDD1Du + 1};
  memset(program, 0, sizeof *program);
  program->seed = seed;
  program->ints = options->ints;
  program->rounds = options->rounds;
  program->divides = options->divides;
  make_mesh(program, &random, options->nranks);
  make_speeds(program);
  make_sizes(program, &random);
  program->nentries = prop_random_chance(&random, 80) ? 1 : 2 + prop_random_below(&random, 2);
  int nops = options->nops > 0                 ? options->nops
             : prop_random_chance(&random, 60) ? 5 + prop_random_below(&random, 15)
                                               : 5 + prop_random_below(&random, 56);
  for (int i = 0; i < program->nentries; ++i) {
    prop_make_t make = {.program = program, .random = &random, .entry = i, .first = -1};
    make_entry(&make, (nops + program->nentries - 1) / program->nentries);
  }
  prop_annotate(program, &random);
  prop_program_compact(program);
}
