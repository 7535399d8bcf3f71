// .mlir text: a module is refused with a message, or read as a program; one that verifies is
// written, and what is written is read again as the same text. Small programs go through the
// passes.
#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/export.h"
#include "ir/mlir/import.h"
#include "tests/fuzz/text.h"

enum { MAX_BYTES = 1 << 14 };

/// The program's text as MLIR.
static void print(fuzz_text_t *text, MlirContext context, tspec_program_t *program,
                  tspec_buf_t *buf) {
  MlirModule module = tspec_program_export(context, program, &text->sources);
  FUZZ_CHECK(!mlirModuleIsNull(module), "a verified program cannot be written");
  tspec_module_print(module, buf);
  mlirModuleDestroy(module);
}

/// Written and read, it is written as the same text.
static uint64_t check_round_trip(uint64_t said, fuzz_text_t *text, MlirContext context,
                                 tspec_program_t *program) {
  tspec_buf_t first = {0};
  tspec_buf_t second = {0};
  print(text, context, program, &first);
  uint32_t file = tspec_sources_add(&text->sources, "printed.mlir", first.text, first.length);
  tspec_program_t *again = tspec_program_import_file(context, file, &text->arena, &text->diag);
  FUZZ_CHECK(again != NULL, "what was written cannot be read: %s\n%s",
             text->diag.messages[text->diag.count - 1].text, tspec_buf_get(&first));
  print(text, context, again, &second);
  FUZZ_CHECK(strcmp(tspec_buf_get(&first), tspec_buf_get(&second)) == 0,
             "written twice it reads\n%s\nand\n%s", tspec_buf_get(&first), tspec_buf_get(&second));
  said = fuzz_hash_text(said, tspec_buf_get(&first));
  tspec_buf_deinit(&first);
  tspec_buf_deinit(&second);
  return said;
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  if (size > MAX_BYTES) {
    return 0;
  }
  fuzz_text_t text;
  fuzz_text_init(&text, "fuzz.mlir", data, size);
  text.has_foreign_places = true;
  MlirContext context = tspec_context_create(&text.diag);
  tspec_program_t *program = tspec_program_import_file(context, text.file, &text.arena, &text.diag);
  FUZZ_CHECK((program == NULL) == (text.diag.nerrors > 0), "%d errors for %s", text.diag.nerrors,
             program == NULL ? "none" : "a program");
  uint64_t said = fuzz_hash_number(0, program != NULL);
  if (program != NULL && tspec_program_verify(program, NULL, &text.diag)) {
    said = check_round_trip(said, &text, context, program);
    said = fuzz_run_passes(said, &text, program);
  }
  said = fuzz_hash_messages(said, &text);
  mlirContextDestroy(context);
  fuzz_text_deinit(&text);
  return said;
}
