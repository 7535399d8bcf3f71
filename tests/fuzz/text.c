#include "tests/fuzz/text.h"

#include <string.h>

#include "passes/pipeline.h"

// What goes through the passes: larger programs only take longer.
enum { MAX_RANKS = 64, MAX_VALUES = 200 };

void fuzz_text_init(fuzz_text_t *text, const char *name, const void *bytes, size_t size) {
  tspec_arena_init(&text->arena);
  tspec_sources_init(&text->sources, &text->arena);
  tspec_diag_init(&text->diag, &text->sources, NULL);
  text->has_foreign_places = false;
  text->stream = fopen("/dev/null", "w");
  FUZZ_CHECK(text->stream != NULL, "cannot open /dev/null");
  text->file = tspec_sources_add(&text->sources, name, bytes, size);
}

void fuzz_text_deinit(fuzz_text_t *text) {
  fclose(text->stream);
  tspec_arena_deinit(&text->arena);
}

bool fuzz_is_inside(const tspec_sources_t *sources, tspec_range_t range) {
  const tspec_source_t *source = tspec_sources_get(sources, range.file);
  if (source == NULL) {
    return range.file == 0 && range.line == 0;
  }
  if (range.line == 0 || range.col == 0 || range.end_col == 0 || range.line > range.end_line ||
      range.end_line > source->nlines) {
    return false;
  }
  size_t begin = source->line_starts[range.line - 1] + range.col - 1;
  size_t end = source->line_starts[range.end_line - 1] + range.end_col - 1;
  return begin <= end && end <= source->length;
}

void fuzz_check_messages(const fuzz_text_t *text) {
  for (size_t i = 0; i < text->diag.count; i++) {
    const tspec_message_t *message = &text->diag.messages[i];
    FUZZ_CHECK(text->has_foreign_places || fuzz_is_inside(&text->sources, message->range),
               "%u:%u-%u:%u is no place: %s", message->range.line, message->range.col,
               message->range.end_line, message->range.end_col, message->text);
    tspec_message_print(&text->sources, message, text->stream);
    FUZZ_CHECK(message->text[0] != '\0', "an empty message");
    FUZZ_CHECK(strncmp(message->text, "after pass", strlen("after pass")) != 0, "%s",
               message->text);
  }
}

uint64_t fuzz_hash_messages(uint64_t said, const fuzz_text_t *text) {
  for (size_t i = 0; i < text->diag.count; i++) {
    const tspec_message_t *message = &text->diag.messages[i];
    said = fuzz_hash_text(said, message->text);
    said = fuzz_hash(said, &message->range, sizeof message->range);
    said = fuzz_hash_number(said, message->severity);
  }
  return said;
}

// ---- passes ----

static bool is_small(const tspec_program_t *program) {
  int nvalues = 0;
  for (int f = 0; f < program->nfuncs; f++) {
    const tspec_func_t *func = program->funcs[f];
    nvalues += func->nargs;
    for (const tspec_op_t *op = func->first; op != NULL && nvalues <= MAX_VALUES; op = op->next) {
      nvalues += op->nresults;
    }
  }
  return nvalues <= MAX_VALUES && tspec_mesh_nranks(&program->mesh) <= MAX_RANKS;
}

static uint64_t hash_program(uint64_t said, const tspec_program_t *program, tspec_arena_t *arena) {
  for (int f = 0; f < program->nfuncs; f++) {
    const tspec_func_t *func = program->funcs[f];
    said = fuzz_hash_number(said, func->arena_bytes);
    for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
      said = fuzz_hash_number(said, op->kind);
      for (int i = 0; i < op->nresults; i++) {
        const tspec_sharding_t *sharding = op->results[i]->sharding;
        said = fuzz_hash_text(
            said, sharding == NULL ? "" : tspec_sharding_print(arena, &program->mesh, sharding));
        said = fuzz_hash_number(said, op->results[i]->offset_bytes);
      }
    }
  }
  return said;
}

uint64_t fuzz_run_passes(uint64_t said, fuzz_text_t *text, tspec_program_t *program) {
  if (program->level == TSPEC_LEVEL_KERNELS || !is_small(program)) {
    return said;
  }
  tspec_options_t options = {.cpu = "x86-64-v3",
                             .lint = true,
                             .verify_each = true,
                             .nranks = tspec_mesh_nranks(&program->mesh)};
  tspec_pipeline_run_t run = {.program = program, .diag = &text->diag, .options = &options};
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(&text->arena, program->level, TSPEC_LEVEL_KERNELS);
  bool ok = tspec_pipeline_run(&pipeline, &run);
  FUZZ_CHECK(ok || text->diag.nerrors > 0, "a pass failed without a word");
  fuzz_check_messages(text);
  return hash_program(fuzz_hash_number(said, ok), run.program, &text->arena);
}
