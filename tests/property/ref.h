// Files for tools/property_ref.py, which compares the evaluator with an interpreter on JAX: a
// program SEED.tspec and SEED.txt with a line for each tensor:
//
//   param w3 f32 2,3 : 1 2 3 ..
//   in e0 a1 i8 4 : ..                 (of entry e0)
//   out e0 r0 f32 4 0.001 : ..         (what the evaluator got, and what it may differ by)
#ifndef TSPEC_TESTS_PROPERTY_REF_H
#define TSPEC_TESTS_PROPERTY_REF_H

#include <stdio.h>

#include "ir/eval/eval.h"
#include "tests/property/program.h"

/// Writes the program, and its parameters to the second file, which stays open.
FILE *prop_ref_open(const prop_program_t *program, const tspec_program_t *global, const char *dir);
/// Writes an entry's inputs and the results of its last run.
void prop_ref_write_entry(const prop_program_t *program, int entry, const tspec_program_t *global,
                          tspec_eval_t *whole, FILE *file);

#endif
