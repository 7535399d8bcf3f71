#include "runtime/layout.h"

#include <string.h>

int64_t tspec_rt_mesh_coordinate(const tspec_rt_mesh_t *mesh, int64_t rank, int axis) {
  int64_t below = 1;
  for (int i = axis + 1; i < mesh->naxes; ++i) {
    below *= mesh->axes[i].size;
  }
  return rank / below % mesh->axes[axis].size;
}

int64_t tspec_rt_pieces_size(tspec_rt_pieces_t pieces) {
  int64_t size = 1;
  for (int i = 0; i < pieces.count; ++i) {
    size *= pieces.pieces[i].size;
  }
  return size;
}

// Ranks between neighbours along a piece.
static int64_t piece_stride(const tspec_rt_mesh_t *mesh, const tspec_image_piece_t *piece) {
  int64_t stride = mesh->axes[piece->axis].size / (piece->pre * piece->size);
  for (int64_t i = piece->axis + 1; i < mesh->naxes; ++i) {
    stride *= mesh->axes[i].size;
  }
  return stride;
}

int64_t tspec_rt_pieces_coordinate(const tspec_rt_mesh_t *mesh, tspec_rt_pieces_t pieces,
                                   int64_t rank) {
  int64_t coordinate = 0;
  for (int i = 0; i < pieces.count; ++i) {
    const tspec_image_piece_t *piece = &pieces.pieces[i];
    coordinate = coordinate * piece->size + rank / piece_stride(mesh, piece) % piece->size;
  }
  return coordinate;
}

int64_t tspec_rt_pieces_move(const tspec_rt_mesh_t *mesh, tspec_rt_pieces_t pieces, int64_t rank,
                             int64_t coordinate) {
  for (int i = pieces.count - 1; i >= 0; --i) {
    const tspec_image_piece_t *piece = &pieces.pieces[i];
    int64_t stride = piece_stride(mesh, piece);
    rank += (coordinate % piece->size - rank / stride % piece->size) * stride;
    coordinate /= piece->size;
  }
  return rank;
}

void tspec_rt_block(int64_t size, int64_t nblocks, int64_t index, int64_t *out_begin,
                    int64_t *out_end) {
  int64_t chunk = size / nblocks + (size % nblocks != 0);
  // index * chunk cannot overflow: it is below size + nblocks * 2
  int64_t begin = index * chunk;
  *out_begin = begin < size ? begin : size;
  *out_end = *out_begin + chunk < size ? *out_begin + chunk : size;
}

tspec_rt_box_t tspec_rt_layout_box(const tspec_rt_mesh_t *mesh, const tspec_rt_layout_t *layout,
                                   int64_t rank) {
  tspec_rt_box_t box = {.ndims = layout->ndims};
  for (int d = 0; d < layout->ndims; ++d) {
    tspec_rt_pieces_t split = layout->splits[d];
    tspec_rt_block(layout->dims[d].size, tspec_rt_pieces_size(split),
                   tspec_rt_pieces_coordinate(mesh, split, rank), &box.begin[d], &box.end[d]);
  }
  return box;
}

int64_t tspec_rt_layout_block_number(const tspec_rt_mesh_t *mesh, const tspec_rt_layout_t *layout,
                                     int64_t rank) {
  int64_t number = 0;
  for (int d = 0; d < layout->ndims; ++d) {
    tspec_rt_pieces_t split = layout->splits[d];
    number = number * tspec_rt_pieces_size(split) + tspec_rt_pieces_coordinate(mesh, split, rank);
  }
  return number;
}

tspec_rt_box_t tspec_rt_layout_whole(const tspec_rt_layout_t *layout) {
  tspec_rt_box_t box = {.ndims = layout->ndims};
  for (int d = 0; d < layout->ndims; ++d) {
    box.end[d] = layout->dims[d].size;
  }
  return box;
}

int64_t tspec_rt_box_elems(const tspec_rt_box_t *box) {
  int64_t elems = 1;
  for (int d = 0; d < box->ndims; ++d) {
    elems *= box->end[d] - box->begin[d];
  }
  return elems;
}

bool tspec_rt_box_equal(const tspec_rt_box_t *a, const tspec_rt_box_t *b) {
  for (int d = 0; d < a->ndims; ++d) {
    if (a->begin[d] != b->begin[d] || a->end[d] != b->end[d]) {
      return false;
    }
  }
  return true;
}

tspec_rt_box_t tspec_rt_box_intersect(const tspec_rt_box_t *a, const tspec_rt_box_t *b) {
  tspec_rt_box_t both = {.ndims = a->ndims};
  for (int d = 0; d < a->ndims; ++d) {
    both.begin[d] = a->begin[d] > b->begin[d] ? a->begin[d] : b->begin[d];
    both.end[d] = a->end[d] < b->end[d] ? a->end[d] : b->end[d];
    if (both.end[d] < both.begin[d]) {
      both.end[d] = both.begin[d];
    }
  }
  return both;
}

// Merges neighbouring dims that step alike on both sides, from the innermost out.
static void merge_dims(tspec_rt_copy_t *copy) {
  int ndims = copy->ndims;
  int first = ndims; // merged dims are [first, ndims) for now
  for (int d = ndims - 1; d >= 0; --d) {
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): the image's check bounds the dims
    if (copy->extent[d] == 1) {
      continue;
    }
    int64_t from_need = copy->run_bytes;
    int64_t to_need = copy->run_bytes;
    if (first < ndims) {
      from_need = copy->from_stride[first] * copy->extent[first];
      to_need = copy->to_stride[first] * copy->extent[first];
    }
    if (copy->from_stride[d] == from_need && copy->to_stride[d] == to_need) {
      if (first < ndims) {
        copy->extent[first] *= copy->extent[d];
      } else {
        copy->run_bytes *= copy->extent[d];
      }
      continue;
    }
    first -= 1;
    copy->extent[first] = copy->extent[d];
    copy->from_stride[first] = copy->from_stride[d];
    copy->to_stride[first] = copy->to_stride[d];
  }
  copy->ndims = ndims - first;
  size_t moved = (size_t)copy->ndims * sizeof copy->extent[0];
  memmove(copy->extent, copy->extent + first, moved);
  memmove(copy->from_stride, copy->from_stride + first, moved);
  memmove(copy->to_stride, copy->to_stride + first, moved);
}

tspec_rt_copy_t tspec_rt_copy_plan(const tspec_rt_box_t *from, const tspec_rt_box_t *to,
                                   const tspec_rt_box_t *part, int64_t elem_bytes) {
  return tspec_rt_copy_plan_window(from, NULL, to, part, elem_bytes);
}

tspec_rt_copy_t tspec_rt_copy_plan_window(const tspec_rt_box_t *from,
                                          const tspec_image_window_t *windows,
                                          const tspec_rt_box_t *to, const tspec_rt_box_t *part,
                                          int64_t elem_bytes) {
  tspec_rt_copy_t copy = {.ndims = part->ndims, .run_bytes = elem_bytes};
  if (tspec_rt_box_elems(part) == 0 || part->ndims > TSPEC_RT_MAX_DIMS) {
    return (tspec_rt_copy_t){0};
  }
  int64_t from_stride = elem_bytes;
  int64_t to_stride = elem_bytes;
  for (int d = part->ndims - 1; d >= 0 && d < TSPEC_RT_MAX_DIMS; --d) {
    int64_t begin = part->begin[d];
    int64_t step = 1;
    if (windows != NULL) {
      step = windows[d].step;
      begin = windows[d].start + (begin - windows[d].lo) * step;
    }
    copy.extent[d] = part->end[d] - part->begin[d];
    copy.from_stride[d] = copy.extent[d] > 1 ? from_stride * step : from_stride;
    copy.to_stride[d] = to_stride;
    copy.from_offset += (begin - from->begin[d]) * from_stride;
    copy.to_offset += (part->begin[d] - to->begin[d]) * to_stride;
    from_stride *= from->end[d] - from->begin[d];
    to_stride *= to->end[d] - to->begin[d];
  }
  merge_dims(&copy);
  return copy;
}

// The first index of the window that shows no element before `element`.
static int64_t first_shown(const tspec_image_window_t *window, int64_t element) {
  int64_t distance = element > window->start ? element - window->start : 0;
  int64_t steps = distance / window->step + (distance % window->step != 0);
  return window->lo + (steps < window->count ? steps : window->count);
}

tspec_rt_box_t tspec_rt_box_shown(const tspec_rt_box_t *box, const tspec_image_window_t *windows) {
  tspec_rt_box_t shown = *box;
  for (int d = 0; windows != NULL && d < box->ndims; ++d) {
    shown.begin[d] = first_shown(&windows[d], box->begin[d]);
    shown.end[d] = first_shown(&windows[d], box->end[d]);
  }
  return shown;
}

bool tspec_rt_copy_is_run(const tspec_rt_copy_t *copy) {
  return copy->ndims == 0;
}

// The innermost outer dim: `count` runs at fixed strides. Short runs are single elements; constant
// sizes become moves.
static void copy_row(const char *from, char *to, int64_t count, int64_t from_stride,
                     int64_t to_stride, int64_t bytes) {
#define COPY_ROW(size)                                                                             \
  for (int64_t i = 0; i < count; ++i) {                                                            \
    memcpy(to + i * to_stride, from + i * from_stride, (size));                                    \
  }                                                                                                \
  break
  switch (bytes) {
  case 1:
    COPY_ROW(1);
  case 2:
    COPY_ROW(2);
  case 4:
    COPY_ROW(4);
  case 8:
    COPY_ROW(8);
  default:
    COPY_ROW((size_t)bytes);
  }
#undef COPY_ROW
}

void tspec_rt_copy_execute(const tspec_rt_copy_t *copy, const void *from, void *to) {
  if (copy->run_bytes == 0) {
    return;
  }
  const char *source = (const char *)from + copy->from_offset;
  char *target = (char *)to + copy->to_offset;
  if (copy->ndims == 0) {
    memcpy(target, source, (size_t)copy->run_bytes);
    return;
  }
  int64_t index[TSPEC_RT_MAX_DIMS] = {0};
  int last = copy->ndims - 1;
  for (;;) {
    copy_row(source, target, copy->extent[last], copy->from_stride[last], copy->to_stride[last],
             copy->run_bytes);
    int d = last - 1;
    for (; d >= 0; --d) {
      source += copy->from_stride[d];
      target += copy->to_stride[d];
      if (++index[d] < copy->extent[d]) {
        break;
      }
      source -= copy->from_stride[d] * copy->extent[d];
      target -= copy->to_stride[d] * copy->extent[d];
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

bool tspec_rt_copy_for_each(const tspec_rt_copy_t *copy,
                            bool (*visit)(void *user, int64_t from_offset, int64_t to_offset,
                                          int64_t bytes),
                            void *user) {
  if (copy->run_bytes == 0) {
    return true;
  }
  int64_t index[TSPEC_RT_MAX_DIMS] = {0};
  int64_t from = copy->from_offset;
  int64_t to = copy->to_offset;
  for (;;) {
    if (!visit(user, from, to, copy->run_bytes)) {
      return false;
    }
    int d = copy->ndims - 1;
    for (; d >= 0; --d) {
      from += copy->from_stride[d];
      to += copy->to_stride[d];
      if (++index[d] < copy->extent[d]) {
        break;
      }
      from -= copy->from_stride[d] * copy->extent[d];
      to -= copy->to_stride[d] * copy->extent[d];
      index[d] = 0;
    }
    if (d < 0) {
      return true;
    }
  }
}
