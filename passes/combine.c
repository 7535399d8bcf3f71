// Combining: one walk over the ops, with the calls that may still grow.
//
// A call is open from its first member on. A collective joins the open call of its kind. What reads
// a member must come after the call, so it has to wait for members to come: small ops do, and those
// that read them; anything else that would have to wait closes the call. A collective never waits,
// so no member depends on another. When a call closes, its members are one op in the place of the
// last one, followed by the ops that waited, in their order.
#include "passes/combine.h"

#include <string.h>

#include "ir/base/str.h"
#include "ir/shard/axes.h"

enum {
  // Payload of a call, and of an op that waits. On 2 ranks of one host, where a call costs least,
  // one of 4 to 16 KiB is as fast as two of half as much within 10 %, and slower from there on. On
  // 4 and 8 ranks it takes about 0.6 times as long (MPI_Allreduce, MPI_Allgather, Open MPI 4.1.4).
  LIMIT_BYTES = 16 * 1024,
  MAX_CALLS = 64, // bits of a set
};

/// A set of calls.
typedef uint64_t calls_t;

/// A call that may grow.
typedef struct call_t {
  calls_t bit;
  int64_t bytes; ///< of all members' payloads
  TSPEC_VEC(tspec_op_t *) members;
} call_t;

typedef struct combiner_t {
  tspec_pass_run_t *run;
  tspec_func_t *func;
  TSPEC_VEC(call_t) calls; ///< open ones
  calls_t open;            ///< the set of these
  int nbits;               ///< that have been used
  calls_t *waits;          ///< by value id: calls that must come before its readers
  int first_id;            ///< values before it wait for nothing
} combiner_t;

// ---- ops ---------------------------------------------------------------------------------------

static bool is_collective(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) != 0;
}

static int64_t block_bytes(const combiner_t *combiner, const tspec_value_t *value) {
  return tspec_type_bytes(
      tspec_sharding_local_type(combiner->run->scratch, value->sharding, value->type));
}

/// What a rank has in the largest of the op's tensors.
static int64_t payload_bytes(const combiner_t *combiner, const tspec_op_t *op) {
  int64_t most = 0;
  for (int i = 0; i < op->noperands + op->nresults; i++) {
    int64_t bytes =
        block_bytes(combiner, i < op->noperands ? op->operands[i] : op->results[i - op->noperands]);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/// A collective whose kind takes several operands and that has one. One that bears attributes of
/// others stays as it is.
static bool can_join(const combiner_t *combiner, const tspec_op_t *op) {
  const tspec_op_info_t *info = tspec_op_info(op->kind);
  return is_collective(op) && info->noperands < 0 && info->nresults < 0 && op->noperands == 1 &&
         op->foreign_attrs == NULL && payload_bytes(combiner, op) <= LIMIT_BYTES;
}

/// One call can do both: kind, axes, and for reductions what they do with which elements.
static bool are_alike(const tspec_op_t *a, const tspec_op_t *b) {
  const tspec_attr_t *a_axes = tspec_op_get_attr(a, "axes"), *b_axes = tspec_op_get_attr(b, "axes");
  const tspec_attr_t *a_kind = tspec_op_get_attr(a, "kind"), *b_kind = tspec_op_get_attr(b, "kind");
  return a->kind == b->kind &&
         tspec_axes_equal(a_axes->axes, (int)a_axes->count, b_axes->axes, (int)b_axes->count) &&
         (a_kind == NULL || (a_kind->reduce == b_kind->reduce &&
                             a->operands[0]->type.dtype == b->operands[0]->type.dtype));
}

// ---- waiting -----------------------------------------------------------------------------------

/// The open calls whose results the op needs.
static calls_t needs(const combiner_t *combiner, const tspec_op_t *op) {
  calls_t calls = 0;
  for (int i = 0; i < op->noperands; i++) {
    int id = op->operands[i]->id;
    calls |= id < combiner->first_id ? 0 : combiner->waits[id];
  }
  return calls & combiner->open;
}

static void set_waits(combiner_t *combiner, const tspec_op_t *op, calls_t calls) {
  for (int i = 0; i < op->nresults; i++) {
    combiner->waits[op->results[i]->id] = calls;
  }
}

// ---- calls -------------------------------------------------------------------------------------

static const char *spelling_of(const tspec_op_t *op) {
  return op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
}

/// "all_reduce for 'sum', 'mean'": each spelling once. NULL if no member has a reason.
static const char *reason_of(const combiner_t *combiner, const call_t *call) {
  tspec_arena_t *arena = combiner->run->scratch;
  tspec_names_t said = {0};
  const char *text = NULL;
  for (size_t i = 0; i < call->members.count; i++) {
    const tspec_op_t *op = call->members.items[i];
    const char *spelling = spelling_of(op);
    if (op->because == NULL || tspec_names_get(&said, spelling) != NULL) {
      continue;
    }
    tspec_names_set(arena, &said, spelling, (void *)(uintptr_t)op);
    text = text == NULL
               ? tspec_arena_printf(arena, "%s for '%s'", tspec_op_info(op->kind)->name, spelling)
               : tspec_arena_printf(arena, "%s, '%s'", text, spelling);
  }
  return text;
}

/// The op of all members before the last of them. Their results become its own.
static void make_op(combiner_t *combiner, const call_t *call) {
  size_t count = call->members.count;
  const tspec_op_t *first = call->members.items[0];
  tspec_value_t **operands = TSPEC_ARENA_NEW(combiner->run->scratch, tspec_value_t *, count);
  for (size_t i = 0; i < count; i++) {
    operands[i] = call->members.items[i]->operands[0];
  }
  tspec_op_build_t build = {
      .kind = first->kind,
      .noperands = (int)count,
      .operands = operands,
      .nattrs = first->nattrs,
      .attrs = first->attrs,
      .range = first->range,
      .because = reason_of(combiner, call),
  };
  tspec_op_t *op = tspec_op_create(combiner->run->program, combiner->func,
                                   call->members.items[count - 1], &build, combiner->run->diag);
  TSPEC_CHECK(op != NULL);
  for (size_t i = 0; i < count; i++) {
    const tspec_op_t *member = call->members.items[i];
    tspec_value_t *value = member->results[0];
    value->range = value->name == NULL ? member->range : value->range;
    value->def = op;
    value->index = (int)i;
    op->results[i] = value;
  }
}

/// Takes members out, and what lies between them and waits for them, which goes behind the last.
static void combine(combiner_t *combiner, const call_t *call) {
  tspec_func_t *func = combiner->func;
  tspec_op_t *last = call->members.items[call->members.count - 1];
  TSPEC_VEC(tspec_op_t *) waiting = {0};
  make_op(combiner, call);
  size_t nmembers = 0;
  for (tspec_op_t *op = call->members.items[0], *next = NULL; op != last; op = next) {
    next = op->next;
    if (op == call->members.items[nmembers]) {
      nmembers++;
      tspec_op_remove(func, op);
    } else if ((needs(combiner, op) & call->bit) != 0) {
      TSPEC_VEC_PUSH(combiner->run->scratch, &waiting, op);
      tspec_op_remove(func, op);
    }
  }
  tspec_op_t *behind = last->next;
  tspec_op_remove(func, last);
  for (size_t i = 0; i < waiting.count; i++) {
    tspec_op_insert(func, waiting.items[i], behind);
  }
}

static void close_call(combiner_t *combiner, size_t index) {
  call_t *call = &combiner->calls.items[index];
  if (call->members.count > 1) {
    combine(combiner, call);
  }
  combiner->open &= ~call->bit;
  memmove(call, call + 1, sizeof *call * (combiner->calls.count - index - 1));
  combiner->calls.count--;
}

static void close_calls(combiner_t *combiner, calls_t which) {
  for (size_t i = combiner->calls.count; i-- > 0;) {
    if ((combiner->calls.items[i].bit & which) != 0) {
      close_call(combiner, i);
    }
  }
}

static call_t *open_call(combiner_t *combiner, const tspec_op_t *op) {
  if (combiner->nbits == MAX_CALLS) {
    close_calls(combiner, combiner->open);
    combiner->nbits = 0;
    combiner->first_id = op->results[0]->id;
  }
  call_t call = {.bit = (calls_t)1 << combiner->nbits++};
  combiner->open |= call.bit;
  TSPEC_VEC_PUSH(combiner->run->scratch, &combiner->calls, call);
  return &combiner->calls.items[combiner->calls.count - 1];
}

/// The open call that `op` joins: one that has room for it.
static call_t *find_call(combiner_t *combiner, const tspec_op_t *op, int64_t bytes) {
  for (size_t i = 0; i < combiner->calls.count; i++) {
    call_t *call = &combiner->calls.items[i];
    if (are_alike(call->members.items[0], op)) {
      if (call->bytes + bytes <= LIMIT_BYTES) {
        return call;
      }
      close_call(combiner, i);
      break;
    }
  }
  return open_call(combiner, op);
}

static void join(combiner_t *combiner, tspec_op_t *op) {
  int64_t bytes = payload_bytes(combiner, op);
  call_t *call = find_call(combiner, op, bytes);
  call->bytes += bytes;
  TSPEC_VEC_PUSH(combiner->run->scratch, &call->members, op);
  set_waits(combiner, op, call->bit);
}

void tspec_combine_collectives(tspec_pass_run_t *run, tspec_func_t *func) {
  combiner_t combiner = {.run = run, .func = func};
  combiner.waits = TSPEC_ARENA_NEW(run->scratch, calls_t, tspec_func_number(func));
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    calls_t needed = needs(&combiner, op);
    if (needed != 0 && (is_collective(op) || payload_bytes(&combiner, op) > LIMIT_BYTES)) {
      close_calls(&combiner, needed);
      needed = 0;
    }
    if (can_join(&combiner, op)) {
      join(&combiner, op);
    } else {
      set_waits(&combiner, op, needed);
    }
  }
  close_calls(&combiner, combiner.open);
}
