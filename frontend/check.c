#include "frontend/check.h"

#include <errno.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"
#include "frontend/parser.h"
#include "frontend/std.h"

// "gpt" of "models/gpt.tspec".
static const char *program_name(tspec_checker_t *c, uint32_t file) {
  const char *path = tspec_sources_get(c->sources, file)->path;
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(name, '.');
  size_t length = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
  return tspec_arena_strdup(c->arena, name, length);
}

static void add_library(tspec_checker_t *c, tspec_items_t *items) {
  uint32_t file = tspec_sources_add(c->sources, "std.tspec", tspec_std_text, tspec_std_text_size);
  const tspec_ast_file_t *tree = tspec_parse(c->arena, c->sources, file, c->diag);
  tspec_check_flatten(c, tree, &c->library, 3, items);
}

static void add_rules_files(tspec_checker_t *c, tspec_items_t *items) {
  for (size_t i = 0; i < c->options->nrules; ++i) {
    const char *path = c->options->rules[i];
    uint32_t file = tspec_sources_read(c->sources, path);
    if (file == 0) {
      tspec_check_error(c, (tspec_range_t){0}, "cannot read the rules file '%s': %s", path,
                        strerror(errno));
      continue;
    }
    const tspec_ast_file_t *tree = tspec_parse(c->arena, c->sources, file, c->diag);
    tspec_check_flatten(c, tree, &c->user, 2, items);
  }
}

static void check_all(tspec_checker_t *c, const tspec_ast_file_t *main) {
  tspec_items_t items = {0};
  add_library(c, &items);
  tspec_check_flatten(c, main, &c->user, 0, &items);
  add_rules_files(c, &items);
  tspec_check_collect(c, &items);
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, &c->user, NULL);
  c->frame = &frame;
  tspec_check_numbers(c);
  tspec_check_mesh(c, &items);
  tspec_check_flush_trace(c);
  c->frame = NULL;
  tspec_check_rules(c, &items);
  tspec_check_members(c, &items);
  c->late = (tspec_names_t){0};
  c->program->nparams = (int)c->params.count;
  c->program->params = c->params.items;
  tspec_check_entries(c, &items);
  tspec_check_unreached(c);
  tspec_check_promises(c, &items);
  tspec_check_rules_finish(c);
}

tspec_program_t *tspec_check(tspec_arena_t *arena, tspec_sources_t *sources,
                             const tspec_ast_file_t *main, const tspec_check_options_t *options,
                             tspec_diag_t *diag) {
  tspec_check_options_t none = {0};
  tspec_checker_t c = {.arena = arena,
                       .sources = sources,
                       .diag = diag,
                       .options = options == NULL ? &none : options,
                       .max_steps = TSPEC_CHECK_MAX_STEPS,
                       .params_dtype = TSPEC_DTYPE_F32,
                       .compute_dtype = TSPEC_DTYPE_F32,
                       .reduce_dtype = TSPEC_DTYPE_F32};
  if (c.options->max_steps > 0) {
    c.max_steps = c.options->max_steps;
  }
  c.steps_left = c.max_steps;
  int nerrors = diag->nerrors;
  c.program = tspec_program_create(arena, program_name(&c, main->file));
  c.program->level = TSPEC_LEVEL_GLOBAL;
  c.user.outer = &c.library;
  tspec_check_add_builtins(&c);
  check_all(&c, main);
  return diag->nerrors == nerrors ? c.program : NULL;
}
