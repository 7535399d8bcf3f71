#include "ir/shard/cuts.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

static bool add_cut(tspec_cuts_t *cuts, int64_t cut) {
  int i = cuts->count;
  while (i > 0 && cuts->at[i - 1] > cut) {
    i--;
  }
  if (i > 0 && cuts->at[i - 1] == cut) {
    return true;
  }
  if ((i > 0 && cut % cuts->at[i - 1] != 0) || (i < cuts->count && cuts->at[i] % cut != 0)) {
    return false;
  }
  TSPEC_CHECK(cuts->count <= TSPEC_MAX_ATOMS);
  memmove(&cuts->at[i + 1], &cuts->at[i], sizeof *cuts->at * (size_t)(cuts->count - i));
  cuts->at[i] = cut;
  cuts->count++;
  return true;
}

bool tspec_cuts_add(tspec_cuts_t *cuts, int axis, const tspec_axis_t *pieces, int npieces) {
  for (int i = 0; i < npieces; i++) {
    if (pieces[i].axis == axis &&
        !(add_cut(cuts, pieces[i].pre) && add_cut(cuts, tspec_axis_next(pieces[i])))) {
      return false;
    }
  }
  return true;
}

bool tspec_cuts_add_dims(tspec_cuts_t *cuts, int axis, const tspec_sharding_t *sharding) {
  for (int d = 0; d < sharding->rank; d++) {
    if (!tspec_cuts_add(cuts, axis, sharding->dims[d].axes, sharding->dims[d].naxes)) {
      return false;
    }
  }
  return true;
}

int tspec_cuts_apply(const tspec_cuts_t *cuts, tspec_axis_t piece, tspec_axis_t *out_atoms) {
  int count = 0;
  int64_t at = piece.pre;
  for (int c = 0; c < cuts->count; c++) {
    if (cuts->at[c] > at && cuts->at[c] <= tspec_axis_next(piece)) {
      out_atoms[count++] = (tspec_axis_t){piece.axis, at, cuts->at[c] / at};
      at = cuts->at[c];
    }
  }
  return count;
}

bool tspec_axes_subtract(const tspec_axis_t *pieces, int npieces, const tspec_axis_t *others,
                         int nothers, tspec_axis_t *out_rest, int *count) {
  for (int i = 0; i < npieces; i++) {
    tspec_cuts_t cuts = {0};
    if (!tspec_cuts_add(&cuts, pieces[i].axis, &pieces[i], 1) ||
        !tspec_cuts_add(&cuts, pieces[i].axis, others, nothers)) {
      return false;
    }
    tspec_axis_t atoms[TSPEC_MAX_ATOMS];
    int natoms = tspec_cuts_apply(&cuts, pieces[i], atoms);
    for (int a = 0; a < natoms; a++) {
      if (!tspec_axes_overlap(others, nothers, atoms[a])) {
        out_rest[(*count)++] = atoms[a];
      }
    }
  }
  return true;
}
