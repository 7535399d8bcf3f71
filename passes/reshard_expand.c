#include "passes/reshard_expand.h"

#include "ir/shard/choose.h"
#include "ir/shard/decompose.h"
#include "passes/reshard_parts.h"
#include "passes/steps.h"

typedef struct expand_t {
  tspec_pass_run_t *run;
  tspec_func_t *func;
  tspec_op_t *op;
  const tspec_sharding_t *operand; ///< how the op's operand is read
  const tspec_sharding_t *result;  ///< how its result is made, complete
} expand_t;

// ---- making ops --------------------------------------------------------------------------------

/// An op before the one that is taken apart, laid out as said.
static tspec_value_t *emit(const expand_t *e, const tspec_sharding_t *sharding,
                           tspec_op_build_t build) {
  const tspec_op_t *op = e->op;
  const char *spelling = op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
  build.range = op->range;
  build.spelling = op->spelling;
  build.because =
      tspec_arena_printf(e->run->scratch, "%s for '%s'", tspec_op_info(build.kind)->name, spelling);
  tspec_op_t *made = tspec_op_create(e->run->program, e->func, e->op, &build, e->run->diag);
  TSPEC_CHECK(made != NULL);
  made->results[0]->sharding = sharding;
  made->results[0]->range = op->results[0]->range;
  return made->results[0];
}

static tspec_value_t *emit_binary(const expand_t *e, tspec_op_kind_t kind, tspec_value_t *a,
                                  tspec_value_t *b) {
  tspec_value_t *operands[] = {a, b};
  return emit(e, e->operand,
              (tspec_op_build_t){.kind = kind, .noperands = 2, .operands = operands});
}

static tspec_value_t *emit_reduce(const expand_t *e, tspec_value_t *x, tspec_reduce_t kind,
                                  int64_t dim) {
  tspec_attr_t attrs[] = {tspec_attr_reduce("kind", kind), tspec_attr_ints("dims", 1, &dim)};
  return emit(
      e, e->result,
      (tspec_op_build_t){
          .kind = TSPEC_OP_reduce, .noperands = 1, .operands = &x, .nattrs = 2, .attrs = attrs});
}

/// A value of the result's shape at every place along `dim` of the operand.
static tspec_value_t *emit_repeated(const expand_t *e, tspec_value_t *x, int64_t dim) {
  tspec_type_t type = e->op->operands[0]->type;
  int64_t *dims = TSPEC_ARENA_NEW(e->run->scratch, int64_t, type.rank);
  for (int i = 0; i < type.rank - 1; i++) {
    dims[i] = i < dim ? i : i + 1;
  }
  tspec_attr_t attrs[] = {tspec_attr_ints("shape", type.rank, type.dims),
                          tspec_attr_ints("dims", type.rank - 1, dims)};
  return emit(
      e, e->operand,
      (tspec_op_build_t){
          .kind = TSPEC_OP_broadcast, .noperands = 1, .operands = &x, .nattrs = 2, .attrs = attrs});
}

/// The index along `dim` where `hit` is true, elsewhere one beyond all.
static tspec_value_t *emit_places(const expand_t *e, tspec_value_t *hit, int64_t dim) {
  tspec_type_t type = hit->type;
  double beyond = INT32_MAX;
  tspec_attr_t iota[] = {tspec_attr_dtype("dtype", TSPEC_DTYPE_I32),
                         tspec_attr_ints("shape", type.rank, type.dims),
                         tspec_attr_int("dim", dim)};
  tspec_attr_t splat[] = {iota[0], iota[1], tspec_attr_floats("values", 1, &beyond)};
  tspec_op_build_t index = {.kind = TSPEC_OP_iota, .nattrs = 3, .attrs = iota};
  tspec_op_build_t none = {.kind = TSPEC_OP_constant, .nattrs = 3, .attrs = splat};
  tspec_value_t *operands[] = {hit, emit(e, e->operand, index), emit(e, e->operand, none)};
  return emit(e, e->operand,
              (tspec_op_build_t){.kind = TSPEC_OP_select, .noperands = 3, .operands = operands});
}

// ---- argmax and argmin -------------------------------------------------------------------------

/// The extreme value of all ranks, then the lowest index at which it stands. A NaN is more extreme
/// than any number: where there is one, the extreme value is NaN, which equals nothing.
static tspec_value_t *expand_arg_reduce(const expand_t *e) {
  tspec_value_t *x = e->op->operands[0];
  int64_t dim = tspec_op_get_attr(e->op, "dim")->i;
  tspec_reduce_t kind = tspec_op_get_attr(e->op, "kind")->reduce;
  if (x->type.dtype == TSPEC_DTYPE_BOOL) {
    kind = kind == TSPEC_REDUCE_MAX ? TSPEC_REDUCE_ANY : TSPEC_REDUCE_ALL;
  }
  tspec_value_t *extreme = emit_repeated(e, emit_reduce(e, x, kind, dim), dim);
  tspec_value_t *hit = emit_binary(e, TSPEC_OP_eq, x, extreme);
  if (tspec_dtype_is_float(x->type.dtype)) {
    hit = emit_binary(e, TSPEC_OP_or, hit, emit_binary(e, TSPEC_OP_ne, x, x));
  }
  return emit_reduce(e, emit_places(e, hit, dim), TSPEC_REDUCE_MIN, dim);
}

// ---- which ops ---------------------------------------------------------------------------------

typedef tspec_value_t *(*expand_fn_t)(const expand_t *e);

static expand_fn_t find_expansion(tspec_op_kind_t kind) {
  static const struct {
    tspec_op_kind_t kind;
    expand_fn_t expand;
  } rows[] = {{TSPEC_OP_arg_reduce, expand_arg_reduce}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].kind == kind) {
      return rows[i].expand;
    }
  }
  return NULL;
}

/// Bytes of completing what is pending and converting it to `to`.
static int64_t completion_cost(const expand_t *e, const tspec_mesh_t *mesh, tspec_dtype_t dtype,
                               const tspec_sharding_t *pending, const tspec_sharding_t *to) {
  tspec_type_t type = e->op->results[0]->type;
  type.dtype = dtype;
  tspec_steps_t steps = tspec_reshard_decompose(e->run->scratch, mesh, type, pending, to);
  return tspec_steps_cost_bytes(mesh, type, steps);
}

/// Whether taking the op apart sends less than making the dim whole; fills in how the new ops lie.
static bool pays(expand_t *e) {
  const tspec_op_t *op = e->op;
  const tspec_mesh_t *mesh = &e->run->program->mesh;
  const tspec_value_t *x = op->operands[0];
  const tspec_sharding_t *wanted = op->results[0]->sharding;
  tspec_op_view_t view = tspec_op_view(op, e->run->scratch);
  const tspec_sharding_t *shardings[] = {tspec_sharding_complete(e->run->scratch, x->sharding),
                                         wanted};
  tspec_type_t types[] = {x->type, op->results[0]->type};
  tspec_choose_op_t choose = {
      .rule = tspec_op_info(op->kind)->rules->rule(&view, e->run->scratch, false),
      .types = types,
      .shardings = shardings,
      .executable = true};
  tspec_choice_t whole = tspec_choose(e->run->scratch, mesh, &choose);
  choose.executable = false;
  tspec_choice_t split = tspec_choose(e->run->program->arena, mesh, &choose);
  if (split.nreduced == 0) {
    return false;
  }
  e->operand = split.tensors[0];
  e->result = tspec_sharding_complete(e->run->program->arena, split.tensors[1]);
  tspec_steps_t steps =
      tspec_reshard_decompose(e->run->scratch, mesh, x->type, shardings[0], e->operand);
  int64_t cost = tspec_steps_cost_bytes(mesh, x->type, steps) +
                 completion_cost(e, mesh, x->type.dtype, split.tensors[1], e->result) +
                 completion_cost(e, mesh, TSPEC_DTYPE_I32, split.tensors[1], wanted);
  return cost < tspec_layout_cost_bytes(mesh, op, &wanted, whole.tensors);
}

void tspec_expand_partials(tspec_pass_run_t *run, tspec_func_t *func) {
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    tspec_op_settle(op);
    expand_fn_t expand = find_expansion(op->kind);
    expand_t e = {.run = run, .func = func, .op = op};
    if (expand != NULL && pays(&e)) {
      tspec_value_t *value = expand(&e);
      value->sharding = op->results[0]->sharding;
      tspec_op_replace(func, op, value);
    }
  }
  tspec_func_settle(func);
}
