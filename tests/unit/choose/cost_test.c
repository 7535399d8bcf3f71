#include "ir/shard/cost.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ir/base/diag.h"

// Every number below is worked out by hand from design.md's convention.

typedef struct setting_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
} setting_t;

static const tspec_mesh_axis_t xy_axes[] = {{"x", 2, 0}, {"y", 4, 0}};
static const tspec_mesh_t xy = {2, xy_axes};
static const tspec_axis_t along_x[] = {{0, 1, 2}};
static const tspec_axis_t along_y[] = {{1, 1, 4}};
static const tspec_axis_t along_xy[] = {{0, 1, 2}, {1, 1, 4}};

typedef struct request_t {
  tspec_collective_t kind;
  const tspec_axis_t *axes;
  int naxes;
  const char *from;
  const char *to;
} request_t;

static int64_t cost_on(const tspec_mesh_t *mesh, tspec_dtype_t dtype, int rank, const int64_t *dims,
                       request_t request) {
  setting_t setting = {0};
  tspec_arena_init(&setting.arena);
  tspec_sources_init(&setting.sources, &setting.arena);
  tspec_diag_init(&setting.diag, &setting.sources, stderr);
  tspec_type_t type = tspec_type_make(&setting.arena, dtype, rank, dims);
  const tspec_sharding_t *shardings[2];
  const char *texts[2] = {request.from, request.to};
  for (int i = 0; i < 2; i++) {
    shardings[i] = tspec_sharding_parse(&setting.arena, mesh, texts[i], rank,
                                        (tspec_about_t){.what = "'x'"}, &setting.diag);
  }
  tspec_step_t step = {.kind = request.kind,
                       .axes = request.axes,
                       .naxes = request.naxes,
                       .from = shardings[0],
                       .to = shardings[1],
                       .src_dim = -1,
                       .dst_dim = -1};
  int64_t bytes = tspec_step_cost_bytes(mesh, type, &step);
  tspec_arena_deinit(&setting.arena);
  return bytes;
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define COST(rank, dims, kind, axes, n, from, to)                                                  \
  cost_on(&xy, TSPEC_DTYPE_F32, rank, dims, (request_t){TSPEC_COLLECTIVE_##kind, axes, n, from, to})

Test(cost, all_reduce_sends_the_block_twice_but_for_a_part) {
  // The reference program: f32[4, 1024] per rank, 16 KiB, over 4 ranks.
  cr_assert(
      eq(i64, COST(2, DIMS(8, 1024), ALL_REDUCE, along_y, 1, "[x, -] sum(y)", "[x, -]"), 24576));
  // 2 * 3 / 4 * 12 bytes = 18; of the larger block where sizes differ: 3 and 2 elements.
  cr_assert(eq(i64, COST(1, DIMS(5), ALL_REDUCE, along_y, 1, "[x] sum(y)", "[x]"), 18));
  // One f32 over 8 ranks: 7 bytes exactly; one over 3 ranks: 16 / 3, rounded up.
  cr_assert(eq(i64, COST(0, NULL, ALL_REDUCE, along_xy, 2, "[] sum(x, y)", "[]"), 7));
  static const tspec_mesh_axis_t three[] = {{"t", 3, 0}};
  static const tspec_axis_t along_t[] = {{0, 1, 3}};
  cr_assert(eq(i64,
               cost_on(&(tspec_mesh_t){1, three}, TSPEC_DTYPE_F32, 0, NULL,
                       (request_t){TSPEC_COLLECTIVE_ALL_REDUCE, along_t, 1, "[] sum(t)", "[]"}),
               6));
}

Test(cost, gather_and_scatter_send_the_whole_but_the_smallest_block) {
  // 8 * 8 * 4 bytes, 3 of 4 parts.
  cr_assert(eq(i64, COST(2, DIMS(8, 8), ALL_GATHER, along_y, 1, "[-, y]", "[-, -]"), 192));
  cr_assert(
      eq(i64, COST(2, DIMS(8, 8), REDUCE_SCATTER, along_y, 1, "[-, -] sum(y)", "[-, y]"), 192));
  // 10 rows over 4: blocks of 3, 3, 3, 1.
  cr_assert(eq(i64, COST(1, DIMS(10), ALL_GATHER, along_y, 1, "[y]", "[-]"), 36));
  cr_assert(eq(i64, COST(1, DIMS(10), REDUCE_SCATTER, along_y, 1, "[-] sum(y)", "[y]"), 36));
  // 5 rows over 4: blocks of 2, 2, 1 and an empty one.
  cr_assert(eq(i64, COST(1, DIMS(5), ALL_GATHER, along_y, 1, "[y]", "[-]"), 20));
  // 15 rows: halves of 8 and 7, blocks of 2; the first half's group has the larger whole.
  cr_assert(eq(i64, COST(1, DIMS(15), ALL_GATHER, along_y, 1, "[x*y]", "[x]"), 24));
  // Two dims at once: 8 * 8, own block 4 * 2.
  cr_assert(eq(i64, COST(2, DIMS(8, 8), ALL_GATHER, along_xy, 2, "[x, y]", "[-, -]"), 224));
}

Test(cost, all_to_all_keeps_one_part) {
  // A block of 4 * 8 elements, 3 of 4 parts leave.
  cr_assert(eq(i64, COST(2, DIMS(8, 16), ALL_TO_ALL, along_y, 1, "[y, x]", "[-, x*y]"), 48));
  cr_assert(eq(i64, COST(2, DIMS(16, 16), ALL_TO_ALL, along_y, 1, "[y, -]", "[-, y]"), 192));
  // 5 rows, 4 columns over 4: rows 2, 2, 1, 0. The first rank sends its 2 rows of 3 columns.
  cr_assert(eq(i64, COST(2, DIMS(5, 4), ALL_TO_ALL, along_y, 1, "[y, -]", "[-, y]"), 24));
  // Blocks 2, 2, 2, 2, 1 of 9 rows to halves of 5 and 4. Rows 0..4 belong to x=0, 5..8 to x=1.
  // The rank x=0, y=3 has rows 6 and 7, and each goes to the 4 ranks with x=1.
  cr_assert(eq(i64, COST(1, DIMS(9), ALL_TO_ALL, along_xy, 2, "[x*y]", "[x]"), 32));
}

Test(cost, permute_sends_the_block) {
  cr_assert(eq(i64, COST(2, DIMS(8, 8), PERMUTE, along_xy, 2, "[x*y, -]", "[y*x, -]"), 32));
  // 3 rows over 8 ranks: one row each on ranks 0, 1, 2.
  cr_assert(eq(i64, COST(1, DIMS(3), PERMUTE, along_xy, 2, "[x*y]", "[y*x]"), 4));
  cr_assert(eq(i64, COST(1, DIMS(8), PERMUTE, along_xy, 2, "[x*y]", "[x*y]"), 0));
}

// 11 rows over 6 are blocks of 2 or 1, each of which goes to one rank; the halves of the 4 columns
// are no copies, though the group spans them.
Test(cost, dims_that_stay_are_no_copies) {
  static const tspec_mesh_axis_t axes[] = {{"x", 2, 0}, {"y", 6, 0}};
  static const tspec_mesh_t mesh = {2, axes};
  static const tspec_axis_t along[] = {{0, 1, 2}, {1, 1, 6}};
  cr_assert(eq(i64,
               cost_on(&mesh, TSPEC_DTYPE_F32, 2, DIMS(11, 4),
                       (request_t){TSPEC_COLLECTIVE_PERMUTE, along, 2, "[y:(1)3*x, y:(3)2]",
                                   "[x*y:(1)3, y:(3)2]"}),
               16));
}

Test(cost, slices_are_free) {
  cr_assert(eq(i64, COST(1, DIMS(8), ALL_SLICE, along_x, 1, "[-]", "[x]"), 0));
  cr_assert(eq(i64, COST(1, DIMS(8), MAKE_PENDING, along_x, 1, "[-]", "[-] sum(x)"), 0));
}

Test(cost, does_not_depend_on_axes_that_take_no_part, .timeout = 5) {
  static const tspec_mesh_axis_t axes[] = {
      {"a", 1024, 0}, {"x", 2, 0}, {"b", 4096, 0}, {"y", 4, 0}};
  static const tspec_mesh_t mesh = {4, axes};
  static const tspec_axis_t along[] = {{1, 1, 2}, {3, 1, 4}};
  // As above: 32 bytes, times 4 columns of the largest of 4096 blocks over 4 * 4096 columns.
  cr_assert(eq(i64,
               cost_on(&mesh, TSPEC_DTYPE_F32, 2, DIMS(9, 16384),
                       (request_t){TSPEC_COLLECTIVE_ALL_TO_ALL, along, 2, "[x*y, b]", "[x, b]"}),
               128));
}
