#include "passes/collectives.h"

#include <string.h>

#include "ir/base/vec.h"
#include "ir/program_steps.h"

/// The kinds that send something; a local one is no collective for the user.
static bool find_kind(const char *name, tspec_collective_t *out_kind) {
  static const tspec_collective_t kKinds[] = {
      TSPEC_COLLECTIVE_ALL_REDUCE, TSPEC_COLLECTIVE_ALL_GATHER, TSPEC_COLLECTIVE_REDUCE_SCATTER,
      TSPEC_COLLECTIVE_ALL_TO_ALL, TSPEC_COLLECTIVE_PERMUTE,
  };
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    if (strcmp(tspec_collective_name(kKinds[i]), name) == 0) {
      *out_kind = kKinds[i];
      return true;
    }
  }
  return false;
}

bool tspec_collective_of(const tspec_program_t *program, const tspec_op_t *op,
                         tspec_collective_use_t *out_use) {
  const tspec_op_info_t *info = tspec_op_info(op->kind);
  *out_use = (tspec_collective_use_t){.op = op};
  if ((info->rules->traits & TSPEC_TRAIT_COLLECTIVE) == 0 ||
      !find_kind(info->name, &out_use->kind)) {
    return false;
  }
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  out_use->naxes = (int)axes->count;
  out_use->axes = axes->axes;
  out_use->bytes = tspec_op_cost_bytes(&program->mesh, op);
  return true;
}

int tspec_func_collectives(const tspec_program_t *program, const tspec_func_t *func,
                           tspec_arena_t *arena, tspec_collective_use_t **out_uses) {
  TSPEC_VEC(tspec_collective_use_t) uses = {0};
  tspec_collective_use_t use;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (tspec_collective_of(program, op, &use)) {
      TSPEC_VEC_PUSH(arena, &uses, use);
    }
  }
  *out_uses = uses.items;
  return (int)uses.count;
}

tspec_range_t tspec_collective_range(const tspec_op_t *op, int index) {
  const tspec_value_t *result = op->results[op->nresults == 1 ? 0 : index];
  return op->nresults == 1 || result->range.file == 0 ? op->range : result->range;
}

const char *tspec_collective_lines(tspec_arena_t *arena, const tspec_sources_t *sources,
                                   const tspec_op_t *op) {
  tspec_names_t lines = {0};
  for (int i = 0; i < op->nresults; i++) {
    const char *line = tspec_range_brief(sources, tspec_collective_range(op, i));
    tspec_names_set(arena, &lines, line, (void *)(uintptr_t)op);
  }
  const char *text = lines.count == 0 ? "" : lines.entries[0].name;
  for (size_t i = 1; i < lines.count && i < TSPEC_COLLECTIVE_MAX_LINES; i++) {
    text = tspec_arena_printf(arena, "%s, %s", text, lines.entries[i].name);
  }
  return lines.count <= TSPEC_COLLECTIVE_MAX_LINES
             ? text
             : tspec_arena_printf(arena, "%s and %zu more", text,
                                  lines.count - TSPEC_COLLECTIVE_MAX_LINES);
}

const char *tspec_collective_print(tspec_arena_t *arena, const tspec_program_t *program,
                                   const tspec_sources_t *sources,
                                   const tspec_collective_use_t *use) {
  return tspec_arena_printf(
      arena, "%s over %s, %lld bytes%s%s (%s)", tspec_collective_name(use->kind),
      tspec_axes_print(arena, &program->mesh, use->axes, use->naxes), (long long)use->bytes,
      use->op->because == NULL ? "" : ", ", use->op->because == NULL ? "" : use->op->because,
      tspec_collective_lines(arena, sources, use->op));
}
