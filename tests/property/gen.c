#include "tests/property/gen.h"

#include <math.h>

// ---- the table ---------------------------------------------------------------------------------

static const prop_gen_t *const kOps[TSPEC_OP_COUNT] = {
#define TSPEC_OP(id, ...) [TSPEC_OP_##id] = &prop_gen_##id,
#include "ir/ops.def"
#undef TSPEC_OP
};

static const prop_gen_t *const kFunctions[] = {
    &prop_gen_mean, &prop_gen_logsumexp, &prop_gen_softmax, &prop_gen_tril,
    &prop_gen_triu, &prop_gen_clamp,     &prop_gen_one_hot,
};
enum { NFUNCTIONS = sizeof kFunctions / sizeof kFunctions[0] };

const prop_gen_t *prop_gen_of(tspec_op_kind_t kind) {
  return kOps[kind];
}

int prop_gen_count(void) {
  return TSPEC_OP_COUNT + NFUNCTIONS;
}

const prop_gen_t *prop_gen_at(int index) {
  return index < TSPEC_OP_COUNT ? kOps[index] : kFunctions[index - TSPEC_OP_COUNT];
}

#define MADE_BY_COMPILER(id, how)                                                                  \
  const prop_gen_t prop_gen_##id = {.name = #id, .made_by_compiler = (how)}

MADE_BY_COMPILER(all_gather, "a conversion of shardings");
MADE_BY_COMPILER(all_reduce, "a pending result that is finished");
MADE_BY_COMPILER(all_slice, "a conversion of shardings");
MADE_BY_COMPILER(all_to_all, "a conversion of shardings");
MADE_BY_COMPILER(permute, "a conversion of shardings");
MADE_BY_COMPILER(reduce_scatter, "a pending result that is finished and split");
MADE_BY_COMPILER(make_pending, "a complete value declared sum(x)");
MADE_BY_COMPILER(reshard, "between ops whose shardings differ");
MADE_BY_COMPILER(kernel, "a group of ops at the kernels level");
MADE_BY_COMPILER(gemm, "a dot at the kernels level");
MADE_BY_COMPILER(view, "a reshape at the kernels level");

// ---- operands ----------------------------------------------------------------------------------

const prop_node_t *prop_operand(const prop_program_t *program, const prop_node_t *node, int index) {
  return &program->nodes[node->operands[index]];
}

bool prop_in_reach(const prop_make_t *make, int index) {
  const prop_node_t *node = &make->program->nodes[index];
  return (node->entry < 0 || node->entry == make->entry) && (node->splat || !make->splat_only);
}

int prop_pick(prop_make_t *make, bool (*fits)(const prop_type_t *type, int detail), int detail) {
  int found[PROP_MAX_NODES], count = 0, first = make->first;
  make->first = -1;
  if (first >= 0 && fits(&make->program->nodes[first].type, detail)) {
    return first;
  }
  for (int i = 0; i < make->program->nnodes; ++i) {
    if (prop_in_reach(make, i) && fits(&make->program->nodes[i].type, detail)) {
      found[count++] = i;
    }
  }
  if (count == 0) {
    return -1;
  }
  // half of the time one of the latest, so that chains grow
  int from = count > 6 && prop_random_chance(make->random, 50) ? count - 6 : 0;
  return found[from + prop_random_below(make->random, count - from)];
}

static bool fill_leaf(prop_make_t *make, prop_node_t *node, const prop_type_t *type) {
  for (int i = 0; i < type->rank; ++i) {
    int fitting[PROP_MAX_SIZES], count = 0;
    for (int k = 0; k < make->program->nsizes; ++k) {
      if (make->program->sizes[k].value == type->dims[i]) {
        fitting[count++] = k;
      }
    }
    node->sizes[i] = count > 0 ? fitting[prop_random_below(make->random, count)]
                               : prop_program_size(make->program, (int)type->dims[i]);
    if (node->sizes[i] < 0) {
      return false;
    }
  }
  return true;
}

// A constant of that type, for ops on splats.
static int new_splat(prop_make_t *make, const prop_type_t *type) {
  prop_program_t *program = make->program;
  prop_node_t *node = &program->nodes[program->nnodes];
  *node = (prop_node_t){.kind = PROP_OP,
                        .gen = &prop_gen_constant,
                        .entry = make->entry,
                        .dtype = type->dtype,
                        .nattrs = type->rank,
                        .number = prop_random_below(make->random, 3)};
  node->number = type->dtype == TSPEC_DTYPE_BOOL ? node->number > 0 : node->number;
  for (int i = 0; i < type->rank; ++i) {
    node->attrs[i] = prop_program_size(program, (int)type->dims[i]);
    if (node->attrs[i] < 0) {
      return -1;
    }
  }
  return prop_node_infer(program, node) ? program->nnodes++ : -1;
}

int prop_new_leaf(prop_make_t *make, const prop_type_t *type) {
  prop_program_t *program = make->program;
  if (program->nnodes == PROP_MAX_NODES || type->rank > PROP_MAX_RANK) {
    return -1;
  }
  if (make->splat_only) {
    return new_splat(make, type);
  }
  prop_node_t *node = &program->nodes[program->nnodes];
  *node = (prop_node_t){.kind = prop_random_chance(make->random, 35) ? PROP_PARAM : PROP_INPUT,
                        .dtype = type->dtype,
                        .rank = type->rank,
                        .data = program->nnodes};
  node->entry = node->kind == PROP_PARAM ? -1 : make->entry;
  if (!fill_leaf(make, node, type) || !prop_node_infer(program, node)) {
    return -1;
  }
  return program->nnodes++;
}

int prop_pick_type(prop_make_t *make, const prop_type_t *type) {
  int found[PROP_MAX_NODES], count = 0;
  for (int i = 0; i < make->program->nnodes; ++i) {
    if (prop_in_reach(make, i) && prop_type_equal(&make->program->nodes[i].type, type)) {
      found[count++] = i;
    }
  }
  if (count > 0 && prop_random_chance(make->random, 75)) {
    return found[prop_random_below(make->random, count)];
  }
  return prop_new_leaf(make, type);
}

tspec_dtype_t prop_random_dtype(prop_random_t *random) {
  // f32 is what most programs are made of
  return prop_random_chance(random, 45)
             ? TSPEC_DTYPE_F32
             : (tspec_dtype_t)prop_random_below(random, TSPEC_DTYPE_COUNT);
}

// ---- what fits ---------------------------------------------------------------------------------

bool prop_fits_any(const prop_type_t *type, int detail) {
  (void)type;
  (void)detail;
  return true;
}

bool prop_fits_float(const prop_type_t *type, int detail) {
  (void)detail;
  return tspec_dtype_is_float(type->dtype);
}

bool prop_fits_number(const prop_type_t *type, int detail) {
  (void)detail;
  return type->dtype != TSPEC_DTYPE_BOOL;
}

bool prop_fits_integer(const prop_type_t *type, int detail) {
  (void)detail;
  return tspec_dtype_is_integer(type->dtype);
}

bool prop_fits_bool(const prop_type_t *type, int detail) {
  (void)detail;
  return type->dtype == TSPEC_DTYPE_BOOL;
}

bool prop_fits_rank(const prop_type_t *type, int detail) {
  return type->rank >= detail;
}

bool prop_fits_number_rank(const prop_type_t *type, int detail) {
  return type->rank >= detail && type->dtype != TSPEC_DTYPE_BOOL;
}

// ---- bounds ------------------------------------------------------------------------------------

double prop_node_size(const prop_node_t *node) {
  return fmax(fabs(node->lo), fabs(node->hi));
}

// What a float dtype can hold: whole numbers up to `whole` are exact; `epsilon` is the distance of
// neighbours at 1; in programs compared by tolerance no element is larger than `most`, and no
// tolerance larger than `tolerance`.
typedef struct limits_t {
  double whole, epsilon, most, tolerance;
} limits_t;

static const limits_t kLimits[TSPEC_DTYPE_COUNT] = {
    [TSPEC_DTYPE_F64] = {0x1p50, 0x1p-52, 1e6, 1e-8},
    [TSPEC_DTYPE_F32] = {0x1p24, 0x1p-23, 1e4, 1e-2},
    [TSPEC_DTYPE_BF16] = {0x1p8, 0x1p-7, 1e3, 2},
    [TSPEC_DTYPE_F16] = {0x1p11, 0x1p-10, 1e3, 0.5},
};

double prop_dtype_epsilon(tspec_dtype_t dtype) {
  return kLimits[dtype].epsilon;
}

tspec_dtype_t prop_dtype_sum(tspec_dtype_t dtype) {
  return dtype == TSPEC_DTYPE_BF16 || dtype == TSPEC_DTYPE_F16 ? TSPEC_DTYPE_F32 : dtype;
}

static bool set_float_bounds(const prop_program_t *program, prop_node_t *node) {
  const limits_t *limits = &kLimits[node->type.dtype];
  double size = prop_node_size(node);
  if (!(node->lo <= node->hi) || !(size <= (program->ints ? limits->whole : limits->most))) {
    return false;
  }
  if (program->ints) {
    node->err = 0;
    return true;
  }
  node->err += node->err > 0 ? limits->epsilon * size : 0;
  if (program->rounds && node->gen->inexact) {
    node->err += 8 * limits->epsilon * size;
  }
  return node->err <= limits->tolerance;
}

bool prop_set_bounds(const prop_program_t *program, prop_node_t *node, double lo, double hi,
                     double err) {
  tspec_dtype_t dtype = node->type.dtype;
  node->lo = lo;
  node->hi = hi;
  node->err = err;
  if (tspec_dtype_is_float(dtype)) {
    return set_float_bounds(program, node);
  }
  node->err = 0;
  if (!(lo >= tspec_dtype_min(dtype) && hi <= tspec_dtype_max(dtype))) {
    node->lo = tspec_dtype_min(dtype);
    node->hi = tspec_dtype_max(dtype);
  }
  return true;
}

// ---- printing ----------------------------------------------------------------------------------

void prop_print_call(const prop_program_t *program, const prop_node_t *node, tspec_buf_t *out) {
  tspec_buf_printf(out, "%s(", node->gen->word);
  for (int i = 0; i < node->noperands; ++i) {
    tspec_buf_puts(out, i == 0 ? "" : ", ");
    prop_print_operand(program, node, i, out);
  }
}

void prop_print_list(const int *values, int count, tspec_buf_t *out) {
  tspec_buf_puts(out, "[");
  for (int i = 0; i < count; ++i) {
    tspec_buf_printf(out, "%s%d", i == 0 ? "" : ", ", values[i]);
  }
  tspec_buf_puts(out, "]");
}

void prop_print_number(tspec_dtype_t dtype, double number, tspec_buf_t *out) {
  if (dtype == TSPEC_DTYPE_BOOL) {
    tspec_buf_puts(out, number != 0 ? "true" : "false");
  } else {
    tspec_buf_put_double(out, number);
  }
}
