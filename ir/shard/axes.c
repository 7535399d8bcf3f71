#include "ir/shard/axes.h"

#include <string.h>

int64_t tspec_axis_next(tspec_axis_t piece) {
  return piece.pre * piece.size;
}

bool tspec_axis_contains(tspec_axis_t outer, tspec_axis_t inner) {
  return outer.axis == inner.axis && inner.pre >= outer.pre && inner.pre % outer.pre == 0 &&
         tspec_axis_next(outer) >= tspec_axis_next(inner) &&
         tspec_axis_next(outer) % tspec_axis_next(inner) == 0;
}

bool tspec_axis_is_prefix(tspec_axis_t piece, tspec_axis_t whole) {
  return piece.pre == whole.pre && tspec_axis_contains(whole, piece);
}

bool tspec_axis_is_strict_prefix(tspec_axis_t piece, tspec_axis_t whole) {
  return piece.size != whole.size && tspec_axis_is_prefix(piece, whole);
}

bool tspec_axis_prefix_without(tspec_axis_t piece, tspec_axis_t other, tspec_axis_t *out_prefix) {
  if (!tspec_axis_can_coexist(piece, other)) {
    return false;
  }
  if (!tspec_axis_overlap(piece, other)) {
    *out_prefix = piece;
    return true;
  }
  if (other.pre <= piece.pre || other.pre % piece.pre != 0 ||
      piece.size % (other.pre / piece.pre) != 0) {
    return false;
  }
  *out_prefix = tspec_axis_major(piece, other.pre / piece.pre);
  return true;
}

bool tspec_axis_prefix_without_all(tspec_axis_t piece, const tspec_axis_t *others, int nothers,
                                   tspec_axis_t *out_prefix) {
  *out_prefix = piece;
  for (int i = 0; i < nothers; i++) {
    if (!tspec_axis_prefix_without(*out_prefix, others[i], out_prefix)) {
      return false;
    }
  }
  return true;
}

bool tspec_axis_intersect(tspec_axis_t a, tspec_axis_t b, tspec_axis_t *out_part) {
  if (!tspec_axis_overlap(a, b)) {
    return false;
  }
  int64_t pre = a.pre > b.pre ? a.pre : b.pre;
  int64_t next = tspec_axis_next(a) < tspec_axis_next(b) ? tspec_axis_next(a) : tspec_axis_next(b);
  *out_part = (tspec_axis_t){.axis = a.axis, .pre = pre, .size = next / pre};
  return true;
}

tspec_axis_t tspec_axis_major(tspec_axis_t piece, int64_t size) {
  return (tspec_axis_t){.axis = piece.axis, .pre = piece.pre, .size = size};
}

tspec_axis_t tspec_axis_minor(tspec_axis_t piece, int64_t size) {
  return (tspec_axis_t){.axis = piece.axis, .pre = piece.pre * (piece.size / size), .size = size};
}

int tspec_axis_compare(tspec_axis_t a, tspec_axis_t b) {
  if (a.axis != b.axis) {
    return a.axis < b.axis ? -1 : 1;
  }
  if (a.pre != b.pre) {
    return a.pre < b.pre ? -1 : 1;
  }
  return a.size == b.size ? 0 : (a.size < b.size ? -1 : 1);
}

void tspec_axes_push(tspec_axis_t *axes, int *naxes, tspec_axis_t piece) {
  if (*naxes == 0 || !tspec_axis_merge(axes[*naxes - 1], piece, &axes[*naxes - 1])) {
    axes[(*naxes)++] = piece;
  }
}

void tspec_axes_copy(tspec_axis_t *to, const tspec_axis_t *from, int naxes) {
  if (naxes > 0) {
    memmove(to, from, sizeof *to * (size_t)naxes);
  }
}

bool tspec_axes_equal(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb) {
  if (na != nb) {
    return false;
  }
  for (int i = 0; i < na; i++) {
    if (!tspec_axis_equal(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

bool tspec_axes_is_prefix(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb) {
  if (na > nb) {
    return false;
  }
  for (int i = 0; i + 1 < na; i++) {
    if (!tspec_axis_equal(a[i], b[i])) {
      return false;
    }
  }
  return na == 0 || tspec_axis_is_prefix(a[na - 1], b[na - 1]);
}

bool tspec_axes_is_strict_prefix(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb) {
  return tspec_axes_is_prefix(a, na, b, nb) && !tspec_axes_equal(a, na, b, nb);
}

int tspec_axes_sort(tspec_axis_t *axes, int naxes) {
  for (int i = 1; i < naxes; i++) {
    tspec_axis_t piece = axes[i];
    int j = i;
    for (; j > 0 && tspec_axis_compare(piece, axes[j - 1]) < 0; j--) {
      axes[j] = axes[j - 1];
    }
    axes[j] = piece;
  }
  int count = 0;
  for (int i = 0; i < naxes; i++) {
    tspec_axes_push(axes, &count, axes[i]);
  }
  return count;
}

bool tspec_axes_overlap(const tspec_axis_t *axes, int naxes, tspec_axis_t piece) {
  for (int i = 0; i < naxes; i++) {
    if (tspec_axis_overlap(axes[i], piece)) {
      return true;
    }
  }
  return false;
}

int tspec_mesh_max_pieces(const tspec_mesh_t *mesh) {
  int count = 0;
  for (int i = 0; i < mesh->naxes; i++) {
    int pieces = 1;
    for (int64_t size = mesh->axes[i].size; size > 3; size /= 2) {
      pieces++;
    }
    count += pieces;
  }
  return count;
}
