// For targets whose input is text: what a compilation needs, and properties of all compilations.
#ifndef TSPEC_TESTS_FUZZ_TEXT_H
#define TSPEC_TESTS_FUZZ_TEXT_H

#include "ir/base/diag.h"
#include "ir/program.h"
#include "tests/fuzz/fuzz.h"

/// One compilation of one text.
typedef struct fuzz_text_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  uint32_t file;
  bool has_foreign_places; ///< the text itself says where things are: places may be anywhere
  FILE *stream;            ///< takes printed messages, drops them
} fuzz_text_t;

void fuzz_text_init(fuzz_text_t *text, const char *name, const void *bytes, size_t size);
void fuzz_text_deinit(fuzz_text_t *text);

/// The range's ends are places of its file, in order; or it is no place at all.
bool fuzz_is_inside(const tspec_sources_t *sources, tspec_range_t range);
/// Every message lies inside of a source, can be printed, is not empty, and blames no pass.
void fuzz_check_messages(const fuzz_text_t *text);
uint64_t fuzz_hash_messages(uint64_t said, const fuzz_text_t *text);

/// A verified program goes through all passes that are left for it, each verified, if it is small.
/// Passes may refuse it only with messages of their own.
uint64_t fuzz_run_passes(uint64_t said, fuzz_text_t *text, tspec_program_t *program);

#endif
