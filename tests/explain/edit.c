#include "tests/explain/edit.h"

#include <string.h>

static int find_param(const tspec_program_t *program, tspec_slot_kind_t kind, const char *path) {
  for (int i = 0; i < program->nparams; i++) {
    if ((kind == TSPEC_SLOT_PARAM || kind == TSPEC_SLOT_STATE) &&
        strcmp(program->params[i].path, path) == 0) {
      return i;
    }
  }
  return -1;
}

edit_places_t edit_places(const tspec_program_t *program, tspec_arena_t *arena) {
  edit_places_t places = {0};
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_func_t *func = program->funcs[i];
    for (int a = 0; a < func->nargs; a++) {
      TSPEC_VEC_PUSH(arena, &places,
                     (edit_place_t){func->args[a].value, NULL,
                                    find_param(program, func->args[a].kind, func->args[a].name)});
    }
    for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
      for (int r = 0; r < op->nresults; r++) {
        TSPEC_VEC_PUSH(arena, &places, (edit_place_t){op->results[r], NULL, -1});
      }
    }
  }
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_func_t *func = program->funcs[i];
    for (int r = 0; r < func->nresults; r++) {
      tspec_result_t *result = &func->results[r];
      TSPEC_VEC_PUSH(arena, &places,
                     (edit_place_t){NULL, result, find_param(program, result->kind, result->name)});
    }
  }
  return places;
}

static const tspec_sharding_t *without(const tspec_program_t *program,
                                       const tspec_sharding_t *sharding, const tspec_seed_t *seed) {
  tspec_sharding_t *copy = tspec_arena_copy(program->arena, sharding, sizeof *sharding);
  tspec_dim_t *dims =
      tspec_arena_copy(program->arena, sharding->dims, sizeof *dims * (size_t)sharding->rank);
  tspec_dim_t *dim = &dims[seed->dim];
  tspec_axis_t *axes = TSPEC_ARENA_NEW(program->arena, tspec_axis_t, dim->naxes);
  int kept = 0;
  for (int i = 0; i < dim->naxes; i++) {
    if (!tspec_axis_overlap(dim->axes[i], seed->axis)) {
      axes[kept++] = dim->axes[i];
    }
  }
  dim->axes = axes;
  dim->naxes = kept;
  dim->open = true;
  dim->priority = tspec_axes_product(axes, kept) > 1 ? dim->priority : 0;
  copy->dims = dims;
  return copy;
}

void edit_remove(tspec_program_t *program, const edit_places_t *places, const tspec_seed_t *seed) {
  const edit_place_t *place = &places->items[seed->value];
  if (place->result != NULL && place->result->sharding != NULL) {
    place->result->sharding = without(program, place->result->sharding, seed);
  } else if (place->param >= 0) {
    tspec_param_t *param = &program->params[place->param];
    param->sharding = without(program, param->sharding, seed);
  } else if (place->value->def == NULL) {
    place->value->sharding = without(program, place->value->sharding, seed);
  } else {
    tspec_op_t *op = place->value->def;
    const tspec_sharding_t *stated = tspec_op_get_attr(op, "sharding")->sharding;
    tspec_op_set_attr(program, op, tspec_attr_sharding("sharding", without(program, stated, seed)));
  }
}

const tspec_sharding_t *edit_sharding(const edit_place_t *place) {
  return place->value != NULL ? place->value->sharding : place->result->sharding;
}
