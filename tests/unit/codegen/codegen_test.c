#include "passes/codegen.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passes/pass.h"
#include "tests/support/program_text.h"

typedef struct fixture_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_program_t *program;
  char folder[32];
} fixture_t;

static void start(fixture_t *f, const char *text) {
  tspec_arena_init(&f->arena);
  tspec_sources_init(&f->sources, &f->arena);
  tspec_diag_init(&f->diag, &f->sources, NULL);
  f->program = tspec_text_program(&f->arena, &f->diag, text);
  cr_assert(f->program != NULL);
  tspec_options_t options = {0};
  tspec_pass_run_t run = {.name = "fuse",
                          .program = f->program,
                          .scratch = &f->arena,
                          .diag = &f->diag,
                          .options = &options};
  cr_assert(tspec_pass_fuse(&run) && tspec_pass_plan_memory(&run));
  strcpy(f->folder, "/tmp/tspec-codegen-XXXXXX");
  cr_assert(mkdtemp(f->folder) != NULL);
}

static void finish(fixture_t *f) {
  (void)rmdir(f->folder);
  tspec_arena_deinit(&f->arena);
}

// What code generation writes, and the file's removal.
static const char *emit(fixture_t *f, tspec_emit_t what, const char *cpu) {
  const char *path = tspec_arena_printf(&f->arena, "%s/out", f->folder);
  tspec_codegen_t options = {.cpu = cpu, .emit = what, .output = path, .compiler = "test"};
  cr_assert(tspec_codegen_run(f->program, &options, &f->diag));
  uint32_t file = tspec_sources_read(&f->sources, path);
  cr_assert(file != 0);
  (void)unlink(path);
  return tspec_sources_get(&f->sources, file)->text;
}

static const char exp_text[] = "level local\nmesh x=2\nentry main\ninput a f32[64] @ [x]\n"
                               "b = exp a @ [x]\nresult b @ [x]\n";

Test(codegen, cpu_names_are_checked_and_listed) {
  fixture_t f;
  start(&f, exp_text);
  cr_assert(tspec_codegen_check_cpu(NULL, (tspec_range_t){0}, &f.diag));
  cr_assert(tspec_codegen_check_cpu("native", (tspec_range_t){0}, &f.diag));
  cr_assert(tspec_codegen_check_cpu("x86-64-v4", (tspec_range_t){0}, &f.diag));
  cr_assert(tspec_codegen_check_cpu("znver5", (tspec_range_t){0}, &f.diag));
  cr_assert(not(tspec_codegen_check_cpu("x86-64-v5", (tspec_range_t){0}, &f.diag)));
  cr_assert(f.diag.count == 1 && strstr(f.diag.messages[0].text, "'x86-64-v5'") != NULL &&
            strstr(f.diag.messages[0].text, "x86-64-v4") != NULL);
  finish(&f);
}

Test(codegen, elementary_functions_are_inlined_and_vectorised) {
  fixture_t f;
  start(&f, exp_text);
  const char *v3 = emit(&f, TSPEC_EMIT_LLVM, "x86-64-v3");
  cr_assert(strstr(v3, "tspec_exp") == NULL && strstr(v3, "@expf") == NULL);
  cr_assert(strstr(v3, "<8 x float>") != NULL);
  const char *assembly = emit(&f, TSPEC_EMIT_ASM, "x86-64-v3");
  cr_assert(strstr(assembly, "vfmadd") != NULL && strstr(assembly, "ymm") != NULL);
  const char *v4 = emit(&f, TSPEC_EMIT_ASM, "x86-64-v4");
  cr_assert(strstr(v4, "vfmadd") != NULL);
  finish(&f);
}

Test(codegen, multiply_and_add_of_a_program_are_not_contracted) {
  fixture_t f;
  start(&f, "level local\nmesh x=2\nentry main\ninput a f32[64] @ [x]\nb = mul a a @ [x]\n"
            "c = add b a @ [x]\nresult c @ [x]\n");
  cr_assert(strstr(emit(&f, TSPEC_EMIT_ASM, "x86-64-v3"), "vfmadd") == NULL);
  finish(&f);
}

Test(codegen, the_same_program_gives_the_same_object) {
  fixture_t f;
  start(&f, exp_text);
  const char *first = emit(&f, TSPEC_EMIT_ASM, "x86-64-v3");
  cr_assert(eq(str, (char *)first, (char *)emit(&f, TSPEC_EMIT_ASM, "x86-64-v3")));
  finish(&f);
}

Test(codegen, equal_kernels_are_one) {
  fixture_t f;
  start(&f, "level local\nmesh x=2\nentry main\ninput a f32[64, 8] @ [x, -]\n"
            "b = exp a @ [x, -]\nc = reshape b shape=512 @ [x]\nd = reshape c shape=64,8 @ [x, -]\n"
            "e = exp d @ [x, -]\nresult e @ [x, -]\n");
  cr_assert(eq(int, f.program->nkernels, 1));
  finish(&f);
}

Test(codegen, a_file_that_cannot_be_written_and_a_linker_that_fails_are_errors) {
  fixture_t f;
  start(&f, exp_text);
  tspec_codegen_t options = {
      .emit = TSPEC_EMIT_OBJ, .output = "/no/such/folder/out.o", .compiler = "test"};
  cr_assert(not(tspec_codegen_run(f.program, &options, &f.diag)));
  cr_assert(strstr(f.diag.messages[0].text, "'/no/such/folder/out.o' cannot be written") != NULL);
  const char *object = tspec_arena_printf(&f.arena, "%s/bad.o", f.folder);
  FILE *file = fopen(object, "w");
  (void)fputs("no object", file);
  (void)fclose(file);
  // A folder that has a runtime, of a sort.
  const char *runtime = tspec_arena_printf(&f.arena, "%s/libtspecrt.a", f.folder);
  file = fopen(runtime, "w");
  (void)fputs("!<arch>\n", file);
  (void)fclose(file);
  options.output = tspec_arena_printf(&f.arena, "%s/out", f.folder);
  options.tspecc_dir = f.folder;
  cr_assert(not(tspec_link_executable(object, &options, &f.diag)));
  cr_assert(strstr(f.diag.messages[1].text, "linking with 'cc' failed") != NULL);
  (void)unlink(object);
  (void)unlink(runtime);
  finish(&f);
}
