// What random programs hold. A thing that none of them has is not tested.
#ifndef TSPEC_TESTS_PROPERTY_SURVEY_H
#define TSPEC_TESTS_PROPERTY_SURVEY_H

#include <stdio.h>

#include "tests/property/program.h"

enum { PROP_MAX_FEATURES = 64, PROP_MAX_ROWS = 128 };

/// In how many programs each thing was found. Zeroed: none yet.
typedef struct prop_survey_t {
  int nprograms;
  int features[PROP_MAX_FEATURES]; ///< the things that survey.c lists
  int dtypes[TSPEC_DTYPE_COUNT];
  int rows[PROP_MAX_ROWS]; ///< of the generator table; what the compiler makes, too, at any level
  int bad_size;            ///< programs of less than 5 or more than 60 ops
} prop_survey_t;

/// Looks at one program, and at what the compiler makes of it. False: it does not compile.
bool prop_survey_add(prop_survey_t *survey, const prop_program_t *program);
/// Prints all counts. Gives how many things no program had.
int prop_survey_print(const prop_survey_t *survey, FILE *stream);

#endif
