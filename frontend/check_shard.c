#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"
#include "frontend/print.h"

// ---- mesh axes -------------------------------------------------------------------------------

static const char *place_text(tspec_checker_t *c, const char *what, int dim) {
  return dim < 0 ? what : tspec_arena_printf(c->arena, "dim %d of %s", dim, what);
}

static const char *nearest_axis(tspec_checker_t *c, const tspec_mesh_t *mesh, const char *name) {
  tspec_names_t names = {0};
  for (int i = 0; i < mesh->naxes; ++i) {
    tspec_names_set(c->arena, &names, mesh->axes[i].name, c);
  }
  return tspec_names_nearest(&names, name);
}

// A rules file with a mesh names the axes of that mesh alone.
static tspec_mesh_t mesh_of_file(const tspec_checker_t *c, uint32_t file) {
  tspec_mesh_t mesh = c->program->mesh;
  if (file != 0 && file == c->mesh_file) {
    mesh.naxes = c->nmesh_own;
  }
  return mesh;
}

int tspec_check_mesh_axis(tspec_checker_t *c, tspec_ast_name_t name, const char *what, int dim) {
  tspec_mesh_t known = mesh_of_file(c, name.range.file);
  int index = tspec_mesh_find(&known, name.text);
  if (index >= 0) {
    return index;
  }
  const tspec_global_t *global = tspec_names_get(&c->user.globals, name.text);
  const char *place = place_text(c, what, dim);
  const char *nearest = nearest_axis(c, &known, name.text);
  const char *mesh = tspec_mesh_print(c->arena, &known);
  if (nearest != NULL) {
    tspec_check_error(c, name.range, "the mesh has no axis '%s' (in %s); did you mean '%s'?",
                      name.text, place, nearest);
  } else {
    tspec_check_error(c, name.range, "the mesh has no axis '%s' (in %s)", name.text, place);
  }
  if (global != NULL && global->kind == TSPEC_GLOBAL_AXIS) {
    tspec_check_note(c, global->name.range,
                     "'%s' is a logical axis; 'shard axes { %s -> .. }' maps it to the mesh",
                     name.text, name.text);
  } else if (mesh[0] == '\0') {
    tspec_check_note(c, (tspec_range_t){0}, "there is no mesh; 'mesh %s = 1' declares the axis",
                     name.text);
  } else if (nearest == NULL) {
    tspec_check_note(c, (tspec_range_t){0},
                     "the mesh is %s; '%s = 1' in it keeps this line without splitting anything",
                     mesh, name.text);
  } else {
    tspec_check_note(c, (tspec_range_t){0}, "the mesh is %s", mesh);
  }
  return -1;
}

// ---- entries ---------------------------------------------------------------------------------

static bool check_ref(tspec_checker_t *c, const tspec_ast_mesh_ref_t *ref, const char *what,
                      int dim, tspec_axis_t *out_axis) {
  int index = tspec_check_mesh_axis(c, ref->axis, what, dim);
  if (index < 0) {
    return false;
  }
  *out_axis = tspec_axis_full(&c->program->mesh, index);
  if (!ref->is_sub) {
    return true;
  }
  int64_t size = out_axis->size;
  if (ref->pre < 1 || ref->size < 1 || ref->pre > size || size % ref->pre != 0 ||
      (size / ref->pre) % ref->size != 0) {
    tspec_check_error(c, ref->range,
                      "'%s:(%lld)%lld' in %s is no part of '%s': its size %lld is not a multiple "
                      "of %lld * %lld",
                      ref->axis.text, (long long)ref->pre, (long long)ref->size,
                      place_text(c, what, dim), ref->axis.text, (long long)size,
                      (long long)ref->pre, (long long)ref->size);
    return false;
  }
  out_axis->pre = ref->pre;
  out_axis->size = ref->size;
  return true;
}

static bool check_priority(tspec_checker_t *c, const tspec_ast_entry_t *entry, const char *what,
                           int dim) {
  if (entry->priority <= INT32_MAX) {
    return true;
  }
  tspec_check_error(c, entry->range, "the priority '!%lld' in %s is too large; at most %d",
                    (long long)entry->priority, place_text(c, what, dim), INT32_MAX);
  return false;
}

bool tspec_check_entry_dim(tspec_checker_t *c, const tspec_ast_entry_t *entry, const char *what,
                           int dim, tspec_dim_t *out_dim) {
  bool ok = check_priority(c, entry, what, dim);
  tspec_axis_t *axes = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, entry->nrefs);
  int naxes = 0;
  for (size_t i = 0; i < entry->nrefs; ++i) {
    tspec_axis_t axis;
    if (!check_ref(c, &entry->refs[i], what, dim, &axis)) {
      ok = false;
    } else if (naxes == 0 || !tspec_axis_merge(axes[naxes - 1], axis, &axes[naxes - 1])) {
      axes[naxes++] = axis;
    }
  }
  *out_dim = (tspec_dim_t){
      .naxes = naxes, .axes = axes, .open = entry->open, .priority = ok ? (int)entry->priority : 0};
  return ok;
}

// ---- whole shardings -------------------------------------------------------------------------

// A use of a mesh axis in a written sharding.
typedef struct use_t {
  tspec_axis_t axis;
  int dim; ///< -1: pending
  tspec_range_t range;
} use_t;

typedef struct written_t {
  const tspec_ast_sharding_t *written;
  const tspec_declared_t *declared;
  const char *what;
  tspec_range_t rule;
  TSPEC_VEC(use_t) uses;
} written_t;

static void note_rule(tspec_checker_t *c, const written_t *w) {
  if (w->rule.line > 0) {
    tspec_check_note(c, w->declared->range, "%s is %s, declared here", w->what,
                     tspec_type_print(c->arena, w->declared->type));
  }
}

static const char *use_place(tspec_checker_t *c, const written_t *w, const use_t *use) {
  return use->dim < 0 ? "the pending axes"
                      : tspec_arena_printf(c->arena, "dim %d (size %lld)", use->dim,
                                           (long long)w->declared->type.dims[use->dim]);
}

// The edit that takes a second use away.
static const char *use_fix(tspec_checker_t *c, const use_t *first, const use_t *second) {
  const char *axis = tspec_axes_print(c->arena, &c->program->mesh, &second->axis, 1);
  return second->dim < 0 ? tspec_arena_printf(c->arena, "take '%s' out of the pending axes", axis)
                         : tspec_arena_printf(c->arena,
                                              first->dim == second->dim &&
                                                      tspec_axis_equal(first->axis, second->axis)
                                                  ? "write '%s' once in dim %d"
                                                  : "take '%s' out of dim %d",
                                              axis, second->dim);
}

// Two pieces of one axis that no tensor can be split by.
static void report_clash(tspec_checker_t *c, const written_t *w, const use_t *first,
                         const use_t *second) {
  const tspec_mesh_axis_t *axis = &c->program->mesh.axes[second->axis.axis];
  const char *places[] = {use_place(c, w, first), use_place(c, w, second)};
  if (tspec_axis_overlap(first->axis, second->axis)) {
    tspec_check_error(
        c, second->range,
        "mesh axis '%s' (size %lld) is used twice for %s: by %s and by %s; a rank has "
        "one place along it, so %s",
        axis->name, (long long)axis->size, w->what, places[0], places[1],
        use_fix(c, first, second));
  } else {
    tspec_check_error(
        c, second->range,
        "%s and %s of %s cut mesh axis '%s' (size %lld) in different ways: '%s' and '%s' have no "
        "refinement in common, so %s",
        places[0], places[1], w->what, axis->name, (long long)axis->size,
        tspec_axes_print(c->arena, &c->program->mesh, &first->axis, 1),
        tspec_axes_print(c->arena, &c->program->mesh, &second->axis, 1), use_fix(c, first, second));
  }
  tspec_check_note(c, first->range, "first used here");
  note_rule(c, w);
}

// The axis of `range` must fit together with those that stand before it.
static bool add_use(tspec_checker_t *c, written_t *w, tspec_axis_t axis, int dim,
                    tspec_range_t range) {
  use_t use = {axis, dim, range};
  for (size_t i = 0; i < w->uses.count; ++i) {
    const use_t *other = &w->uses.items[i];
    if (tspec_axis_clash(other->axis, axis)) {
      report_clash(c, w, other, &use);
      return false;
    }
  }
  TSPEC_VEC_PUSH(c->arena, &w->uses, use);
  return true;
}

static bool add_dim(tspec_checker_t *c, written_t *w, const tspec_ast_entry_t *entry, int dim,
                    tspec_dim_t *out_dim) {
  bool ok = tspec_check_entry_dim(c, entry, w->what, dim, out_dim);
  for (int i = 0; i < out_dim->naxes && ok; ++i) {
    ok = add_use(c, w, out_dim->axes[i], dim, entry->range);
  }
  return ok;
}

static int find_ellipsis(const tspec_ast_sharding_t *written) {
  for (size_t i = 0; i < written->nentries; ++i) {
    if (written->entries[i].is_ellipsis) {
      return (int)i;
    }
  }
  return -1;
}

// The written entries cut or filled up to `wanted`: the edit to propose.
static const char *fitted_text(tspec_checker_t *c, const tspec_ast_sharding_t *written,
                               int wanted) {
  const char *text = "";
  int count = 0;
  for (size_t i = 0; i < written->nentries && count < wanted; ++i) {
    if (!written->entries[i].is_ellipsis) {
      text = tspec_arena_printf(c->arena, "%s%s%s", text, count++ > 0 ? ", " : "",
                                tspec_print_entry(c->arena, &written->entries[i]));
    }
  }
  while (count < wanted) {
    text = tspec_arena_printf(c->arena, "%s%s?", text, count++ > 0 ? ", " : "");
  }
  return tspec_arena_printf(c->arena, "[%s]", text);
}

// Without '...': as many entries as dims, of the unstacked or of the whole value. Gives the first
// dim that the entries speak of, or -1 after a report.
static int fit_rank(tspec_checker_t *c, const written_t *w) {
  const tspec_declared_t *declared = w->declared;
  int rank = declared->type.rank, n = (int)w->written->nentries;
  int unstacked = rank - declared->nstack;
  if (find_ellipsis(w->written) >= 0) {
    if (n - 1 <= unstacked) {
      return declared->nstack;
    }
  } else if (n == unstacked || n == rank) {
    return rank - n;
  }
  int wanted = n > rank ? rank : unstacked;
  tspec_check_error(c, w->written->range,
                    "the sharding %s has %d entr%s, but %s is %s with %d dim%s; %s would fit",
                    tspec_print_sharding(c->arena, w->written), n, n == 1 ? "y" : "ies", w->what,
                    tspec_type_print(c->arena, declared->type), rank, rank == 1 ? "" : "s",
                    fitted_text(c, w->written, wanted));
  note_rule(c, w);
  return -1;
}

// A rule says all dims at one place, an annotation each entry at its own.
static tspec_said_t *say_dims(tspec_checker_t *c, const written_t *w, int first) {
  const tspec_ast_sharding_t *written = w->written;
  int rank = w->declared->type.rank, n = (int)written->nentries;
  if (w->rule.line > 0) {
    return tspec_check_say(c, rank, w->rule);
  }
  tspec_said_t *said = TSPEC_ARENA_NEW(c->arena, tspec_said_t, rank);
  int dots = find_ellipsis(written);
  for (int i = 0, dim = first; i < n; ++i) {
    for (int left = i == dots ? rank - first - (n - 1) : 1; left > 0; --left) {
      said[dim++].range = written->entries[i].range;
    }
  }
  for (int dim = 0; n == 0 && dim < rank; ++dim) {
    said[dim].range = written->range;
  }
  return said;
}

static bool fill_dims(tspec_checker_t *c, written_t *w, int first, tspec_dim_t *dims) {
  const tspec_ast_sharding_t *written = w->written;
  int rank = w->declared->type.rank, n = (int)written->nentries;
  int dots = find_ellipsis(written);
  int skipped = dots < 0 ? 0 : rank - first - (n - 1);
  bool ok = true;
  for (int i = 0, dim = first; i < n; ++i) {
    if (i == dots) {
      for (int k = 0; k < skipped; ++k) {
        dims[dim++] = (tspec_dim_t){.open = true};
      }
    } else {
      ok = add_dim(c, w, &written->entries[i], dim, &dims[dim]) && ok;
      ++dim;
    }
  }
  return ok;
}

static bool is_pending_allowed(tspec_declared_kind_t kind) {
  return kind == TSPEC_DECLARED_LET || kind == TSPEC_DECLARED_CHECKED;
}

// The pending axes; all of one kind.
static bool fill_pending(tspec_checker_t *c, written_t *w, tspec_axis_t **out_axes, int *out_count,
                         tspec_reduce_t *out_kind) {
  TSPEC_VEC(tspec_axis_t) axes = {0};
  bool ok = true;
  for (size_t i = 0; i < w->written->npending; ++i) {
    const tspec_ast_pending_t *pending = &w->written->pending[i];
    if (!is_pending_allowed(w->declared->kind)) {
      tspec_check_error(c, pending->range,
                        "'%s(..)' on %s: inputs, results, parameters and state are complete; only "
                        "a 'let' may be pending, so take '%s(..)' out",
                        tspec_reduce_name(pending->kind), w->what,
                        tspec_reduce_name(pending->kind));
      return false;
    }
    if (i > 0 && pending->kind != *out_kind) {
      tspec_check_error(c, pending->range,
                        "%s cannot be pending by '%s' and by '%s'; keep one of them", w->what,
                        tspec_reduce_name(*out_kind), tspec_reduce_name(pending->kind));
      return false;
    }
    *out_kind = pending->kind;
    for (size_t k = 0; k < pending->axes.count; ++k) {
      tspec_ast_name_t name = pending->axes.items[k];
      int index = tspec_check_mesh_axis(c, name, w->what, -1);
      tspec_axis_t axis = index < 0 ? (tspec_axis_t){0} : tspec_axis_full(&c->program->mesh, index);
      if (index < 0 || !add_use(c, w, axis, -1, name.range)) {
        ok = false;
      } else {
        TSPEC_VEC_PUSH(c->arena, &axes, axis);
      }
    }
  }
  *out_axes = axes.items;
  *out_count = (int)axes.count;
  return ok;
}

const tspec_sharding_t *tspec_check_written(tspec_checker_t *c, const tspec_ast_sharding_t *written,
                                            const tspec_declared_t *declared, tspec_range_t rule) {
  const char *what = tspec_arena_printf(c->arena, "'%s'", declared->path);
  written_t w = {.written = written, .declared = declared, .what = what, .rule = rule};
  int rank = declared->type.rank;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, rank);
  bool ok = true;
  int first = 0;
  if (written->nentries > 0 || rank == declared->nstack) { // "[]" fits any rank: all closed
    first = fit_rank(c, &w);
    ok = first >= 0 && fill_dims(c, &w, first, dims);
  }
  tspec_axis_t *axes = NULL;
  int naxes = 0;
  tspec_reduce_t kind = TSPEC_REDUCE_SUM;
  if (!fill_pending(c, &w, &axes, &naxes, &kind) || !ok) {
    return NULL;
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = rank, .dims = dims, .said = say_dims(c, &w, first)};
  return naxes == 0 ? sharding
                    : tspec_sharding_with_pending(c->arena, &c->program->mesh, sharding, kind, axes,
                                                  naxes);
}

bool tspec_check_says_nothing(const tspec_sharding_t *sharding) {
  for (int i = 0; i < sharding->rank; ++i) {
    if (sharding->dims[i].naxes > 0 || !sharding->dims[i].open) {
      return false;
    }
  }
  return sharding->npending == 0;
}
