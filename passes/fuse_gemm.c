// Turns every dot into a gemm: finds out how its operands lie, writes transposes only where their
// dims do not group.
#include <string.h>

#include "passes/fuse_gemm.h"

/// One operand of a dot: a value and, per dim of it, which dim of the dot's operand that is.
typedef struct side_t {
  tspec_value_t *value;
  int *logical;
  const tspec_attr_t *batch;
  const tspec_attr_t *contract;
} side_t;

static int index_in(const tspec_attr_t *list, int dim) {
  for (int64_t i = 0; i < list->count; i++) {
    if (list->ints[i] == dim) {
      return (int)i;
    }
  }
  return -1;
}

/// True if dims lie as [batch, free, contract] or [batch, contract, free], batch and free dims in
/// the order of the result, and contracted ones as in `order` (indices into the contract list;
/// filled in as they come where *norder is 0).
static bool groups(const side_t *side, int *order, int *norder) {
  int rank = side->value->type.rank;
  int nbatch = (int)side->batch->count, ncontract = (int)side->contract->count;
  int nfree = rank - nbatch - ncontract;
  for (int i = 0; i < nbatch; i++) {
    if (index_in(side->batch, side->logical[i]) != i) {
      return false;
    }
  }
  bool contract_first =
      nfree > 0 && ncontract > 0 && index_in(side->contract, side->logical[nbatch]) >= 0;
  int free_at = contract_first ? nbatch + ncontract : nbatch;
  int contract_at = contract_first ? nbatch : nbatch + nfree;
  for (int i = 0; i < nfree; i++) {
    int dim = side->logical[free_at + i];
    bool is_free = index_in(side->contract, dim) < 0 && index_in(side->batch, dim) < 0;
    if (!is_free || (i > 0 && side->logical[free_at + i - 1] > dim)) {
      return false;
    }
  }
  for (int i = 0; i < ncontract; i++) {
    int place = index_in(side->contract, side->logical[contract_at + i]);
    if (place < 0 || (*norder == ncontract && order[i] != place)) {
      return false;
    }
  }
  for (int i = 0; i < ncontract; i++) {
    order[i] = index_in(side->contract, side->logical[contract_at + i]);
  }
  *norder = ncontract;
  return true;
}

/// The operand itself or what it is a transpose of, whichever comes first that groups.
static bool find_grouped(tspec_arena_t *arena, side_t *side, int *order, int *norder) {
  side_t at = *side;
  for (;;) {
    // A transpose that is seen through need not be computed, so go down as far as it works.
    if (groups(&at, order, norder)) {
      *side = at;
      return true;
    }
    const tspec_op_t *def = at.value->def;
    if (def == NULL || def->kind != TSPEC_OP_transpose) {
      return false;
    }
    const int64_t *perm = tspec_op_get_attr(def, "perm")->ints;
    int *logical = TSPEC_ARENA_NEW(arena, int, at.value->type.rank);
    for (int i = 0; i < at.value->type.rank; i++) {
      logical[perm[i]] = at.logical[i];
    }
    at.logical = logical;
    at.value = def->operands[0];
  }
}

/// The deepest value under transposes that groups; `order` as in `groups`.
static bool see_through(tspec_arena_t *arena, side_t *side, int *order, int *norder) {
  if (!find_grouped(arena, side, order, norder)) {
    return false;
  }
  while (side->value->def != NULL && side->value->def->kind == TSPEC_OP_transpose) {
    const tspec_op_t *def = side->value->def;
    const int64_t *perm = tspec_op_get_attr(def, "perm")->ints;
    side_t next = *side;
    next.logical = TSPEC_ARENA_NEW(arena, int, side->value->type.rank);
    for (int i = 0; i < side->value->type.rank; i++) {
      next.logical[perm[i]] = side->logical[i];
    }
    next.value = def->operands[0];
    int same = *norder;
    if (!groups(&next, order, &same)) {
      break;
    }
    *side = next;
  }
  return true;
}

static const tspec_sharding_t *permute_sharding(tspec_arena_t *arena, const tspec_sharding_t *from,
                                                const int64_t *perm) {
  tspec_sharding_t *to = tspec_arena_copy(arena, from, sizeof *from);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, from->rank);
  for (int i = 0; i < from->rank; i++) {
    dims[i] = from->dims[perm[i]];
  }
  to->dims = dims;
  return to;
}

/// Writes a transpose so that the side lies as [batch, free, contract] or, for rhs, [batch,
/// contract, free], contracted dims in `order`.
static bool transpose_side(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *dot, side_t *side,
                           const int *order, bool contract_first) {
  int rank = side->value->type.rank, n = 0;
  int64_t *perm = TSPEC_ARENA_NEW(run->scratch, int64_t, rank);
  for (int64_t i = 0; i < side->batch->count; i++) {
    perm[n++] = side->batch->ints[i];
  }
  for (int part = 0; part < 2; part++) {
    bool contract = (part == 0) == contract_first;
    for (int64_t i = 0; contract && i < side->contract->count; i++) {
      perm[n++] = side->contract->ints[order[i]];
    }
    for (int d = 0; !contract && d < rank; d++) {
      if (index_in(side->batch, d) < 0 && index_in(side->contract, d) < 0) {
        perm[n++] = d;
      }
    }
  }
  tspec_attr_t attr = tspec_attr_ints("perm", rank, perm);
  tspec_op_build_t build = {.kind = TSPEC_OP_transpose,
                            .noperands = 1,
                            .operands = &side->value,
                            .nattrs = 1,
                            .attrs = &attr,
                            .range = dot->range,
                            .because = dot->because != NULL ? dot->because : "transpose for 'dot'"};
  tspec_op_t *op = tspec_op_create(run->program, func, dot, &build, run->diag);
  if (op == NULL) {
    return false;
  }
  op->results[0]->sharding = permute_sharding(run->program->arena, side->value->sharding, perm);
  side->value = op->results[0];
  side->logical = TSPEC_ARENA_NEW(run->scratch, int, rank);
  for (int i = 0; i < rank; i++) {
    side->logical[i] = (int)perm[i];
  }
  return true;
}

/// Rewrites a list of the dot's dims to the dims of the side's value; `order`: of its items, or
/// NULL.
static void set_dims(tspec_pass_run_t *run, tspec_op_t *dot, const char *name, const side_t *side,
                     const tspec_attr_t *list, const int *order) {
  int64_t *dims = TSPEC_ARENA_NEW(run->scratch, int64_t, list->count);
  for (int64_t i = 0; i < list->count; i++) {
    int64_t wanted = list->ints[order != NULL ? order[i] : i];
    while (side->logical[dims[i]] != wanted) {
      dims[i]++;
    }
  }
  tspec_op_set_attr(run->program, dot, tspec_attr_ints(name, list->count, dims));
}

static side_t make_side(tspec_arena_t *arena, const tspec_op_t *dot, int operand) {
  side_t side = {.value = dot->operands[operand]};
  side.batch = tspec_op_get_attr(dot, operand == 0 ? "lhs_batch" : "rhs_batch");
  side.contract = tspec_op_get_attr(dot, operand == 0 ? "lhs_contract" : "rhs_contract");
  // Setting an attribute may move the others.
  side.batch = tspec_arena_copy(arena, side.batch, sizeof *side.batch);
  side.contract = tspec_arena_copy(arena, side.contract, sizeof *side.contract);
  side.logical = TSPEC_ARENA_NEW(arena, int, side.value->type.rank);
  for (int i = 0; i < side.value->type.rank; i++) {
    side.logical[i] = i;
  }
  return side;
}

static bool rewrite_dot(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *dot) {
  side_t lhs = make_side(run->scratch, dot, 0), rhs = make_side(run->scratch, dot, 1);
  int ncontract = (int)lhs.contract->count;
  int *order = TSPEC_ARENA_NEW(run->scratch, int, ncontract);
  int norder = 0;
  for (int i = 0; i < ncontract; i++) {
    order[i] = i;
  }
  if (!see_through(run->scratch, &lhs, order, &norder)) {
    // The order may then be the right side's.
    bool rhs_groups = see_through(run->scratch, &rhs, order, &norder);
    if (!transpose_side(run, func, dot, &lhs, order, false) ||
        (!rhs_groups && !transpose_side(run, func, dot, &rhs, order, true))) {
      return false;
    }
  } else if (!see_through(run->scratch, &rhs, order, &norder) &&
             !transpose_side(run, func, dot, &rhs, order, true)) {
    return false;
  }
  set_dims(run, dot, "lhs_batch", &lhs, lhs.batch, NULL);
  set_dims(run, dot, "rhs_batch", &rhs, rhs.batch, NULL);
  set_dims(run, dot, "lhs_contract", &lhs, lhs.contract, order);
  set_dims(run, dot, "rhs_contract", &rhs, rhs.contract, order);
  dot->operands[0] = lhs.value;
  dot->operands[1] = rhs.value;
  dot->kind = TSPEC_OP_gemm;
  return true;
}

bool tspec_fuse_gemms(tspec_pass_run_t *run, tspec_func_t *func) {
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (op->kind == TSPEC_OP_dot && !rewrite_dot(run, func, op)) {
      return false;
    }
  }
  return true;
}

/// True if the group's dims come right after the batch dims and before the others.
static bool contract_is_first(const tspec_op_t *gemm, int operand) {
  const tspec_attr_t *batch = tspec_op_get_attr(gemm, operand == 0 ? "lhs_batch" : "rhs_batch");
  const tspec_attr_t *contract =
      tspec_op_get_attr(gemm, operand == 0 ? "lhs_contract" : "rhs_contract");
  int nfree = gemm->operands[operand]->type.rank - (int)(batch->count + contract->count);
  return nfree == 0 || contract->count == 0 ? operand == 1 : contract->ints[0] == batch->count;
}

tspec_gemm_form_t tspec_gemm_form(const tspec_op_t *gemm) {
  const tspec_attr_t *batch = tspec_op_get_attr(gemm, "lhs_batch");
  const tspec_attr_t *contract = tspec_op_get_attr(gemm, "lhs_contract");
  tspec_gemm_form_t form = {.nbatch = (int)batch->count, .nk = (int)contract->count};
  form.nm = gemm->operands[0]->type.rank - form.nbatch - form.nk;
  form.nn = gemm->operands[1]->type.rank - form.nbatch - form.nk;
  form.lhs_transposed = contract_is_first(gemm, 0);
  form.rhs_transposed = !contract_is_first(gemm, 1);
  return form;
}
