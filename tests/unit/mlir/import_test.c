// Import on damaged modules: an error or a program that can be printed, never a crash. The modules
// are the lit suite's.
#include "ir/mlir/import.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/export.h"

TestSuite(import, .timeout = 100);

/// xorshift: the same damage in every run.
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static size_t pick(uint64_t *state, size_t count) {
  return (size_t)(next_random(state) % count);
}

/// One place damaged: a number, name or bracket replaced, a stretch left out or written twice.
static void damage(tspec_buf_t *buf, const tspec_source_t *source, uint64_t *state) {
  static const char *const kWords[] = {
      "0",   "-1", "9223372036854775807", "[data]",     "\"\"", "unit",       "[]",
      "f32", "i1", "tensor<2xf32>",       "!tspec.any", "{}",   "array<i64>", "1.0 : f64",
      "x"};
  size_t at = pick(state, source->length);
  size_t length = 1 + pick(state, 12);
  size_t end = at + length < source->length ? at + length : source->length;
  tspec_buf_append(buf, source->text, at);
  switch (pick(state, 3)) {
  case 0:
    tspec_buf_puts(buf, kWords[pick(state, sizeof kWords / sizeof *kWords)]);
    break;
  case 1:
    tspec_buf_append(buf, source->text + at, end - at);
    end = at;
    break;
  default:
    break;
  }
  tspec_buf_append(buf, source->text + end, source->length - end);
}

/// Imports one damaged copy of a file.
static void import_damaged(const char *path, uint64_t seed) {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
  uint32_t original = tspec_sources_read(&sources, path);
  cr_assert(ne(int, (int)original, 0), "%s", path);
  tspec_buf_t buf = {0};
  uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  damage(&buf, tspec_sources_get(&sources, original), &state);
  uint32_t file = tspec_sources_add(&sources, "damaged.mlir", buf.text, buf.length);
  MlirContext context = tspec_context_create(&diag);
  tspec_program_t *program = tspec_program_import_file(context, file, &arena, &diag);
  cr_assert(eq(int, program != NULL, diag.nerrors == 0), "%s, seed %d", path, (int)seed);
  if (program != NULL && tspec_program_verify(program, NULL, &diag)) {
    MlirModule module = tspec_program_export(context, program, &sources);
    cr_assert(not(mlirModuleIsNull(module)), "%s, seed %d", path, (int)seed);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  tspec_buf_deinit(&buf);
  tspec_arena_deinit(&arena);
}

static void import_all(const char *path) {
  for (uint64_t seed = 0; seed < 150; seed++) {
    import_damaged(path, seed);
  }
}

Test(import, damaged_global_modules_are_refused_or_read) {
  import_all(TSPEC_TEST_SOURCE_DIR "/lit/dialect/global.mlir");
}

Test(import, damaged_sharded_modules_are_refused_or_read) {
  import_all(TSPEC_TEST_SOURCE_DIR "/lit/dialect/sharded.mlir");
}

Test(import, damaged_local_modules_are_refused_or_read) {
  import_all(TSPEC_TEST_SOURCE_DIR "/lit/dialect/local.mlir");
}

Test(import, damaged_kernels_modules_are_refused_or_read) {
  import_all(TSPEC_TEST_SOURCE_DIR "/lit/dialect/kernels.mlir");
}
