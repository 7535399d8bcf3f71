// Pass `fuse`: groups the ops of the local level into kernels.
//
// Values are decided from the last op to the first, so that all readers of a value are known. A
// value is stored if a gemm, a collective, a view or a result needs it, or if several kernels read
// it; otherwise its op is absorbed into the one kernel that reads it. A stored value is computed by
// a kernel that reads it anyway if that one runs before all other readers, else by one of its own.
// "Before" is by height: the longest chain of kernels and other steps from a value to a result.
// Every step is higher than all that read its results, so no cycle can arise.
#include <string.h>

#include "passes/fuse.h"
#include "passes/fuse_gemm.h"
#include "passes/pass.h"

// Limits to the size of one kernel: compile time and registers.
#define MAX_OPS 128
#define MAX_ROOTS 16

/// A kernel that reads a value at these coordinates of its space.
typedef struct demand_t {
  int kernel;
  const tspec_coord_t *coords;
} demand_t;

typedef struct value_state_t {
  bool stored;
  int kernel;   ///< stored: by this kernel; -1: by an op of its own
  bool outside; ///< read by a step that is no kernel, or a result
  int height;   ///< of the highest such step
  TSPEC_VEC(demand_t) demands;
} value_state_t;

typedef struct kernel_state_t {
  const tspec_value_t *space;
  uint64_t reduced_dims;
  int height;
  int nops;
  TSPEC_VEC(tspec_root_t) roots;
  bool started;
  bool done;
} kernel_state_t;

typedef struct fuse_t {
  tspec_pass_run_t *run;
  tspec_func_t *func;
  tspec_arena_t *arena;
  value_state_t *values; ///< by value id
  TSPEC_VEC(kernel_state_t) kernels;
  tspec_names_t *bodies;
  int current; ///< kernel whose atoms are being built
  bool failed;
} fuse_t;

// ---- reading the program -----------------------------------------------------------------------

static bool is_placing(const tspec_op_t *op) {
  return op->kind == TSPEC_OP_broadcast || op->kind == TSPEC_OP_transpose ||
         op->kind == TSPEC_OP_slice || (op->kind == TSPEC_OP_reshape && tspec_reshape_is_unit(op));
}

static bool is_reduction(const tspec_op_t *op) {
  return op->kind == TSPEC_OP_reduce || op->kind == TSPEC_OP_arg_reduce;
}

/// Steps that run by themselves.
static bool is_outside(const tspec_op_t *op) {
  bool is_collective = (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) != 0;
  return is_collective || op->kind == TSPEC_OP_gemm || op->kind == TSPEC_OP_view ||
         op->kind == TSPEC_OP_kernel || (op->kind == TSPEC_OP_reshape && !is_placing(op));
}

/// A conversion that only widens: reading the narrow value again is cheaper than storing the wide
/// one.
static bool is_widening(const tspec_op_t *op) {
  return op->kind == TSPEC_OP_convert && tspec_dtype_bytes(op->results[0]->type.dtype) >
                                             tspec_dtype_bytes(op->operands[0]->type.dtype);
}

static bool same_blocks(const tspec_value_t *a, const tspec_value_t *b) {
  if (a->type.rank != b->type.rank) {
    return false;
  }
  for (int i = 0; i < a->type.rank; i++) {
    const tspec_dim_t *x = &a->sharding->dims[i], *y = &b->sharding->dims[i];
    if (a->type.dims[i] != b->type.dims[i] || x->naxes != y->naxes) {
      return false;
    }
    for (int k = 0; k < x->naxes; k++) {
      if (!tspec_axis_equal(x->axes[k], y->axes[k])) {
        return false;
      }
    }
  }
  return true;
}

static bool is_identity(const tspec_coord_t *coords, int rank) {
  for (int i = 0; i < rank; i++) {
    if (coords[i].dim != i || coords[i].mul != 1 || coords[i].add != 0) {
      return false;
    }
  }
  return true;
}

static uint64_t reduced_dims(const tspec_op_t *op) {
  const tspec_attr_t *dims = tspec_op_get_attr(op, "dims");
  uint64_t mask = 0;
  if (dims == NULL) {
    return UINT64_C(1) << tspec_op_get_attr(op, "dim")->i;
  }
  for (int64_t i = 0; i < dims->count; i++) {
    mask |= UINT64_C(1) << dims->ints[i];
  }
  return mask;
}

// ---- demands -----------------------------------------------------------------------------------

static kernel_state_t *kernel_at(const fuse_t *f, int kernel) {
  TSPEC_CHECK(f->kernels.items != NULL && (size_t)kernel < f->kernels.count, "no kernel %d",
              kernel);
  return &f->kernels.items[kernel];
}

static value_state_t *state_of(fuse_t *f, const tspec_value_t *value) {
  return &f->values[value->id];
}

static void add_demand(fuse_t *f, const tspec_value_t *value, int kernel,
                       const tspec_coord_t *coords) {
  value_state_t *state = state_of(f, value);
  size_t bytes = sizeof *coords * (size_t)value->type.rank;
  for (size_t i = 0; i < state->demands.count; i++) {
    const demand_t *known = &state->demands.items[i];
    bool same = bytes == 0;
    for (int d = 0; d < value->type.rank; d++) {
      const tspec_coord_t *a = &known->coords[d], *b = &coords[d];
      same = a->dim == b->dim && a->mul == b->mul && a->add == b->add;
      if (!same) {
        break;
      }
    }
    if (known->kernel == kernel && same) {
      return;
    }
  }
  TSPEC_VEC_PUSH(f->arena, &state->demands, (demand_t){kernel, coords});
}

static void read_outside(fuse_t *f, const tspec_value_t *value, int height) {
  value_state_t *state = state_of(f, value);
  state->outside = true;
  if (height > state->height) {
    state->height = height;
  }
}

/// True if nothing reads a result of the op.
static bool is_dead(fuse_t *f, const tspec_op_t *op) {
  for (int i = 0; i < op->nresults; i++) {
    const value_state_t *state = state_of(f, op->results[i]);
    if (state->outside || state->demands.count > 0) {
      return false;
    }
  }
  return true;
}

/// The height of the highest step that reads the value, leaving out one kernel.
static int readers_height(fuse_t *f, const value_state_t *state, int except) {
  int height = state->outside ? state->height : 0;
  for (size_t i = 0; i < state->demands.count; i++) {
    int kernel = state->demands.items[i].kernel;
    if (kernel != except && kernel_at(f, kernel)->height > height) {
      height = kernel_at(f, kernel)->height;
    }
  }
  return height;
}

/// Passes one demand on to the operands of an op that is computed inside the kernel.
static void demand_operands(fuse_t *f, const tspec_op_t *op, demand_t demand) {
  kernel_at(f, demand.kernel)->nops++;
  if (is_placing(op)) {
    add_demand(f, op->operands[0], demand.kernel, tspec_nest_through(f->arena, op, demand.coords));
    return;
  }
  int64_t offset = 0;
  for (int i = 0; i < op->noperands; i++) {
    int rank = op->operands[i]->type.rank;
    tspec_coord_t *coords = TSPEC_ARENA_NEW(f->arena, tspec_coord_t, rank);
    for (int d = 0; d < rank; d++) {
      coords[d] = demand.coords[d];
    }
    if (op->kind == TSPEC_OP_concat) {
      int64_t dim = tspec_op_get_attr(op, "dim")->i;
      coords[dim].add -= offset;
      offset += op->operands[i]->type.dims[dim];
    }
    for (int d = 0; op->kind == TSPEC_OP_pad && d < rank; d++) {
      coords[d].add -= tspec_op_get_attr(op, "lo")->ints[d];
    }
    add_demand(f, op->operands[i], demand.kernel, coords);
  }
}

// ---- decisions ---------------------------------------------------------------------------------

static int new_kernel(fuse_t *f, const tspec_value_t *space, int height) {
  kernel_state_t kernel = {.space = space, .height = height};
  TSPEC_VEC_PUSH(f->arena, &f->kernels, kernel);
  return (int)f->kernels.count - 1;
}

/// The kernel that can compute the value along with what it does: it reads the value, element by
/// element and in no other way, before all other readers. -1: none.
static int find_host(fuse_t *f, const tspec_value_t *value, const value_state_t *state) {
  for (size_t i = 0; i < state->demands.count; i++) {
    int k = state->demands.items[i].kernel;
    const kernel_state_t *kernel = kernel_at(f, k);
    if (!same_blocks(kernel->space, value) || kernel->nops >= MAX_OPS ||
        kernel->roots.count >= MAX_ROOTS || kernel->height <= readers_height(f, state, k)) {
      continue;
    }
    bool fits = true;
    for (size_t j = 0; j < state->demands.count; j++) {
      const demand_t *other = &state->demands.items[j];
      fits = fits && (other->kernel != k || is_identity(other->coords, value->type.rank));
    }
    if (fits) {
      return k;
    }
  }
  return -1;
}

static void store_value(fuse_t *f, tspec_op_t *op) {
  tspec_value_t *value = op->results[0];
  value_state_t *state = state_of(f, value);
  int k = find_host(f, value, state);
  if (k < 0) {
    k = new_kernel(f, value, 1 + readers_height(f, state, -1));
  }
  state->stored = true;
  state->kernel = k;
  TSPEC_VEC_PUSH(f->arena, &kernel_at(f, k)->roots, (tspec_root_t){.value = value});
  demand_operands(f, op, (demand_t){k, tspec_nest_identity(f->arena, value->type.rank)});
}

/// A kernel that reduces the same dims of the same space and runs before the op's readers.
static int find_reduction(fuse_t *f, const tspec_op_t *op) {
  const value_state_t *operand = state_of(f, op->operands[0]);
  int height = readers_height(f, state_of(f, op->results[0]), -1);
  for (size_t i = 0; i < operand->demands.count; i++) {
    const demand_t *demand = &operand->demands.items[i];
    const kernel_state_t *kernel = kernel_at(f, demand->kernel);
    if (kernel->reduced_dims == reduced_dims(op) && kernel->reduced_dims != 0 &&
        same_blocks(kernel->space, op->operands[0]) && kernel->height > height &&
        kernel->roots.count < MAX_ROOTS && kernel->nops < MAX_OPS &&
        is_identity(demand->coords, op->operands[0]->type.rank)) {
      return demand->kernel;
    }
  }
  return -1;
}

static void store_reduction(fuse_t *f, tspec_op_t *op) {
  tspec_value_t *value = op->results[0];
  value_state_t *state = state_of(f, value);
  int k = find_reduction(f, op);
  if (k < 0) {
    k = new_kernel(f, op->operands[0], 1 + readers_height(f, state, -1));
    kernel_at(f, k)->reduced_dims = reduced_dims(op);
  }
  state->stored = true;
  state->kernel = k;
  kernel_at(f, k)->nops++;
  TSPEC_VEC_PUSH(f->arena, &kernel_at(f, k)->roots, (tspec_root_t){.value = value, .reduce = op});
  add_demand(f, op->operands[0], k, tspec_nest_identity(f->arena, op->operands[0]->type.rank));
}

/// True if the kernel would compute the same element again and again: it walks a dim that the
/// coordinates do not use around one that they do.
static bool recomputes(const kernel_state_t *kernel, const tspec_coord_t *coords, int rank) {
  uint64_t used = 0;
  for (int i = 0; i < rank; i++) {
    used |= coords[i].dim >= 0 && kernel->space->type.dims[coords[i].dim] > 1
                ? UINT64_C(1) << coords[i].dim
                : 0;
  }
  bool inside_unused = false;
  for (int d = 0; d < kernel->space->type.rank; d++) {
    if ((used >> d & 1) != 0 && inside_unused) {
      return true;
    }
    inside_unused = inside_unused || ((used >> d & 1) == 0 && kernel->space->type.dims[d] > 1);
  }
  return false;
}

static bool can_absorb(const fuse_t *f, const tspec_op_t *op, const value_state_t *state) {
  if (state->demands.count != 1) {
    return false;
  }
  const demand_t *demand = &state->demands.items[0];
  const kernel_state_t *kernel = kernel_at(f, demand->kernel);
  return kernel->nops < MAX_OPS && !recomputes(kernel, demand->coords, op->results[0]->type.rank);
}

/// The op stays a step of its own.
static void keep_step(fuse_t *f, const tspec_op_t *op) {
  int height = 0;
  for (int i = 0; i < op->nresults; i++) {
    value_state_t *state = state_of(f, op->results[i]);
    state->stored = true;
    state->kernel = -1;
    int readers = readers_height(f, state, -1);
    height = readers > height ? readers : height;
  }
  for (int i = 0; i < op->noperands; i++) {
    read_outside(f, op->operands[i], 1 + height);
  }
}

static void decide(fuse_t *f, tspec_op_t *op) {
  if (is_dead(f, op)) {
    return;
  }
  const value_state_t *state = state_of(f, op->results[0]);
  if (is_outside(op) || (op->kind == TSPEC_OP_reshape && state->outside)) {
    keep_step(f, op);
    return;
  }
  if (is_reduction(op)) {
    store_reduction(f, op);
    return;
  }
  bool is_free = op->noperands == 0 || is_placing(op) || is_widening(op);
  if (state->outside || (!is_free && !can_absorb(f, op, state))) {
    store_value(f, op);
    return;
  }
  for (size_t i = 0; i < state->demands.count; i++) {
    demand_operands(f, op, state->demands.items[i]);
  }
}

// ---- the new list of ops -----------------------------------------------------------------------

static void emit_op(fuse_t *f, tspec_op_t *op);
static void emit_kernel(fuse_t *f, int k);

static void ensure(fuse_t *f, const tspec_value_t *value) {
  if (value->def == NULL || value->def->kind == TSPEC_OP_kernel) {
    return;
  }
  const value_state_t *state = state_of(f, value);
  TSPEC_CHECK(state->stored, "a value that is read from memory is not stored");
  if (state->kernel >= 0) {
    emit_kernel(f, state->kernel);
  } else {
    emit_op(f, value->def);
  }
}

static void append(tspec_func_t *func, tspec_op_t *op) {
  op->prev = func->last;
  op->next = NULL;
  if (func->last != NULL) {
    func->last->next = op;
  } else {
    func->first = op;
  }
  func->last = op;
}

static bool is_loaded(void *context, const tspec_value_t *value) {
  fuse_t *f = context;
  const value_state_t *state = state_of(f, value);
  return value->def->kind == TSPEC_OP_kernel || (state->stored && state->kernel != f->current);
}

/// Makes the op for a kernel whose nest is emitted; its results are the roots' values themselves.
static void make_kernel_op(fuse_t *f, tspec_nest_t *nest, const kernel_state_t *kernel) {
  tspec_program_t *program = f->run->program;
  size_t nroots = kernel->roots.count;
  tspec_type_t *types = TSPEC_ARENA_NEW(f->arena, tspec_type_t, nroots);
  for (size_t i = 0; i < nroots; i++) {
    types[i] = kernel->roots.items[i].value->type;
  }
  const char *callee = tspec_nest_intern(nest, f->bodies);
  tspec_attr_t attrs[] = {
      tspec_attr_string("callee", callee),
      tspec_attr_ints("args", (int64_t)nest->args.count, nest->args.items),
      tspec_attr_int("range", nest->range),
      tspec_attr_axes("axes", (int64_t)nest->axes.count, nest->axes.items),
  };
  const tspec_op_t *origin = kernel->roots.items[0].value->def;
  tspec_op_build_t build = {.kind = TSPEC_OP_kernel,
                            .noperands = (int)nest->operands.count,
                            .operands = nest->operands.items,
                            .nattrs = 4,
                            .attrs = attrs,
                            .nresults = (int)nroots,
                            .result_types = types,
                            .range = origin->range,
                            .spelling = origin->spelling,
                            .because = origin->because};
  tspec_op_t *op = tspec_op_create(program, f->func, NULL, &build, f->run->diag);
  if (op == NULL) {
    f->failed = true;
    return;
  }
  for (size_t i = 0; i < nroots; i++) {
    tspec_value_t *value = kernel->roots.items[i].value;
    value->def = op;
    value->index = (int)i;
    op->results[i] = value;
  }
}

static void emit_kernel(fuse_t *f, int k) {
  kernel_state_t *kernel = kernel_at(f, k);
  if (kernel->done) {
    return;
  }
  TSPEC_CHECK(!kernel->started, "kernels read each other's results");
  kernel->started = true;
  tspec_nest_t nest = {.program = f->run->program, .arena = f->arena, .space = kernel->space};
  for (size_t i = 0; i < kernel->roots.count; i++) {
    TSPEC_VEC_PUSH(f->arena, &nest.roots, kernel->roots.items[i]);
  }
  f->current = k;
  tspec_nest_build(&nest, is_loaded, f);
  for (size_t i = 0; i < nest.operands.count; i++) {
    ensure(f, nest.operands.items[i]);
  }
  tspec_nest_emit(&nest);
  make_kernel_op(f, &nest, kernel);
  kernel->done = true;
}

static void emit_op(fuse_t *f, tspec_op_t *op) {
  if (op->prev != op) {
    return; // has been emitted
  }
  for (int i = 0; i < op->noperands; i++) {
    ensure(f, op->operands[i]);
  }
  if (op->kind == TSPEC_OP_reshape) {
    op->kind = TSPEC_OP_view;
  }
  append(f->func, op);
}

/// Puts the steps in order: each where its last result was computed, or earlier where it is needed.
static void rebuild(fuse_t *f) {
  TSPEC_VEC(tspec_op_t *) ops = {0};
  for (tspec_op_t *op = f->func->first, *next; op != NULL; op = next) {
    next = op->next;
    op->prev = op; // "not emitted yet"
    TSPEC_VEC_PUSH(f->arena, &ops, op);
  }
  int *left = TSPEC_ARENA_NEW(f->arena, int, f->kernels.count);
  for (size_t k = 0; k < f->kernels.count; k++) {
    left[k] = (int)kernel_at(f, (int)k)->roots.count;
  }
  f->func->first = f->func->last = NULL;
  for (size_t i = 0; i < ops.count; i++) {
    tspec_op_t *op = ops.items[i];
    const value_state_t *state = state_of(f, op->results[0]);
    if (state->stored && state->kernel < 0) {
      emit_op(f, op);
    } else if (state->stored && --left[state->kernel] == 0) {
      emit_kernel(f, state->kernel);
    }
  }
}

// ---- the pass ----------------------------------------------------------------------------------

static bool fuse_func(tspec_pass_run_t *run, tspec_func_t *func, tspec_names_t *bodies) {
  if (!tspec_fuse_gemms(run, func)) {
    return false;
  }
  fuse_t f = {.run = run, .func = func, .arena = run->scratch, .bodies = bodies};
  f.values = TSPEC_ARENA_NEW(run->scratch, value_state_t, tspec_func_number(func));
  for (int i = 0; i < func->nresults; i++) {
    read_outside(&f, func->results[i].value, 0);
  }
  for (tspec_op_t *op = func->last; op != NULL; op = op->prev) {
    decide(&f, op);
  }
  rebuild(&f);
  tspec_func_number(func);
  return !f.failed;
}

bool tspec_pass_fuse(tspec_pass_run_t *run) {
  tspec_names_t bodies = {0};
  for (int i = 0; i < run->program->nfuncs; i++) {
    if (!fuse_func(run, run->program->funcs[i], &bodies)) {
      return false;
    }
  }
  run->program->level = TSPEC_LEVEL_KERNELS;
  return true;
}
