// From atoms to text: which dims are walked as one, addresses, loops, and kernels without
// reductions.
#include <inttypes.h>
#include <string.h>

#include "passes/fuse.h"
#include "runtime/image.h"

void tspec_nest_line(tspec_nest_t *nest, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tspec_buf_vprintf(&nest->text, format, args);
  va_end(args);
  tspec_buf_puts(&nest->text, "\n");
}

int tspec_nest_let(tspec_nest_t *nest, const char *format, ...) {
  int ssa = nest->nssa++;
  tspec_buf_printf(&nest->text, "%%%d = ", ssa);
  va_list args;
  va_start(args, format);
  tspec_buf_vprintf(&nest->text, format, args);
  va_end(args);
  tspec_buf_puts(&nest->text, "\n");
  return ssa;
}

void tspec_nest_close(tspec_nest_t *nest) {
  tspec_nest_line(nest, "}");
}

int tspec_nest_index(tspec_nest_t *nest, int64_t value) {
  return tspec_nest_let(nest, "arith.constant %" PRId64 " : index", value);
}

int tspec_nest_amount(tspec_nest_t *nest, tspec_amount_t amount) {
  return amount.ssa >= 0 ? amount.ssa : tspec_nest_index(nest, amount.value);
}

tspec_amount_t tspec_nest_times(tspec_nest_t *nest, tspec_amount_t a, tspec_amount_t b) {
  if (a.ssa < 0 && b.ssa < 0) {
    return (tspec_amount_t){.value = a.value * b.value, .ssa = -1};
  }
  if ((a.ssa < 0 && a.value == 1) || (b.ssa < 0 && b.value == 1)) {
    return a.ssa < 0 ? b : a;
  }
  int x = tspec_nest_amount(nest, a), y = tspec_nest_amount(nest, b);
  int product = tspec_nest_let(nest, "arith.muli %%%d, %%%d overflow<nsw> : index", x, y);
  return (tspec_amount_t){.ssa = product};
}

// ---- arguments ---------------------------------------------------------------------------------

/// The SSA value of an argument; equal ones are one.
static int argument(tspec_nest_t *nest, const int64_t ints[TSPEC_KERNEL_ARG_INTS]) {
  size_t width = TSPEC_KERNEL_ARG_INTS;
  for (size_t i = 0; i < nest->arg_ssa.count; i++) {
    if (memcmp(nest->args.items + i * width, ints, sizeof *ints * width) == 0) {
      return nest->arg_ssa.items[i];
    }
  }
  for (size_t i = 0; i < width; i++) {
    TSPEC_VEC_PUSH(nest->arena, &nest->args, ints[i]);
  }
  TSPEC_VEC_PUSH(nest->arena, &nest->arg_ssa, nest->nssa);
  return nest->nssa++;
}

/// Where `pieces` stand in nest->axes, appended if they are new.
static int64_t axes_at(tspec_nest_t *nest, const tspec_axis_t *pieces, int npieces) {
  size_t n = (size_t)npieces;
  for (size_t i = 0; i + n <= nest->axes.count; i++) {
    size_t same = 0;
    while (same < n && tspec_axis_equal(nest->axes.items[i + same], pieces[same])) {
      same++;
    }
    if (same == n) {
      return (int64_t)i;
    }
  }
  int64_t at = (int64_t)nest->axes.count;
  for (size_t i = 0; i < n; i++) {
    TSPEC_VEC_PUSH(nest->arena, &nest->axes, pieces[i]);
  }
  return at;
}

static bool same_split(const tspec_dim_t *a, const tspec_dim_t *b) {
  if (a->naxes != b->naxes) {
    return false;
  }
  for (int i = 0; i < a->naxes; i++) {
    if (!tspec_axis_equal(a->axes[i], b->axes[i])) {
      return false;
    }
  }
  return true;
}

static const tspec_value_t *buffer_value(const tspec_nest_t *nest, size_t buffer) {
  size_t noperands = nest->operands.count;
  return buffer < noperands ? nest->operands.items[buffer]
                            : nest->roots.items[buffer - noperands].value;
}

static int dim_argument(tspec_nest_t *nest, int64_t kind, int64_t size, const tspec_dim_t *dim) {
  size_t nbuffers = nest->operands.count + nest->roots.count;
  for (size_t buffer = 0; buffer < nbuffers; buffer++) {
    const tspec_value_t *value = buffer_value(nest, buffer);
    for (int i = 0; i < value->type.rank; i++) {
      if (value->type.dims[i] == size && same_split(&value->sharding->dims[i], dim)) {
        return argument(nest, (int64_t[]){kind, (int64_t)buffer, i, 0, 0});
      }
    }
  }
  int64_t first = axes_at(nest, dim->axes, dim->naxes);
  return argument(nest, (int64_t[]){kind, -1, size, first, dim->naxes});
}

tspec_amount_t tspec_nest_extent(tspec_nest_t *nest, int64_t size, const tspec_dim_t *dim) {
  int64_t nblocks = tspec_dim_nblocks(dim);
  if (size % nblocks == 0) {
    return (tspec_amount_t){.value = size / nblocks, .ssa = -1};
  }
  return (tspec_amount_t){.ssa = dim_argument(nest, TSPEC_IMAGE_ARG_EXTENT, size, dim)};
}

tspec_amount_t tspec_nest_offset(tspec_nest_t *nest, int64_t size, const tspec_dim_t *dim) {
  if (tspec_dim_nblocks(dim) == 1) {
    return (tspec_amount_t){.value = 0, .ssa = -1};
  }
  return (tspec_amount_t){.ssa = dim_argument(nest, TSPEC_IMAGE_ARG_OFFSET, size, dim)};
}

// ---- loops -------------------------------------------------------------------------------------

static const tspec_dim_t *space_dim(const tspec_nest_t *nest, int dim) {
  return &nest->space->sharding->dims[dim];
}

static bool is_unit(const tspec_value_t *value, int dim) {
  return value->type.dims[dim] == 1 && value->sharding->dims[dim].naxes == 0;
}

/// The position among `coords` that moves with `dim`, -1: none, -2: more than one or not one to
/// one.
static int position_of(const tspec_atom_t *atom, int dim) {
  int found = -1;
  for (int i = 0; i < atom->value->type.rank; i++) {
    if (atom->coords[i].dim == dim) {
      if (found >= 0 || atom->coords[i].mul != 1) {
        return -2;
      }
      found = i;
    }
  }
  return found;
}

/// True if the atom's address moves evenly when dims `d` and `e`, `e` following, are walked as one.
static bool merges_in(const tspec_nest_t *nest, const tspec_atom_t *atom, int d, int e) {
  if (atom->kind == TSPEC_ATOM_OP || atom->kind == TSPEC_ATOM_SPLAT) {
    return true;
  }
  uint64_t both = UINT64_C(1) << d | UINT64_C(1) << e;
  if (atom->kind != TSPEC_ATOM_LOAD) {
    return (atom->dims & both) == 0;
  }
  int p = position_of(atom, d), q = position_of(atom, e);
  if (p == -1 && q == -1) {
    return true;
  }
  if (p < 0 || q <= p || atom->coords[q].add != 0) {
    return false;
  }
  for (int i = p + 1; i < q; i++) {
    if (!is_unit(atom->value, i)) {
      return false;
    }
  }
  return atom->value->type.dims[q] == nest->space->type.dims[e] &&
         same_split(&atom->value->sharding->dims[q], space_dim(nest, e));
}

static bool merges_in_scope(const tspec_nest_t *nest, const tspec_scope_t *scope, int d, int e) {
  for (size_t i = 0; i < scope->atoms.count; i++) {
    const tspec_atom_t *atom = scope->atoms.items[i];
    if (!merges_in(nest, atom, d, e)) {
      return false;
    }
    if (atom->kind == TSPEC_ATOM_CHOICE && (!merges_in_scope(nest, atom->arms[0], d, e) ||
                                            !merges_in_scope(nest, atom->arms[1], d, e))) {
      return false;
    }
  }
  return true;
}

/// Dims that are reduced never merge, so that the order of a sum depends on its op alone.
static bool can_merge(const tspec_nest_t *nest, int d, int e) {
  uint64_t both = UINT64_C(1) << d | UINT64_C(1) << e;
  return (nest->reduced_dims & both) == 0 && merges_in_scope(nest, nest->body, d, e);
}

/// Appends a loop over dim `d`, or lets the last loop, which ends with dim `last`, walk it too.
static void add_dim(tspec_nest_t *nest, int last, int d) {
  tspec_amount_t extent = tspec_nest_extent(nest, nest->space->type.dims[d], space_dim(nest, d));
  if (last >= 0 && can_merge(nest, last, d)) {
    tspec_loop_t *loop = &nest->loops.items[nest->loops.count - 1];
    loop->last = d;
    loop->extent = tspec_nest_times(nest, loop->extent, extent);
    return;
  }
  tspec_loop_t loop = {.first = d, .last = d, .extent = extent, .index = -1};
  loop.reduced = (nest->reduced_dims >> d & 1) != 0;
  TSPEC_VEC_PUSH(nest->arena, &nest->loops, loop);
}

static void plan_loops(tspec_nest_t *nest) {
  int last = -1;
  for (int d = 0; d < nest->space->type.rank; d++) {
    nest->loop_of_dim[d] = -1;
    if (!is_unit(nest->space, d)) {
      add_dim(nest, last, d);
      nest->loop_of_dim[d] = (int)nest->loops.count - 1;
      last = d;
    }
  }
}

uint64_t tspec_loop_dims(const tspec_loop_t *loop) {
  uint64_t dims = 0;
  for (int d = loop->first; d <= loop->last; d++) {
    dims |= UINT64_C(1) << d;
  }
  return dims;
}

uint64_t tspec_nest_fixed_dims(const tspec_nest_t *nest) {
  uint64_t dims = 0;
  for (int d = 0; d < nest->space->type.rank; d++) {
    dims |= nest->loop_of_dim[d] < 0 ? UINT64_C(1) << d : 0;
  }
  return dims;
}

/// The argument that is the extent of the outermost loop that is not reduced: that of its dims in
/// the first root.
static void plan_range(tspec_nest_t *nest) {
  nest->range = -1;
  nest->begin = nest->nssa++;
  nest->end = nest->nssa++;
  for (size_t i = 0; i < nest->loops.count; i++) {
    const tspec_loop_t *loop = &nest->loops.items[i];
    if (loop->reduced) {
      continue;
    }
    const tspec_root_t *root = &nest->roots.items[0];
    int dim = loop->last;
    for (int d = 0; root->reduce != NULL && d < loop->last; d++) {
      dim -= (int)(nest->reduced_dims >> d & 1);
    }
    int64_t ints[] = {TSPEC_IMAGE_ARG_ELEMS, (int64_t)nest->operands.count, dim, 0, 0};
    argument(nest, ints);
    for (size_t a = 0; a < nest->arg_ssa.count; a++) {
      if (memcmp(nest->args.items + a * TSPEC_KERNEL_ARG_INTS, ints, sizeof ints) == 0) {
        nest->range = (int)a;
      }
    }
    return;
  }
}

void tspec_nest_open(tspec_nest_t *nest, int loop, int lo, int hi) {
  int step = tspec_nest_index(nest, 1);
  nest->loops.items[loop].index = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", nest->loops.items[loop].index,
                  lo, hi, step);
}

int tspec_loop_index(const tspec_nest_t *nest, int loop) {
  return nest->loops.items[loop].index;
}

// ---- addresses ---------------------------------------------------------------------------------

static int add_index(tspec_nest_t *nest, int sum, int term) {
  return sum < 0 ? term
                 : tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", sum, term);
}

/// mul * index + add, of a dim that is walked alone or has one element.
static int coord_index(tspec_nest_t *nest, tspec_coord_t coord) {
  int loop = coord.dim < 0 ? -1 : nest->loop_of_dim[coord.dim];
  if (loop < 0) {
    return tspec_nest_index(nest, coord.add);
  }
  tspec_amount_t index = {.ssa = nest->loops.items[loop].index};
  index = tspec_nest_times(nest, index, (tspec_amount_t){.value = coord.mul, .ssa = -1});
  return coord.add == 0 ? index.ssa : add_index(nest, index.ssa, tspec_nest_index(nest, coord.add));
}

int tspec_nest_linear(tspec_nest_t *nest, const tspec_value_t *value, const tspec_coord_t *coords) {
  tspec_amount_t stride = {.value = 1, .ssa = -1};
  int sum = -1;
  int64_t fixed = 0;
  for (int i = value->type.rank - 1; i >= 0; i--) {
    tspec_coord_t coord = coords[i];
    int loop = coord.dim < 0 ? -1 : nest->loop_of_dim[coord.dim];
    if (coord.add != 0) {
      tspec_amount_t start =
          tspec_nest_times(nest, stride, (tspec_amount_t){.value = coord.add, .ssa = -1});
      if (start.ssa < 0) {
        fixed += start.value;
      } else {
        sum = add_index(nest, sum, start.ssa);
      }
    }
    // Of dims that are walked as one only the last counts: it moves through all of them.
    if (loop >= 0 && nest->loops.items[loop].last == coord.dim) {
      tspec_amount_t step =
          tspec_nest_times(nest, stride, (tspec_amount_t){.value = coord.mul, .ssa = -1});
      tspec_amount_t index = {.ssa = nest->loops.items[loop].index};
      sum = add_index(nest, sum, tspec_nest_times(nest, step, index).ssa);
    }
    if (i > 0) {
      tspec_amount_t extent =
          tspec_nest_extent(nest, value->type.dims[i], &value->sharding->dims[i]);
      stride = tspec_nest_times(nest, stride, extent);
    }
  }
  if (fixed != 0 || sum < 0) {
    sum = add_index(nest, sum, tspec_nest_index(nest, fixed));
  }
  return sum;
}

// ---- atoms -------------------------------------------------------------------------------------

int64_t tspec_nest_capacity(const tspec_nest_t *nest, const tspec_value_t *value) {
  int64_t elems =
      tspec_type_elems(tspec_sharding_local_type(nest->arena, value->sharding, value->type));
  return elems > 0 ? elems : 1;
}

static int emit_load(tspec_nest_t *nest, const tspec_atom_t *atom) {
  tspec_dtype_t dtype = atom->value->type.dtype;
  int linear = tspec_nest_linear(nest, atom->value, atom->coords);
  int memory =
      tspec_nest_let(nest, "memref.load %%b%d[%%%d] : memref<%" PRId64 "x%s>", atom->buffer, linear,
                     tspec_nest_capacity(nest, atom->value), tspec_memory_type(dtype));
  return tspec_register_from_memory(nest, dtype, memory);
}

/// The bytes of a constant as a global, named by a hash of them so that equal ones are one.
static const char *table_global(tspec_nest_t *nest, const tspec_value_t *value) {
  const tspec_attr_t *values = tspec_op_get_attr(value->def, "values");
  tspec_buf_t hex = {0};
  int nbytes = tspec_dtype_bytes(value->type.dtype);
  uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
  for (int64_t i = 0; i < values->count; i++) {
    uint64_t bits = tspec_table_bits(value->type.dtype, values->floats[i]);
    for (int b = 0; b < nbytes; b++) {
      unsigned byte = (unsigned)(bits >> (8 * b)) & 0xff;
      hash = (hash ^ byte) * UINT64_C(1099511628211);
      tspec_buf_printf(&hex, "%02X", byte);
    }
  }
  const char *type = tspec_memory_type(value->type.dtype);
  const char *name =
      tspec_arena_printf(nest->arena, "t%016" PRIx64 "_%" PRId64 "x%s", hash, values->count, type);
  if (nest->globals.text == NULL || strstr(nest->globals.text, name) == NULL) {
    tspec_buf_printf(&nest->globals,
                     "memref.global \"private\" constant @%s : memref<%" PRId64
                     "x%s> = dense<\"0x%s\">\n",
                     name, values->count, type, tspec_buf_get(&hex));
  }
  tspec_buf_deinit(&hex);
  return name;
}

static int emit_table(tspec_nest_t *nest, const tspec_atom_t *atom) {
  const tspec_value_t *value = atom->value;
  int64_t count = tspec_type_elems(value->type);
  const char *type = tspec_memory_type(value->type.dtype);
  const char *name = table_global(nest, value);
  int sum = tspec_nest_index(nest, 0);
  int64_t stride = 1;
  for (int i = value->type.rank - 1; i >= 0; i--) {
    int64_t size = value->type.dims[i];
    int index = coord_index(nest, atom->coords[i]);
    tspec_amount_t offset = tspec_nest_offset(nest, size, &value->sharding->dims[i]);
    int place = add_index(nest, index, tspec_nest_amount(nest, offset));
    tspec_amount_t step = {.value = stride, .ssa = -1};
    sum = add_index(nest, sum, tspec_nest_times(nest, (tspec_amount_t){.ssa = place}, step).ssa);
    stride *= size;
  }
  int global =
      tspec_nest_let(nest, "memref.get_global @%s : memref<%" PRId64 "x%s>", name, count, type);
  int memory = tspec_nest_let(nest, "memref.load %%%d[%%%d] : memref<%" PRId64 "x%s>", global, sum,
                              count, type);
  return tspec_register_from_memory(nest, value->type.dtype, memory);
}

static int emit_iota(tspec_nest_t *nest, const tspec_atom_t *atom) {
  const tspec_value_t *value = atom->value;
  int64_t dim = tspec_op_get_attr(value->def, "dim")->i;
  tspec_amount_t offset =
      tspec_nest_offset(nest, value->type.dims[dim], &value->sharding->dims[dim]);
  int index = coord_index(nest, atom->coords[dim]);
  if (offset.ssa >= 0) {
    index = add_index(nest, index, offset.ssa);
  }
  return tspec_register_from_index(nest, value->type.dtype, index);
}

/// The value on the first rank along the axes, zero elsewhere, so that the sum is the value.
static int emit_make_pending(tspec_nest_t *nest, const tspec_op_t *op, int x) {
  if (tspec_op_get_attr(op, "kind")->reduce != TSPEC_REDUCE_SUM) {
    return x;
  }
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  int64_t first = axes_at(nest, axes->axes, (int)axes->count);
  int arg = argument(nest, (int64_t[]){TSPEC_IMAGE_ARG_RANK_ON, 0, 0, first, axes->count});
  tspec_dtype_t dtype = op->results[0]->type.dtype;
  int off = tspec_nest_index(nest, 0);
  int on = tspec_nest_let(nest, "arith.cmpi ne, %%%d, %%%d : index", arg, off);
  int zero = tspec_register_constant(nest, dtype, 0);
  return tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", on, x, zero,
                        tspec_register_type(dtype));
}

static int emit_op(tspec_nest_t *nest, const tspec_atom_t *atom) {
  const tspec_op_t *op = atom->value->def;
  if (op->kind == TSPEC_OP_make_pending) {
    return emit_make_pending(nest, op, atom->args[0]->ssa);
  }
  int args[3] = {-1, -1, -1};
  TSPEC_CHECK(atom->nargs <= 3, "'%s' is no elementwise op", tspec_op_info(op->kind)->name);
  for (int i = 0; i < atom->nargs; i++) {
    args[i] = atom->args[i]->ssa;
  }
  return tspec_register_op(nest, op, args);
}

static int emit_choice(tspec_nest_t *nest, const tspec_atom_t *atom);

static void emit_atom(tspec_nest_t *nest, tspec_atom_t *atom) {
  switch (atom->kind) {
  case TSPEC_ATOM_LOAD:
    atom->ssa = emit_load(nest, atom);
    return;
  case TSPEC_ATOM_SPLAT:
    atom->ssa = tspec_register_constant(nest, atom->value->type.dtype, atom->splat);
    return;
  case TSPEC_ATOM_TABLE:
    atom->ssa = emit_table(nest, atom);
    return;
  case TSPEC_ATOM_IOTA:
    atom->ssa = emit_iota(nest, atom);
    return;
  case TSPEC_ATOM_OP:
    atom->ssa = emit_op(nest, atom);
    return;
  case TSPEC_ATOM_CHOICE:
    atom->ssa = emit_choice(nest, atom);
    return;
  }
}

static int emit_bound(tspec_nest_t *nest, const tspec_bound_t *bound) {
  int index = coord_index(nest, bound->coord);
  int lo = tspec_nest_index(nest, bound->lo), hi = tspec_nest_index(nest, bound->hi);
  int after = tspec_nest_let(nest, "arith.cmpi sge, %%%d, %%%d : index", index, lo);
  int before = tspec_nest_let(nest, "arith.cmpi slt, %%%d, %%%d : index", index, hi);
  return tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", after, before);
}

static int emit_choice(tspec_nest_t *nest, const tspec_atom_t *atom) {
  const char *type = tspec_register_type(atom->value->type.dtype);
  int all = -1;
  for (int i = 0; i < atom->nbounds; i++) {
    int one = emit_bound(nest, &atom->bounds[i]);
    all = all < 0 ? one : tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", all, one);
  }
  int result = nest->nssa++;
  tspec_nest_line(nest, "%%%d = scf.if %%%d -> (%s) {", result, all, type);
  for (int arm = 0; arm < 2; arm++) {
    tspec_scope_t *scope = atom->arms[arm];
    for (size_t i = 0; i < scope->atoms.count; i++) {
      emit_atom(nest, scope->atoms.items[i]);
    }
    tspec_nest_line(nest, "scf.yield %%%d : %s", atom->args[arm]->ssa, type);
    if (arm == 0) {
      tspec_nest_line(nest, "} else {");
    }
  }
  tspec_nest_close(nest);
  return result;
}

void tspec_nest_atoms(tspec_nest_t *nest, uint64_t open_dims) {
  for (size_t i = 0; i < nest->body->atoms.count; i++) {
    tspec_atom_t *atom = nest->body->atoms.items[i];
    if (atom->ssa < 0 && (atom->dims & ~open_dims) == 0) {
      emit_atom(nest, atom);
    }
  }
}

void tspec_nest_store(tspec_nest_t *nest, int root, int linear, int ssa) {
  const tspec_value_t *value = nest->roots.items[root].value;
  int memory = tspec_register_to_memory(nest, value->type.dtype, ssa);
  tspec_nest_line(nest, "memref.store %%%d, %%b%d[%%%d] : memref<%" PRId64 "x%s>", memory,
                  (int)nest->operands.count + root, linear, tspec_nest_capacity(nest, value),
                  tspec_memory_type(value->type.dtype));
}

void tspec_nest_store_atoms(tspec_nest_t *nest) {
  const tspec_coord_t *own = tspec_nest_identity(nest->arena, nest->space->type.rank);
  for (size_t i = 0; i < nest->roots.count; i++) {
    const tspec_root_t *root = &nest->roots.items[i];
    if (root->reduce == NULL) {
      int linear = tspec_nest_linear(nest, root->value, own);
      tspec_nest_store(nest, (int)i, linear, root->atom->ssa);
    }
  }
}

void tspec_nest_emit(tspec_nest_t *nest) {
  // Extents of merged dims are products, computed before everything else.
  plan_loops(nest);
  plan_range(nest);
  if (nest->reduced_dims != 0 || nest->roots.items[0].reduce != NULL) {
    tspec_nest_emit_reduce(nest);
  } else {
    tspec_nest_emit_elementwise(nest);
  }
}

// ---- the program's kernels ---------------------------------------------------------------------

static void print_signature(const tspec_nest_t *nest, tspec_buf_t *out) {
  tspec_buf_puts(out, "(");
  size_t nbuffers = nest->operands.count + nest->roots.count;
  for (size_t i = 0; i < nbuffers; i++) {
    const tspec_value_t *value = buffer_value(nest, i);
    tspec_buf_printf(out, "%%b%zu: memref<%" PRId64 "x%s> {llvm.noalias}, ", i,
                     tspec_nest_capacity(nest, value), tspec_memory_type(value->type.dtype));
  }
  for (size_t i = 0; i < nest->arg_ssa.count; i++) {
    tspec_buf_printf(out, "%%%d: index, ", nest->arg_ssa.items[i]);
  }
  tspec_buf_printf(out, "%%%d: index, %%%d: index) {\n", nest->begin, nest->end);
}

/// "k3_exp_add": a number and what the first roots are.
static const char *kernel_name(const tspec_nest_t *nest) {
  tspec_buf_t name = {0};
  tspec_buf_printf(&name, "k%d", nest->program->nkernels);
  for (size_t i = 0; i < nest->roots.count && i < 3; i++) {
    tspec_buf_printf(&name, "_%s", tspec_op_info(nest->roots.items[i].value->def->kind)->name);
  }
  const char *copy = tspec_arena_strdup(nest->program->arena, tspec_buf_get(&name), name.length);
  tspec_buf_deinit(&name);
  return copy;
}

const char *tspec_nest_intern(tspec_nest_t *nest, tspec_names_t *bodies) {
  tspec_buf_t rest = {0};
  print_signature(nest, &rest);
  tspec_buf_puts(&rest, tspec_buf_get(&nest->allocas));
  tspec_buf_puts(&rest, tspec_buf_get(&nest->text));
  tspec_buf_puts(&rest, "return\n}\n");
  const char *name = tspec_names_get(bodies, tspec_buf_get(&rest));
  if (name == NULL) {
    tspec_program_t *program = nest->program;
    tspec_arena_t *arena = program->arena;
    name = kernel_name(nest);
    tspec_kernel_t kernel = {.name = name,
                             .nbuffers = (int)(nest->operands.count + nest->roots.count),
                             .nargs = (int)nest->arg_ssa.count};
    kernel.body = tspec_arena_printf(arena, "func.func @%s%s", name, tspec_buf_get(&rest));
    if (nest->globals.length > 0) {
      kernel.globals = tspec_arena_strdup(arena, nest->globals.text, nest->globals.length);
    }
    tspec_kernel_add(program, &kernel);
    const char *key = kernel.body + strlen("func.func @") + strlen(name);
    tspec_names_set(arena, bodies, key, (void *)(uintptr_t)name);
  }
  tspec_buf_deinit(&rest);
  tspec_buf_deinit(&nest->text);
  tspec_buf_deinit(&nest->allocas);
  tspec_buf_deinit(&nest->globals);
  return name;
}
