// Kernels without reductions: one loop nest over the space. Operands that lie transposed are walked
// in tiles and turned in registers, so that no cache line is fetched for one element of it.
#include <inttypes.h>

#include "passes/fuse.h"

#define TILE 32 // side of a tile: 4 KiB of f32
#define BLOCK 8 // side of what is turned in registers
#define MARGIN                                                                                     \
  8 // blocks at the end of a dim are moved back to be whole, at most BLOCK - 1 elements
#define PITCH (TILE + MARGIN)

typedef struct bounds_t {
  int lo, hi; ///< SSA values
} bounds_t;

/// A load whose elements follow each other along another loop than the innermost one.
typedef struct staged_t {
  tspec_atom_t *atom;
  int scratch; ///< SSA value of its tile's memory
} staged_t;

typedef struct tiling_t {
  int across; ///< loop along which staged loads are contiguous
  int along;  ///< the innermost loop
  TSPEC_VEC(staged_t) staged;
} tiling_t;

static bounds_t loop_bounds(tspec_nest_t *nest, int loop) {
  if (loop == 0) {
    return (bounds_t){nest->begin, nest->end};
  }
  int lo = tspec_nest_index(nest, 0);
  return (bounds_t){lo, tspec_nest_amount(nest, nest->loops.items[loop].extent)};
}

/// The loop along which a load's elements follow each other; -1: none.
static int contiguous_loop(const tspec_nest_t *nest, const tspec_atom_t *atom) {
  int rank = atom->value->type.rank;
  // Dims of one element at the end move nothing.
  while (rank > 0 && atom->value->type.dims[rank - 1] == 1) {
    rank--;
  }
  if (atom->kind != TSPEC_ATOM_LOAD || rank == 0) {
    return -1;
  }
  const tspec_coord_t *coord = &atom->coords[rank - 1];
  return coord->dim < 0 || coord->mul != 1 ? -1 : nest->loop_of_dim[coord->dim];
}

static bool is_long_enough(const tspec_nest_t *nest, int loop) {
  const tspec_loop_t *l = &nest->loops.items[loop];
  int64_t size = 1;
  for (int d = l->first; d <= l->last; d++) {
    size *= nest->space->type.dims[d];
  }
  return l->extent.ssa >= 0 ? size > BLOCK : l->extent.value >= BLOCK;
}

/// Which loads are to be turned. False: none.
static bool plan_tiling(tspec_nest_t *nest, tiling_t *tiling) {
  tiling->along = (int)nest->loops.count - 1;
  tiling->across = -1;
  uint64_t inner = tiling->along < 0 ? 0 : tspec_loop_dims(&nest->loops.items[tiling->along]);
  for (size_t i = 0; i < nest->body->atoms.count; i++) {
    tspec_atom_t *atom = nest->body->atoms.items[i];
    int loop = contiguous_loop(nest, atom);
    bool jumps = loop >= 0 && loop != tiling->along && (atom->dims & inner) != 0;
    if (!jumps || (tiling->across >= 0 && loop != tiling->across) || !is_long_enough(nest, loop) ||
        !is_long_enough(nest, tiling->along)) {
      continue;
    }
    tiling->across = loop;
    TSPEC_VEC_PUSH(nest->arena, &tiling->staged, (staged_t){.atom = atom});
  }
  return tiling->across >= 0;
}

// ---- turning blocks ----------------------------------------------------------------------------

static int add(tspec_nest_t *nest, int a, int b) {
  return tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", a, b);
}

static int subtract(tspec_nest_t *nest, int a, int b) {
  return tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index", a, b);
}

/// min(index, extent of the loop - BLOCK): where a whole block can begin.
static int clamp_block(tspec_nest_t *nest, int loop, int index) {
  int extent = tspec_nest_amount(nest, nest->loops.items[loop].extent);
  int most = subtract(nest, extent, tspec_nest_index(nest, BLOCK));
  return tspec_nest_let(nest, "arith.minsi %%%d, %%%d : index", index, most);
}

/// Where element (across, along) of a tile that begins at (rows, columns) lies in its scratch.
static int tile_place(tspec_nest_t *nest, int across, int rows, int along, int columns) {
  int margin = tspec_nest_index(nest, MARGIN), pitch = tspec_nest_index(nest, PITCH);
  int row = add(nest, subtract(nest, across, rows), margin);
  int column = add(nest, subtract(nest, along, columns), margin);
  int start = tspec_nest_let(nest, "arith.muli %%%d, %%%d overflow<nsw> : index", row, pitch);
  return add(nest, start, column);
}

/// Turns BLOCK vectors of BLOCK elements. One round interleaves vectors i and i + BLOCK / 2, which
/// rotates the six bits of an element's (row, column) by one; three rounds swap the halves.
static void turn(tspec_nest_t *nest, int *vectors, const char *type) {
  for (int round = 0; round < 3; round++) {
    int next[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
      int low = vectors[i / 2], high = vectors[i / 2 + BLOCK / 2];
      const char *mask = i % 2 == 0 ? "0, 8, 1, 9, 2, 10, 3, 11" : "4, 12, 5, 13, 6, 14, 7, 15";
      next[i] = tspec_nest_let(nest, "vector.shuffle %%%d, %%%d [%s] : vector<8x%s>, vector<8x%s>",
                               low, high, mask, type, type);
    }
    for (int i = 0; i < BLOCK; i++) {
      vectors[i] = next[i];
    }
  }
}

/// Copies a tile of a staged load to its scratch, in the order in which the nest reads it.
static void stage_tile(tspec_nest_t *nest, const tiling_t *tiling, const staged_t *staged,
                       bounds_t rows, bounds_t columns) {
  const tspec_value_t *value = staged->atom->value;
  const char *type = tspec_memory_type(value->type.dtype);
  int step = tspec_nest_index(nest, BLOCK), column = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", column, columns.lo, columns.hi,
                  step);
  int first = clamp_block(nest, tiling->along, column);
  int row = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", row, rows.lo, rows.hi, step);
  int start = clamp_block(nest, tiling->across, row);
  int vectors[BLOCK];
  nest->loops.items[tiling->across].index = start;
  for (int i = 0; i < BLOCK; i++) {
    nest->loops.items[tiling->along].index = add(nest, first, tspec_nest_index(nest, i));
    int linear = tspec_nest_linear(nest, value, staged->atom->coords);
    vectors[i] =
        tspec_nest_let(nest, "vector.load %%b%d[%%%d] : memref<%" PRId64 "x%s>, vector<8x%s>",
                       staged->atom->buffer, linear, tspec_nest_capacity(nest, value), type, type);
  }
  turn(nest, vectors, type);
  for (int i = 0; i < BLOCK; i++) {
    int across = add(nest, start, tspec_nest_index(nest, i));
    int place = tile_place(nest, across, rows.lo, first, columns.lo);
    tspec_nest_line(nest, "vector.store %%%d, %%%d[%%%d] : memref<%dx%s>, vector<8x%s>", vectors[i],
                    staged->scratch, place, PITCH * PITCH, type, type);
  }
  tspec_nest_close(nest);
  tspec_nest_close(nest);
}

// ---- nests -------------------------------------------------------------------------------------

/// Opens a loop over tiles; returns a tile's bounds.
static bounds_t open_tiles(tspec_nest_t *nest, bounds_t whole) {
  int step = tspec_nest_index(nest, TILE);
  int lo = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", lo, whole.lo, whole.hi, step);
  int end = add(nest, lo, step);
  return (bounds_t){lo, tspec_nest_let(nest, "arith.minsi %%%d, %%%d : index", end, whole.hi)};
}

static void open_loop(tspec_nest_t *nest, int loop, bounds_t bounds, uint64_t *open) {
  tspec_nest_open(nest, loop, bounds.lo, bounds.hi);
  *open |= tspec_loop_dims(&nest->loops.items[loop]);
  tspec_nest_atoms(nest, *open);
}

static void close_loops(tspec_nest_t *nest, int count) {
  for (int i = 0; i < count; i++) {
    tspec_nest_close(nest);
  }
}

static void emit_plain(tspec_nest_t *nest) {
  uint64_t open = tspec_nest_fixed_dims(nest);
  tspec_nest_atoms(nest, open);
  for (int i = 0; i < (int)nest->loops.count; i++) {
    open_loop(nest, i, loop_bounds(nest, i), &open);
  }
  tspec_nest_store_atoms(nest);
  close_loops(nest, (int)nest->loops.count);
}

static void alloc_tiles(tspec_nest_t *nest, tiling_t *tiling) {
  for (size_t i = 0; i < tiling->staged.count; i++) {
    staged_t *staged = &tiling->staged.items[i];
    staged->scratch = nest->nssa++;
    tspec_buf_printf(
        &nest->allocas, "%%%d = memref.alloca() {alignment = 64 : i64} : memref<%dx%s>\n",
        staged->scratch, PITCH * PITCH, tspec_memory_type(staged->atom->value->type.dtype));
  }
}

static void read_tiles(tspec_nest_t *nest, const tiling_t *tiling, bounds_t rows,
                       bounds_t columns) {
  int across = tspec_loop_index(nest, tiling->across),
      along = tspec_loop_index(nest, tiling->along);
  for (size_t i = 0; i < tiling->staged.count; i++) {
    const staged_t *staged = &tiling->staged.items[i];
    tspec_dtype_t dtype = staged->atom->value->type.dtype;
    int place = tile_place(nest, across, rows.lo, along, columns.lo);
    int memory = tspec_nest_let(nest, "memref.load %%%d[%%%d] : memref<%dx%s>", staged->scratch,
                                place, PITCH * PITCH, tspec_memory_type(dtype));
    staged->atom->ssa = tspec_register_from_memory(nest, dtype, memory);
  }
}

static void emit_tiled(tspec_nest_t *nest, tiling_t *tiling) {
  uint64_t open = tspec_nest_fixed_dims(nest);
  int nopen = 0;
  alloc_tiles(nest, tiling);
  tspec_nest_atoms(nest, open);
  for (int i = 0; i < tiling->along; i++) {
    if (i != tiling->across) {
      open_loop(nest, i, loop_bounds(nest, i), &open);
      nopen++;
    }
  }
  bounds_t rows = open_tiles(nest, loop_bounds(nest, tiling->across));
  bounds_t columns = open_tiles(nest, loop_bounds(nest, tiling->along));
  for (size_t i = 0; i < tiling->staged.count; i++) {
    stage_tile(nest, tiling, &tiling->staged.items[i], rows, columns);
  }
  open_loop(nest, tiling->across, rows, &open);
  tspec_nest_open(nest, tiling->along, columns.lo, columns.hi);
  open |= tspec_loop_dims(&nest->loops.items[tiling->along]);
  read_tiles(nest, tiling, rows, columns);
  tspec_nest_atoms(nest, open);
  tspec_nest_store_atoms(nest);
  close_loops(nest, nopen + 4);
}

static void forget_atoms(tspec_scope_t *scope) {
  for (size_t i = 0; i < scope->atoms.count; i++) {
    tspec_atom_t *atom = scope->atoms.items[i];
    atom->ssa = -1;
    if (atom->kind == TSPEC_ATOM_CHOICE) {
      forget_atoms(atom->arms[0]);
      forget_atoms(atom->arms[1]);
    }
  }
}

/// 1 if a loop whose extent differs between ranks is long enough for blocks here.
static int is_long_here(tspec_nest_t *nest, int loop) {
  int extent = tspec_nest_amount(nest, nest->loops.items[loop].extent);
  int block = tspec_nest_index(nest, BLOCK);
  return tspec_nest_let(nest, "arith.cmpi sge, %%%d, %%%d : index", extent, block);
}

void tspec_nest_emit_elementwise(tspec_nest_t *nest) {
  tiling_t tiling = {0};
  if (!plan_tiling(nest, &tiling)) {
    emit_plain(nest);
    return;
  }
  if (nest->loops.items[tiling.across].extent.ssa < 0 &&
      nest->loops.items[tiling.along].extent.ssa < 0) {
    emit_tiled(nest, &tiling);
    return;
  }
  int a = is_long_here(nest, tiling.across), b = is_long_here(nest, tiling.along);
  int both = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", a, b);
  tspec_nest_line(nest, "scf.if %%%d {", both);
  emit_tiled(nest, &tiling);
  forget_atoms(nest->body);
  tspec_nest_line(nest, "} else {");
  emit_plain(nest);
  tspec_nest_close(nest);
}
