#include "ir/shard/mesh.h"

#include <inttypes.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/base/str.h"

int64_t tspec_mesh_nranks(const tspec_mesh_t *mesh) {
  int64_t nranks = 1;
  for (int i = 0; i < mesh->naxes; i++) {
    nranks *= mesh->axes[i].size;
  }
  return nranks;
}

bool tspec_mesh_fits(const tspec_mesh_t *mesh) {
  int64_t nranks = 1;
  for (int i = 0; i < mesh->naxes; i++) {
    int64_t size = mesh->axes[i].size > 1 ? mesh->axes[i].size : 1;
    if (size > INT32_MAX / nranks) {
      return false;
    }
    nranks *= size;
  }
  return true;
}

int tspec_mesh_find(const tspec_mesh_t *mesh, const char *name) {
  for (int i = 0; i < mesh->naxes; i++) {
    if (strcmp(mesh->axes[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

int64_t tspec_mesh_coordinate(const tspec_mesh_t *mesh, int64_t rank, int axis) {
  int64_t stride = 1;
  for (int i = mesh->naxes - 1; i > axis; i--) {
    stride *= mesh->axes[i].size;
  }
  return (rank / stride) % mesh->axes[axis].size;
}

int64_t tspec_axis_coordinate(const tspec_mesh_t *mesh, int64_t rank, tspec_axis_t piece) {
  int64_t minor = mesh->axes[piece.axis].size / (piece.pre * piece.size);
  return (tspec_mesh_coordinate(mesh, rank, piece.axis) / minor) % piece.size;
}

tspec_axis_t tspec_axis_full(const tspec_mesh_t *mesh, int axis) {
  TSPEC_CHECK(axis >= 0 && axis < mesh->naxes);
  return (tspec_axis_t){.axis = axis, .pre = 1, .size = mesh->axes[axis].size};
}

bool tspec_axis_is_full(const tspec_mesh_t *mesh, tspec_axis_t piece) {
  return piece.size == mesh->axes[piece.axis].size;
}

bool tspec_axis_equal(tspec_axis_t a, tspec_axis_t b) {
  return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}

bool tspec_axis_overlap(tspec_axis_t a, tspec_axis_t b) {
  // An axis of size 1 covers nothing, but still stands for itself.
  return tspec_axis_equal(a, b) ||
         (a.axis == b.axis && a.pre < b.pre * b.size && b.pre < a.pre * a.size);
}

bool tspec_axis_can_coexist(tspec_axis_t a, tspec_axis_t b) {
  if (a.axis != b.axis) {
    return true;
  }
  // The four cuts, sorted, must divide one another.
  int64_t cuts[4] = {a.pre, a.pre * a.size, b.pre, b.pre * b.size};
  for (int i = 1; i < 4; i++) {
    for (int j = i; j > 0 && cuts[j] < cuts[j - 1]; j--) {
      int64_t cut = cuts[j];
      cuts[j] = cuts[j - 1];
      cuts[j - 1] = cut;
    }
  }
  return cuts[1] % cuts[0] == 0 && cuts[2] % cuts[1] == 0 && cuts[3] % cuts[2] == 0;
}

bool tspec_axis_clash(tspec_axis_t a, tspec_axis_t b) {
  return tspec_axis_overlap(a, b) || !tspec_axis_can_coexist(a, b);
}

bool tspec_axis_merge(tspec_axis_t a, tspec_axis_t b, tspec_axis_t *out_merged) {
  // The size test keeps an axis of size 1 from merging with itself.
  if (a.axis != b.axis || a.pre * a.size != b.pre || a.size == 1 || b.size == 1) {
    return false;
  }
  *out_merged = (tspec_axis_t){.axis = a.axis, .pre = a.pre, .size = a.size * b.size};
  return true;
}

int64_t tspec_axes_product(const tspec_axis_t *axes, int naxes) {
  int64_t product = 1;
  for (int i = 0; i < naxes; i++) {
    product *= axes[i].size;
  }
  return product;
}

const char *tspec_axes_print(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                             const tspec_axis_t *axes, int naxes) {
  tspec_buf_t buf = {0};
  for (int i = 0; i < naxes; i++) {
    tspec_buf_puts(&buf, i > 0 ? "*" : "");
    tspec_buf_puts(&buf, mesh->axes[axes[i].axis].name);
    if (!tspec_axis_is_full(mesh, axes[i])) {
      tspec_buf_printf(&buf, ":(%" PRId64 ")%" PRId64, axes[i].pre, axes[i].size);
    }
  }
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

const char *tspec_mesh_print(tspec_arena_t *arena, const tspec_mesh_t *mesh) {
  tspec_buf_t buf = {0};
  for (int i = 0; i < mesh->naxes; i++) {
    tspec_buf_printf(&buf, "%s%s=%" PRId64, i > 0 ? ", " : "", mesh->axes[i].name,
                     mesh->axes[i].size);
  }
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}
