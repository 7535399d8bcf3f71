// Makes random programs.
#ifndef TSPEC_TESTS_PROPERTY_GENERATE_H
#define TSPEC_TESTS_PROPERTY_GENERATE_H

#include "tests/property/program.h"

typedef struct prop_generate_options_t {
  int nops;    ///< about how many; 0: 5 to 60
  bool ints;   ///< whole numbers only
  bool rounds; ///< as in prop_program_t
  bool divides;
  int nranks; ///< at most; 0: as many as the largest mesh has
} prop_generate_options_t;

/// The program of that seed: well-typed, no value without use.
void prop_generate(uint64_t seed, const prop_generate_options_t *options, prop_program_t *program);
/// Writes shardings on some of its values, and rules.
void prop_annotate(prop_program_t *program, prop_random_t *random);

#endif
