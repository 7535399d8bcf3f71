// Scans: the body is checked once, with what one iteration sees. Not compiled.
#include "frontend/check_ops.h"

/// A scan whose body is being checked.
struct tspec_scan_t {
  const tspec_ast_expr_t *expr;
  int64_t length;    ///< -1: no input yet
  tspec_cv_t *inits; ///< of carries; ERROR for inputs
  tspec_cv_t *inner; ///< what the body sees
  bool is_done;      ///< its 'next' or 'emit' was met
  size_t nnext, nemit;
  tspec_cv_t *next, *emit;
};

// ---- the header ------------------------------------------------------------------------------

static bool set_length(tspec_checker_t *c, tspec_scan_t *scan, const tspec_ast_scan_in_t *in,
                       int64_t length) {
  if (scan->length >= 0 && scan->length != length) {
    tspec_check_error(c, in->range, "'%s' has %lld iterations, but an input before it has %lld",
                      in->name.text, (long long)length, (long long)scan->length);
    return false;
  }
  scan->length = length;
  return true;
}

static bool open_carry(tspec_checker_t *c, const tspec_ast_scan_in_t *in, tspec_cv_t *out_init) {
  tspec_cv_t cv = tspec_check_expr(c, in->value);
  tspec_site_t site = {in->value->range, in->name.text};
  if (cv.kind != TSPEC_CV_TREE) {
    cv = tspec_cv_tensor(tspec_check_tensor(c, site, (tspec_operand_t){cv, in->value->range}));
  }
  *out_init = cv;
  return !tspec_cv_is_error(cv);
}

static bool open_rows(tspec_checker_t *c, tspec_scan_t *scan, const tspec_ast_scan_in_t *in,
                      tspec_cv_t *out_inner) {
  tspec_range_t range = in->value->range;
  tspec_cv_t cv = tspec_check_expr(c, in->value);
  tspec_site_t site = {range, in->name.text};
  tspec_value_t *xs = tspec_check_tensor(c, site, (tspec_operand_t){cv, range});
  if (xs == NULL) {
    return false;
  }
  if (xs->type.rank == 0) {
    tspec_check_error(c, range, "a scan walks along dim 0, but this is %s",
                      tspec_type_print(c->arena, xs->type));
    return false;
  }
  *out_inner = tspec_cv_tensor(tspec_emit_absent(c, site, tspec_check_row(xs->type), 1, &xs));
  return set_length(c, scan, in, xs->type.dims[0]);
}

static bool open_range(tspec_checker_t *c, tspec_scan_t *scan, const tspec_ast_scan_in_t *in,
                       tspec_cv_t *out_inner) {
  int64_t lo = 0, hi = 0;
  tspec_cv_t from = tspec_check_expr(c, in->value), to = tspec_check_expr(c, in->hi);
  if (!tspec_cv_whole(c, from, in->value->range, "the start of a scan", &lo) ||
      !tspec_cv_whole(c, to, in->hi->range, "the end of a scan", &hi)) {
    return false;
  }
  if (hi <= lo) {
    tspec_check_error(c, in->range, "this scan from %lld to %lld has no iteration", (long long)lo,
                      (long long)hi);
    return false;
  }
  tspec_site_t site = {in->range, in->name.text};
  tspec_type_t type = {.dtype = TSPEC_DTYPE_I32};
  *out_inner = tspec_cv_tensor(tspec_emit_absent(c, site, type, 0, NULL));
  return set_length(c, scan, in, hi - lo);
}

static bool open_scan(tspec_checker_t *c, tspec_scan_t *scan) {
  const tspec_ast_expr_t *expr = scan->expr;
  bool ok = true;
  for (size_t i = 0; i < expr->u.scan.nins; ++i) {
    const tspec_ast_scan_in_t *in = &expr->u.scan.ins[i];
    if (in->kind == TSPEC_AST_SCAN_CARRY) {
      ok = open_carry(c, in, &scan->inits[i]) && ok;
    } else if (in->kind == TSPEC_AST_SCAN_EACH) {
      ok = open_rows(c, scan, in, &scan->inner[i]) && ok;
    } else {
      ok = open_range(c, scan, in, &scan->inner[i]) && ok;
    }
  }
  if (ok && scan->length < 0) {
    tspec_check_error(
        c, expr->range,
        "this scan walks over nothing: x in xs, or i in 0..n, says how often it runs");
    return false;
  }
  return ok;
}

// ---- types of carries ------------------------------------------------------------------------

static tspec_cv_t fresh_leaf(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const tspec_site_t *site = context;
  tspec_value_t *value = x->cv.u.tensor;
  return tspec_cv_tensor(tspec_emit_absent(c, *site, value->type, 1, &value));
}

// Another value of the same type.
static tspec_cv_t fresh(tspec_checker_t *c, tspec_site_t site, tspec_cv_t cv) {
  tspec_operand_t operand = {cv, site.range};
  return cv.kind == TSPEC_CV_TREE ? tspec_check_map_tree(c, site, 1, &operand, fresh_leaf, &site)
                                  : fresh_leaf(c, &site, &operand);
}

// The next value of a carry keeps its type; a number fits a scalar.
static bool check_next(tspec_checker_t *c, const tspec_ast_scan_in_t *in, tspec_cv_t carry,
                       tspec_operand_t next) {
  if (next.cv.kind == TSPEC_CV_ERROR) {
    return false;
  }
  bool ok = next.cv.kind == carry.kind;
  if (carry.kind == TSPEC_CV_TENSOR && next.cv.kind == TSPEC_CV_NUMBER &&
      carry.u.tensor->type.rank == 0) {
    return tspec_check_number_fits(c, next.cv.u.number, carry.u.tensor->type.dtype, next.range);
  }
  if (ok && carry.kind == TSPEC_CV_TENSOR) {
    ok = tspec_type_equal(carry.u.tensor->type, next.cv.u.tensor->type);
  }
  for (size_t i = 0; ok && carry.kind == TSPEC_CV_TREE && i < carry.u.list->count; ++i) {
    ok = tspec_type_equal(carry.u.list->items[i].u.tensor->type,
                          next.cv.u.list->items[i].u.tensor->type);
  }
  if (!ok) {
    tspec_check_error(c, next.range, "the carry '%s' is %s, but its next value is %s",
                      in->name.text, tspec_check_describe(c, carry),
                      tspec_check_describe(c, next.cv));
    tspec_check_note(c, in->range, "'%s' starts here", in->name.text);
  }
  return ok;
}

static size_t count_carries(const tspec_ast_expr_t *expr) {
  size_t count = 0;
  for (size_t i = 0; i < expr->u.scan.nins; ++i) {
    count += expr->u.scan.ins[i].kind == TSPEC_AST_SCAN_CARRY;
  }
  return count;
}

static bool check_nexts(tspec_checker_t *c, const tspec_scan_t *scan,
                        const tspec_ast_stmt_t *stmt) {
  const tspec_ast_exprs_t *exprs = &stmt->u.next.next;
  size_t ncarries = count_carries(scan->expr);
  if (exprs->count != ncarries) {
    tspec_check_error(c, stmt->range, "'next' gives %zu value%s for %zu carr%s", exprs->count,
                      exprs->count == 1 ? "" : "s", ncarries, ncarries == 1 ? "y" : "ies");
    return false;
  }
  bool ok = true;
  for (size_t i = 0, k = 0; i < scan->expr->u.scan.nins; ++i) {
    const tspec_ast_scan_in_t *in = &scan->expr->u.scan.ins[i];
    if (in->kind == TSPEC_AST_SCAN_CARRY) {
      tspec_operand_t next = {scan->next[k], exprs->items[k]->range};
      ok = check_next(c, in, scan->inits[i], next) && ok;
      ++k;
    }
  }
  return ok;
}

// ---- next and emit ---------------------------------------------------------------------------

static tspec_cv_t *check_values(tspec_checker_t *c, const tspec_ast_exprs_t *exprs) {
  tspec_cv_t *items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, exprs->count);
  for (size_t i = 0; i < exprs->count; ++i) {
    items[i] = tspec_check_expr(c, exprs->items[i]);
  }
  return items;
}

static tspec_cv_t stack_leaf(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const int64_t *size = context;
  tspec_value_t *value = x->cv.u.tensor;
  tspec_site_t site = {x->range, "emit"};
  return tspec_cv_tensor(
      tspec_emit_absent(c, site, tspec_check_stacked(c, value->type, *size), 1, &value));
}

tspec_cv_t tspec_check_stack_value(tspec_checker_t *c, tspec_site_t site, tspec_operand_t x,
                                   int64_t size) {
  if (x.cv.kind == TSPEC_CV_TREE) {
    return tspec_check_map_tree(c, site, 1, &x, stack_leaf, &size);
  }
  x.cv = tspec_cv_tensor(tspec_check_tensor(c, site, x));
  return tspec_cv_is_error(x.cv) ? x.cv : stack_leaf(c, &size, &x);
}

void tspec_check_next(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  tspec_scan_t *scan = c->frame->scan;
  if (scan == NULL) {
    tspec_check_error(c, stmt->range, "'next' and 'emit' stand in the body of a 'scan' alone");
    return;
  }
  if (c->frame->nloops > 0) {
    tspec_check_error(c, stmt->range,
                      "'next' and 'emit' inside a 'for': they stand last in a scan");
    return;
  }
  scan->is_done = true;
  scan->nnext = stmt->u.next.next.count;
  scan->nemit = stmt->u.next.emit.count;
  scan->next = check_values(c, &stmt->u.next.next);
  scan->emit = check_values(c, &stmt->u.next.emit);
  if (!check_nexts(c, scan, stmt)) {
    scan->nnext = 0;
    scan->nemit = 0;
  }
  for (size_t i = 0; i < scan->nemit; ++i) {
    tspec_range_t range = stmt->u.next.emit.items[i]->range;
    tspec_site_t site = {range, "emit"};
    tspec_operand_t operand = {scan->emit[i], range};
    scan->emit[i] = tspec_check_stack_value(c, site, operand, scan->length);
  }
}

bool tspec_check_scan_is_done(const tspec_scan_t *scan) {
  return scan != NULL && scan->is_done;
}

// ---- the body --------------------------------------------------------------------------------

// The names of the header may hide locals around the scan, which come back after it.
static tspec_named_t **hide_locals(tspec_checker_t *c, const tspec_scan_t *scan) {
  size_t nins = scan->expr->u.scan.nins;
  tspec_named_t **hidden = TSPEC_ARENA_NEW(c->arena, tspec_named_t *, nins);
  for (size_t i = 0; i < nins; ++i) {
    const char *name = scan->expr->u.scan.ins[i].name.text;
    hidden[i] = tspec_frame_find(c->frame, name);
    tspec_names_set(c->arena, &c->frame->locals, name, NULL);
  }
  return hidden;
}

static void show_locals(tspec_checker_t *c, tspec_named_t *const *hidden, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (hidden[i] != NULL) {
      tspec_names_set(c->arena, &c->frame->locals, hidden[i]->name, hidden[i]);
    }
  }
}

// Along which manual axes the carries of the next iteration may differ, too: one that starts equal
// everywhere may not stay so. True if there are more than before.
static bool widen(tspec_scan_t *scan) {
  bool wider = false;
  for (size_t i = 0, k = 0; i < scan->expr->u.scan.nins && k < scan->nnext; ++i) {
    if (scan->expr->u.scan.ins[i].kind != TSPEC_AST_SCAN_CARRY) {
      continue;
    }
    tspec_cv_t next = scan->next[k++];
    if (next.kind == TSPEC_CV_TENSOR && scan->inits[i].kind == TSPEC_CV_TENSOR) {
      int before = scan->inits[i].u.tensor->id;
      scan->inits[i].u.tensor->id |= next.u.tensor->id;
      wider = wider || scan->inits[i].u.tensor->id != before;
    }
  }
  return wider;
}

static void check_scan_body(tspec_checker_t *c, tspec_scan_t *scan) {
  const tspec_ast_expr_t *expr = scan->expr;
  tspec_frame_t *frame = c->frame;
  tspec_named_t **hidden = hide_locals(c, scan);
  size_t nlive = frame->live.count;
  int nloops = frame->nloops;
  tspec_scan_t *outer = frame->scan;
  frame->scan = scan;
  frame->nloops = 0;
  scan->is_done = false;
  for (size_t i = 0; i < expr->u.scan.nins; ++i) {
    const tspec_ast_scan_in_t *in = &expr->u.scan.ins[i];
    tspec_site_t site = {in->range, in->name.text};
    bool is_carry = in->kind == TSPEC_AST_SCAN_CARRY;
    tspec_frame_add(c, in->name, is_carry ? fresh(c, site, scan->inits[i]) : scan->inner[i]);
  }
  tspec_check_block(c, &expr->u.scan.body);
  tspec_frame_trim(c, nlive);
  frame->scan = outer;
  frame->nloops = nloops;
  show_locals(c, hidden, expr->u.scan.nins);
}

static tspec_cv_t join_results(tspec_checker_t *c, const tspec_scan_t *scan) {
  size_t nins = scan->expr->u.scan.nins, count = 0;
  tspec_cv_t *items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, nins + scan->nemit);
  tspec_site_t site = {scan->expr->range, "scan"};
  for (size_t i = 0; i < nins; ++i) {
    if (scan->expr->u.scan.ins[i].kind == TSPEC_AST_SCAN_CARRY) {
      items[count++] = fresh(c, site, scan->inits[i]);
    }
  }
  for (size_t i = 0; i < scan->nemit; ++i) {
    items[count++] = scan->emit[i];
  }
  return tspec_cv_tuple(c, count, items);
}

tspec_cv_t tspec_check_scan(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_check_absent(c, expr->range, "'scan'");
  if (c->entry == NULL) {
    return tspec_cv_error();
  }
  size_t nins = expr->u.scan.nins;
  tspec_scan_t scan = {.expr = expr, .length = -1};
  scan.inits = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, nins);
  scan.inner = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, nins);
  if (!open_scan(c, &scan)) {
    return tspec_cv_error();
  }
  // Widening changes the values that carries start as, which others may read: copies.
  for (size_t i = 0; i < nins; ++i) {
    if (expr->u.scan.ins[i].kind == TSPEC_AST_SCAN_CARRY) {
      tspec_site_t site = {expr->u.scan.ins[i].range, expr->u.scan.ins[i].name.text};
      scan.inits[i] = fresh(c, site, scan.inits[i]);
    }
  }
  int nerrors = c->nerrors;
  do {
    check_scan_body(c, &scan);
  } while (c->nerrors == nerrors && widen(&scan));
  if (!scan.is_done && count_carries(expr) > 0 && c->nerrors == nerrors) {
    tspec_check_error(c, expr->range, "the body of this scan ends without 'next' for its carries");
  }
  return c->nerrors == nerrors ? join_results(c, &scan) : tspec_cv_error();
}
