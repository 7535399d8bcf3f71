#include <ctype.h>
#include <string.h>

#include "frontend/check_ops.h"

// ---- products of two -------------------------------------------------------------------------

static int label_index(const char *labels, char label) {
  const char *at = strchr(labels, label);
  return at == NULL || label == '\0' ? -1 : (int)(at - labels);
}

static tspec_value_t *transpose_to(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                   const char *labels, const char *out) {
  int64_t *perm = TSPEC_ARENA_NEW(c->arena, int64_t, strlen(out));
  for (int i = 0; out[i] != '\0'; ++i) {
    perm[i] = label_index(labels, out[i]);
  }
  return tspec_emit_transpose(c, site, x, perm);
}

// A product with a scalar is elementwise.
static tspec_value_t *scale(tspec_checker_t *c, tspec_site_t site, tspec_labelled_t a,
                            tspec_labelled_t b, const char *out) {
  tspec_labelled_t wide = a.value->type.rank == 0 ? b : a;
  tspec_value_t *scalar = a.value->type.rank == 0 ? a.value : b.value;
  tspec_type_t type = wide.value->type;
  tspec_value_t *operands[] = {wide.value,
                               tspec_emit_broadcast(c, site, scalar, type.rank, type.dims)};
  tspec_value_t *product = tspec_emit_simple(c, site, TSPEC_OP_mul, 2, operands);
  return transpose_to(c, site, product, wide.labels, out);
}

typedef struct contract_t {
  int64_t *lhs_batch, *rhs_batch, *lhs_contract, *rhs_contract;
  int nbatch, ncontract;
  char *labels; ///< of the dot's result: batch, lhs free, rhs free
} contract_t;

static contract_t sort_labels(tspec_checker_t *c, const char *a, const char *b, const char *out) {
  size_t na = strlen(a), nb = strlen(b);
  contract_t k = {TSPEC_ARENA_NEW(c->arena, int64_t, na),
                  TSPEC_ARENA_NEW(c->arena, int64_t, nb),
                  TSPEC_ARENA_NEW(c->arena, int64_t, na),
                  TSPEC_ARENA_NEW(c->arena, int64_t, nb),
                  0,
                  0,
                  TSPEC_ARENA_NEW(c->arena, char, na + nb + 1)};
  int n = 0;
  for (const char *label = out; *label != '\0'; ++label) { // batch dims as the result has them
    if (label_index(a, *label) >= 0 && label_index(b, *label) >= 0) {
      k.lhs_batch[k.nbatch] = label_index(a, *label);
      k.rhs_batch[k.nbatch++] = label_index(b, *label);
      k.labels[n++] = *label;
    }
  }
  for (int i = 0; a[i] != '\0'; ++i) {
    if (label_index(b, a[i]) < 0) {
      k.labels[n++] = a[i];
    } else if (label_index(out, a[i]) < 0) {
      k.lhs_contract[k.ncontract] = i;
      k.rhs_contract[k.ncontract++] = label_index(b, a[i]);
    }
  }
  for (int i = 0; b[i] != '\0'; ++i) {
    if (label_index(a, b[i]) < 0) {
      k.labels[n++] = b[i];
    }
  }
  return k;
}

tspec_value_t *tspec_emit_contract(tspec_checker_t *c, tspec_site_t site, tspec_labelled_t a,
                                   tspec_labelled_t b, const char *out) {
  if (a.value == NULL || b.value == NULL) {
    return NULL;
  }
  if (a.value->type.rank == 0 || b.value->type.rank == 0) {
    return scale(c, site, a, b, out);
  }
  contract_t k = sort_labels(c, a.labels, b.labels, out);
  tspec_dtype_t dtype = a.value->type.dtype;
  tspec_attr_t attrs[] = {
      tspec_attr_ints("lhs_batch", k.nbatch, k.lhs_batch),
      tspec_attr_ints("rhs_batch", k.nbatch, k.rhs_batch),
      tspec_attr_ints("lhs_contract", k.ncontract, k.lhs_contract),
      tspec_attr_ints("rhs_contract", k.ncontract, k.rhs_contract),
      tspec_attr_dtype("dtype", tspec_check_accumulator(c, dtype)),
  };
  tspec_value_t *dot =
      tspec_emit(c, &(tspec_op_build_t){.kind = TSPEC_OP_dot,
                                        .noperands = 2,
                                        .operands = (tspec_value_t *[]){a.value, b.value},
                                        .nattrs = 5,
                                        .attrs = attrs,
                                        .range = site.range,
                                        .spelling = site.spelling});
  dot = tspec_emit_convert(c, site, dot, dtype);
  return transpose_to(c, site, dot, k.labels, out);
}

// ---- matmul ----------------------------------------------------------------------------------

// More labels than a tensor can sensibly have dims; they are only compared.
enum { FIRST_LABEL = '!', MAX_LABELS = 90 };

/// The operands of a matmul with a label per dim.
typedef struct matmul_t {
  tspec_value_t *a, *b;
  char a_labels[MAX_LABELS + 1], b_labels[MAX_LABELS + 1], out[2 * MAX_LABELS + 1];
} matmul_t;

static void append_label(char *labels, char label) {
  size_t length = strlen(labels);
  labels[length] = label;
  labels[length + 1] = '\0';
}

static bool check_matmul_operands(tspec_checker_t *c, tspec_site_t site, tspec_operand_t a,
                                  tspec_operand_t b) {
  if (a.cv.kind != TSPEC_CV_TENSOR || b.cv.kind != TSPEC_CV_TENSOR) {
    tspec_operand_t bad = a.cv.kind == TSPEC_CV_TENSOR ? b : a;
    if (bad.cv.kind == TSPEC_CV_NUMBER) {
      tspec_check_error(c, bad.range, "'%s' needs tensors, but this is %s; '*' scales",
                        site.spelling, tspec_check_describe(c, bad.cv));
    } else {
      tspec_check_tensor(c, site, bad);
    }
    return false;
  }
  tspec_type_t at = a.cv.u.tensor->type, bt = b.cv.u.tensor->type;
  if (at.dtype != bt.dtype) {
    const char *x = tspec_dtype_name(at.dtype), *y = tspec_dtype_name(bt.dtype);
    tspec_check_error(c, site.range,
                      "'%s' of %s and %s: element types are never converted silently; write %s(..) "
                      "or %s(..) around one of them",
                      site.spelling, x, y, x, y);
  } else if (at.rank == 0 || bt.rank == 0 || at.rank > MAX_LABELS / 2 || bt.rank > MAX_LABELS / 2) {
    tspec_check_error(c, site.range, "'%s' needs tensors of at least one dim", site.spelling);
  } else if (at.dims[at.rank - 1] != bt.dims[bt.rank >= 2 ? bt.rank - 2 : 0]) {
    tspec_check_error(
        c, site.range,
        "'%s' sums over the last dim of the left and %s of the right, but their sizes "
        "are %lld and %lld",
        site.spelling, bt.rank >= 2 ? "the last but one" : "the only one",
        (long long)at.dims[at.rank - 1], (long long)bt.dims[bt.rank >= 2 ? bt.rank - 2 : 0]);
  } else {
    return true;
  }
  tspec_check_note(c, a.range, "the left is %s", tspec_type_print(c->arena, at));
  tspec_check_note(c, b.range, "the right is %s", tspec_type_print(c->arena, bt));
  return false;
}

// Leading dims broadcast: equal ones are paired, a 1 against n is taken out, others are free.
static bool label_batch(tspec_checker_t *c, tspec_site_t site, matmul_t *m, int abatch,
                        int bbatch) {
  int count = abatch > bbatch ? abatch : bbatch;
  int64_t *adims = TSPEC_ARENA_NEW(c->arena, int64_t, m->a->type.rank);
  int64_t *bdims = TSPEC_ARENA_NEW(c->arena, int64_t, m->b->type.rank);
  int na = 0, nb = 0, nout = 0;
  for (int i = 0; i < count; ++i) {
    int ia = i - (count - abatch), ib = i - (count - bbatch);
    int64_t x = ia < 0 ? 1 : m->a->type.dims[ia], y = ib < 0 ? 1 : m->b->type.dims[ib];
    if (x != y && x != 1 && y != 1) {
      tspec_check_error(c, site.range,
                        "'%s' cannot line up the leading dims of %s and %s: %lld and %lld",
                        site.spelling, tspec_type_print(c->arena, m->a->type),
                        tspec_type_print(c->arena, m->b->type), (long long)x, (long long)y);
      return false;
    }
    char label = (char)(FIRST_LABEL + 3 + i);
    m->out[nout++] = label;
    if (ia >= 0 && (x != 1 || y == 1)) {
      m->a_labels[na] = label;
      adims[na++] = x;
    }
    if (ib >= 0 && (y != 1 || (x == 1 && ia < 0))) {
      m->b_labels[nb] = label;
      bdims[nb++] = y;
    }
  }
  for (int i = abatch; i < m->a->type.rank; ++i) {
    adims[na + i - abatch] = m->a->type.dims[i];
  }
  for (int i = bbatch; i < m->b->type.rank; ++i) {
    bdims[nb + i - bbatch] = m->b->type.dims[i];
  }
  m->a = tspec_emit_reshape(c, site, m->a, na + m->a->type.rank - abatch, adims);
  m->b = tspec_emit_reshape(c, site, m->b, nb + m->b->type.rank - bbatch, bdims);
  return m->a != NULL && m->b != NULL;
}

tspec_cv_t tspec_check_matmul(tspec_checker_t *c, tspec_site_t site, tspec_operand_t a,
                              tspec_operand_t b) {
  if (!check_matmul_operands(c, site, a, b)) {
    return tspec_cv_error();
  }
  matmul_t m = {.a = a.cv.u.tensor, .b = b.cv.u.tensor};
  const char row = FIRST_LABEL, col = FIRST_LABEL + 1, sum = FIRST_LABEL + 2;
  bool has_row = m.a->type.rank >= 2, has_col = m.b->type.rank >= 2;
  int abatch = has_row ? m.a->type.rank - 2 : 0, bbatch = has_col ? m.b->type.rank - 2 : 0;
  if (!label_batch(c, site, &m, abatch, bbatch)) {
    return tspec_cv_error();
  }
  if (has_row) {
    append_label(m.a_labels, row);
    append_label(m.out, row);
  }
  append_label(m.a_labels, sum);
  append_label(m.b_labels, sum);
  if (has_col) {
    append_label(m.b_labels, col);
    append_label(m.out, col);
  }
  tspec_labelled_t left = {m.a, m.a_labels}, right = {m.b, m.b_labels};
  return tspec_cv_tensor(tspec_emit_contract(c, site, left, right, m.out));
}

// ---- einsum ----------------------------------------------------------------------------------

/// "bse,ehd->bhsd" taken apart.
typedef struct einsum_t {
  tspec_site_t site;
  int noperands;
  char **labels;
  tspec_value_t **values;
  const tspec_operand_t *operands;
  char *out;
  int64_t sizes[128];
} einsum_t;

static bool refuse(tspec_checker_t *c, const einsum_t *e, const char *text, const char *why) {
  tspec_check_error(c, e->site.range, "the formula \"%s\" %s", text, why);
  return false;
}

static bool parse_labels(tspec_checker_t *c, einsum_t *e, const char *text, const char **at,
                         char *labels) {
  int n = 0;
  for (; **at != '\0' && **at != ',' && **at != '-'; ++*at) {
    if (**at == ' ') {
      continue;
    }
    if (!isalpha((unsigned char)**at)) {
      return refuse(c, e, text,
                    tspec_arena_printf(c->arena, "has '%c', but dims are named by letters", **at));
    }
    if (strchr(labels, **at) != NULL && n > 0) {
      return refuse(c, e, text,
                    tspec_arena_printf(c->arena, "names '%c' twice in one operand", **at));
    }
    labels[n++] = **at;
  }
  return true;
}

static bool parse_formula(tspec_checker_t *c, einsum_t *e, const char *text) {
  size_t length = strlen(text);
  int n = 0;
  const char *at = text;
  e->labels = TSPEC_ARENA_NEW(c->arena, char *, length + 1);
  for (bool more = true; more; ++n) {
    e->labels[n] = TSPEC_ARENA_NEW(c->arena, char, length + 1);
    if (!parse_labels(c, e, text, &at, e->labels[n])) {
      return false;
    }
    more = *at == ',';
    at += more;
  }
  if (strncmp(at, "->", 2) != 0) {
    return refuse(c, e, text, "needs '->' and the dims of the result");
  }
  at += 2;
  e->out = TSPEC_ARENA_NEW(c->arena, char, length + 1);
  if (!parse_labels(c, e, text, &at, e->out)) {
    return false;
  }
  if (*at != '\0') {
    return refuse(c, e, text, "goes on after its result");
  }
  if (n != e->noperands) {
    return refuse(c, e, text,
                  tspec_arena_printf(c->arena, "has %d operand%s, but %d %s given", n,
                                     n == 1 ? "" : "s", e->noperands,
                                     e->noperands == 1 ? "is" : "are"));
  }
  return true;
}

static bool check_sizes(tspec_checker_t *c, einsum_t *e, const char *text) {
  int from[128] = {0};
  for (int i = 0; i < e->noperands; ++i) {
    tspec_type_t type = e->values[i]->type;
    if ((int)strlen(e->labels[i]) != type.rank) {
      tspec_check_error(c, e->operands[i].range,
                        "operand %d of 'einsum' is %s with %d dims, but \"%s\" names %zu ('%s')",
                        i + 1, tspec_type_print(c->arena, type), type.rank, text,
                        strlen(e->labels[i]), e->labels[i]);
      return false;
    }
    for (int k = 0; k < type.rank; ++k) {
      int label = (unsigned char)e->labels[i][k];
      if (e->sizes[label] == 0) {
        e->sizes[label] = type.dims[k];
        from[label] = i;
      } else if (e->sizes[label] != type.dims[k]) {
        tspec_check_error(
            c, e->site.range, "'%c' of \"%s\" is %lld in operand %d and %lld in operand %d", label,
            text, (long long)e->sizes[label], from[label] + 1, (long long)type.dims[k], i + 1);
        tspec_check_note(c, e->operands[from[label]].range, "operand %d is %s", from[label] + 1,
                         tspec_type_print(c->arena, e->values[from[label]]->type));
        tspec_check_note(c, e->operands[i].range, "operand %d is %s", i + 1,
                         tspec_type_print(c->arena, type));
        return false;
      }
    }
  }
  for (const char *label = e->out; *label != '\0'; ++label) {
    if (e->sizes[(int)*label] == 0) {
      return refuse(
          c, e, text,
          tspec_arena_printf(c->arena, "has '%c' in its result, but in no operand", *label));
    }
  }
  return true;
}

// True if the letter occurs in the result or in an operand from `first` on, `except` aside.
static bool is_needed(const einsum_t *e, char label, int first, int except) {
  bool needed = strchr(e->out, label) != NULL;
  for (int i = first; i < e->noperands && !needed; ++i) {
    needed = i != except && strchr(e->labels[i], label) != NULL;
  }
  return needed;
}

// Sums the dims of one operand that nothing else names.
static void reduce_alone(tspec_checker_t *c, einsum_t *e, int operand) {
  char *labels = e->labels[operand];
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, strlen(labels));
  int ndims = 0, kept = 0;
  for (int i = 0; labels[i] != '\0'; ++i) {
    if (is_needed(e, labels[i], 0, operand)) {
      labels[kept++] = labels[i];
    } else {
      dims[ndims++] = i;
    }
  }
  labels[kept] = '\0';
  e->values[operand] =
      tspec_emit_reduce(c, e->site, e->values[operand], TSPEC_REDUCE_SUM, ndims, dims);
}

// The labels of the product of the first operands and operand `i`: those still needed, in order of
// the result if it is the last one.
static char *product_labels(tspec_checker_t *c, const einsum_t *e, const char *so_far, int i) {
  char *labels = TSPEC_ARENA_NEW(c->arena, char, 128);
  if (i + 1 == e->noperands) {
    return memcpy(labels, e->out, strlen(e->out) + 1);
  }
  int n = 0;
  for (const char *label = so_far; *label != '\0'; ++label) {
    if (is_needed(e, *label, i + 1, -1)) {
      labels[n++] = *label;
    }
  }
  for (const char *label = e->labels[i]; *label != '\0'; ++label) {
    if (strchr(so_far, *label) == NULL && is_needed(e, *label, i + 1, -1)) {
      labels[n++] = *label;
    }
  }
  return labels;
}

static bool einsum_operands(tspec_checker_t *c, einsum_t *e) {
  e->values = TSPEC_ARENA_NEW(c->arena, tspec_value_t *, e->noperands);
  for (int i = 0; i < e->noperands; ++i) {
    e->values[i] = tspec_check_tensor(c, e->site, e->operands[i]);
    if (e->values[i] == NULL) {
      return false;
    }
    tspec_dtype_t dtype = e->values[i]->type.dtype, first = e->values[0]->type.dtype;
    if (dtype != first) {
      const char *a = tspec_dtype_name(first), *b = tspec_dtype_name(dtype);
      tspec_check_error(c, e->site.range,
                        "'einsum' of %s and %s: element types are never converted silently; write "
                        "%s(..) or %s(..) around one of them",
                        a, b, a, b);
      tspec_check_note(c, e->operands[0].range, "operand 1 is %s",
                       tspec_type_print(c->arena, e->values[0]->type));
      tspec_check_note(c, e->operands[i].range, "operand %d is %s", i + 1,
                       tspec_type_print(c->arena, e->values[i]->type));
      return false;
    }
  }
  return true;
}

tspec_cv_t tspec_check_einsum(tspec_checker_t *c, tspec_site_t site, int noperands,
                              const tspec_operand_t *operands) {
  if (noperands < 2 || operands[0].cv.kind != TSPEC_CV_STRING) {
    tspec_check_error(c, site.range,
                      "'einsum' takes a formula and tensors: einsum(\"bse,ehd->bhsd\", x, w)");
    return tspec_cv_error();
  }
  einsum_t e = {.site = site, .noperands = noperands - 1, .operands = operands + 1};
  const char *text = operands[0].cv.u.string;
  e.site.spelling = "einsum";
  if (!parse_formula(c, &e, text) || !einsum_operands(c, &e) || !check_sizes(c, &e, text)) {
    return tspec_cv_error();
  }
  for (int i = 0; i < e.noperands; ++i) {
    reduce_alone(c, &e, i);
  }
  tspec_labelled_t result = {e.values[0], e.labels[0]};
  for (int i = 1; i < e.noperands; ++i) {
    const char *next = product_labels(c, &e, result.labels, i);
    tspec_labelled_t operand = {e.values[i], e.labels[i]};
    result.value = tspec_emit_contract(c, e.site, result, operand, next);
    result.labels = next;
  }
  return tspec_cv_tensor(transpose_to(c, e.site, result.value, result.labels, e.out));
}
