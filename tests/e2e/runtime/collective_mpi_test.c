// Every collective on random meshes, sub-axes, shapes and dtypes, against index arithmetic done
// here: which element each rank must hold follows from the shardings alone.
#include <math.h>
#include <string.h>

#include "runtime/collective.h"
#include "tests/e2e/runtime/mpi_test.h"

enum { MAX_AXES = 4, MAX_PIECES = 12, MAX_RANK = 4, GUARD = 64 };

typedef struct case_tensor_t {
  tspec_image_dim_t dims[MAX_RANK];
  tspec_image_piece_t pieces[MAX_RANK][MAX_PIECES];
  tspec_rt_pieces_t splits[MAX_RANK];
  tspec_image_piece_t pending[MAX_PIECES];
  tspec_rt_tensor_t tensor;
} case_tensor_t;

typedef struct case_t {
  tspec_image_axis_t axes[MAX_AXES];
  tspec_rt_mesh_t mesh;
  int natoms;
  tspec_image_piece_t atoms[MAX_PIECES]; ///< the axes, some of them cut in two
  int place[2][MAX_PIECES];              ///< per atom, before and after: dim, -1 unused, -2 pending
  int rank;
  int64_t sizes[MAX_RANK];
  uint32_t kind;
  tspec_rt_dtype_t dtype;
  tspec_rt_reduce_t reduce;
  case_tensor_t from, to;
} case_t;

static const char *const kind_names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                         "all_to_all", "permute",    "all_slice"};

// ---- the oracle: coordinates and blocks -------------------------------------------------------

static int64_t coordinate(const case_t *c, const tspec_image_piece_t *piece, int64_t rank) {
  int64_t coordinates[MAX_AXES] = {0};
  for (int a = c->mesh.naxes - 1; a >= 0; --a) {
    coordinates[a] = rank % c->axes[a].size;
    rank /= c->axes[a].size;
  }
  int64_t rest = c->axes[piece->axis].size / piece->pre / piece->size;
  return coordinates[piece->axis] / rest % piece->size;
}

static int64_t flat(const case_t *c, tspec_rt_pieces_t pieces, int64_t rank) {
  int64_t number = 0;
  for (int i = 0; i < pieces.count; ++i) {
    number = number * pieces.pieces[i].size + coordinate(c, &pieces.pieces[i], rank);
  }
  return number;
}

static tspec_rt_box_t block_of(const case_t *c, const case_tensor_t *t, int64_t rank) {
  tspec_rt_box_t box = {.ndims = c->rank};
  for (int d = 0; d < c->rank; ++d) {
    int64_t k = 1;
    for (int i = 0; i < t->splits[d].count; ++i) {
      k *= t->splits[d].pieces[i].size;
    }
    int64_t chunk = (c->sizes[d] + k - 1) / k;
    int64_t begin = flat(c, t->splits[d], rank) * chunk;
    box.begin[d] = begin < c->sizes[d] ? begin : c->sizes[d];
    box.end[d] = begin + chunk < c->sizes[d] ? begin + chunk : c->sizes[d];
  }
  return box;
}

// ---- values -----------------------------------------------------------------------------------

// The value of element `index` in partial result `part`: small integers, so that every sum and
// product is exact (or wraps alike) in any order and dtype.
static int value_of(const case_t *c, int64_t index, int64_t part) {
  uint64_t mixed = (uint64_t)(index * 131 + part * 31 + 7) * 2654435761u >> 7;
  if (c->dtype == TSPEC_RT_BOOL) {
    return (int)(mixed % 3 != 0);
  }
  if (c->reduce == TSPEC_RT_PROD) {
    static const int factors[] = {1, 2, -1};
    return factors[mixed % 3];
  }
  return (int)(mixed % 7) - 3;
}

static void store(tspec_rt_dtype_t dtype, int value, char *out) {
  if (dtype == TSPEC_RT_U8 || dtype == TSPEC_RT_I8) {
    *out = (char)(unsigned char)value; // wraps
  } else {
    tspec_rt_dtype_store(dtype, value, out);
  }
}

static int combine(tspec_rt_reduce_t reduce, int a, int b) {
  if (reduce == TSPEC_RT_SUM || reduce == TSPEC_RT_PROD) {
    return reduce == TSPEC_RT_SUM ? a + b : a * b;
  }
  bool larger = reduce == TSPEC_RT_MAX || reduce == TSPEC_RT_ANY;
  return (a > b) == larger ? a : b;
}

// As the dtype sees it: u8 has no negative numbers.
static int seen(const case_t *c, int value) {
  return c->dtype == TSPEC_RT_U8 ? value & 0xff : value;
}

static int expected(const case_t *c, int64_t index, int64_t rank) {
  int total = 0;
  bool any = false;
  int64_t done[64];
  int ndone = 0;
  tspec_rt_pieces_t before = c->from.tensor.layout.pending;
  tspec_rt_pieces_t after = c->to.tensor.layout.pending;
  for (int64_t other = 0; other < c->mesh.nranks; ++other) {
    bool counts = flat(c, after, other) == flat(c, after, rank);
    int64_t part = flat(c, before, other);
    for (int i = 0; i < ndone; ++i) {
      counts = counts && done[i] != part;
    }
    if (counts) {
      int value = seen(c, value_of(c, index, part));
      total = any ? combine(c->reduce, total, value) : value;
      any = true;
      done[ndone++] = part;
    }
  }
  return total;
}

// Calls `visit` for each element of a box in row-major order with its number in the whole tensor.
static int64_t global_index(const case_t *c, const tspec_rt_box_t *box, int64_t number) {
  int64_t index[MAX_RANK];
  for (int d = c->rank - 1; d >= 0; --d) {
    int64_t extent = box->end[d] - box->begin[d];
    index[d] = box->begin[d] + number % extent;
    number /= extent;
  }
  int64_t flat_index = 0;
  for (int d = 0; d < c->rank; ++d) {
    flat_index = flat_index * c->sizes[d] + index[d];
  }
  return flat_index;
}

// ---- random cases -----------------------------------------------------------------------------

static void random_mesh(mpi_test_t *test, case_t *c) {
  int64_t left = test->comm->nranks;
  c->mesh = (tspec_rt_mesh_t){.axes = c->axes, .nranks = left};
  while (c->mesh.naxes < MAX_AXES - 1 && (left > 1 || mpi_test_random(test, 4) == 0)) {
    int64_t size = 1 + mpi_test_random(test, left);
    while (left % size != 0) {
      size -= 1;
    }
    c->axes[c->mesh.naxes++].size = size;
    left /= size;
  }
  if (left > 1) {
    c->axes[c->mesh.naxes++].size = left;
  }
  for (int a = 0; a < c->mesh.naxes; ++a) {
    int64_t size = c->axes[a].size;
    int64_t cut = 1 + mpi_test_random(test, size);
    if (cut > 1 && cut < size && size % cut == 0) {
      c->atoms[c->natoms++] = (tspec_image_piece_t){a, 1, cut};
      c->atoms[c->natoms++] = (tspec_image_piece_t){a, cut, size / cut};
    } else {
      c->atoms[c->natoms++] = (tspec_image_piece_t){a, 1, size};
    }
  }
}

// Lays the atoms out as `place` says. Dims list their atoms in a rotated order, so that minor axes
// come first, too.
static void make_tensor(case_t *c, const int *place, int rotation, int64_t self, case_tensor_t *t) {
  int npending = 0;
  for (int d = 0; d < c->rank; ++d) {
    int count = 0;
    for (int i = 0; i < c->natoms; ++i) {
      int atom = (i + rotation) % c->natoms;
      if (place[atom] == d) {
        t->pieces[d][count++] = c->atoms[atom];
      }
    }
    t->dims[d].size = c->sizes[d];
    t->splits[d] = (tspec_rt_pieces_t){count, t->pieces[d]};
  }
  for (int i = 0; i < c->natoms; ++i) {
    if (place[i] == -2) {
      t->pending[npending++] = c->atoms[i];
    }
  }
  t->tensor = (tspec_rt_tensor_t){
      .dtype = c->dtype,
      .layout = {c->rank, t->dims, t->splits, {npending, t->pending}},
  };
  t->tensor.box = block_of(c, t, self);
  t->tensor.elems = 1;
  for (int d = 0; d < c->rank; ++d) {
    t->tensor.elems *= t->tensor.box.end[d] - t->tensor.box.begin[d];
  }
  t->tensor.bytes = t->tensor.elems * tspec_rt_dtype_bytes(c->dtype);
}

static void random_places(mpi_test_t *test, case_t *c) {
  bool reduces = c->kind == TSPEC_IMAGE_ALL_REDUCE || c->kind == TSPEC_IMAGE_REDUCE_SCATTER;
  for (int i = 0; i < c->natoms; ++i) {
    int dim = (int)mpi_test_random(test, c->rank + 1) - 1;
    int other = (int)mpi_test_random(test, c->rank + 1) - 1;
    bool chosen = mpi_test_random(test, 3) != 0;
    bool kept_pending = mpi_test_random(test, 8) == 0;
    int before = dim;
    int after = dim;
    if (kept_pending) {
      before = after = -2;
    } else if (chosen && reduces) {
      before = -2;
      after = c->kind == TSPEC_IMAGE_REDUCE_SCATTER && c->rank > 0 ? other : -1;
    } else if (chosen && c->kind == TSPEC_IMAGE_ALL_GATHER) {
      after = -1;
    } else if (chosen && c->kind == TSPEC_IMAGE_ALL_SLICE) {
      before = -1;
    } else if (chosen && !reduces) {
      after = other;
    }
    c->place[0][i] = before;
    c->place[1][i] = after;
  }
}

static void random_case(mpi_test_t *test, case_t *c) {
  memset(c, 0, sizeof *c);
  random_mesh(test, c);
  c->kind = (uint32_t)mpi_test_random(test, 6);
  do {
    c->dtype = (tspec_rt_dtype_t)mpi_test_random(test, TSPEC_RT_DTYPE_COUNT);
    c->reduce = (tspec_rt_reduce_t)mpi_test_random(test, TSPEC_RT_REDUCE_COUNT);
  } while (!tspec_rt_reduce_fits(c->reduce, c->dtype));
  c->rank = (int)mpi_test_random(test, MAX_RANK + 1);
  bool large = mpi_test_random(test, 6) == 0;
  for (int d = 0; d < c->rank; ++d) {
    c->sizes[d] = mpi_test_random(test, 12) == 0 ? 0 : 1 + mpi_test_random(test, 9);
  }
  if (large && c->rank > 0 && c->rank < 3) {
    c->sizes[c->rank - 1] = 1000 + mpi_test_random(test, 30000);
  }
  random_places(test, c);
  int rotation = (int)mpi_test_random(test, c->natoms > 0 ? c->natoms : 1);
  bool turned = c->kind == TSPEC_IMAGE_PERMUTE || c->kind == TSPEC_IMAGE_ALL_TO_ALL;
  make_tensor(c, c->place[0], rotation, test->comm->rank, &c->from);
  make_tensor(c, c->place[1], turned ? 0 : rotation, test->comm->rank, &c->to);
}

// ---- one case ---------------------------------------------------------------------------------

// The communicator: the atoms that change place; if that leaves some rank short (uneven blocks that
// do not nest), all.
static tspec_rt_pieces_t choose_axes(const case_t *c, bool all, tspec_image_piece_t *out) {
  int count = 0;
  for (int i = 0; i < c->natoms; ++i) {
    if (all || c->place[0][i] != c->place[1][i]) {
      out[count++] = c->atoms[i];
    }
  }
  return (tspec_rt_pieces_t){count, out};
}

static tspec_comm_group_t *make_group(mpi_test_t *test, const case_t *c, tspec_rt_pieces_t axes) {
  int members[64];
  int count = 0;
  int self = test->comm->rank;
  int64_t size = 1;
  for (int i = 0; i < axes.count; ++i) {
    size *= axes.pieces[i].size;
  }
  for (int64_t at = 0; at < size; ++at) {
    for (int rank = 0; rank < test->comm->nranks; ++rank) {
      bool member = flat(c, axes, rank) == at;
      for (int i = 0; i < c->natoms; ++i) {
        bool inside = false;
        for (int j = 0; j < axes.count; ++j) {
          inside = inside || memcmp(&axes.pieces[j], &c->atoms[i], sizeof c->atoms[i]) == 0;
        }
        member = member &&
                 (inside || coordinate(c, &c->atoms[i], rank) == coordinate(c, &c->atoms[i], self));
      }
      if (member) {
        members[count++] = rank;
      }
    }
  }
  tspec_comm_group_t *group = NULL;
  MPI_CHECK(test, count == size, "%d members of %lld", count, (long long)size);
  tspec_rt_status_t status =
      test->comm->ops->group_create(test->comm, members, count, (int)flat(c, axes, self), &group);
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", test->comm->error);
  return group;
}

// True if the plan works on every rank.
static bool agree(mpi_test_t *test, bool mine) {
  int32_t all = mine;
  (void)test->comm->ops->allreduce(test->comm->world, &all, 1, TSPEC_RT_I32, TSPEC_RT_MIN);
  return all != 0;
}

static void check_result(mpi_test_t *test, const case_t *c, const char *to) {
  int64_t bytes = tspec_rt_dtype_bytes(c->dtype);
  for (int64_t i = 0; i < c->to.tensor.elems; ++i) {
    int64_t index = global_index(c, &c->to.tensor.box, i);
    char want[8];
    store(c->dtype, expected(c, index, test->comm->rank), want);
    bool same = memcmp(to + i * bytes, want, (size_t)bytes) == 0;
    MPI_CHECK(test, same, "%s of %s, %s: element %lld", kind_names[c->kind],
              tspec_rt_dtype_name(c->dtype), tspec_rt_reduce_name(c->reduce), (long long)index);
    if (!same) {
      break;
    }
  }
  for (int i = 0; i < GUARD; ++i) {
    MPI_CHECK(test, to[c->to.tensor.bytes + i] == 0x55, "%s wrote past its block",
              kind_names[c->kind]);
  }
}

static void run_plan(mpi_test_t *test, const case_t *c, const tspec_rt_collective_t *plan,
                     bool in_place) {
  int64_t elem_bytes = tspec_rt_dtype_bytes(c->dtype);
  char *from = malloc((size_t)(c->from.tensor.bytes + GUARD));
  char *to = in_place ? from : malloc((size_t)(c->to.tensor.bytes + GUARD));
  char *scratch = NULL;
  size_t room = (size_t)(plan->scratch_bytes + 64) / 64 * 64;
  if (posix_memalign((void **)&scratch, 64, room) != 0) {
    exit(1);
  }
  memset(to, 0x55, (size_t)(c->to.tensor.bytes + GUARD));
  int64_t part = flat(c, c->from.tensor.layout.pending, test->comm->rank);
  for (int64_t i = 0; i < c->from.tensor.elems; ++i) {
    int64_t index = global_index(c, &c->from.tensor.box, i);
    store(c->dtype, value_of(c, index, part), from + i * elem_bytes);
  }
  tspec_rt_status_t status = tspec_rt_collective_run(plan, from, to, scratch);
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", test->comm->error);
  check_result(test, c, to);
  if (!in_place) {
    free(to);
  }
  free(from);
  free(scratch);
}

// ---- several at once --------------------------------------------------------------------------

enum { MAX_JOINT = 4 };

/// The buffers of one tensor of a joint call, and of the same done by itself.
typedef struct joint_memory_t {
  char *from;
  char *to;
  char *alone;
} joint_memory_t;

// Another tensor for the same axes: other sizes, the dims turned, and where nothing is reduced
// another dtype.
static void vary_case(mpi_test_t *test, const case_t *like, case_t *c) {
  *c = *like;
  int turn = (int)mpi_test_random(test, c->rank > 0 ? c->rank : 1);
  for (int d = 0; d < c->rank; ++d) {
    c->sizes[d] = mpi_test_random(test, 12) == 0 ? 0 : 1 + mpi_test_random(test, 20);
  }
  for (int i = 0; i < c->natoms; ++i) {
    for (int side = 0; side < 2; ++side) {
      int place = c->place[side][i];
      c->place[side][i] = place >= 0 ? (place + turn) % c->rank : place;
    }
  }
  while (c->kind == TSPEC_IMAGE_ALL_GATHER) {
    c->dtype = (tspec_rt_dtype_t)mpi_test_random(test, TSPEC_RT_DTYPE_COUNT);
    if (tspec_rt_reduce_fits(c->reduce, c->dtype)) {
      break;
    }
  }
  int rotation = (int)mpi_test_random(test, c->natoms > 0 ? c->natoms : 1);
  make_tensor(c, c->place[0], rotation, test->comm->rank, &c->from);
  make_tensor(c, c->place[1], rotation, test->comm->rank, &c->to);
}

static void *allocate(int64_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, (size_t)(bytes + 64) / 64 * 64) != 0) {
    exit(1);
  }
  return memory;
}

// `thirds`: values that no float holds, so that the order of a sum shows.
static joint_memory_t make_memory(mpi_test_t *test, const case_t *c, bool in_place, bool thirds) {
  joint_memory_t memory = {.from = allocate(c->from.tensor.bytes + GUARD),
                           .alone = allocate(c->to.tensor.bytes + GUARD)};
  memory.to = in_place ? memory.from : allocate(c->to.tensor.bytes + GUARD);
  memset(memory.to, 0x55, (size_t)(c->to.tensor.bytes + GUARD));
  int64_t part = flat(c, c->from.tensor.layout.pending, test->comm->rank);
  for (int64_t i = 0; i < c->from.tensor.elems; ++i) {
    int value = value_of(c, global_index(c, &c->from.tensor.box, i), part);
    char *at = memory.from + i * tspec_rt_dtype_bytes(c->dtype);
    if (thirds) {
      tspec_rt_dtype_store(c->dtype, value / 3.0, at);
    } else {
      store(c->dtype, value, at);
    }
  }
  return memory;
}

static void run_joint(mpi_test_t *test, const case_t *cases, const tspec_rt_joint_t *joint,
                      const tspec_rt_collective_t *plans, bool in_place, bool thirds) {
  joint_memory_t memory[MAX_JOINT];
  void *from[MAX_JOINT];
  void *to[MAX_JOINT];
  for (int i = 0; i < joint->count; ++i) {
    memory[i] = make_memory(test, &cases[i], in_place, thirds);
    from[i] = memory[i].from;
    to[i] = memory[i].to;
    char *scratch = allocate(plans[i].scratch_bytes);
    tspec_rt_status_t status =
        tspec_rt_collective_run(&plans[i], from[i], memory[i].alone, scratch);
    MPI_CHECK(test, status == TSPEC_RT_OK, "%s", test->comm->error);
    free(scratch);
  }
  char *scratch = allocate(joint->scratch_bytes);
  tspec_rt_status_t status = tspec_rt_joint_run(joint, from, to, scratch);
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", test->comm->error);
  free(scratch);
  for (int i = 0; i < joint->count; ++i) {
    const tspec_rt_tensor_t *tensor = &cases[i].to.tensor;
    if (thirds) {
      MPI_CHECK(test, memcmp(memory[i].to, memory[i].alone, (size_t)tensor->bytes) == 0,
                "%s of %d: other bits than by itself", kind_names[cases[i].kind], joint->count);
    } else {
      check_result(test, &cases[i], memory[i].to);
    }
    if (!in_place) {
      free(memory[i].to);
    }
    free(memory[i].from);
    free(memory[i].alone);
  }
}

// The case and others like it in one call: the same results, the bytes of each added up.
static bool run_together(mpi_test_t *test, const case_t *c,
                         const tspec_rt_collective_spec_t *like) {
  static case_t cases[MAX_JOINT];
  tspec_rt_collective_spec_t specs[MAX_JOINT];
  tspec_rt_collective_t plans[MAX_JOINT];
  tspec_rt_pool_t pool = {0};
  tspec_rt_error_t error = {0};
  int count = 2 + (int)mpi_test_random(test, MAX_JOINT - 1);
  int64_t sent = 0;
  int64_t payload = 0;
  bool works = true;
  for (int i = 0; i < count; ++i) {
    vary_case(test, c, &cases[i]);
    specs[i] = *like;
    specs[i].from = &cases[i].from.tensor;
    specs[i].to = &cases[i].to.tensor;
    works = works && tspec_rt_collective_plan(&c->mesh, test->comm->rank, &specs[i], &pool, &error,
                                              &plans[i]) == TSPEC_RT_OK;
    sent += works ? plans[i].sent_bytes : 0;
    payload += cases[i].from.tensor.bytes;
  }
  works = agree(test, works);
  if (works) {
    tspec_rt_joint_t joint = {.count = count, .specs = specs};
    tspec_rt_status_t status =
        tspec_rt_joint_plan(&c->mesh, test->comm->rank, &pool, &error, &joint);
    MPI_CHECK(test, status == TSPEC_RT_OK, "%s of %d: %s", kind_names[c->kind], count, error.text);
    int64_t size = like->group->size;
    if (c->kind == TSPEC_IMAGE_ALL_REDUCE) {
      sent = (2 * (size - 1) * payload + size - 1) / size;
    }
    MPI_CHECK(test, joint.sent_bytes == sent, "%s of %d: %lld bytes, wanted %lld",
              kind_names[c->kind], count, (long long)joint.sent_bytes, (long long)sent);
    run_joint(test, cases, &joint, plans, false, false);
    if (c->kind == TSPEC_IMAGE_ALL_REDUCE) {
      run_joint(test, cases, &joint, plans, true, false);
    }
    if (like->deterministic && tspec_rt_dtype_is_float(c->dtype)) {
      run_joint(test, cases, &joint, plans, false, true);
    }
  }
  tspec_rt_pool_deinit(&pool);
  return works;
}

static void run_case(mpi_test_t *test, int64_t counts[6], int64_t joint_counts[3]) {
  static case_t c;
  random_case(test, &c);
  bool deterministic = mpi_test_random(test, 2) == 0;
  for (int all = 0; all < 2; ++all) {
    tspec_image_piece_t axes_memory[MAX_PIECES];
    tspec_rt_pieces_t axes = choose_axes(&c, all != 0, axes_memory);
    tspec_comm_group_t *group = make_group(test, &c, axes);
    tspec_rt_pool_t pool = {0};
    tspec_rt_error_t error = {0};
    tspec_rt_collective_t plan;
    tspec_rt_collective_spec_t spec = {.kind = c.kind,
                                       .reduce = c.reduce,
                                       .from = &c.from.tensor,
                                       .to = &c.to.tensor,
                                       .axes = axes,
                                       .group = group,
                                       .deterministic = deterministic};
    tspec_rt_status_t status =
        tspec_rt_collective_plan(&c.mesh, test->comm->rank, &spec, &pool, &error, &plan);
    bool works = agree(test, status == TSPEC_RT_OK);
    if (works) {
      run_plan(test, &c, &plan, false);
      if (c.kind == TSPEC_IMAGE_ALL_REDUCE) {
        run_plan(test, &c, &plan, true);
      }
      counts[c.kind] += 1;
      if (c.kind <= TSPEC_IMAGE_REDUCE_SCATTER && mpi_test_random(test, 3) == 0) {
        joint_counts[c.kind] += run_together(test, &c, &spec);
      }
    }
    // With all ranks in the communicator only a slice can lack anything: it receives nothing.
    MPI_CHECK(test, works || all == 0 || c.kind == TSPEC_IMAGE_ALL_SLICE, "%s: %s",
              kind_names[c.kind], error.text);
    test->comm->ops->group_destroy(group);
    tspec_rt_pool_deinit(&pool);
    if (works) {
      break;
    }
  }
}

int main(int argc, char **argv) {
  mpi_test_t test;
  mpi_test_start(&test, argc > 2 ? (uint64_t)atoll(argv[2]) : 20);
  int64_t counts[6] = {0};
  int64_t joint_counts[3] = {0};
  int64_t cases = argc > 1 ? atoll(argv[1]) : 400;
  for (int64_t i = 0; i < cases; ++i) {
    run_case(&test, counts, joint_counts);
  }
  for (int kind = 0; kind < 6; ++kind) {
    MPI_CHECK(&test, counts[kind] > cases / 50, "%s was tried %lld times only", kind_names[kind],
              (long long)counts[kind]);
  }
  for (int kind = 0; kind < 3; ++kind) {
    MPI_CHECK(&test, joint_counts[kind] > cases / 50, "%s of several: tried %lld times only",
              kind_names[kind], (long long)joint_counts[kind]);
  }
  return mpi_test_finish(&test, "collectives");
}
