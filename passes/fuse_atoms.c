// Builds a kernel's atoms: walks from its roots down to what it loads, composing coordinates.
#include <string.h>

#include "passes/fuse.h"

typedef struct builder_t {
  tspec_nest_t *nest;
  tspec_is_loaded_fn_t is_loaded;
  void *context;
} builder_t;

static tspec_atom_t *build(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                           const tspec_coord_t *coords);

const tspec_coord_t *tspec_nest_identity(tspec_arena_t *arena, int rank) {
  tspec_coord_t *coords = TSPEC_ARENA_NEW(arena, tspec_coord_t, rank);
  for (int i = 0; i < rank; i++) {
    coords[i] = (tspec_coord_t){.dim = i, .mul = 1};
  }
  return coords;
}

// ---- ops that only place elements --------------------------------------------------------------

/// A dim of one element on every rank.
static bool is_unit_dim(const tspec_value_t *value, int dim) {
  return value->type.dims[dim] == 1 &&
         (value->sharding == NULL || value->sharding->dims[dim].naxes == 0);
}

bool tspec_reshape_is_unit(const tspec_op_t *op) {
  const tspec_value_t *from = op->operands[0], *to = op->results[0];
  int i = 0, j = 0;
  while (i < from->type.rank || j < to->type.rank) {
    if (i < from->type.rank && is_unit_dim(from, i)) {
      i++;
    } else if (j < to->type.rank && is_unit_dim(to, j)) {
      j++;
    } else if (i < from->type.rank && j < to->type.rank && from->type.dims[i] == to->type.dims[j]) {
      i++;
      j++;
    } else {
      return false;
    }
  }
  return true;
}

static void through_reshape(const tspec_op_t *op, const tspec_coord_t *coords, tspec_coord_t *out) {
  const tspec_value_t *from = op->operands[0], *to = op->results[0];
  int j = 0;
  for (int i = 0; i < from->type.rank; i++) {
    if (is_unit_dim(from, i)) {
      out[i] = (tspec_coord_t){.dim = -1};
      continue;
    }
    while (is_unit_dim(to, j)) {
      j++;
    }
    out[i] = coords[j++];
  }
}

static const int64_t *ints(const tspec_op_t *op, const char *name) {
  return tspec_op_get_attr(op, name)->ints;
}

const tspec_coord_t *tspec_nest_through(tspec_arena_t *arena, const tspec_op_t *op,
                                        const tspec_coord_t *coords) {
  const tspec_value_t *from = op->operands[0], *to = op->results[0];
  int rank = from->type.rank;
  tspec_coord_t *out = TSPEC_ARENA_NEW(arena, tspec_coord_t, rank);
  if (op->kind == TSPEC_OP_reshape) {
    through_reshape(op, coords, out);
    return out;
  }
  if (op->kind == TSPEC_OP_transpose) {
    for (int i = 0; i < rank; i++) {
      out[ints(op, "perm")[i]] = coords[i];
    }
    return out;
  }
  for (int i = 0; i < rank; i++) {
    if (op->kind == TSPEC_OP_broadcast) {
      int64_t dim = ints(op, "dims")[i];
      bool spread = from->type.dims[i] != to->type.dims[dim];
      out[i] = spread ? (tspec_coord_t){.dim = -1} : coords[dim];
    } else if (op->kind == TSPEC_OP_slice) {
      int64_t step = ints(op, "steps")[i], start = ints(op, "starts")[i];
      out[i] = (tspec_coord_t){coords[i].dim, coords[i].mul * step, coords[i].add * step + start};
    } else {
      out[i] = coords[i]; // make_pending, convert and the like
    }
  }
  return out;
}

// ---- atoms -------------------------------------------------------------------------------------

static bool same_coords(const tspec_coord_t *a, const tspec_coord_t *b, int rank) {
  for (int i = 0; i < rank; i++) {
    if (a[i].dim != b[i].dim || a[i].mul != b[i].mul || a[i].add != b[i].add) {
      return false;
    }
  }
  return true;
}

static tspec_atom_t *find(const tspec_scope_t *scope, const tspec_value_t *value,
                          const tspec_coord_t *coords) {
  for (; scope != NULL; scope = scope->parent) {
    for (size_t i = 0; i < scope->atoms.count; i++) {
      tspec_atom_t *atom = scope->atoms.items[i];
      if (atom->value == value && same_coords(atom->coords, coords, value->type.rank)) {
        return atom;
      }
    }
  }
  return NULL;
}

static tspec_atom_t *append(builder_t *b, tspec_scope_t *scope, tspec_atom_t atom) {
  tspec_arena_t *arena = b->nest->arena;
  atom.ssa = -1;
  for (int i = 0; i < atom.value->type.rank; i++) {
    bool is_place = atom.kind != TSPEC_ATOM_OP && atom.kind != TSPEC_ATOM_CHOICE &&
                    atom.kind != TSPEC_ATOM_SPLAT;
    if (is_place && atom.coords[i].dim >= 0) {
      atom.dims |= UINT64_C(1) << atom.coords[i].dim;
    }
  }
  for (int i = 0; i < atom.nargs; i++) {
    atom.dims |= atom.args[i]->dims;
  }
  for (int i = 0; i < atom.nbounds; i++) {
    atom.dims |= UINT64_C(1) << atom.bounds[i].coord.dim;
  }
  tspec_atom_t *copy = tspec_arena_copy(arena, &atom, sizeof atom);
  TSPEC_VEC_PUSH(arena, &scope->atoms, copy);
  return copy;
}

static tspec_atom_t *build_load(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                                const tspec_coord_t *coords) {
  tspec_nest_t *nest = b->nest;
  size_t index = 0;
  while (index < nest->operands.count && nest->operands.items[index] != value) {
    index++;
  }
  if (index == nest->operands.count) {
    TSPEC_VEC_PUSH(nest->arena, &nest->operands, value);
  }
  return append(
      b, scope,
      (tspec_atom_t){
          .kind = TSPEC_ATOM_LOAD, .value = value, .coords = coords, .buffer = (int)index});
}

static tspec_atom_t *build_splat(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                                 const tspec_coord_t *coords, double number) {
  return append(
      b, scope,
      (tspec_atom_t){.kind = TSPEC_ATOM_SPLAT, .value = value, .coords = coords, .splat = number});
}

static tspec_scope_t *new_scope(builder_t *b, tspec_scope_t *parent) {
  tspec_scope_t *scope = TSPEC_ARENA_NEW(b->nest->arena, tspec_scope_t, 1);
  scope->parent = parent;
  return scope;
}

static tspec_atom_t *build_pad(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                               const tspec_coord_t *coords) {
  const tspec_op_t *op = value->def;
  tspec_arena_t *arena = b->nest->arena;
  int rank = value->type.rank, nbounds = 0;
  tspec_bound_t *bounds = TSPEC_ARENA_NEW(arena, tspec_bound_t, rank);
  tspec_coord_t *inner = TSPEC_ARENA_NEW(arena, tspec_coord_t, rank);
  double number = tspec_op_get_attr(op, "value")->f;
  for (int i = 0; i < rank; i++) {
    int64_t lo = ints(op, "lo")[i], size = op->operands[0]->type.dims[i];
    inner[i] = (tspec_coord_t){coords[i].dim, coords[i].mul, coords[i].add - lo};
    if (lo == 0 && ints(op, "hi")[i] == 0) {
      continue;
    }
    if (coords[i].dim >= 0) {
      bounds[nbounds++] = (tspec_bound_t){.coord = coords[i], .lo = lo, .hi = lo + size};
    } else if (coords[i].add < lo || coords[i].add >= lo + size) {
      return build_splat(b, scope, value, coords, number);
    }
  }
  if (nbounds == 0) {
    return build(b, scope, op->operands[0], inner);
  }
  tspec_scope_t *arms[2] = {new_scope(b, scope), new_scope(b, scope)};
  tspec_atom_t **args = TSPEC_ARENA_NEW(arena, tspec_atom_t *, 2);
  args[0] = build(b, arms[0], op->operands[0], inner);
  args[1] = build_splat(b, arms[1], value, coords, number);
  return append(b, scope,
                (tspec_atom_t){.kind = TSPEC_ATOM_CHOICE,
                               .value = value,
                               .coords = coords,
                               .nargs = 2,
                               .args = args,
                               .nbounds = nbounds,
                               .bounds = bounds,
                               .arms = {arms[0], arms[1]}});
}

/// Operands `first` .. of a concat; the element is known to lie at or after `offset`.
static tspec_atom_t *build_concat(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                                  const tspec_coord_t *coords, int first, int64_t offset) {
  const tspec_op_t *op = value->def;
  tspec_arena_t *arena = b->nest->arena;
  int rank = value->type.rank;
  int64_t dim = tspec_op_get_attr(op, "dim")->i;
  int64_t size = op->operands[first]->type.dims[dim];
  tspec_coord_t *inner = TSPEC_ARENA_NEW(arena, tspec_coord_t, rank);
  memcpy(inner, coords, sizeof *inner * (size_t)rank);
  inner[dim].add -= offset;
  bool is_last = first == op->noperands - 1;
  if (coords[dim].dim < 0 && !is_last && coords[dim].add >= offset + size) {
    return build_concat(b, scope, value, coords, first + 1, offset + size);
  }
  if (is_last || coords[dim].dim < 0) {
    return build(b, scope, op->operands[first], inner);
  }
  tspec_bound_t *bound = TSPEC_ARENA_NEW(arena, tspec_bound_t, 1);
  *bound = (tspec_bound_t){.coord = coords[dim], .lo = offset, .hi = offset + size};
  tspec_scope_t *arms[2] = {new_scope(b, scope), new_scope(b, scope)};
  tspec_atom_t **args = TSPEC_ARENA_NEW(arena, tspec_atom_t *, 2);
  args[0] = build(b, arms[0], op->operands[first], inner);
  args[1] = build_concat(b, arms[1], value, coords, first + 1, offset + size);
  return append(b, scope,
                (tspec_atom_t){.kind = TSPEC_ATOM_CHOICE,
                               .value = value,
                               .coords = coords,
                               .nargs = 2,
                               .args = args,
                               .nbounds = 1,
                               .bounds = bound,
                               .arms = {arms[0], arms[1]}});
}

static tspec_atom_t *build_op(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                              const tspec_coord_t *coords) {
  const tspec_op_t *op = value->def;
  tspec_atom_t **args = TSPEC_ARENA_NEW(b->nest->arena, tspec_atom_t *, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    args[i] = build(b, scope, op->operands[i], coords);
  }
  return append(b, scope,
                (tspec_atom_t){.kind = TSPEC_ATOM_OP,
                               .value = value,
                               .coords = coords,
                               .nargs = op->noperands,
                               .args = args});
}

static tspec_atom_t *build_constant(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                                    const tspec_coord_t *coords) {
  const tspec_attr_t *values = tspec_op_get_attr(value->def, "values");
  if (values->count == 1) {
    return build_splat(b, scope, value, coords, values->floats[0]);
  }
  return append(b, scope,
                (tspec_atom_t){.kind = TSPEC_ATOM_TABLE, .value = value, .coords = coords});
}

/// iota's atom keeps only the coordinate along its dim.
static tspec_atom_t *build_iota(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                                const tspec_coord_t *coords) {
  int64_t dim = tspec_op_get_attr(value->def, "dim")->i;
  tspec_coord_t *only = TSPEC_ARENA_NEW(b->nest->arena, tspec_coord_t, value->type.rank);
  for (int i = 0; i < value->type.rank; i++) {
    only[i] = i == dim ? coords[i] : (tspec_coord_t){.dim = -1};
  }
  tspec_atom_t *known = find(scope, value, only);
  return known != NULL
             ? known
             : append(b, scope,
                      (tspec_atom_t){.kind = TSPEC_ATOM_IOTA, .value = value, .coords = only});
}

static tspec_atom_t *build(builder_t *b, tspec_scope_t *scope, tspec_value_t *value,
                           const tspec_coord_t *coords) {
  tspec_atom_t *known = find(scope, value, coords);
  if (known != NULL) {
    return known;
  }
  if (value->def == NULL || b->is_loaded(b->context, value)) {
    return build_load(b, scope, value, coords);
  }
  const tspec_op_t *op = value->def;
  switch ((int)op->kind) {
  case TSPEC_OP_constant:
    return build_constant(b, scope, value, coords);
  case TSPEC_OP_iota:
    return build_iota(b, scope, value, coords);
  case TSPEC_OP_broadcast:
  case TSPEC_OP_transpose:
  case TSPEC_OP_slice:
  case TSPEC_OP_reshape:
    return build(b, scope, op->operands[0], tspec_nest_through(b->nest->arena, op, coords));
  case TSPEC_OP_pad:
    return build_pad(b, scope, value, coords);
  case TSPEC_OP_concat:
    return build_concat(b, scope, value, coords, 0, 0);
  default:
    return build_op(b, scope, value, coords);
  }
}

void tspec_nest_build(tspec_nest_t *nest, tspec_is_loaded_fn_t is_loaded, void *context) {
  builder_t b = {.nest = nest, .is_loaded = is_loaded, .context = context};
  nest->body = new_scope(&b, NULL);
  const tspec_coord_t *own = tspec_nest_identity(nest->arena, nest->space->type.rank);
  for (size_t i = 0; i < nest->roots.count; i++) {
    tspec_root_t *root = &nest->roots.items[i];
    tspec_value_t *element = root->reduce != NULL ? root->reduce->operands[0] : root->value;
    root->atom = build(&b, nest->body, element, own);
    if (root->reduce != NULL) {
      const tspec_attr_t *dims = tspec_op_get_attr(root->reduce, "dims");
      if (dims == NULL) {
        nest->reduced_dims |= UINT64_C(1) << tspec_op_get_attr(root->reduce, "dim")->i;
      }
      for (int64_t d = 0; dims != NULL && d < dims->count; d++) {
        nest->reduced_dims |= UINT64_C(1) << dims->ints[d];
      }
    }
  }
}
