// A program as text that says everything a pass could get different: to compare two compilations.
#ifndef TSPEC_TESTS_PROPERTY_LOCAL_TEXT_H
#define TSPEC_TESTS_PROPERTY_LOCAL_TEXT_H

#include "ir/base/str.h"
#include "ir/program.h"

void prop_local_text(tspec_program_t *program, tspec_arena_t *arena, tspec_buf_t *out);

#endif
