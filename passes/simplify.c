// Rewrites that keep every bit: equal ops are one, ops on splat constants are constants, chains of
// transposes and reshapes are one, what nothing reads goes.
#include <string.h>

#include "ir/program_equal.h"
#include "passes/fold.h"
#include "passes/pass.h"

typedef struct simplify_t {
  tspec_pass_run_t *run;
  tspec_func_t *func;
  tspec_value_t **current; // by id: what is read instead
  tspec_op_t **buckets;    // ops that were seen, by hash
  tspec_op_t **chain;      // the next one of the bucket, by id of the first result
  size_t nbuckets;
} simplify_t;

// ---- equal ops --------------------------------------------------------------------------------

static uint64_t hash_op(const tspec_op_t *op) {
  uint64_t hash = tspec_hash_number(TSPEC_HASH_START, (uint64_t)op->kind);
  for (int i = 0; i < op->noperands; i++) {
    hash = tspec_hash_number(hash, (uint64_t)op->operands[i]->id);
  }
  for (int i = 0; i < op->nattrs; i++) {
    hash = tspec_hash_attr(hash, &op->attrs[i]);
  }
  return hash;
}

// A value that has a name of its own stays: the user may ask for it.
static bool ops_equal(const tspec_op_t *a, const tspec_op_t *b) {
  if (a->kind != b->kind || a->noperands != b->noperands || a->nattrs != b->nattrs ||
      a->nresults != b->nresults || a->foreign_attrs != b->foreign_attrs) {
    return false;
  }
  for (int i = 0; i < a->noperands; i++) {
    if (a->operands[i] != b->operands[i]) {
      return false;
    }
  }
  for (int i = 0; i < a->nattrs; i++) {
    if (!tspec_attr_equal(&a->attrs[i], &b->attrs[i])) {
      return false;
    }
  }
  for (int i = 0; i < a->nresults; i++) {
    const char *names[2] = {a->results[i]->name, b->results[i]->name};
    if (!tspec_type_equal(a->results[i]->type, b->results[i]->type) ||
        (names[0] != NULL && names[1] != NULL && strcmp(names[0], names[1]) != 0)) {
      return false;
    }
  }
  return true;
}

// Another op before it that computes the same; else it is noted.
static tspec_op_t *find_equal(simplify_t *pass, tspec_op_t *op) {
  size_t bucket = hash_op(op) % pass->nbuckets;
  for (tspec_op_t *other = pass->buckets[bucket]; other != NULL;
       other = pass->chain[other->results[0]->id]) {
    if (ops_equal(other, op)) {
      return other;
    }
  }
  pass->chain[op->results[0]->id] = pass->buckets[bucket];
  pass->buckets[bucket] = op;
  return NULL;
}

// ---- chains of transposes and reshapes --------------------------------------------------------

static bool is_kind(const tspec_value_t *value, tspec_op_kind_t kind) {
  return value->def != NULL && value->def->kind == kind;
}

static bool is_identity_perm(const tspec_attr_t *perm) {
  for (int64_t i = 0; i < perm->count; i++) {
    if (perm->ints[i] != i) {
      return false;
    }
  }
  return true;
}

// The value that a transpose is, if it moves nothing; joins it with one before it.
static tspec_value_t *simplify_transpose(simplify_t *pass, tspec_op_t *op) {
  tspec_value_t *from = op->operands[0];
  if (is_kind(from, TSPEC_OP_transpose)) {
    const tspec_attr_t *outer = tspec_op_get_attr(op, "perm");
    const tspec_attr_t *inner = tspec_op_get_attr(from->def, "perm");
    int64_t *perm = TSPEC_ARENA_NEW(pass->run->scratch, int64_t, outer->count);
    for (int64_t i = 0; i < outer->count; i++) {
      perm[i] = inner->ints[outer->ints[i]];
    }
    tspec_op_set_attr(pass->run->program, op, tspec_attr_ints("perm", outer->count, perm));
    op->operands[0] = from->def->operands[0];
  }
  return is_identity_perm(tspec_op_get_attr(op, "perm")) ? op->operands[0] : NULL;
}

static tspec_value_t *simplify_reshape(simplify_t *pass, tspec_op_t *op) {
  (void)pass;
  tspec_value_t *from = op->operands[0];
  // A let between the two may be what propagation is to see.
  if (is_kind(from, TSPEC_OP_reshape) && from->name == NULL) {
    op->operands[0] = from->def->operands[0];
  }
  return tspec_shape_equal(op->operands[0]->type, op->results[0]->type) ? op->operands[0] : NULL;
}

// A broadcast to the shape that its operand has.
static tspec_value_t *simplify_broadcast(simplify_t *pass, tspec_op_t *op) {
  (void)pass;
  return tspec_shape_equal(op->operands[0]->type, op->results[0]->type) ? op->operands[0] : NULL;
}

// By kind: the value that an op is, or NULL; NULL where there is nothing to know.
static tspec_value_t *(*const kSimplifiers[TSPEC_OP_COUNT])(simplify_t *, tspec_op_t *) = {
    [TSPEC_OP_transpose] = simplify_transpose,
    [TSPEC_OP_reshape] = simplify_reshape,
    [TSPEC_OP_broadcast] = simplify_broadcast,
};

// ---- one op -----------------------------------------------------------------------------------

// Turns the op into a constant of one value in place of a new op: it keeps its place and name.
static void become_splat(simplify_t *pass, tspec_op_t *op, double value) {
  tspec_type_t type = op->results[0]->type;
  tspec_attr_t attrs[3] = {tspec_attr_dtype("dtype", type.dtype),
                           tspec_attr_ints("shape", type.rank, type.dims),
                           tspec_attr_floats("values", 1, &value)};
  op->kind = TSPEC_OP_constant;
  op->noperands = 0;
  op->nattrs = 0;
  for (int i = 0; i < 3; i++) {
    tspec_op_set_attr(pass->run->program, op, attrs[i]);
  }
}

static void replace_by(simplify_t *pass, tspec_op_t *op, tspec_value_t *value) {
  if (value->name == NULL) {
    value->name = op->results[0]->name;
  }
  pass->current[op->results[0]->id] = value;
}

static void simplify_op(simplify_t *pass, tspec_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    op->operands[i] = pass->current[op->operands[i]->id];
  }
  unsigned traits = tspec_op_info(op->kind)->rules->traits;
  bool stays = (traits & (TSPEC_TRAIT_TERMINAL | TSPEC_TRAIT_BARRIER)) != 0;
  if (op->nresults != 1 || stays) {
    return;
  }
  double splat = 0;
  tspec_value_t *same = kSimplifiers[op->kind] != NULL ? kSimplifiers[op->kind](pass, op) : NULL;
  if (same == NULL) {
    same = tspec_fold_neutral(op);
  }
  if (same != NULL && (same->name == NULL || op->results[0]->name == NULL)) {
    replace_by(pass, op, same);
    return;
  }
  if (op->kind != TSPEC_OP_constant && tspec_fold_splat(op, &splat)) {
    become_splat(pass, op, splat);
  }
  const tspec_op_t *equal = find_equal(pass, op);
  if (equal != NULL) {
    replace_by(pass, op, equal->results[0]);
  }
}

static void simplify_func(tspec_pass_run_t *run, tspec_func_t *func) {
  size_t nvalues = (size_t)tspec_func_number(func);
  simplify_t pass = {.run = run, .func = func, .nbuckets = 2 * nvalues + 1};
  pass.current = TSPEC_ARENA_NEW(run->scratch, tspec_value_t *, nvalues);
  pass.buckets = TSPEC_ARENA_NEW(run->scratch, tspec_op_t *, pass.nbuckets);
  pass.chain = TSPEC_ARENA_NEW(run->scratch, tspec_op_t *, nvalues);
  for (int i = 0; i < func->nargs; i++) {
    pass.current[func->args[i].value->id] = func->args[i].value;
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      pass.current[op->results[i]->id] = op->results[i];
    }
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    simplify_op(&pass, op);
  }
  for (int i = 0; i < func->nresults; i++) {
    func->results[i].value = pass.current[func->results[i].value->id];
  }
  tspec_func_remove_dead(func);
}

bool tspec_pass_simplify(tspec_pass_run_t *run) {
  for (int i = 0; i < run->program->nfuncs; i++) {
    simplify_func(run, run->program->funcs[i]);
  }
  return true;
}
