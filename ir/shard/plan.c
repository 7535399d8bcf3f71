// The plan of a reshard by axes alone: slice, permute, all_to_all, gather, in rounds.
// Source: Shardy's reshard to collectives, as `propagation.md` 3.3 tells it.
#include <string.h>

#include "ir/base/vec.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"
#include "ir/shard/decompose.h"

enum { MAX_ROUNDS = 16 };

typedef struct atoms_t {
  int count;
  tspec_axis_t items[TSPEC_MAX_ATOMS];
} atoms_t;

// Pieces of `from` and `to` are cut so that any two that overlap are equal; then only equality
// counts. Of each dim the first `done` pieces of cur and target agree: what follows in cur is the
// IN of the source, what follows in target its OUT.
typedef struct plan_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  tspec_type_t type;
  const tspec_sharding_t *from;
  int rank;
  atoms_t *cur;
  atoms_t *target;
  atoms_t *next; // the layout that a permute makes; else empty
  int *done;
  int64_t *capacity; // room per dim, as a number of parts
  const tspec_sharding_t *at;
  TSPEC_VEC(tspec_step_t) steps;
} plan_t;

typedef struct place_t {
  int dim; // -1: nowhere
  int index;
} place_t;

static int64_t gcd64(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void atoms_insert(atoms_t *atoms, int index, tspec_axis_t atom) {
  TSPEC_CHECK(atoms->count < TSPEC_MAX_ATOMS);
  memmove(&atoms->items[index + 1], &atoms->items[index],
          sizeof *atoms->items * (size_t)(atoms->count - index));
  atoms->items[index] = atom;
  atoms->count++;
}

static void atoms_append(atoms_t *atoms, tspec_axis_t atom) {
  atoms_insert(atoms, atoms->count, atom);
}

static int atoms_find(const atoms_t *atoms, int first, tspec_axis_t atom) {
  for (int i = first; i < atoms->count; i++) {
    if (tspec_axis_equal(atoms->items[i], atom)) {
      return i;
    }
  }
  return -1;
}

static int64_t atoms_product(const atoms_t *atoms, int first) {
  return tspec_axes_product(atoms->items + first, atoms->count - first);
}

// Where the piece stands in an OUT.
static place_t place_of(const plan_t *plan, tspec_axis_t atom) {
  for (int d = 0; d < plan->rank; d++) {
    int index = atoms_find(&plan->target[d], plan->done[d], atom);
    if (index >= 0) {
      return (place_t){d, index};
    }
  }
  return (place_t){-1, 0};
}

// True if the piece is in an IN.
static bool is_used(const plan_t *plan, tspec_axis_t atom) {
  for (int d = 0; d < plan->rank; d++) {
    if (atoms_find(&plan->cur[d], plan->done[d], atom) >= 0) {
      return true;
    }
  }
  return false;
}

static void strip_common(plan_t *plan) {
  for (int d = 0; d < plan->rank; d++) {
    int *done = &plan->done[d];
    while (*done < plan->cur[d].count && *done < plan->target[d].count &&
           tspec_axis_equal(plan->cur[d].items[*done], plan->target[d].items[*done])) {
      (*done)++;
    }
  }
}

static bool is_finished(const plan_t *plan) {
  for (int d = 0; d < plan->rank; d++) {
    if (plan->done[d] < plan->cur[d].count || plan->done[d] < plan->target[d].count) {
      return false;
    }
  }
  return true;
}

// How much of a piece of `size` parts goes into the capacity: all, its major part, or nothing (0).
static int64_t fit(int64_t size, int64_t capacity) {
  if (capacity <= 1) {
    return 0;
  }
  if (capacity % size == 0) {
    return size;
  }
  return size % capacity == 0 ? capacity : 0;
}

static void split_in(atoms_t *lists, int rank, tspec_axis_t atom, int64_t major) {
  for (int d = 0; d < rank; d++) {
    int index = atoms_find(&lists[d], 0, atom);
    if (index >= 0) {
      lists[d].items[index] = tspec_axis_major(atom, major);
      atoms_insert(&lists[d], index + 1, tspec_axis_minor(atom, atom.size / major));
    }
  }
}

// Takes as much of `atom` as fits into dim d, cutting it everywhere if that is a part only.
static bool take_fitting(plan_t *plan, int d, tspec_axis_t atom, tspec_axis_t *out_taken) {
  int64_t size = fit(atom.size, plan->capacity[d]);
  if (size == 0) {
    return false;
  }
  if (size < atom.size) {
    split_in(plan->cur, plan->rank, atom, size);
    split_in(plan->target, plan->rank, atom, size);
  }
  plan->capacity[d] /= size;
  *out_taken = tspec_axis_major(atom, size);
  return true;
}

static const tspec_sharding_t *sharding_of(const plan_t *plan, const atoms_t *lists) {
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(plan->arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(plan->arena, tspec_dim_t, plan->rank);
  for (int d = 0; d < plan->rank; d++) {
    tspec_axis_t *axes = TSPEC_ARENA_NEW(plan->arena, tspec_axis_t, lists[d].count);
    for (int i = 0; i < lists[d].count; i++) {
      tspec_axes_push(axes, &dims[d].naxes, lists[d].items[i]);
    }
    dims[d].axes = axes;
  }
  sharding->rank = plan->rank;
  sharding->dims = dims;
  sharding->npending = plan->from->npending;
  sharding->pending = plan->from->pending;
  sharding->pending_kind = plan->from->pending_kind;
  return sharding;
}

static void emit(plan_t *plan, tspec_collective_t kind, const atoms_t *moved, int src_dim,
                 int dst_dim) {
  tspec_axis_t *axes =
      tspec_arena_copy(plan->arena, moved->items, sizeof *axes * (size_t)moved->count);
  tspec_step_t step = {.kind = kind,
                       .naxes = tspec_axes_sort(axes, moved->count),
                       .axes = axes,
                       .from = plan->at,
                       .to = sharding_of(plan, plan->cur),
                       .src_dim = src_dim,
                       .dst_dim = dst_dim};
  TSPEC_VEC_PUSH(plan->arena, &plan->steps, step);
  plan->at = step.to;
  strip_common(plan);
}

// ---- 1. all_slice -----------------------------------------------------------------------------

// Dim s will be moved as a whole to behind what is done of dim t: slicing axes that follow there
// first makes the move cheaper.
static void slice_for_move(plan_t *plan, int s, atoms_t *sliced) {
  atoms_t *cur = &plan->cur[s];
  int first = plan->done[s];
  if (first == cur->count || first < plan->target[s].count) {
    return;
  }
  place_t last = place_of(plan, cur->items[cur->count - 1]);
  if (last.dim < 0 || plan->done[last.dim] < plan->cur[last.dim].count) {
    return;
  }
  const atoms_t *target = &plan->target[last.dim];
  int64_t common = 1;
  int i = cur->count - 1;
  for (int j = last.index;
       i >= first && j >= plan->done[last.dim] && tspec_axis_equal(cur->items[i], target->items[j]);
       i--, j--) {
    common *= cur->items[i].size;
  }
  for (; i >= first; i--) {
    if (place_of(plan, cur->items[i]).dim == last.dim) {
      return;
    }
  }
  int end = last.index + 1;
  int64_t run = 1;
  for (; end < target->count && !is_used(plan, target->items[end]); end++) {
    run *= target->items[end].size;
  }
  if (run == 1 || plan->type.dims[s] % (atoms_product(cur, 0) * run) != 0) {
    return;
  }
  for (int j = last.index + 1; j < end; j++) {
    atoms_append(cur, target->items[j]);
    atoms_append(sliced, target->items[j]);
  }
  plan->capacity[last.dim] /= common * run;
}

// The unused axes of OUT[t], as far as they fit into dim d.
static void slice_into(plan_t *plan, int t, int d, atoms_t *sliced) {
  for (int j = plan->done[t]; j < plan->target[t].count; j++) {
    tspec_axis_t atom = plan->target[t].items[j];
    tspec_axis_t taken;
    if (!is_used(plan, atom) && take_fitting(plan, d, atom, &taken)) {
      atoms_append(&plan->cur[d], taken);
      atoms_append(sliced, taken);
    }
  }
}

static void plan_slice(plan_t *plan) {
  atoms_t sliced = {0};
  for (int d = 0; d < plan->rank; d++) {
    int64_t in = atoms_product(&plan->cur[d], plan->done[d]);
    int64_t out = atoms_product(&plan->target[d], plan->done[d]);
    plan->capacity[d] = out / gcd64(in, out);
  }
  for (int d = 0; d < plan->rank; d++) {
    slice_for_move(plan, d, &sliced);
  }
  for (int d = 0; d < plan->rank; d++) {
    slice_into(plan, d, d, &sliced);
  }
  for (int t = 0; t < plan->rank; t++) {
    for (int d = 0; d < plan->rank; d++) {
      slice_into(plan, t, d, &sliced);
    }
  }
  if (sliced.count > 0) {
    emit(plan, TSPEC_COLLECTIVE_ALL_SLICE, &sliced, -1, -1);
  }
}

// ---- 2. permute -------------------------------------------------------------------------------

// An axis that stays in its dim, or that does not directly follow the one before it on the way to
// the same dim, or that has to leave before one that stays.
static bool is_out_of_order(const plan_t *plan, int d) {
  const atoms_t *cur = &plan->cur[d];
  bool out_empty = plan->done[d] == plan->target[d].count;
  place_t before = {-1, 0};
  bool seen_place = false;
  for (int i = plan->done[d]; i < cur->count; i++) {
    place_t place = place_of(plan, cur->items[i]);
    if (place.dim < 0) {
      if (seen_place && out_empty) {
        return true;
      }
      before = place;
      continue;
    }
    seen_place = true;
    bool pointed = false;
    for (int j = plan->done[d]; j < i; j++) {
      pointed |= place_of(plan, cur->items[j]).dim == place.dim;
    }
    bool follows = before.dim == place.dim && before.index + 1 == place.index;
    if (place.dim == d || (pointed && !follows)) {
      return true;
    }
    before = place;
  }
  return false;
}

static bool divides_either(int64_t a, int64_t b) {
  return a % b == 0 || b % a == 0;
}

// An axis of an IN that is to go and that one of this size can replace.
static bool has_place_for(const plan_t *plan, int64_t size) {
  for (int d = 0; d < plan->rank; d++) {
    for (int i = plan->done[d]; i < plan->cur[d].count; i++) {
      tspec_axis_t in = plan->cur[d].items[i];
      if (place_of(plan, in).dim < 0 && divides_either(in.size, size)) {
        return true;
      }
    }
  }
  return false;
}

// True if a new axis can take the place of one that is to go.
static bool has_replacement(const plan_t *plan) {
  for (int t = 0; t < plan->rank; t++) {
    for (int j = plan->done[t]; j < plan->target[t].count; j++) {
      tspec_axis_t out = plan->target[t].items[j];
      if (!is_used(plan, out) && has_place_for(plan, out.size)) {
        return true;
      }
    }
  }
  return false;
}

// Heads of IN and OUT that can be exchanged; the larger IN one is cut to the size of the other.
static bool has_equal_heads(plan_t *plan, bool cut) {
  bool found = false;
  for (int d = 0; d < plan->rank; d++) {
    if (plan->done[d] == plan->cur[d].count || plan->done[d] == plan->target[d].count) {
      continue;
    }
    tspec_axis_t in = plan->cur[d].items[plan->done[d]];
    tspec_axis_t out = plan->target[d].items[plan->done[d]];
    if (divides_either(in.size, out.size)) {
      found = true;
      if (cut && in.size > out.size) {
        split_in(plan->cur, plan->rank, in, out.size);
        split_in(plan->target, plan->rank, in, out.size);
      }
    }
  }
  return found;
}

static bool needs_permute(plan_t *plan) {
  for (int d = 0; d < plan->rank; d++) {
    if (is_out_of_order(plan, d)) {
      return true;
    }
  }
  bool replaces = has_replacement(plan);
  return has_equal_heads(plan, true) || replaces;
}

static bool is_in_next(const plan_t *plan, tspec_axis_t atom) {
  for (int d = 0; d < plan->rank; d++) {
    if (atoms_find(&plan->next[d], 0, atom) >= 0) {
      return true;
    }
  }
  return false;
}

// Lays the piece, or its major part, out in the first dim that has room.
static void lay_out_anywhere(plan_t *plan, tspec_axis_t atom) {
  for (int d = 0; d < plan->rank; d++) {
    tspec_axis_t taken;
    if (take_fitting(plan, d, atom, &taken)) {
      atoms_append(&plan->next[d], taken);
      return;
    }
  }
}

// The OUT axes that their own dims could not take.
static void lay_out_waiting(plan_t *plan) {
  for (int t = 0; t < plan->rank; t++) {
    for (int j = plan->done[t]; j < plan->target[t].count; j++) {
      if (!is_in_next(plan, plan->target[t].items[j])) {
        lay_out_anywhere(plan, plan->target[t].items[j]);
      }
    }
  }
}

// Axes of IN[s] that will be gathered, into dim d before those that wait there for a move
// (`front`), so that these stay minor-most.
static void lay_out_leaving(plan_t *plan, int s, int d, int front) {
  bool waiting = plan->next[d].count > front;
  for (int i = plan->cur[s].count - 1; i >= plan->done[s]; i--) {
    tspec_axis_t atom = plan->cur[s].items[i];
    tspec_axis_t taken;
    if (place_of(plan, atom).dim < 0 && !is_in_next(plan, atom) &&
        take_fitting(plan, d, atom, &taken)) {
      atoms_insert(&plan->next[d], waiting ? front : plan->next[d].count, taken);
    }
  }
}

static void lay_out(plan_t *plan) {
  int *front = TSPEC_ARENA_NEW(plan->arena, int, plan->rank);
  for (int d = 0; d < plan->rank; d++) {
    plan->capacity[d] = atoms_product(&plan->cur[d], plan->done[d]);
    plan->next[d] = plan->cur[d];
    plan->next[d].count = plan->done[d];
  }
  for (int d = 0; d < plan->rank; d++) {
    tspec_axis_t taken;
    for (int j = plan->done[d]; j < plan->target[d].count; j++) {
      if (!take_fitting(plan, d, plan->target[d].items[j], &taken)) {
        break;
      }
      atoms_append(&plan->next[d], taken);
    }
    front[d] = plan->next[d].count;
  }
  lay_out_waiting(plan);
  for (int d = 0; d < plan->rank; d++) {
    lay_out_leaving(plan, d, d, front[d]);
  }
  for (int s = 0; s < plan->rank; s++) {
    for (int d = 0; d < plan->rank; d++) {
      lay_out_leaving(plan, s, d, front[d]);
    }
  }
}

// Adds the pieces of a list behind what is done to those that move.
static void note_moved(const plan_t *plan, const atoms_t *list, int d, atoms_t *moved) {
  for (int i = plan->done[d]; i < list->count; i++) {
    if (atoms_find(moved, 0, list->items[i]) < 0) {
      atoms_append(moved, list->items[i]);
    }
  }
}

// False if the new layout does not have the old one's numbers of parts.
static bool plan_permute(plan_t *plan) {
  if (!needs_permute(plan)) {
    return true;
  }
  lay_out(plan);
  atoms_t moved = {0};
  bool changed = false;
  for (int d = 0; d < plan->rank; d++) {
    const atoms_t *cur = &plan->cur[d];
    const atoms_t *next = &plan->next[d];
    if (plan->capacity[d] != 1 || atoms_product(cur, 0) != atoms_product(next, 0)) {
      return false;
    }
    changed |= !tspec_axes_equal(cur->items, cur->count, next->items, next->count);
    note_moved(plan, cur, d, &moved);
    note_moved(plan, next, d, &moved);
  }
  if (changed) {
    memcpy(plan->cur, plan->next, sizeof *plan->cur * (size_t)plan->rank);
    emit(plan, TSPEC_COLLECTIVE_PERMUTE, &moved, -1, -1);
  }
  return true;
}

// ---- 3. all_to_all ----------------------------------------------------------------------------

// Moves the longest trailing run of axes that all belong to one other dim. With `head_only`: if it
// is what comes next there.
static bool move_run(plan_t *plan, int s, bool head_only) {
  atoms_t *cur = &plan->cur[s];
  int t = -1;
  int begin = cur->count;
  while (begin > plan->done[s]) {
    int dim = place_of(plan, cur->items[begin - 1]).dim;
    if (dim < 0 || dim == s || (t >= 0 && dim != t)) {
      break;
    }
    t = dim;
    begin--;
  }
  if (t < 0) {
    return false;
  }
  atoms_t run = {.count = cur->count - begin};
  memcpy(run.items, &cur->items[begin], sizeof *run.items * (size_t)run.count);
  const atoms_t *target = &plan->target[t];
  bool is_head = target->count - plan->done[t] >= run.count &&
                 tspec_axes_equal(run.items, run.count, &target->items[plan->done[t]], run.count);
  if (head_only && !is_head) {
    return false;
  }
  cur->count = begin;
  for (int i = 0; i < run.count; i++) {
    atoms_append(&plan->cur[t], run.items[i]);
  }
  emit(plan, TSPEC_COLLECTIVE_ALL_TO_ALL, &run, s, t);
  return true;
}

static void plan_all_to_all(plan_t *plan) {
  for (int pass = 0; pass < 2; pass++) {
    for (int s = 0; s < plan->rank; s++) {
      while (move_run(plan, s, pass == 0)) {
      }
    }
  }
}

// ---- 4. all_gather ----------------------------------------------------------------------------

static void plan_gather(plan_t *plan) {
  atoms_t gathered = {0};
  for (int d = 0; d < plan->rank; d++) {
    atoms_t *cur = &plan->cur[d];
    while (cur->count > plan->done[d] && place_of(plan, cur->items[cur->count - 1]).dim < 0) {
      atoms_append(&gathered, cur->items[--cur->count]);
    }
  }
  if (gathered.count > 0) {
    emit(plan, TSPEC_COLLECTIVE_ALL_GATHER, &gathered, -1, -1);
  }
}

// ---- the whole --------------------------------------------------------------------------------

// The pieces of a dim, cut where either sharding cuts.
static bool align_dim(const tspec_dim_t *dim, const tspec_sharding_t *from,
                      const tspec_sharding_t *to, atoms_t *out_list) {
  for (int i = 0; i < dim->naxes; i++) {
    tspec_cuts_t cuts = {0};
    int axis = dim->axes[i].axis;
    if (!tspec_cuts_add_dims(&cuts, axis, from) || !tspec_cuts_add_dims(&cuts, axis, to)) {
      return false;
    }
    out_list->count += tspec_cuts_apply(&cuts, dim->axes[i], &out_list->items[out_list->count]);
  }
  return true;
}

static bool align(plan_t *plan, const tspec_sharding_t *to) {
  for (int d = 0; d < plan->rank; d++) {
    if (!align_dim(&plan->from->dims[d], plan->from, to, &plan->cur[d]) ||
        !align_dim(&to->dims[d], plan->from, to, &plan->target[d])) {
      return false;
    }
  }
  return true;
}

static bool run_rounds(plan_t *plan) {
  for (int round = 0; round < MAX_ROUNDS && !is_finished(plan); round++) {
    size_t before = plan->steps.count;
    plan_slice(plan);
    if (!plan_permute(plan)) {
      return false;
    }
    plan_all_to_all(plan);
    plan_gather(plan);
    if (plan->steps.count == before) {
      return false;
    }
    for (size_t i = 0; i < before; i++) {
      if (tspec_sharding_same_layout(plan->steps.items[i].from, plan->at)) {
        return false;
      }
    }
  }
  return is_finished(plan);
}

bool tspec_reshard_plan(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                        const tspec_sharding_t *from, const tspec_sharding_t *to,
                        tspec_steps_t *out_steps) {
  int rank = from->rank;
  plan_t plan = {.arena = arena,
                 .mesh = mesh,
                 .type = type,
                 .from = from,
                 .rank = rank,
                 .cur = TSPEC_ARENA_NEW(arena, atoms_t, rank),
                 .target = TSPEC_ARENA_NEW(arena, atoms_t, rank),
                 .next = TSPEC_ARENA_NEW(arena, atoms_t, rank),
                 .done = TSPEC_ARENA_NEW(arena, int, rank),
                 .capacity = TSPEC_ARENA_NEW(arena, int64_t, rank),
                 .at = from};
  if (!align(&plan, to)) {
    return false;
  }
  strip_common(&plan);
  bool ended = run_rounds(&plan);
  *out_steps = (tspec_steps_t){(int)plan.steps.count, plan.steps.items};
  return ended;
}
