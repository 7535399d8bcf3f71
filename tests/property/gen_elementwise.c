// Elementwise rows: one operand, two with broadcasting or a number, select.
#include <math.h>

#include "tests/property/gen.h"

// ---- one operand -------------------------------------------------------------------------------

enum { FORM_PLAIN, FORM_ABOVE_ZERO }; // "log(v)", "log(abs(v) + 0.5)"

static bool make_unary(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  tspec_op_kind_t kind = (tspec_op_kind_t)gen->detail;
  bool floats = gen->inexact || kind == TSPEC_OP_ceil || kind == TSPEC_OP_floor ||
                kind == TSPEC_OP_round || kind == TSPEC_OP_isfinite;
  bool boolean = kind == TSPEC_OP_not;
  node->noperands = 1;
  node->operands[0] = prop_pick(make,
                                boolean  ? prop_fits_bool
                                : floats ? prop_fits_float
                                         : prop_fits_number,
                                0);
  bool positive = kind == TSPEC_OP_log || kind == TSPEC_OP_sqrt || kind == TSPEC_OP_rsqrt;
  node->form = positive ? FORM_ABOVE_ZERO : FORM_PLAIN;
  return node->operands[0] >= 0;
}

typedef struct range_t {
  double lo, hi, err;
} range_t;

static double range_size(range_t x) {
  return fmax(fabs(x.lo), fabs(x.hi));
}

// Least distance of the elements from 0.
static double range_gap(range_t x) {
  return x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0;
}

static range_t node_range(const prop_node_t *node) {
  return (range_t){node->lo, node->hi, node->err};
}

// Bounds of a monotonous function whose slope is at most `slope`.
static range_t rising(double lo, double hi, double err, double slope) {
  return (range_t){lo, hi, err * slope};
}

static bool unary_smooth(tspec_op_kind_t kind, range_t x, range_t *out) {
  if (kind == TSPEC_OP_exp || kind == TSPEC_OP_expm1) {
    double less = kind == TSPEC_OP_expm1;
    *out = rising(exp(x.lo) - less, exp(x.hi) - less, x.err, exp(x.hi));
    return x.hi <= 8;
  }
  if (kind == TSPEC_OP_log || kind == TSPEC_OP_log1p) {
    double more = kind == TSPEC_OP_log1p;
    *out = rising(log(x.lo + more), log(x.hi + more), x.err, 1 / (x.lo + more));
    return x.lo + more > 0.05;
  }
  if (kind == TSPEC_OP_sqrt) {
    *out = rising(sqrt(x.lo), sqrt(x.hi), x.err, 0.5 / sqrt(x.lo));
    return x.lo > 0.05;
  }
  if (kind == TSPEC_OP_rsqrt) {
    *out = rising(1 / sqrt(x.hi), 1 / sqrt(x.lo), x.err, 0.5 * pow(x.lo, -1.5));
    return x.lo > 0.05;
  }
  // sin, cos, tanh, sigmoid, erf
  *out = rising(-1, 1, x.err, 1.2);
  return range_size(x) < 1000;
}

// Functions with jumps need operands that are the same for every order of sums.
static bool unary_rest(tspec_op_kind_t kind, range_t x, range_t *out) {
  bool jumps = false;
  *out = x;
  if (kind == TSPEC_OP_neg) {
    *out = (range_t){-x.hi, -x.lo, x.err};
  } else if (kind == TSPEC_OP_abs) {
    *out = (range_t){range_gap(x), range_size(x), x.err};
  } else if (kind == TSPEC_OP_relu) {
    *out = (range_t){fmax(x.lo, 0), fmax(x.hi, 0), x.err};
  } else if (kind == TSPEC_OP_sign) {
    *out = (range_t){-1, 1, 0};
    jumps = true;
  } else if (kind == TSPEC_OP_isfinite || kind == TSPEC_OP_not) {
    *out = (range_t){0, 1, 0};
  } else { // floor, ceil, round
    *out = (range_t){floor(x.lo), ceil(x.hi), 0};
    jumps = true;
  }
  return !jumps || x.err == 0;
}

static bool infer_unary(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *operand = prop_operand(program, node, 0);
  tspec_op_kind_t kind = (tspec_op_kind_t)node->gen->detail;
  node->type = operand->type;
  range_t x = node_range(operand), out = {0};
  if (node->form == FORM_ABOVE_ZERO) {
    x = (range_t){range_gap(x) + 0.5, range_size(x) + 0.5, x.err};
  }
  bool smooth = node->gen->inexact;
  if (!(smooth ? unary_smooth(kind, x, &out) : unary_rest(kind, x, &out))) {
    return false;
  }
  if (kind == TSPEC_OP_isfinite) {
    node->type.dtype = TSPEC_DTYPE_BOOL;
  }
  return prop_set_bounds(program, node, out.lo, out.hi, out.err);
}

static void print_unary(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  bool call = node->gen->word[1] != '\0'; // else the operators - and !
  tspec_buf_printf(out, call ? "%s(" : "%s", node->gen->word);
  tspec_buf_puts(out, node->form == FORM_ABOVE_ZERO ? "abs(" : "");
  prop_print_operand(program, node, 0, out);
  tspec_buf_puts(out, node->form == FORM_ABOVE_ZERO ? ") + 0.5" : "");
  tspec_buf_puts(out, call ? ")" : "");
}

#define UNARY(id, spelling, smooth)                                                                \
  const prop_gen_t prop_gen_##id = {.name = #id,                                                   \
                                    .weight = 2,                                                   \
                                    .inexact = (smooth),                                           \
                                    .make = make_unary,                                            \
                                    .infer = infer_unary,                                          \
                                    .print = print_unary,                                          \
                                    .word = (spelling),                                            \
                                    .detail = TSPEC_OP_##id}

UNARY(abs, "abs", false);
UNARY(neg, "-", false);
UNARY(not, "!", false);
UNARY(relu, "relu", false);
UNARY(sign, "sign", false);
UNARY(floor, "floor", false);
UNARY(ceil, "ceil", false);
UNARY(round, "round", false);
UNARY(isfinite, "isfinite", false);
UNARY(exp, "exp", true);
UNARY(expm1, "expm1", true);
UNARY(log, "log", true);
UNARY(log1p, "log1p", true);
UNARY(sqrt, "sqrt", true);
UNARY(rsqrt, "rsqrt", true);
UNARY(sin, "sin", true);
UNARY(cos, "cos", true);
UNARY(tanh, "tanh", true);
UNARY(sigmoid, "sigmoid", true);
UNARY(erf, "erf", true);

// ---- broadcasting ------------------------------------------------------------------------------

static bool merge_shapes(const prop_type_t *a, const prop_type_t *b, prop_type_t *out) {
  const prop_type_t *longer = a->rank >= b->rank ? a : b, *shorter = longer == a ? b : a;
  prop_type_t merged = *longer;
  int shift = longer->rank - shorter->rank;
  for (int i = 0; i < shorter->rank; ++i) {
    int64_t *mine = &merged.dims[i + shift];
    int64_t theirs = shorter->dims[i];
    if (*mine != theirs && *mine != 1 && theirs != 1) {
      return false;
    }
    *mine = *mine == 1 ? theirs : *mine;
  }
  merged.dtype = out->dtype;
  *out = merged;
  return true;
}

// A type that broadcasts against `type`: equal, thinner, shorter or longer.
static prop_type_t random_partner(prop_make_t *make, const prop_type_t *type) {
  prop_type_t partner = *type;
  if (prop_random_chance(make->random, 45)) {
    return partner;
  }
  int dropped = type->rank == 0 ? 0 : prop_random_below(make->random, type->rank + 1);
  partner.rank = type->rank - dropped;
  for (int i = 0; i < partner.rank; ++i) {
    partner.dims[i] = prop_random_chance(make->random, 30) ? 1 : type->dims[i + dropped];
  }
  return partner;
}

static int pick_partner(prop_make_t *make, const prop_type_t *type) {
  const prop_program_t *program = make->program;
  int found[PROP_MAX_NODES], count = 0;
  // half of the time only what was computed, so that two results meet
  bool computed = prop_random_chance(make->random, 50);
  for (int i = 0; i < program->nnodes; ++i) {
    prop_type_t merged = {.dtype = type->dtype};
    const prop_node_t *node = &program->nodes[i];
    if ((!computed || node->kind == PROP_OP) && prop_in_reach(make, i) &&
        node->type.dtype == type->dtype && merge_shapes(type, &node->type, &merged)) {
      found[count++] = i;
    }
  }
  if (count > 0 && prop_random_chance(make->random, 65)) {
    return found[prop_random_below(make->random, count)];
  }
  prop_type_t partner = random_partner(make, type);
  return prop_pick_type(make, &partner);
}

// ---- two operands ------------------------------------------------------------------------------

enum { FORM_TENSORS, FORM_NUMBER_RIGHT, FORM_NUMBER_LEFT };

static double random_number(const prop_make_t *make, tspec_dtype_t dtype) {
  int whole = prop_random_below(make->random, 5);
  if (dtype == TSPEC_DTYPE_BOOL) {
    return whole % 2;
  }
  if (!make->program->ints && tspec_dtype_is_float(dtype)) {
    return 0.25 + whole * 0.5;
  }
  return dtype == TSPEC_DTYPE_U8 || prop_random_chance(make->random, 60) ? whole : -whole;
}

static bool is_comparison(int detail) {
  return detail == TSPEC_OP_eq || detail == TSPEC_OP_ne || detail == TSPEC_OP_lt ||
         detail == TSPEC_OP_le || detail == TSPEC_OP_gt || detail == TSPEC_OP_ge;
}

static bool make_binary(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  bool boolean = gen->detail == TSPEC_OP_and || gen->detail == TSPEC_OP_or;
  bool same = gen->detail == TSPEC_OP_eq || gen->detail == TSPEC_OP_ne;
  int a = prop_pick(make,
                    boolean                       ? prop_fits_bool
                    : gen->detail == TSPEC_OP_div ? prop_fits_float
                    : same                        ? prop_fits_any
                                                  : prop_fits_number,
                    0);
  if (a < 0) {
    return false;
  }
  prop_type_t type = make->program->nodes[a].type;
  node->noperands = 1;
  node->operands[0] = a;
  if (prop_random_chance(make->random, gen->detail == TSPEC_OP_pow ? 70 : 15)) {
    node->form = gen->detail == TSPEC_OP_pow || prop_random_chance(make->random, 60)
                     ? FORM_NUMBER_RIGHT
                     : FORM_NUMBER_LEFT;
    node->number = random_number(make, type.dtype);
    if (gen->detail == TSPEC_OP_pow) {
      node->number = prop_random_below(make->random, 5);
    }
    return true;
  }
  int b = pick_partner(make, &type);
  bool swap = prop_random_chance(make->random, 50);
  node->noperands = 2;
  node->operands[0] = swap ? b : a;
  node->operands[1] = swap ? a : b;
  return b >= 0;
}

static range_t multiply(range_t a, range_t b) {
  double corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  range_t out = {corners[0], corners[0], 0};
  for (int i = 1; i < 4; ++i) {
    out.lo = fmin(out.lo, corners[i]);
    out.hi = fmax(out.hi, corners[i]);
  }
  out.err = range_size(a) * b.err + range_size(b) * a.err + a.err * b.err;
  return out;
}

static bool divide(range_t a, range_t b, range_t *out) {
  double gap = range_gap(b), most = range_size(a) / gap;
  *out = (range_t){-most, most, a.err / gap + range_size(a) * b.err / (gap * gap)};
  return gap > 0.2;
}

// Integer division by 0 is defined here, so anything goes; floats keep away from 0 and have no
// error, as the result jumps.
static bool divide_whole(bool is_float, bool divides, bool remainder, range_t a, range_t b,
                         range_t *out) {
  double most = remainder ? fmax(range_size(a), range_size(b)) : range_size(a) + 1;
  if (is_float && !remainder) {
    most = range_size(a) / range_gap(b) + 1;
  }
  *out = (range_t){a.lo >= 0 && b.lo >= 0 ? 0 : -most, most, 0};
  return (!is_float && !divides) || (a.err == 0 && b.err == 0 && range_gap(b) > 0.2);
}

// Numbers to the power of tensors: floats only with bases above 0.
static bool raise(bool is_float, bool rounds, double epsilon, range_t a, range_t b, range_t *out) {
  if (!is_float) {
    *out = (range_t){-(double)INFINITY, (double)INFINITY, 0};
    return true;
  }
  double least =
      fmin(fmin(pow(a.lo, b.lo), pow(a.lo, b.hi)), fmin(pow(a.hi, b.lo), pow(a.hi, b.hi)));
  double most =
      fmax(fmax(pow(a.lo, b.lo), pow(a.lo, b.hi)), fmax(pow(a.hi, b.lo), pow(a.hi, b.hi)));
  double slope = range_size(b) * most / a.lo + fmax(fabs(log(a.lo)), fabs(log(a.hi))) * most;
  double rounding = rounds ? 8 * epsilon * most : 0;
  *out = (range_t){least, most, slope * fmax(a.err, b.err) + rounding};
  return a.lo > 0.2;
}

static range_t raise_to_number(range_t a, double number) {
  range_t out = {1, 1, 0};
  for (int i = 0; i < (int)number; ++i) {
    out = multiply(out, a);
  }
  return out;
}

static bool combine(const prop_program_t *program, const prop_node_t *node, range_t a, range_t b,
                    range_t *out) {
  int kind = node->gen->detail;
  bool is_float = tspec_dtype_is_float(node->type.dtype);
  if (kind == TSPEC_OP_add) {
    *out = (range_t){a.lo + b.lo, a.hi + b.hi, a.err + b.err};
  } else if (kind == TSPEC_OP_sub) {
    *out = (range_t){a.lo - b.hi, a.hi - b.lo, a.err + b.err};
  } else if (kind == TSPEC_OP_mul) {
    *out = multiply(a, b);
  } else if (kind == TSPEC_OP_div) {
    return divide(a, b, out);
  } else if (kind == TSPEC_OP_maximum) {
    *out = (range_t){fmax(a.lo, b.lo), fmax(a.hi, b.hi), fmax(a.err, b.err)};
  } else if (kind == TSPEC_OP_minimum) {
    *out = (range_t){fmin(a.lo, b.lo), fmin(a.hi, b.hi), fmax(a.err, b.err)};
  } else if (kind == TSPEC_OP_floor_div || kind == TSPEC_OP_rem) {
    return divide_whole(is_float, program->divides, kind == TSPEC_OP_rem, a, b, out);
  } else if (kind == TSPEC_OP_pow && node->form == FORM_NUMBER_RIGHT) {
    *out = raise_to_number(a, node->number);
  } else if (kind == TSPEC_OP_pow) {
    bool defined = is_float ? !program->ints : !program->divides || b.lo >= 0;
    return defined &&
           raise(is_float, program->rounds, prop_dtype_epsilon(node->type.dtype), a, b, out);
  } else { // comparisons jump
    *out = (range_t){0, 1, 0};
    return a.err == 0 && b.err == 0;
  }
  return true;
}

static bool infer_binary(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *first = prop_operand(program, node, 0);
  range_t number = {node->number, node->number, 0};
  range_t a = node_range(first), b = number;
  node->type = first->type;
  if (node->form == FORM_TENSORS) {
    const prop_node_t *second = prop_operand(program, node, 1);
    b = node_range(second);
    if (second->type.dtype != first->type.dtype ||
        !merge_shapes(&first->type, &second->type, &node->type)) {
      return false;
    }
  } else if (node->form == FORM_NUMBER_LEFT) {
    b = a;
    a = number;
  }
  range_t out = {0};
  if (!combine(program, node, a, b, &out)) {
    return false;
  }
  if (is_comparison(node->gen->detail)) {
    node->type.dtype = TSPEC_DTYPE_BOOL;
  }
  return prop_set_bounds(program, node, out.lo, out.hi, out.err);
}

static void print_side(const prop_program_t *program, const prop_node_t *node, bool left,
                       tspec_buf_t *out) {
  int form = node->form;
  if (form == (left ? FORM_NUMBER_LEFT : FORM_NUMBER_RIGHT)) {
    tspec_buf_puts(out, node->number < 0 ? "(" : "");
    prop_print_number(prop_operand(program, node, 0)->type.dtype, node->number, out);
    tspec_buf_puts(out, node->number < 0 ? ")" : "");
  } else {
    prop_print_operand(program, node, form == FORM_TENSORS && !left ? 1 : 0, out);
  }
}

static void print_binary(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  char first = node->gen->word[0];
  bool call = first >= 'a' && first <= 'z';
  tspec_buf_printf(out, call ? "%s(" : "", node->gen->word);
  print_side(program, node, true, out);
  tspec_buf_printf(out, call ? ", " : " %s ", node->gen->word);
  print_side(program, node, false, out);
  tspec_buf_puts(out, call ? ")" : "");
}

#define BINARY(id, spelling, often)                                                                \
  const prop_gen_t prop_gen_##id = {.name = #id,                                                   \
                                    .weight = (often),                                             \
                                    .inexact = TSPEC_OP_##id == TSPEC_OP_div,                      \
                                    .make = make_binary,                                           \
                                    .infer = infer_binary,                                         \
                                    .print = print_binary,                                         \
                                    .word = (spelling),                                            \
                                    .detail = TSPEC_OP_##id}

BINARY(add, "+", 10);
BINARY(sub, "-", 6);
BINARY(mul, "*", 8);
BINARY(div, "/", 3);
BINARY(maximum, "maximum", 4);
BINARY(minimum, "minimum", 4);
BINARY(floor_div, "floor_div", 2);
BINARY(rem, "%", 2);
BINARY(pow, "pow", 2);
BINARY(and, "&&", 2);
BINARY(or, "||", 2);
BINARY(eq, "==", 2);
BINARY(ne, "!=", 2);
BINARY(lt, "<", 2);
BINARY(le, "<=", 2);
BINARY(gt, ">", 2);
BINARY(ge, ">=", 2);

// ---- select ------------------------------------------------------------------------------------

static bool make_select(const prop_gen_t *gen, prop_make_t *make, prop_node_t *node) {
  (void)gen;
  int a = prop_pick(make, prop_fits_any, 0);
  if (a < 0) {
    return false;
  }
  prop_type_t type = make->program->nodes[a].type;
  prop_type_t condition = type;
  condition.dtype = TSPEC_DTYPE_BOOL;
  int c = pick_partner(make, &condition);
  node->noperands = 2;
  node->operands[0] = c;
  node->operands[1] = a;
  node->form = prop_random_chance(make->random, 25) ? FORM_NUMBER_RIGHT : FORM_TENSORS;
  node->number = random_number(make, type.dtype);
  if (c >= 0 && node->form == FORM_TENSORS) {
    node->noperands = 3;
    node->operands[2] = pick_partner(make, &type);
  }
  return c >= 0 && node->operands[node->noperands - 1] >= 0;
}

static bool infer_select(const prop_program_t *program, prop_node_t *node) {
  const prop_node_t *c = prop_operand(program, node, 0), *a = prop_operand(program, node, 1);
  range_t x = node_range(a), y = {node->number, node->number, 0};
  prop_type_t branches = a->type;
  if (node->form == FORM_TENSORS) {
    const prop_node_t *b = prop_operand(program, node, 2);
    y = node_range(b);
    if (a->type.dtype != b->type.dtype || !merge_shapes(&a->type, &b->type, &branches)) {
      return false;
    }
  }
  node->type.dtype = a->type.dtype;
  return c->type.dtype == TSPEC_DTYPE_BOOL && merge_shapes(&branches, &c->type, &node->type) &&
         prop_set_bounds(program, node, fmin(x.lo, y.lo), fmax(x.hi, y.hi), fmax(x.err, y.err));
}

static void print_select(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  prop_print_call(program, node, out);
  if (node->form == FORM_NUMBER_RIGHT) {
    tspec_buf_puts(out, ", ");
    prop_print_number(node->type.dtype, node->number, out);
  }
  tspec_buf_puts(out, ")");
}

const prop_gen_t prop_gen_select = {.name = "select",
                                    .weight = 5,
                                    .make = make_select,
                                    .infer = infer_select,
                                    .print = print_select,
                                    .word = "select"};
