#include "passes/reshard_expand.h"

#include "passes/reshard_parts.h"
#include "passes/steps.h"

tspec_value_t *tspec_expand_emit(const tspec_expand_t *e, const tspec_sharding_t *sharding,
                                 tspec_op_build_t build) {
  const tspec_op_t *op = e->op;
  const char *spelling = op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
  build.range = op->range;
  build.spelling = op->spelling;
  build.because =
      tspec_arena_printf(e->run->scratch, "%s for '%s'", tspec_op_info(build.kind)->name, spelling);
  tspec_op_t *made = tspec_op_create(e->run->program, e->func, e->op, &build, e->run->diag);
  TSPEC_CHECK(made != NULL);
  made->results[0]->sharding = tspec_program_sharding(e->run->program, sharding);
  made->results[0]->range = op->results[0]->range;
  return made->results[0];
}

int64_t tspec_expand_whole_cost(const tspec_expand_t *e, const tspec_sharding_t *operand,
                                tspec_choice_t *out_voted) {
  const tspec_op_t *op = e->op;
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  const tspec_mesh_t *mesh = &e->run->program->mesh;
  tspec_op_view_t view = tspec_op_view(op, e->run->scratch);
  const tspec_sharding_t *wanted = op->results[0]->sharding;
  const tspec_sharding_t *shardings[] = {operand, wanted};
  tspec_type_t types[] = {op->operands[0]->type, op->results[0]->type};
  tspec_choose_op_t choose = {.rule = rules->rule(&view, e->run->scratch, false),
                              .types = types,
                              .shardings = shardings,
                              .keeps_elements = (rules->traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0,
                              .executable = true};
  tspec_choice_t whole = tspec_choose(e->run->scratch, mesh, &choose);
  if (out_voted != NULL) {
    choose.executable = false;
    *out_voted = tspec_choose(e->run->scratch, mesh, &choose);
  }
  return tspec_layout_cost_bytes(e->wire, op, &wanted, whole.tensors);
}

// ---- argmax and argmin -------------------------------------------------------------------------

typedef struct extreme_t {
  const tspec_expand_t *e;
  const tspec_sharding_t *operand; ///< how the operand is read
  const tspec_sharding_t *result;  ///< how the result is made, complete
} extreme_t;

static tspec_value_t *emit_binary(const extreme_t *extreme, tspec_op_kind_t kind, tspec_value_t *a,
                                  tspec_value_t *b) {
  tspec_value_t *operands[] = {a, b};
  return tspec_expand_emit(extreme->e, extreme->operand,
                           (tspec_op_build_t){.kind = kind, .noperands = 2, .operands = operands});
}

static tspec_value_t *emit_reduce(const extreme_t *extreme, tspec_value_t *x, tspec_reduce_t kind,
                                  int64_t dim) {
  tspec_attr_t attrs[] = {tspec_attr_reduce("kind", kind), tspec_attr_ints("dims", 1, &dim)};
  return tspec_expand_emit(
      extreme->e, extreme->result,
      (tspec_op_build_t){
          .kind = TSPEC_OP_reduce, .noperands = 1, .operands = &x, .nattrs = 2, .attrs = attrs});
}

/// A value of the result's shape at every place along `dim` of the operand.
static tspec_value_t *emit_repeated(const extreme_t *extreme, tspec_value_t *x, int64_t dim) {
  tspec_type_t type = extreme->e->op->operands[0]->type;
  int64_t *dims = TSPEC_ARENA_NEW(extreme->e->run->scratch, int64_t, type.rank);
  for (int i = 0; i < type.rank - 1; i++) {
    dims[i] = i < dim ? i : i + 1;
  }
  tspec_attr_t attrs[] = {tspec_attr_ints("shape", type.rank, type.dims),
                          tspec_attr_ints("dims", type.rank - 1, dims)};
  return tspec_expand_emit(
      extreme->e, extreme->operand,
      (tspec_op_build_t){
          .kind = TSPEC_OP_broadcast, .noperands = 1, .operands = &x, .nattrs = 2, .attrs = attrs});
}

/// The index along `dim` where `hit` is true, elsewhere one beyond all.
static tspec_value_t *emit_places(const extreme_t *extreme, tspec_value_t *hit, int64_t dim) {
  const tspec_expand_t *e = extreme->e;
  tspec_type_t type = hit->type;
  double beyond = INT32_MAX;
  tspec_attr_t iota[] = {tspec_attr_dtype("dtype", TSPEC_DTYPE_I32),
                         tspec_attr_ints("shape", type.rank, type.dims),
                         tspec_attr_int("dim", dim)};
  tspec_attr_t splat[] = {iota[0], iota[1], tspec_attr_floats("values", 1, &beyond)};
  tspec_op_build_t index = {.kind = TSPEC_OP_iota, .nattrs = 3, .attrs = iota};
  tspec_op_build_t none = {.kind = TSPEC_OP_constant, .nattrs = 3, .attrs = splat};
  tspec_value_t *operands[] = {hit, tspec_expand_emit(e, extreme->operand, index),
                               tspec_expand_emit(e, extreme->operand, none)};
  return tspec_expand_emit(
      e, extreme->operand,
      (tspec_op_build_t){.kind = TSPEC_OP_select, .noperands = 3, .operands = operands});
}

/// Bytes of completing what is pending and converting it to `to`.
static int64_t completion_cost(const tspec_expand_t *e, tspec_dtype_t dtype,
                               const tspec_sharding_t *pending, const tspec_sharding_t *to) {
  tspec_type_t type = e->op->results[0]->type;
  type.dtype = dtype;
  return tspec_wire_bytes(e->wire, type, pending, to);
}

/// Whether two reductions send less than making the dim whole; fills in how they lie.
static bool pays(const tspec_expand_t *e, extreme_t *out_extreme) {
  const tspec_value_t *x = e->op->operands[0];
  const tspec_sharding_t *given = tspec_sharding_complete(e->run->scratch, x->sharding);
  tspec_choice_t split;
  int64_t whole = tspec_expand_whole_cost(e, given, &split);
  if (split.nreduced == 0) {
    return false;
  }
  *out_extreme =
      (extreme_t){e, split.tensors[0], tspec_sharding_complete(e->run->scratch, split.tensors[1])};
  return tspec_wire_bytes(e->wire, x->type, given, split.tensors[0]) +
             completion_cost(e, x->type.dtype, split.tensors[1], out_extreme->result) +
             completion_cost(e, TSPEC_DTYPE_I32, split.tensors[1], e->op->results[0]->sharding) <
         whole;
}

/// The extreme value of all ranks, then the lowest index at which it stands. A NaN is more extreme
/// than any number: where there is one, the extreme value is NaN, which equals nothing.
static tspec_value_t *expand_arg_reduce(const tspec_expand_t *e) {
  extreme_t extreme;
  if (!pays(e, &extreme)) {
    return NULL;
  }
  tspec_value_t *x = e->op->operands[0];
  int64_t dim = tspec_op_get_attr(e->op, "dim")->i;
  tspec_reduce_t kind = tspec_op_get_attr(e->op, "kind")->reduce;
  if (x->type.dtype == TSPEC_DTYPE_BOOL) {
    kind = kind == TSPEC_REDUCE_MAX ? TSPEC_REDUCE_ANY : TSPEC_REDUCE_ALL;
  }
  tspec_value_t *most = emit_repeated(&extreme, emit_reduce(&extreme, x, kind, dim), dim);
  tspec_value_t *hit = emit_binary(&extreme, TSPEC_OP_eq, x, most);
  if (tspec_dtype_is_float(x->type.dtype)) {
    tspec_value_t *nan = emit_binary(&extreme, TSPEC_OP_ne, x, x);
    hit = emit_binary(&extreme, TSPEC_OP_or, hit, nan);
  }
  return emit_reduce(&extreme, emit_places(&extreme, hit, dim), TSPEC_REDUCE_MIN, dim);
}

// ---- which ops ---------------------------------------------------------------------------------

typedef tspec_value_t *(*expand_fn_t)(const tspec_expand_t *e);

static expand_fn_t find_expansion(tspec_op_kind_t kind) {
  static const struct {
    tspec_op_kind_t kind;
    expand_fn_t expand;
  } rows[] = {{TSPEC_OP_arg_reduce, expand_arg_reduce}, {TSPEC_OP_reshape, tspec_expand_reshape}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].kind == kind) {
      return rows[i].expand;
    }
  }
  return NULL;
}

void tspec_expand_ops(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func) {
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    tspec_op_settle(op);
    expand_fn_t expand = find_expansion(op->kind);
    tspec_arena_t work;
    tspec_arena_init(&work);
    tspec_pass_run_t own = *run;
    own.scratch = &work;
    tspec_expand_t e = {.run = &own, .wire = wire, .func = func, .op = op};
    tspec_value_t *value = expand == NULL ? NULL : expand(&e);
    tspec_arena_deinit(&work);
    if (value != NULL) {
      value->sharding = op->results[0]->sharding;
      tspec_op_replace(func, op, value);
    }
  }
  tspec_func_settle(func);
}
