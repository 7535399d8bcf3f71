// Validation of an image. A damaged one must not lead to a stray read or write, so every offset and
// index is looked at once, here, and trusted afterwards.
#include <stdint.h>
#include <string.h>

#include "runtime/dtype.h"
#include "runtime/image_view.h"

// Elements of a tensor, and bytes of a buffer, stay far from overflow.
#define LARGEST (INT64_C(1) << 56)
#define NO_ARG (~0u)

typedef struct checker_t {
  const tspec_compiled_t *compiled;
  const tspec_image_t *image;
  tspec_rt_mesh_t mesh;
  tspec_rt_error_t *error;
} checker_t;

#define FAIL(checker, ...)                                                                         \
  tspec_rt_fail((checker)->error, TSPEC_RT_IMAGE, "program image: " __VA_ARGS__)

static tspec_rt_status_t check_span(checker_t *checker, tspec_image_span_t span, size_t record,
                                    size_t alignment, const char *what) {
  if (span.count == 0) {
    return TSPEC_RT_OK;
  }
  uint64_t end = (uint64_t)span.offset + (uint64_t)span.count * record;
  if (span.offset < sizeof(tspec_image_t) || span.offset % alignment != 0 ||
      end > checker->image->size_bytes) {
    return FAIL(checker, "%s at %u, %u of them, lie outside of its %llu bytes", what, span.offset,
                span.count, (unsigned long long)checker->image->size_bytes);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_string(checker_t *checker, tspec_image_string_t string) {
  if (string == 0) {
    return TSPEC_RT_OK;
  }
  const char *base = (const char *)checker->image;
  uint64_t size = checker->image->size_bytes;
  if (string < sizeof(tspec_image_t) || string >= size ||
      memchr(base + string, '\0', (size_t)(size - string)) == NULL) {
    return FAIL(checker, "the string at %u does not end inside", string);
  }
  return TSPEC_RT_OK;
}

static bool pieces_overlap(const tspec_image_piece_t *a, const tspec_image_piece_t *b) {
  return a->axis == b->axis && a->size > 1 && b->size > 1 && a->pre < b->pre * b->size &&
         b->pre < a->pre * a->size;
}

static tspec_rt_status_t check_pieces(checker_t *checker, tspec_image_span_t span) {
  TSPEC_RT_TRY(check_span(checker, span, sizeof(tspec_image_piece_t), 8, "pieces of axes"));
  const tspec_image_piece_t *pieces = tspec_rt_image_span(checker->image, span);
  for (uint32_t i = 0; i < span.count; ++i) {
    const tspec_image_piece_t *piece = &pieces[i];
    if (piece->axis < 0 || piece->axis >= checker->mesh.naxes) {
      return FAIL(checker, "a piece of axis %lld, the mesh has %d", (long long)piece->axis,
                  checker->mesh.naxes);
    }
    int64_t size = checker->mesh.axes[piece->axis].size;
    bool inside = piece->pre >= 1 && piece->size >= 1 && piece->pre <= size && piece->size <= size;
    if (!inside || size % (piece->pre * piece->size) != 0) {
      return FAIL(checker, "piece (%lld)%lld does not fit an axis of %lld", (long long)piece->pre,
                  (long long)piece->size, (long long)size);
    }
    for (uint32_t j = 0; j < i; ++j) {
      if (pieces_overlap(piece, &pieces[j])) {
        return FAIL(checker, "an axis stands twice in one list");
      }
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_mesh(checker_t *checker) {
  const tspec_image_t *image = checker->image;
  TSPEC_RT_TRY(check_span(checker, image->axes, sizeof(tspec_image_axis_t), 8, "axes"));
  checker->mesh.axes = tspec_rt_image_span(image, image->axes);
  checker->mesh.naxes = (int)image->axes.count;
  checker->mesh.nranks = 1;
  for (int i = 0; i < checker->mesh.naxes; ++i) {
    TSPEC_RT_TRY(check_string(checker, checker->mesh.axes[i].name));
    int64_t size = checker->mesh.axes[i].size;
    if (size < 1 || size > INT32_MAX || checker->mesh.nranks * size > INT32_MAX) {
      return FAIL(checker, "axis %d has size %lld", i, (long long)size);
    }
    checker->mesh.nranks *= size;
  }
  return TSPEC_RT_OK;
}

static bool lists_overlap(tspec_rt_pieces_t ones, tspec_rt_pieces_t others) {
  for (int i = 0; i < ones.count * others.count; ++i) {
    if (pieces_overlap(&ones.pieces[i / others.count], &others.pieces[i % others.count])) {
      return true;
    }
  }
  return false;
}

// No part of an axis may be used by two dims, or by a dim and a pending reduction.
static tspec_rt_status_t check_disjoint(checker_t *checker, const tspec_image_tensor_t *tensor) {
  const tspec_image_dim_t *dims = tspec_rt_image_span(checker->image, tensor->dims);
  for (uint32_t a = 0; a <= tensor->dims.count; ++a) {
    tspec_image_span_t one = a < tensor->dims.count ? dims[a].pieces : tensor->pending;
    for (uint32_t b = 0; b < a; ++b) {
      if (lists_overlap(tspec_rt_image_pieces(checker->image, one),
                        tspec_rt_image_pieces(checker->image, dims[b].pieces))) {
        return FAIL(checker, "a tensor uses a part of an axis twice");
      }
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_tensor(checker_t *checker, const tspec_image_tensor_t *tensor) {
  if (tensor->dtype >= TSPEC_RT_DTYPE_COUNT) {
    return FAIL(checker, "dtype %u is unknown", tensor->dtype);
  }
  TSPEC_RT_TRY(check_span(checker, tensor->dims, sizeof(tspec_image_dim_t), 8, "dims"));
  if (tensor->dims.count > TSPEC_RT_MAX_DIMS) {
    return FAIL(checker, "a tensor has %u dims, at most %d can be", tensor->dims.count,
                TSPEC_RT_MAX_DIMS);
  }
  const tspec_image_dim_t *dims = tspec_rt_image_span(checker->image, tensor->dims);
  int64_t elems = 1;
  for (uint32_t d = 0; d < tensor->dims.count; ++d) {
    TSPEC_RT_TRY(check_pieces(checker, dims[d].pieces));
    if (dims[d].size < 0 || __builtin_mul_overflow(elems, dims[d].size, &elems) ||
        elems > LARGEST) {
      return FAIL(checker, "a tensor is too large");
    }
  }
  TSPEC_RT_TRY(check_pieces(checker, tensor->pending));
  return check_disjoint(checker, tensor);
}

static const tspec_image_tensor_t *tensor_at(const checker_t *checker, uint32_t index) {
  const tspec_image_tensor_t *tensors =
      tspec_rt_image_span(checker->image, checker->image->tensors);
  return &tensors[index];
}

// Bytes of the largest block: rank 0's.
static int64_t largest_block_bytes(const checker_t *checker, const tspec_image_tensor_t *tensor) {
  const tspec_image_dim_t *dims = tspec_rt_image_span(checker->image, tensor->dims);
  int64_t bytes = tspec_rt_dtype_bytes((tspec_rt_dtype_t)tensor->dtype);
  for (uint32_t d = 0; d < tensor->dims.count; ++d) {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t nblocks = tspec_rt_pieces_size(tspec_rt_image_pieces(checker->image, dims[d].pieces));
    tspec_rt_block(dims[d].size, nblocks, 0, &begin, &end);
    bytes *= end - begin;
  }
  return bytes;
}

static tspec_rt_status_t check_params(checker_t *checker) {
  const tspec_image_t *image = checker->image;
  TSPEC_RT_TRY(check_span(checker, image->params, sizeof(tspec_image_param_t), 8, "parameters"));
  const tspec_image_param_t *params = tspec_rt_image_span(image, image->params);
  for (uint32_t i = 0; i < image->params.count; ++i) {
    TSPEC_RT_TRY(check_string(checker, params[i].path));
    if (params[i].tensor >= image->tensors.count || params[i].init > TSPEC_IMAGE_INIT_UNIFORM) {
      return FAIL(checker, "parameter %u is damaged", i);
    }
    if (tensor_at(checker, params[i].tensor)->pending.count != 0) {
      return FAIL(checker, "parameter '%s' is pending",
                  tspec_rt_image_string(image, params[i].path));
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_buffer(checker_t *checker, const tspec_image_entry_t *entry,
                                      const tspec_image_buffer_t *buffer) {
  const tspec_image_t *image = checker->image;
  const char *name = tspec_rt_image_string(image, entry->name);
  if (buffer->tensor >= image->tensors.count) {
    return FAIL(checker, "entry '%s': a buffer of tensor %u", name, buffer->tensor);
  }
  const tspec_image_tensor_t *tensor = tensor_at(checker, buffer->tensor);
  if (buffer->space == TSPEC_IMAGE_PARAM) {
    if (buffer->index < 0 || buffer->index >= (int64_t)image->params.count) {
      return FAIL(checker, "entry '%s': a buffer of parameter %lld", name,
                  (long long)buffer->index);
    }
    const tspec_image_param_t *params = tspec_rt_image_span(image, image->params);
    const tspec_image_tensor_t *param = tensor_at(checker, params[buffer->index].tensor);
    if (largest_block_bytes(checker, tensor) > largest_block_bytes(checker, param)) {
      return FAIL(checker, "entry '%s': a view larger than parameter '%s'", name,
                  tspec_rt_image_string(image, params[buffer->index].path));
    }
    return TSPEC_RT_OK;
  }
  int64_t alignment = tspec_rt_dtype_bytes((tspec_rt_dtype_t)tensor->dtype);
  bool inside = buffer->offset_bytes >= 0 && buffer->capacity_bytes >= 0 &&
                buffer->offset_bytes <= entry->arena_bytes &&
                buffer->capacity_bytes <= entry->arena_bytes - buffer->offset_bytes;
  if (buffer->space != TSPEC_IMAGE_ARENA || !inside || buffer->offset_bytes % alignment != 0 ||
      buffer->capacity_bytes < largest_block_bytes(checker, tensor)) {
    return FAIL(checker, "entry '%s': a buffer of %lld bytes at %lld, its arena has %lld", name,
                (long long)buffer->capacity_bytes, (long long)buffer->offset_bytes,
                (long long)entry->arena_bytes);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_slots(checker_t *checker, const tspec_image_entry_t *entry,
                                     tspec_image_span_t span, bool updates) {
  const tspec_image_t *image = checker->image;
  TSPEC_RT_TRY(check_span(checker, span, sizeof(tspec_image_slot_t), 8, "slots"));
  const tspec_image_slot_t *slots = tspec_rt_image_span(image, span);
  const tspec_image_buffer_t *buffers = tspec_rt_image_span(image, entry->buffers);
  const tspec_image_param_t *params = tspec_rt_image_span(image, image->params);
  for (uint32_t i = 0; i < span.count; ++i) {
    TSPEC_RT_TRY(check_string(checker, slots[i].name));
    if (slots[i].buffer >= entry->buffers.count) {
      return FAIL(checker, "a slot of buffer %u", slots[i].buffer);
    }
    const tspec_image_tensor_t *tensor = tensor_at(checker, buffers[slots[i].buffer].tensor);
    if (tensor->pending.count != 0) {
      return FAIL(checker, "'%s' is pending", tspec_rt_image_string(image, slots[i].name));
    }
    if (!updates) {
      continue;
    }
    if (slots[i].param < 0 || slots[i].param >= (int64_t)image->params.count) {
      return FAIL(checker, "an update of parameter %lld", (long long)slots[i].param);
    }
    const tspec_image_tensor_t *param = tensor_at(checker, params[slots[i].param].tensor);
    if (tensor->dtype != param->dtype ||
        largest_block_bytes(checker, tensor) != largest_block_bytes(checker, param)) {
      return FAIL(checker, "the update of '%s' has another type",
                  tspec_rt_image_string(image, params[slots[i].param].path));
    }
  }
  return TSPEC_RT_OK;
}

static const tspec_image_tensor_t *step_tensor(const checker_t *checker,
                                               const tspec_image_entry_t *entry,
                                               const tspec_image_step_t *step, uint32_t which) {
  const uint32_t *indices = tspec_rt_image_span(checker->image, step->buffers);
  const tspec_image_buffer_t *buffers = tspec_rt_image_span(checker->image, entry->buffers);
  return tensor_at(checker, buffers[indices[which]].tensor);
}

static tspec_rt_status_t check_kernel(checker_t *checker, const tspec_image_entry_t *entry,
                                      const tspec_image_step_t *step) {
  const tspec_image_t *image = checker->image;
  if (step->function >= checker->compiled->nkernels ||
      checker->compiled->kernels[step->function] == NULL) {
    return FAIL(checker, "kernel %u of %llu", step->function,
                (unsigned long long)checker->compiled->nkernels);
  }
  TSPEC_RT_TRY(check_span(checker, step->args, sizeof(tspec_image_arg_t), 8, "arguments"));
  if (step->range_arg != NO_ARG && step->range_arg >= step->args.count) {
    return FAIL(checker, "a range over argument %u of %u", step->range_arg, step->args.count);
  }
  const tspec_image_arg_t *args = tspec_rt_image_span(image, step->args);
  const tspec_image_buffer_t *buffers = tspec_rt_image_span(image, entry->buffers);
  for (uint32_t i = 0; i < step->args.count; ++i) {
    if (args[i].kind > TSPEC_IMAGE_ARG_ELEMS) {
      return FAIL(checker, "an argument of kind %u", args[i].kind);
    }
    if (args[i].kind == TSPEC_IMAGE_ARG_RANK_ON) {
      TSPEC_RT_TRY(check_pieces(checker, args[i].pieces));
      continue;
    }
    if (args[i].buffer >= entry->buffers.count ||
        args[i].dim >= tensor_at(checker, buffers[args[i].buffer].tensor)->dims.count) {
      return FAIL(checker, "an argument for dim %u of buffer %u", args[i].dim, args[i].buffer);
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_gemm(checker_t *checker, const tspec_image_entry_t *entry,
                                    const tspec_image_step_t *step) {
  if (step->buffers.count != 3) {
    return FAIL(checker, "a product of %u buffers", step->buffers.count);
  }
  const tspec_image_tensor_t *lhs = step_tensor(checker, entry, step, 0);
  const tspec_image_tensor_t *rhs = step_tensor(checker, entry, step, 1);
  const tspec_image_tensor_t *out = step_tensor(checker, entry, step, 2);
  uint64_t batch = step->nbatch;
  if (lhs->dims.count != batch + step->nm + step->nk ||
      rhs->dims.count != batch + step->nk + step->nn ||
      out->dims.count != batch + step->nm + step->nn || lhs->dtype != rhs->dtype) {
    return FAIL(checker, "a product whose dims do not fit");
  }
  return TSPEC_RT_OK;
}

static bool fits_window(const tspec_image_window_t *window, int64_t from_size, int64_t to_size) {
  if (window->lo < 0 || window->start < 0 || window->step < 1 || window->count < 0 ||
      window->lo > to_size || window->count > to_size - window->lo) {
    return false;
  }
  return window->count == 0 ||
         (window->start < from_size &&
          window->count - 1 <= (from_size - 1 - window->start) / window->step);
}

// Several tensors in one call: of kinds that do this, all of one dtype to reduce, and no more than
// can be counted.
static tspec_rt_status_t check_call(checker_t *checker, const tspec_image_entry_t *entry,
                                    const tspec_image_step_t *step) {
  const tspec_image_tensor_t *first = step_tensor(checker, entry, step, 0);
  int64_t bytes = 0;
  bool fits = step->collective <= TSPEC_IMAGE_REDUCE_SCATTER;
  for (uint32_t i = 0; fits && i < step->buffers.count; ++i) {
    const tspec_image_tensor_t *tensor = step_tensor(checker, entry, step, i);
    bytes += largest_block_bytes(checker, tensor);
    fits = bytes <= LARGEST &&
           (step->collective == TSPEC_IMAGE_ALL_GATHER || tensor->dtype == first->dtype);
  }
  return fits ? TSPEC_RT_OK : FAIL(checker, "a call of tensors that do not fit");
}

// Operand `index` of a collective against its result.
static tspec_rt_status_t check_operand(checker_t *checker, const tspec_image_entry_t *entry,
                                       const tspec_image_step_t *step, uint32_t index) {
  const tspec_image_tensor_t *from = step_tensor(checker, entry, step, index);
  uint32_t result =
      step->windows.count == 0 ? step->buffers.count / 2 + index : step->buffers.count - 1;
  const tspec_image_tensor_t *to = step_tensor(checker, entry, step, result);
  const tspec_image_dim_t *from_dims = tspec_rt_image_span(checker->image, from->dims);
  const tspec_image_dim_t *to_dims = tspec_rt_image_span(checker->image, to->dims);
  const tspec_image_window_t *windows = tspec_rt_image_span(checker->image, step->windows);
  bool fits = from->dtype == to->dtype && from->dims.count == to->dims.count;
  for (uint32_t d = 0; fits && d < to->dims.count; ++d) {
    fits = step->windows.count == 0 ? from_dims[d].size == to_dims[d].size
                                    : fits_window(&windows[(size_t)index * to->dims.count + d],
                                                  from_dims[d].size, to_dims[d].size);
  }
  return fits ? TSPEC_RT_OK : FAIL(checker, "a collective between tensors that do not fit");
}

static tspec_rt_status_t check_collective(checker_t *checker, const tspec_image_entry_t *entry,
                                          const tspec_image_step_t *step) {
  TSPEC_RT_TRY(check_pieces(checker, step->axes));
  TSPEC_RT_TRY(check_span(checker, step->windows, sizeof(tspec_image_window_t), 8, "windows"));
  bool has_parts = step->windows.count > 0;
  bool places =
      step->collective == TSPEC_IMAGE_PERMUTE || step->collective == TSPEC_IMAGE_ALL_SLICE;
  if (step->buffers.count < 2 || step->collective > TSPEC_IMAGE_ALL_SLICE ||
      (has_parts && !places) ||
      (!has_parts && (step->buffers.count % 2 != 0 || step->fills != 0))) {
    return FAIL(checker, "a collective of kind %u", step->collective);
  }
  const tspec_image_tensor_t *to = step_tensor(checker, entry, step, step->buffers.count - 1);
  uint64_t noperands = has_parts ? step->buffers.count - 1 : step->buffers.count / 2;
  if (!has_parts && noperands > 1) {
    TSPEC_RT_TRY(check_call(checker, entry, step));
  }
  if (has_parts && step->windows.count != noperands * to->dims.count) {
    return FAIL(checker, "a collective of %u windows", step->windows.count);
  }
  for (uint32_t i = 0; i < noperands; ++i) {
    TSPEC_RT_TRY(check_operand(checker, entry, step, i));
  }
  bool reduces =
      step->collective == TSPEC_IMAGE_ALL_REDUCE || step->collective == TSPEC_IMAGE_REDUCE_SCATTER;
  if (reduces &&
      (step->reduce >= TSPEC_RT_REDUCE_COUNT ||
       !tspec_rt_reduce_fits((tspec_rt_reduce_t)step->reduce, (tspec_rt_dtype_t)to->dtype))) {
    return FAIL(checker, "a reduction of kind %u on %s", step->reduce,
                tspec_rt_dtype_name((tspec_rt_dtype_t)to->dtype));
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_step(checker_t *checker, const tspec_image_entry_t *entry,
                                    const tspec_image_step_t *step) {
  TSPEC_RT_TRY(check_string(checker, step->what));
  TSPEC_RT_TRY(check_string(checker, step->where));
  TSPEC_RT_TRY(check_span(checker, step->buffers, sizeof(uint32_t), 4, "buffers of a step"));
  const uint32_t *indices = tspec_rt_image_span(checker->image, step->buffers);
  for (uint32_t i = 0; i < step->buffers.count; ++i) {
    if (indices[i] >= entry->buffers.count) {
      return FAIL(checker, "a step with buffer %u of %u", indices[i], entry->buffers.count);
    }
  }
  switch (step->kind) {
  case TSPEC_IMAGE_KERNEL:
    return check_kernel(checker, entry, step);
  case TSPEC_IMAGE_GEMM:
    return check_gemm(checker, entry, step);
  case TSPEC_IMAGE_COLLECTIVE:
    return check_collective(checker, entry, step);
  default:
    return FAIL(checker, "a step of kind %u", step->kind);
  }
}

static tspec_rt_status_t check_entry(checker_t *checker, const tspec_image_entry_t *entry) {
  const tspec_image_t *image = checker->image;
  TSPEC_RT_TRY(check_string(checker, entry->name));
  if (entry->arena_bytes < 0 || entry->arena_bytes > LARGEST) {
    return FAIL(checker, "an arena of %lld bytes", (long long)entry->arena_bytes);
  }
  TSPEC_RT_TRY(check_span(checker, entry->buffers, sizeof(tspec_image_buffer_t), 8, "buffers"));
  const tspec_image_buffer_t *buffers = tspec_rt_image_span(image, entry->buffers);
  for (uint32_t i = 0; i < entry->buffers.count; ++i) {
    TSPEC_RT_TRY(check_buffer(checker, entry, &buffers[i]));
  }
  TSPEC_RT_TRY(check_slots(checker, entry, entry->inputs, false));
  TSPEC_RT_TRY(check_slots(checker, entry, entry->results, false));
  TSPEC_RT_TRY(check_slots(checker, entry, entry->updates, true));
  TSPEC_RT_TRY(check_span(checker, entry->steps, sizeof(tspec_image_step_t), 8, "steps"));
  const tspec_image_step_t *steps = tspec_rt_image_span(image, entry->steps);
  for (uint32_t i = 0; i < entry->steps.count; ++i) {
    TSPEC_RT_TRY(check_step(checker, entry, &steps[i]));
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t check_header(checker_t *checker) {
  const tspec_image_t *image = checker->image;
  if (image == NULL || memcmp(image->magic, TSPEC_IMAGE_MAGIC, sizeof image->magic) != 0) {
    return FAIL(checker, "it does not begin with '%s'", TSPEC_IMAGE_MAGIC);
  }
  if (image->version != TSPEC_IMAGE_VERSION) {
    return FAIL(checker, "it has version %u, this runtime reads %u", image->version,
                TSPEC_IMAGE_VERSION);
  }
  if (image->size_bytes < sizeof *image || image->size_bytes > UINT32_MAX ||
      (uintptr_t)image % 8 != 0) {
    return FAIL(checker, "its size is %llu", (unsigned long long)image->size_bytes);
  }
  if (checker->compiled->nkernels != 0 && checker->compiled->kernels == NULL) {
    return FAIL(checker, "it has no kernels");
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_image_check(const tspec_compiled_t *compiled, tspec_rt_error_t *error) {
  checker_t checker = {.compiled = compiled, .image = compiled->image, .error = error};
  TSPEC_RT_TRY(check_header(&checker));
  const tspec_image_t *image = compiled->image;
  TSPEC_RT_TRY(check_string(&checker, image->name));
  TSPEC_RT_TRY(check_string(&checker, image->cpu));
  TSPEC_RT_TRY(check_string(&checker, image->features));
  TSPEC_RT_TRY(check_string(&checker, image->compiler));
  TSPEC_RT_TRY(check_mesh(&checker));
  TSPEC_RT_TRY(check_span(&checker, image->tensors, sizeof(tspec_image_tensor_t), 8, "tensors"));
  const tspec_image_tensor_t *tensors = tspec_rt_image_span(image, image->tensors);
  for (uint32_t i = 0; i < image->tensors.count; ++i) {
    TSPEC_RT_TRY(check_tensor(&checker, &tensors[i]));
  }
  TSPEC_RT_TRY(check_params(&checker));
  TSPEC_RT_TRY(check_span(&checker, image->entries, sizeof(tspec_image_entry_t), 8, "entries"));
  const tspec_image_entry_t *entries = tspec_rt_image_span(image, image->entries);
  for (uint32_t i = 0; i < image->entries.count; ++i) {
    TSPEC_RT_TRY(check_entry(&checker, &entries[i]));
  }
  return TSPEC_RT_OK;
}
