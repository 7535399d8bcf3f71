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

/// Where a place's starting sharding stands, if it has one.
static const tspec_sharding_t **start_of(tspec_program_t *program, const edit_place_t *place,
                                         const tspec_attr_t **out_stated) {
  *out_stated = NULL;
  if (place->result != NULL && place->result->sharding != NULL) {
    return &place->result->sharding;
  }
  if (place->param >= 0) {
    return &program->params[place->param].sharding;
  }
  if (place->value != NULL && place->value->def != NULL) {
    *out_stated = tspec_op_get_attr(place->value->def, "sharding");
    return NULL;
  }
  return place->value == NULL ? NULL : &place->value->sharding;
}

void edit_remove(tspec_program_t *program, const edit_places_t *places, const tspec_seed_t *seed) {
  const edit_place_t *place = &places->items[seed->value];
  const tspec_attr_t *stated;
  const tspec_sharding_t **start = start_of(program, place, &stated);
  if (start != NULL) {
    *start = without(program, *start, seed);
  } else {
    tspec_op_set_attr(program, place->value->def,
                      tspec_attr_sharding("sharding", without(program, stated->sharding, seed)));
  }
}

static const tspec_sharding_t *with_priorities(const tspec_program_t *program,
                                               const tspec_sharding_t *sharding, uint64_t *random) {
  tspec_sharding_t *copy = tspec_arena_copy(program->arena, sharding, sizeof *sharding);
  tspec_dim_t *dims =
      tspec_arena_copy(program->arena, sharding->dims, sizeof *dims * (size_t)sharding->rank);
  for (int d = 0; d < sharding->rank; d++) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    dims[d].priority = dims[d].naxes > 0 ? (int)(*random >> 33) % 3 : 0;
  }
  copy->dims = dims;
  return copy;
}

void edit_priorities(tspec_program_t *program, int seed) {
  uint64_t random = (uint64_t)seed + 1;
  edit_places_t places = edit_places(program, program->arena);
  bool *done = TSPEC_ARENA_NEW(program->arena, bool, program->nparams);
  for (size_t i = 0; i < places.count; i++) {
    const edit_place_t *place = &places.items[i];
    const tspec_attr_t *stated;
    const tspec_sharding_t **start = start_of(program, place, &stated);
    bool is_param =
        start != NULL && place->param >= 0 && start == &program->params[place->param].sharding;
    if (start != NULL && *start != NULL && !(is_param && done[place->param])) {
      *start = with_priorities(program, *start, &random);
    } else if (stated != NULL) {
      tspec_op_set_attr(
          program, place->value->def,
          tspec_attr_sharding("sharding", with_priorities(program, stated->sharding, &random)));
    }
    if (is_param) {
      done[place->param] = true;
    }
  }
}

const tspec_sharding_t *edit_sharding(const edit_place_t *place) {
  return place->value != NULL ? place->value->sharding : place->result->sharding;
}
