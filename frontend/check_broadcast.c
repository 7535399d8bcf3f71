#include <math.h>
#include <string.h>

#include "frontend/check_ops.h"

bool tspec_check_number_fits(tspec_checker_t *c, double number, tspec_dtype_t dtype,
                             tspec_range_t range) {
  if (tspec_dtype_is_float(dtype)) {
    return true;
  }
  bool is_bool = dtype == TSPEC_DTYPE_BOOL;
  const char *text = tspec_number_text(c->arena, number), *name = tspec_dtype_name(dtype);
  if (is_bool ? number != 0 && number != 1 : number != floor(number)) {
    tspec_check_error(c, range, "%s is no %s; %s", text, name,
                      is_bool ? "a bool is true or false"
                              : "an integer tensor takes whole numbers only");
    return false;
  }
  if (number < tspec_dtype_min(dtype) || number > tspec_dtype_max(dtype)) {
    tspec_check_error(c, range, "%s does not fit %s", text, name);
    return false;
  }
  return true;
}

tspec_value_t *tspec_check_number_tensor(tspec_checker_t *c, tspec_site_t site, double number,
                                         tspec_type_t type, tspec_range_t range) {
  return tspec_check_number_fits(c, number, type.dtype, range)
             ? tspec_emit_constant(c, site, type, number)
             : NULL;
}

static void report_no_tensor(tspec_checker_t *c, tspec_site_t site, tspec_operand_t operand) {
  if (operand.cv.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, operand.range, "'%s' needs a tensor or a number, but this is %s",
                      site.spelling, tspec_check_describe(c, operand.cv));
  }
}

tspec_value_t *tspec_check_tensor(tspec_checker_t *c, tspec_site_t site, tspec_operand_t operand) {
  if (operand.cv.kind == TSPEC_CV_TENSOR) {
    return operand.cv.u.tensor;
  }
  if (operand.cv.kind == TSPEC_CV_NUMBER) {
    tspec_site_t here = {operand.range, site.spelling};
    return tspec_check_number_tensor(c, here, operand.cv.u.number,
                                     tspec_type_make(c->arena, c->compute_dtype, 0, NULL),
                                     operand.range);
  }
  report_no_tensor(c, site, operand);
  return NULL;
}

// ---- dtypes ----------------------------------------------------------------------------------

static void note_operands(tspec_checker_t *c, int noperands, const tspec_operand_t *operands) {
  for (int i = 0; i < noperands; ++i) {
    if (operands[i].cv.kind == TSPEC_CV_TENSOR) {
      tspec_check_note(c, operands[i].range, "this is %s", tspec_check_describe(c, operands[i].cv));
    }
  }
}

// The one dtype of the tensors among the operands; of none: the compute dtype.
static bool find_dtype(tspec_checker_t *c, tspec_site_t site, int noperands,
                       const tspec_operand_t *operands, tspec_dtype_t *out_dtype) {
  const tspec_value_t *first = NULL;
  for (int i = 0; i < noperands; ++i) {
    if (operands[i].cv.kind != TSPEC_CV_TENSOR) {
      continue;
    }
    const tspec_value_t *value = operands[i].cv.u.tensor;
    if (c->in_update && first != NULL && value->type.dtype == TSPEC_DTYPE_F64) {
      continue; // a scalar of an update, which meets a tensor
    }
    bool meets = c->in_update && first != NULL && first->type.dtype == TSPEC_DTYPE_F64;
    if (first != NULL && value->type.dtype != first->type.dtype && !meets) {
      const char *a = tspec_dtype_name(first->type.dtype);
      const char *b = tspec_dtype_name(value->type.dtype);
      tspec_check_error(c, site.range,
                        "'%s' of %s and %s: element types are never converted silently; "
                        "write %s(..) or %s(..) around one of them",
                        site.spelling, a, b, a, b);
      note_operands(c, noperands, operands);
      return false;
    }
    first = first == NULL || meets ? value : first;
  }
  *out_dtype = first == NULL ? c->compute_dtype : first->type.dtype;
  return true;
}

bool tspec_check_same_dtype(tspec_checker_t *c, tspec_site_t site, tspec_operand_t a,
                            tspec_operand_t b) {
  tspec_dtype_t dtype;
  return find_dtype(c, site, 2, (tspec_operand_t[]){a, b}, &dtype);
}

// ---- shapes ----------------------------------------------------------------------------------

typedef struct shape_t {
  int rank;
  int64_t *dims;
} shape_t;

// Merges `type` into `shape` as NumPy does; -1, or the first dim (from the end) that does not fit.
static int merge_shape(shape_t *shape, tspec_type_t type) {
  for (int i = 1; i <= type.rank && i <= shape->rank; ++i) {
    int64_t *mine = &shape->dims[shape->rank - i];
    int64_t theirs = type.dims[type.rank - i];
    if (*mine != theirs && *mine != 1 && theirs != 1) {
      return i;
    }
    *mine = *mine == 1 ? theirs : *mine;
  }
  return -1;
}

static shape_t start_shape(tspec_checker_t *c, int noperands, const tspec_operand_t *operands,
                           const tspec_value_t *other) {
  int rank = other == NULL ? 0 : other->type.rank;
  for (int i = 0; i < noperands; ++i) {
    if (operands[i].cv.kind == TSPEC_CV_TENSOR && operands[i].cv.u.tensor->type.rank > rank) {
      rank = operands[i].cv.u.tensor->type.rank;
    }
  }
  shape_t shape = {rank, TSPEC_ARENA_NEW(c->arena, int64_t, rank)};
  for (int i = 0; i < rank; ++i) {
    shape.dims[i] = 1;
  }
  return shape;
}

static bool find_shape(tspec_checker_t *c, tspec_site_t site, int noperands,
                       const tspec_operand_t *operands, const tspec_value_t *other,
                       shape_t *out_shape) {
  shape_t shape = start_shape(c, noperands, operands, other);
  if (other != NULL) {
    merge_shape(&shape, other->type);
  }
  for (int i = 0; i < noperands; ++i) {
    if (operands[i].cv.kind != TSPEC_CV_TENSOR) {
      continue;
    }
    tspec_type_t type = operands[i].cv.u.tensor->type;
    int bad = merge_shape(&shape, type);
    if (bad > 0) {
      tspec_check_error(c, site.range,
                        "'%s' cannot broadcast these shapes: dim %d from the end is %lld and %lld, "
                        "wanted equal sizes or a 1",
                        site.spelling, bad, (long long)shape.dims[shape.rank - bad],
                        (long long)type.dims[type.rank - bad]);
      if (other != NULL) {
        tspec_check_note(c, site.range, "the condition is %s",
                         tspec_type_print(c->arena, other->type));
      }
      note_operands(c, noperands, operands);
      return false;
    }
  }
  *out_shape = shape;
  return true;
}

static bool all_usable(tspec_checker_t *c, tspec_site_t site, int noperands,
                       const tspec_operand_t *operands) {
  bool ok = true;
  for (int i = 0; i < noperands; ++i) {
    if (operands[i].cv.kind != TSPEC_CV_TENSOR && operands[i].cv.kind != TSPEC_CV_NUMBER) {
      report_no_tensor(c, site, operands[i]);
      ok = false;
    }
  }
  return ok;
}

bool tspec_check_match_with(tspec_checker_t *c, tspec_site_t site, int noperands,
                            const tspec_operand_t *operands, tspec_value_t **other,
                            tspec_value_t **out_values) {
  tspec_dtype_t dtype = TSPEC_DTYPE_F32;
  shape_t shape = {0};
  if (!all_usable(c, site, noperands, operands) ||
      !find_dtype(c, site, noperands, operands, &dtype) ||
      !find_shape(c, site, noperands, operands, other == NULL ? NULL : *other, &shape)) {
    return false;
  }
  tspec_type_t type = tspec_type_make(c->arena, dtype, shape.rank, shape.dims);
  for (int i = 0; i < noperands; ++i) {
    tspec_cv_t cv = operands[i].cv;
    if (cv.kind == TSPEC_CV_NUMBER) {
      out_values[i] = tspec_check_number_tensor(c, site, cv.u.number, type, operands[i].range);
    } else {
      tspec_value_t *value = tspec_emit_convert(c, site, cv.u.tensor, dtype);
      out_values[i] = tspec_emit_broadcast(c, site, value, shape.rank, shape.dims);
    }
    if (out_values[i] == NULL) {
      return false;
    }
  }
  if (other != NULL) {
    *other = tspec_emit_broadcast(c, site, *other, shape.rank, shape.dims);
  }
  return other == NULL || *other != NULL;
}

bool tspec_check_match(tspec_checker_t *c, tspec_site_t site, int noperands,
                       const tspec_operand_t *operands, tspec_value_t **out_values) {
  return tspec_check_match_with(c, site, noperands, operands, NULL, out_values);
}
