#include "ir/shard/sharding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/shard/axes.h"

static const char *const reduce_names[TSPEC_REDUCE_COUNT] = {
    [TSPEC_REDUCE_SUM] = "sum",   [TSPEC_REDUCE_MAX] = "max", [TSPEC_REDUCE_MIN] = "min",
    [TSPEC_REDUCE_PROD] = "prod", [TSPEC_REDUCE_ALL] = "all", [TSPEC_REDUCE_ANY] = "any",
};

const char *tspec_reduce_name(tspec_reduce_t reduce) {
  TSPEC_CHECK(reduce >= 0 && reduce < TSPEC_REDUCE_COUNT);
  return reduce_names[reduce];
}

bool tspec_reduce_parse(const char *name, tspec_reduce_t *out_reduce) {
  for (int i = 0; i < TSPEC_REDUCE_COUNT; i++) {
    if (strcmp(reduce_names[i], name) == 0) {
      *out_reduce = (tspec_reduce_t)i;
      return true;
    }
  }
  return false;
}

static const tspec_sharding_t *unsplit(tspec_arena_t *arena, int rank, bool open) {
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, rank);
  for (int i = 0; i < rank; i++) {
    dims[i].open = open;
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = rank, .dims = dims};
  return sharding;
}

const tspec_sharding_t *tspec_sharding_replicated(tspec_arena_t *arena, int rank) {
  return unsplit(arena, rank, false);
}

const tspec_sharding_t *tspec_sharding_open(tspec_arena_t *arena, int rank) {
  return unsplit(arena, rank, true);
}

const tspec_sharding_t *tspec_sharding_close(tspec_arena_t *arena,
                                             const tspec_sharding_t *sharding) {
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, sharding->rank);
  for (int i = 0; i < sharding->rank; i++) {
    dims[i] = (tspec_dim_t){.naxes = sharding->dims[i].naxes, .axes = sharding->dims[i].axes};
  }
  tspec_sharding_t *closed = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *closed = *sharding;
  closed->dims = dims;
  closed->nreplicated = 0;
  closed->replicated = NULL;
  closed->said = NULL;
  return closed;
}

const tspec_sharding_t *tspec_sharding_complete(tspec_arena_t *arena,
                                                const tspec_sharding_t *sharding) {
  tspec_sharding_t *complete = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *complete = *sharding;
  complete->npending = 0;
  complete->pending = NULL;
  complete->pending_kind = TSPEC_REDUCE_SUM;
  return complete;
}

const tspec_sharding_t *tspec_sharding_with_pending(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                                    const tspec_sharding_t *sharding,
                                                    tspec_reduce_t kind, const tspec_axis_t *axes,
                                                    int naxes) {
  (void)mesh;
  tspec_sharding_t *pending = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *pending = *sharding;
  tspec_axis_t *sorted = tspec_arena_copy(arena, axes, sizeof *axes * (size_t)naxes);
  pending->npending = tspec_axes_sort(sorted, naxes);
  pending->pending = sorted;
  pending->pending_kind = naxes > 0 ? kind : TSPEC_REDUCE_SUM;
  return pending;
}

bool tspec_sharding_same_layout(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  if (a->rank != b->rank || a->pending_kind != b->pending_kind ||
      !tspec_axes_equal(a->pending, a->npending, b->pending, b->npending)) {
    return false;
  }
  for (int i = 0; i < a->rank; i++) {
    const tspec_dim_t *da = &a->dims[i];
    const tspec_dim_t *db = &b->dims[i];
    if (!tspec_axes_equal(da->axes, da->naxes, db->axes, db->naxes)) {
      return false;
    }
  }
  return true;
}

bool tspec_sharding_equal(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  if (!tspec_sharding_same_layout(a, b) ||
      !tspec_axes_equal(a->replicated, a->nreplicated, b->replicated, b->nreplicated)) {
    return false;
  }
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i].open != b->dims[i].open || a->dims[i].priority != b->dims[i].priority) {
      return false;
    }
  }
  return true;
}

bool tspec_sharding_is_replicated(const tspec_sharding_t *sharding) {
  for (int i = 0; i < sharding->rank; i++) {
    if (sharding->dims[i].naxes > 0) {
      return false;
    }
  }
  return sharding->npending == 0;
}

// ---- printing -----------------------------------------------------------------------------------

static void print_dim(tspec_buf_t *buf, tspec_arena_t *arena, const tspec_mesh_t *mesh,
                      const tspec_dim_t *dim) {
  if (dim->naxes > 0) {
    tspec_buf_puts(buf, tspec_axes_print(arena, mesh, dim->axes, dim->naxes));
  }
  if (dim->open) {
    tspec_buf_puts(buf, "?");
  } else if (dim->naxes == 0) {
    tspec_buf_puts(buf, "-");
    return;
  }
  if (dim->priority > 0) {
    tspec_buf_printf(buf, "!%d", dim->priority);
  }
}

const char *tspec_sharding_print(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                 const tspec_sharding_t *sharding) {
  tspec_buf_t buf = {0};
  tspec_buf_puts(&buf, "[");
  for (int i = 0; i < sharding->rank; i++) {
    tspec_buf_puts(&buf, i > 0 ? ", " : "");
    print_dim(&buf, arena, mesh, &sharding->dims[i]);
  }
  tspec_buf_puts(&buf, "]");
  if (sharding->npending > 0) {
    tspec_buf_printf(&buf, " %s(", tspec_reduce_name(sharding->pending_kind));
    for (int i = 0; i < sharding->npending; i++) {
      tspec_buf_printf(&buf, "%s%s", i > 0 ? ", " : "",
                       tspec_axes_print(arena, mesh, &sharding->pending[i], 1));
    }
    tspec_buf_puts(&buf, ")");
  }
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

// ---- checking -----------------------------------------------------------------------------------

/// Where a piece stands, for messages: a dim, or pending.
static const char *place_name(tspec_arena_t *arena, const tspec_sharding_t *sharding, int dim) {
  return dim < sharding->rank ? tspec_arena_printf(arena, "splits dim %d", dim)
                              : tspec_arena_printf(arena, "is pending in '%s'",
                                                   tspec_reduce_name(sharding->pending_kind));
}

static void report_twice(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding,
                         const tspec_axis_t pieces[2], const int places[2], tspec_about_t about,
                         tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  const char *first = tspec_axes_print(&arena, mesh, &pieces[0], 1);
  const char *second = tspec_axes_print(&arena, mesh, &pieces[1], 1);
  const char *fix =
      places[1] < sharding->rank
          ? tspec_arena_printf(&arena, "write '-' or another axis for dim %d", places[1])
          : "take it out of one of the two";
  if (tspec_axis_equal(pieces[0], pieces[1]) && places[0] == places[1]) {
    tspec_diag_error(diag, about.range, "mesh axis '%s' stands twice for %s of %s; write it once",
                     first,
                     places[0] < sharding->rank ? tspec_arena_printf(&arena, "dim %d", places[0])
                                                : "the pending axes",
                     about.what);
  } else if (tspec_axis_equal(pieces[0], pieces[1])) {
    tspec_diag_error(diag, about.range, "mesh axis '%s' %s and %s of %s; %s", first,
                     place_name(&arena, sharding, places[0]),
                     place_name(&arena, sharding, places[1]), about.what, fix);
  } else {
    tspec_diag_error(diag, about.range, "'%s' %s and '%s' %s of %s, but they %s; %s", first,
                     place_name(&arena, sharding, places[0]), second,
                     place_name(&arena, sharding, places[1]), about.what,
                     tspec_axis_overlap(pieces[0], pieces[1]) ? "overlap"
                                                              : "cut the axis in different ways",
                     fix);
  }
  tspec_arena_deinit(&arena);
}

static bool piece_fits(const tspec_mesh_t *mesh, tspec_axis_t piece) {
  int64_t size = mesh->axes[piece.axis].size;
  if (piece.pre == 1 && piece.size == size) {
    return true;
  }
  return piece.pre >= 1 && piece.size >= 2 && piece.size < size && piece.pre <= size &&
         piece.size <= size / piece.pre && size % (piece.pre * piece.size) == 0;
}

static bool check_piece(const tspec_mesh_t *mesh, tspec_axis_t piece, const char *what,
                        tspec_range_t range, tspec_diag_t *diag) {
  const tspec_mesh_axis_t *axis = &mesh->axes[piece.axis];
  if (piece_fits(mesh, piece)) {
    return true;
  }
  if (piece.pre == 1 && piece.size < 2) {
    tspec_diag_error(diag, range,
                     "'%s:(%" PRId64 ")%" PRId64 "' of %s is a piece of size %" PRId64
                     "; a piece has at least 2 parts",
                     axis->name, piece.pre, piece.size, what, piece.size);
  } else {
    tspec_diag_error(diag, range,
                     "'%s:(%" PRId64 ")%" PRId64 "' of %s is no piece of '%s', whose "
                     "size is %" PRId64 ": %" PRId64 " * %" PRId64 " must divide it",
                     axis->name, piece.pre, piece.size, what, axis->name, axis->size, piece.pre,
                     piece.size);
  }
  return false;
}

/// The pieces of dim `place`; the place after the last dim: pending.
static const tspec_axis_t *pieces_at(const tspec_sharding_t *sharding, int place, int *out_count) {
  if (place < sharding->rank) {
    *out_count = sharding->dims[place].naxes;
    return sharding->dims[place].axes;
  }
  *out_count = sharding->npending;
  return sharding->pending;
}

bool tspec_sharding_check(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding,
                          const char *what, tspec_range_t range, tspec_diag_t *diag) {
  for (int place = 0; place <= sharding->rank; place++) {
    int count = 0;
    const tspec_axis_t *pieces = pieces_at(sharding, place, &count);
    for (int i = 0; i < count; i++) {
      if (!check_piece(mesh, pieces[i], what, range, diag)) {
        return false;
      }
      for (int before = 0; before <= place; before++) {
        int nothers = 0;
        const tspec_axis_t *others = pieces_at(sharding, before, &nothers);
        for (int j = 0; j < (before == place ? i : nothers); j++) {
          if (tspec_axis_overlap(pieces[i], others[j]) ||
              !tspec_axis_can_coexist(pieces[i], others[j])) {
            report_twice(mesh, sharding, (tspec_axis_t[]){others[j], pieces[i]},
                         (int[]){before, place}, (tspec_about_t){what, range}, diag);
            return false;
          }
        }
      }
    }
  }
  return true;
}

// ---- blocks -------------------------------------------------------------------------------------

int64_t tspec_dim_nblocks(const tspec_dim_t *dim) {
  return tspec_axes_product(dim->axes, dim->naxes);
}

int64_t tspec_dim_block_index(const tspec_mesh_t *mesh, const tspec_dim_t *dim, int64_t rank) {
  int64_t index = 0;
  for (int i = 0; i < dim->naxes; i++) {
    index = index * dim->axes[i].size + tspec_axis_coordinate(mesh, rank, dim->axes[i]);
  }
  return index;
}

static int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

tspec_block_t tspec_block(int64_t size, int64_t nblocks, int64_t index) {
  int64_t length = ceil_div(size, nblocks);
  // length * index may pass size by far, but never overflows: index < nblocks.
  int64_t begin = length * index;
  int64_t end = begin + length;
  return (tspec_block_t){.begin = begin < size ? begin : size, .end = end < size ? end : size};
}

void tspec_sharding_blocks(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding,
                           tspec_type_t type, int64_t rank, tspec_block_t *out_blocks) {
  TSPEC_CHECK(sharding->rank == type.rank);
  for (int i = 0; i < type.rank; i++) {
    const tspec_dim_t *dim = &sharding->dims[i];
    out_blocks[i] =
        tspec_block(type.dims[i], tspec_dim_nblocks(dim), tspec_dim_block_index(mesh, dim, rank));
  }
}

tspec_type_t tspec_sharding_local_type(tspec_arena_t *arena, const tspec_sharding_t *sharding,
                                       tspec_type_t type) {
  TSPEC_CHECK(sharding->rank == type.rank);
  int64_t *dims = TSPEC_ARENA_NEW(arena, int64_t, type.rank);
  for (int i = 0; i < type.rank; i++) {
    dims[i] = ceil_div(type.dims[i], tspec_dim_nblocks(&sharding->dims[i]));
  }
  return (tspec_type_t){.dtype = type.dtype, .rank = type.rank, .dims = dims};
}

bool tspec_sharding_is_even(const tspec_sharding_t *sharding, tspec_type_t type) {
  for (int i = 0; i < type.rank; i++) {
    if (type.dims[i] % tspec_dim_nblocks(&sharding->dims[i]) != 0) {
      return false;
    }
  }
  return true;
}
