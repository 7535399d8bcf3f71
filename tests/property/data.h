// Inputs and parameters of a program, and how results are compared.
#ifndef TSPEC_TESTS_PROPERTY_DATA_H
#define TSPEC_TESTS_PROPERTY_DATA_H

#include "ir/eval/eval.h"
#include "tests/property/program.h"

typedef struct prop_inputs_t {
  int count;
  tspec_eval_input_t items[PROP_MAX_NODES];
} prop_inputs_t;

/// Inputs of an entry. `program` NULL: of a program that was not made here; small whole numbers
/// that follow from the names. Ownership: prop_data_free.
void prop_data_inputs(const prop_program_t *program, const tspec_func_t *func,
                      prop_inputs_t *out_inputs);
void prop_data_free(prop_inputs_t *inputs);
/// Sets all parameters. False after a report to the evaluator's diagnostics.
bool prop_data_params(const prop_program_t *program, const tspec_program_t *global,
                      tspec_eval_t *eval);
/// How much a result may differ; programs that were not made here have whole numbers only.
double prop_data_allowed(const prop_program_t *program, int entry, int index);
/// The value of an input or a parameter. Ownership: the caller's.
tspec_dense_t *prop_data_leaf(const prop_program_t *program, const char *name, tspec_type_t type);
/// Equal types, and no element differs by more than `allowed`; a NaN is equal to a NaN, 0 to -0.
bool prop_data_same(const tspec_dense_t *want, const tspec_dense_t *got, double allowed,
                    int64_t *out_at);

#endif
