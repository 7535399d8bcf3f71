#include "ir/eval/init.h"
#include "ir/shard/axes.h"
#include "tests/property/reshards.h"

enum { MAX_AXES = 4, MAX_PIECES = 2 * MAX_AXES };

int64_t reshard_draw(reshard_case_t *c, int64_t below) {
  return (int64_t)(tspec_init_bits(c->seed, 0, c->draws++) >> 33) % below;
}

static void draw_mesh(reshard_case_t *c) {
  static const char *const names[MAX_AXES] = {"a", "b", "c", "d"};
  static const int64_t sizes[] = {2, 3, 4, 5, 6, 8};
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(c->arena, tspec_mesh_axis_t, MAX_AXES);
  bool small = reshard_draw(c, 2) == 0;
  int wanted = 1 + (int)reshard_draw(c, MAX_AXES);
  c->mesh = (tspec_mesh_t){0, axes};
  c->nranks = 1;
  for (int i = 0; i < wanted; i++) {
    int64_t size = sizes[reshard_draw(c, 6)];
    if (!small || c->nranks * size <= RESHARDS_EVAL_RANKS) {
      axes[c->mesh.naxes] = (tspec_mesh_axis_t){names[c->mesh.naxes], size, 0};
      c->mesh.naxes++;
      c->nranks *= size;
    }
  }
}

// A third is a multiple of sizes of axes, a third any number, a third smaller than most axes.
static int64_t draw_dim(reshard_case_t *c) {
  int64_t size = 1;
  switch (reshard_draw(c, 3)) {
  case 0:
    for (int i = 0; i < c->mesh.naxes; i++) {
      size *= reshard_draw(c, 2) == 0 ? c->mesh.axes[i].size : 1;
    }
    return size * (1 + reshard_draw(c, 3));
  case 1:
    return 1 + reshard_draw(c, 40);
  default:
    return 1 + reshard_draw(c, 6);
  }
}

static void draw_type(reshard_case_t *c) {
  int64_t most = c->nranks <= RESHARDS_EVAL_RANKS ? 1200 : 1 << 20;
  int64_t dims[RESHARDS_MAX_RANK];
  int64_t nelems = 1;
  int rank = 1 + (int)reshard_draw(c, RESHARDS_MAX_RANK);
  for (int d = 0; d < rank; d++) {
    dims[d] = draw_dim(c);
    while (nelems * dims[d] > most) {
      dims[d] = (dims[d] + 1) / 2;
    }
    nelems *= dims[d];
  }
  c->type = tspec_type_make(c->arena, TSPEC_DTYPE_F32, rank, dims);
}

// Each axis whole or, one in four, cut in two.
static int draw_pieces(reshard_case_t *c, tspec_axis_t *out_pieces) {
  int count = 0;
  for (int i = 0; i < c->mesh.naxes; i++) {
    int64_t size = c->mesh.axes[i].size;
    int64_t major = 2 + reshard_draw(c, size);
    tspec_axis_t whole = tspec_axis_full(&c->mesh, i);
    if (reshard_draw(c, 4) == 0 && major < size && size % major == 0) {
      out_pieces[count++] = tspec_axis_major(whole, major);
      out_pieces[count++] = tspec_axis_minor(whole, size / major);
    } else {
      out_pieces[count++] = whole;
    }
  }
  return count;
}

static const tspec_sharding_t *draw_sharding(reshard_case_t *c, bool may_pend) {
  int rank = c->type.rank;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, rank);
  tspec_axis_t *lists[RESHARDS_MAX_RANK + 1];
  int counts[RESHARDS_MAX_RANK + 1] = {0};
  tspec_axis_t pieces[MAX_PIECES];
  int npieces = draw_pieces(c, pieces);
  for (int d = 0; d <= rank; d++) {
    lists[d] = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, MAX_PIECES);
  }
  while (npieces > 0) {
    int i = (int)reshard_draw(c, npieces);
    int64_t where = reshard_draw(c, rank + 2);
    if (where < rank || (where == rank && may_pend)) {
      tspec_axes_push(lists[where], &counts[where], pieces[i]);
    }
    pieces[i] = pieces[--npieces];
  }
  for (int d = 0; d < rank; d++) {
    dims[d].axes = lists[d];
    dims[d].naxes = counts[d];
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  sharding->rank = rank;
  sharding->dims = dims;
  return tspec_sharding_with_pending(c->arena, &c->mesh, sharding,
                                     (tspec_reduce_t)reshard_draw(c, 3), lists[rank], counts[rank]);
}

void reshard_draw_case(reshard_case_t *c) {
  draw_mesh(c);
  draw_type(c);
  int64_t pending = reshard_draw(c, 6); // one in three starts pending, one in six ends so
  c->from = draw_sharding(c, pending <= 1);
  c->to = draw_sharding(c, pending == 1);
}
