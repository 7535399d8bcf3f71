// Convolution and pooling: windows that slide over the spatial dims of [n, spatial.., channels].
#include <string.h>

#include "frontend/check_ops.h"

/// A window over n spatial dims.
typedef struct window_t {
  int n;
  int64_t *size, *stride, *dilation;
  int64_t *lo, *hi; ///< padding; not with `same`
  bool same;
} window_t;

// [n, spatial.., channels] with at least one spatial dim.
static tspec_value_t *image(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x != NULL && x->type.rank < 3) {
    tspec_check_error(c, call->args[0].range,
                      "'x' of '%s' must be [n, spatial.., channels] with at least 3 dims, but this "
                      "is %s",
                      call->builtin->name, tspec_type_print(c->arena, x->type));
    return NULL;
  }
  return x;
}

// "valid", "same" or [[lo, hi], ..].
static bool read_padding(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         window_t *window) {
  window->lo = TSPEC_ARENA_NEW(c->arena, int64_t, window->n);
  window->hi = TSPEC_ARENA_NEW(c->arena, int64_t, window->n);
  tspec_operand_t arg = call->args[index];
  if (!call->given[index]) {
    return true;
  }
  if (arg.cv.kind != TSPEC_CV_STRING) {
    tspec_builtin_pads_t pads = {window->n, "spatial dim", window->lo, window->hi};
    return tspec_builtin_pads(c, call, index, pads);
  }
  window->same = strcmp(arg.cv.u.string, "same") == 0;
  if (window->same || strcmp(arg.cv.u.string, "valid") == 0) {
    return true;
  }
  tspec_check_error(c, arg.range,
                    "'pad' of '%s' is \"valid\", \"same\" or a list [[lo, hi], ..], not \"%s\"",
                    call->builtin->name, arg.cv.u.string);
  return false;
}

static bool positive(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                     const window_t *window, const int64_t *values) {
  for (int i = 0; i < window->n; ++i) {
    if (values[i] < 1) {
      tspec_check_error(c, call->args[index].range, "%s must be at least 1, but is %lld",
                        tspec_builtin_arg_text(c, call, index), (long long)values[i]);
      return false;
    }
  }
  return true;
}

static bool read_steps(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                       const window_t *window, int64_t **values) {
  return tspec_builtin_per_dim(c, call, index, window->n, "spatial dim", values) &&
         positive(c, call, index, window, *values);
}

// The spatial dims of the result: the places of the window.
static bool slide(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t type,
                  const window_t *window, int64_t *dims) {
  for (int i = 0; i < window->n; ++i) {
    int64_t size = type.dims[i + 1], stride = window->stride[i];
    if (window->same) {
      dims[i + 1] = (size + stride - 1) / stride;
      continue;
    }
    int64_t reach = (window->size[i] - 1) * window->dilation[i] + 1;
    int64_t padded = size + window->lo[i] + window->hi[i];
    if (reach > padded) {
      tspec_check_error(c, call->site.range,
                        "the window of '%s' reaches over %lld elements of dim %d of %s, which "
                        "has %lld%s",
                        call->builtin->name, (long long)reach, i + 1,
                        tspec_type_print(c->arena, type), (long long)padded,
                        padded > size ? " with its padding" : "; pad = \"same\" pads it");
      return false;
    }
    dims[i + 1] = (padded - reach) / stride + 1;
  }
  return true;
}

static bool check_kernel(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t x,
                         tspec_type_t w) {
  tspec_range_t range = call->args[1].range;
  if (w.rank != x.rank) {
    tspec_check_error(c, range,
                      "'w' of 'conv' must be [k.., in / groups, out] with %d dims, as x is %s, but "
                      "this is %s",
                      x.rank, tspec_type_print(c->arena, x), tspec_type_print(c->arena, w));
    return false;
  }
  int64_t groups = 1, in = x.dims[x.rank - 1], out = w.dims[w.rank - 1];
  if (!tspec_builtin_whole(c, call, 5, 1, &groups)) {
    return false;
  }
  if (groups < 1 || in % groups != 0 || out % groups != 0) {
    tspec_check_error(c, call->args[5].range,
                      "'groups' of 'conv' is %lld, but must divide the channels: %lld in, %lld out",
                      (long long)groups, (long long)in, (long long)out);
    return false;
  }
  if (w.dims[w.rank - 2] != in / groups) {
    tspec_check_error(c, range,
                      "'w' of 'conv' is %s: its dim %d is %lld, wanted %lld, the channels of x%s",
                      tspec_type_print(c->arena, w), w.rank - 2, (long long)w.dims[w.rank - 2],
                      (long long)(in / groups), groups > 1 ? " in one group" : "");
    tspec_check_note(c, call->args[0].range, "x is %s", tspec_type_print(c->arena, x));
    return false;
  }
  return true;
}

tspec_cv_t tspec_builtin_conv(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x[2] = {image(c, call)};
  x[1] = x[0] == NULL ? NULL : tspec_builtin_tensor(c, call, 1);
  if (x[1] == NULL || !check_kernel(c, call, x[0]->type, x[1]->type) ||
      !tspec_check_same_dtype(c, call->site, call->args[0], call->args[1])) {
    return tspec_cv_error();
  }
  tspec_type_t type = x[0]->type;
  window_t window = {.n = type.rank - 2};
  window.size = tspec_arena_copy(c->arena, x[1]->type.dims, sizeof(int64_t) * (size_t)window.n);
  if (!read_steps(c, call, 2, &window, &window.stride) || !read_padding(c, call, 3, &window) ||
      !read_steps(c, call, 4, &window, &window.dilation)) {
    return tspec_cv_error();
  }
  int64_t *dims = tspec_arena_copy(c->arena, type.dims, sizeof(int64_t) * (size_t)type.rank);
  dims[type.rank - 1] = x[1]->type.dims[type.rank - 1];
  if (!slide(c, call, type, &window, dims)) {
    return tspec_cv_error();
  }
  type.dims = dims;
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 2, x));
}

tspec_cv_t tspec_builtin_pool(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = image(c, call);
  if (x == NULL || !tspec_builtin_needs_float(c, call, x)) {
    return tspec_cv_error();
  }
  tspec_type_t type = x->type;
  window_t window = {.n = type.rank - 2};
  window.dilation = TSPEC_ARENA_NEW(c->arena, int64_t, window.n);
  for (int i = 0; i < window.n; ++i) {
    window.dilation[i] = 1;
  }
  if (!read_steps(c, call, 1, &window, &window.size) ||
      !read_steps(c, call, call->given[2] ? 2 : 1, &window, &window.stride) ||
      !read_padding(c, call, 3, &window)) {
    return tspec_cv_error();
  }
  int64_t *dims = tspec_arena_copy(c->arena, type.dims, sizeof(int64_t) * (size_t)type.rank);
  if (!slide(c, call, type, &window, dims)) {
    return tspec_cv_error();
  }
  type.dims = dims;
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 1, &x));
}
