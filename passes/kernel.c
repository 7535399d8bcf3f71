// The table of kernels and its text.
#include "passes/kernel.h"

#include <string.h>

#include "ir/base/str.h"

const tspec_kernel_t *tspec_kernel_find(const tspec_program_t *program, const char *name) {
  for (int i = 0; i < program->nkernels; i++) {
    if (strcmp(program->kernels[i].name, name) == 0) {
      return &program->kernels[i];
    }
  }
  return NULL;
}

void tspec_kernel_add(tspec_program_t *program, const tspec_kernel_t *kernel) {
  int count = program->nkernels;
  if (count >= program->kernels_room) {
    program->kernels_room = 2 * count + 4;
    tspec_kernel_t *grown = TSPEC_ARENA_NEW(program->arena, tspec_kernel_t, program->kernels_room);
    for (int i = 0; i < count; i++) {
      grown[i] = program->kernels[i];
    }
    program->kernels = grown;
  }
  program->kernels[program->nkernels++] = *kernel;
}

/// Declares every function that `body` calls, "call @NAME(..) : TYPE" up to the end of the line,
/// once.
static void declare_calls(tspec_arena_t *arena, tspec_names_t *known, const char *body,
                          tspec_buf_t *out) {
  static const char call[] = "call @";
  for (const char *at = strstr(body, call); at != NULL; at = strstr(at + 1, call)) {
    const char *name = at + sizeof call - 1;
    const char *paren = strchr(name, '(');
    const char *colon = paren == NULL ? NULL : strstr(paren, " : ");
    const char *arrow = colon == NULL ? NULL : strstr(colon, " -> ");
    if (arrow == NULL) {
      return;
    }
    const char *end = arrow + strcspn(arrow, "\n");
    const char *text = tspec_arena_strdup(arena, name, (size_t)(paren - name));
    if (tspec_names_get(known, text) == NULL) {
      tspec_names_set(arena, known, text, known);
      tspec_buf_printf(out, "func.func private @%s%.*s\n", text, (int)(end - colon - 3), colon + 3);
    }
  }
}

/// Appends the lines of `globals` that are not there yet.
static void add_globals(tspec_arena_t *arena, tspec_names_t *known, const char *globals,
                        tspec_buf_t *out) {
  while (globals != NULL && *globals != 0) {
    size_t length = strcspn(globals, "\n");
    const char *line = tspec_arena_strdup(arena, globals, length);
    if (tspec_names_get(known, line) == NULL) {
      tspec_names_set(arena, known, line, known);
      tspec_buf_printf(out, "%s\n", line);
    }
    globals += length + (globals[length] == '\n');
  }
}

const char *tspec_kernels_print(const tspec_program_t *program, tspec_arena_t *arena) {
  tspec_buf_t text = {0};
  tspec_names_t known = {0};
  for (int i = 0; i < program->nkernels; i++) {
    declare_calls(arena, &known, program->kernels[i].body, &text);
    add_globals(arena, &known, program->kernels[i].globals, &text);
  }
  for (int i = 0; i < program->nkernels; i++) {
    tspec_buf_puts(&text, program->kernels[i].body);
  }
  const char *copy = tspec_arena_strdup(arena, tspec_buf_get(&text), text.length);
  tspec_buf_deinit(&text);
  return copy;
}
