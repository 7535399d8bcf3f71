#include "ir/shard/decompose.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/shard/cost.h"

// ---- facts ------------------------------------------------------------------------------------

#define LIST(...) {__VA_ARGS__}
#define CASE(name_, mesh_, shape_, from_, to_, uneven_, steps_)                                    \
  {name_, mesh_, shape_, from_, to_, uneven_, steps_},

typedef struct case_t {
  const char *name;
  tspec_mesh_axis_t axes[6];
  int64_t shape[4];
  const char *from;
  const char *to;
  bool uneven;
  const char *steps;
} case_t;

static const case_t cases[] = {
#include "reshard_cases.inc"
};
enum { NCASES = sizeof cases / sizeof *cases };

typedef struct setting_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_mesh_t mesh;
  tspec_type_t type;
} setting_t;

static void start(setting_t *setting, const tspec_mesh_axis_t *axes, const int64_t *shape) {
  *setting = (setting_t){0};
  tspec_arena_init(&setting->arena);
  tspec_sources_init(&setting->sources, &setting->arena);
  tspec_diag_init(&setting->diag, &setting->sources, stderr);
  setting->mesh.axes = axes;
  while (setting->mesh.naxes < 6 && axes[setting->mesh.naxes].name != NULL) {
    setting->mesh.naxes++;
  }
  int rank = 0;
  while (rank < 4 && shape[rank] != 0) {
    rank++;
  }
  setting->type = tspec_type_make(&setting->arena, TSPEC_DTYPE_F32, rank, shape);
}

static const tspec_sharding_t *parse(setting_t *setting, const char *text) {
  return tspec_sharding_parse(&setting->arena, &setting->mesh, text, setting->type.rank,
                              (tspec_about_t){.what = "'x'"}, &setting->diag);
}

static const tspec_mesh_axis_t mesh24[6] = {{"x", 2, 0}, {"y", 4, 0}};

Test(decompose, plans_equal_the_facts) {
  cr_assert(eq(int, NCASES, 57));
  for (int c = 0; c < NCASES; c++) {
    setting_t setting;
    start(&setting, cases[c].axes, cases[c].shape);
    tspec_steps_t steps = {0};
    cr_expect(tspec_reshard_plan(&setting.arena, &setting.mesh, setting.type,
                                 parse(&setting, cases[c].from), parse(&setting, cases[c].to),
                                 &steps),
              "%s", cases[c].name);
    const char *got = tspec_steps_print(&setting.arena, &setting.mesh, steps);
    cr_expect(strcmp(got, cases[c].steps) == 0, "%s: %s to %s\n  want %s\n  got  %s", cases[c].name,
              cases[c].from, cases[c].to, cases[c].steps, got);
    tspec_arena_deinit(&setting.arena);
  }
}

// What is taken in place of the plan is one collective, and cheaper.
static void check_taken(setting_t *setting, const case_t *c, tspec_steps_t steps) {
  tspec_steps_t plan = {0};
  cr_assert(tspec_reshard_plan(&setting->arena, &setting->mesh, setting->type,
                               parse(setting, c->from), parse(setting, c->to), &plan));
  const char *got = tspec_steps_print(&setting->arena, &setting->mesh, steps);
  bool cheaper =
      steps.count == 1 && tspec_steps_cost_bytes(&setting->mesh, setting->type, steps) <
                              tspec_steps_cost_bytes(&setting->mesh, setting->type, plan);
  cr_expect(cheaper || strcmp(got, c->steps) == 0, "%s: %s to %s\n  want %s\n  got  %s", c->name,
            c->from, c->to, c->steps, got);
}

Test(decompose, takes_the_plan_where_sizes_divide_and_the_direct_exchange_is_not_cheaper) {
  for (int c = 0; c < NCASES; c++) {
    setting_t setting;
    start(&setting, cases[c].axes, cases[c].shape);
    tspec_steps_t steps =
        tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                                parse(&setting, cases[c].from), parse(&setting, cases[c].to));
    bool even = true;
    for (int i = 0; i < steps.count; i++) {
      even &= tspec_step_is_local_to_axes(&setting.mesh, setting.type, &steps.items[i]);
    }
    cr_expect(even, "%s", cases[c].name);
    if (!cases[c].uneven) {
      check_taken(&setting, &cases[c], steps);
    }
    tspec_arena_deinit(&setting.arena);
  }
}

Test(decompose, swaps_two_axes_at_once) {
  setting_t setting;
  const int64_t shape[4] = {8, 8};
  start(&setting, mesh24, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                              parse(&setting, "[x, y]"), parse(&setting, "[y, x]"));
  cr_assert(eq(int, steps.count, 1));
  // Blocks of 4 x 2, then of 2 x 4: each goes out in two halves of 2 x 2, to ranks of which at most
  // one is the sender; four ranks are neither.
  cr_expect(eq(i64, tspec_steps_cost_bytes(&setting.mesh, setting.type, steps), 32));
  tspec_arena_deinit(&setting.arena);
}

// ---- by hand ----------------------------------------------------------------------------------

static const char *steps_for(setting_t *setting, const char *from, const char *to) {
  return tspec_steps_print(&setting->arena, &setting->mesh,
                           tspec_reshard_decompose(&setting->arena, &setting->mesh, setting->type,
                                                   parse(setting, from), parse(setting, to)));
}

static void expect_steps(const tspec_mesh_axis_t *axes, const int64_t *shape, const char *from,
                         const char *to, const char *want) {
  setting_t setting;
  start(&setting, axes, shape);
  const char *got = steps_for(&setting, from, to);
  cr_expect(strcmp(got, want) == 0, "%s to %s\n  want %s\n  got  %s", from, to, want, got);
  tspec_arena_deinit(&setting.arena);
}

Test(decompose, reduces_before_it_gathers_and_after_it_slices) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[-, -]", "all_reduce [-, -]");
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[y, -]",
               "all_slice [y, -] sum(x) -> all_reduce [y, -]");
  expect_steps(mesh24, shape, "[-, y] max(x)", "[-, -]", "all_reduce [-, y] -> all_gather [-, -]");
}

Test(decompose, scatters_where_the_reduced_axes_are_used) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(y)", "[y, -]", "reduce_scatter [y, -]");
  expect_steps(mesh24, shape, "[-, -] min(x)", "[x*y, -]",
               "reduce_scatter [x, -] -> all_slice [x*y, -]");
  expect_steps(mesh24, shape, "[-, -] sum(x, y)", "[x, y]", "reduce_scatter [x, y]");
}

// Halves and the last of three thirds of an axis of 6 have no cut in common.
Test(decompose, reduces_before_it_slices_where_the_pieces_cut_an_axis_in_different_ways) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 6, 0}, {"y", 4, 0}};
  const int64_t shape[4] = {12, 12};
  expect_steps(axes, shape, "[-, -] sum(x:(1)2)", "[x:(3)2, -]",
               "all_reduce [-, -] -> all_slice [x:(3)2, -]");
  expect_steps(axes, shape, "[-, -] max(x:(3)2)", "[-, y*x:(1)2]",
               "all_reduce [-, -] -> all_slice [-, y*x:(1)2]");
  expect_steps(axes, shape, "[-, -] sum(x:(1)2)", "[x:(2)3, -]",
               "all_slice [x:(2)3, -] sum(x:(1)2) -> all_reduce [x:(2)3, -]");
}

Test(decompose, keeps_and_makes_pending_axes) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[y, -] sum(x)", "all_slice [y, -] sum(x)");
  expect_steps(mesh24, shape, "[-, -]", "[-, -] sum(x)", "make_pending [-, -] sum(x)");
  expect_steps(mesh24, shape, "[x, -]", "[-, -] sum(x)",
               "all_gather [-, -] -> make_pending [-, -] sum(x)");
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[-, -] max(x)",
               "all_reduce [-, -] -> make_pending [-, -] max(x)");
  expect_steps(mesh24, shape, "[-, -] sum(x, y)", "[-, -] sum(y)", "all_reduce [-, -] sum(y)");
}

Test(decompose, uses_one_all_to_all_where_blocks_do_not_nest) {
  // 9 rows over 8 ranks are blocks of 2, over 2 ranks blocks of 5.
  const int64_t shape[4] = {9};
  expect_steps(mesh24, shape, "[x*y]", "[x]", "all_to_all [x]");
  expect_steps(mesh24, shape, "[x]", "[x*y]", "all_to_all [x*y]");
  expect_steps(mesh24, shape, "[x*y]", "[-]", "all_gather [-]");
  expect_steps(mesh24, shape, "[-]", "[x*y]", "all_slice [x*y]");
}

Test(decompose, slices_and_gathers_uneven_blocks_that_nest) {
  // 15 rows over 8 ranks are blocks of 2, over 2 ranks blocks of 8.
  const int64_t shape[4] = {15};
  expect_steps(mesh24, shape, "[x*y]", "[x]", "all_gather [x]");
  expect_steps(mesh24, shape, "[x]", "[x*y]", "all_slice [x*y]");
}

Test(decompose, does_nothing_for_axes_of_size_1) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 1, 0}, {"y", 4, 0}};
  const int64_t shape[4] = {8, 8};
  expect_steps(axes, shape, "[x, y]", "[-, y]", "");
  expect_steps(axes, shape, "[-, -] sum(x)", "[x, y]", "all_slice [-, y]");
}

Test(decompose, ends_where_rounds_go_in_circles) {
  static const tspec_mesh_axis_t axes[6] = {{"a", 2, 0}, {"b", 6, 0}, {"c", 6, 0}, {"d", 4, 0}};
  const int64_t shape[4] = {144};
  setting_t setting;
  start(&setting, axes, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type, parse(&setting, "[a*d]"),
                              parse(&setting, "[c*a*b]"));
  cr_assert(gt(int, steps.count, 0));
  for (int i = 0; i < steps.count; i++) {
    cr_expect(tspec_step_is_local_to_axes(&setting.mesh, setting.type, &steps.items[i]));
  }
  tspec_arena_deinit(&setting.arena);
}

// ---- at random --------------------------------------------------------------------------------

static uint64_t random_state;

static int64_t draw(int64_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((random_state >> 33) % (uint64_t)below);
}

enum { MAX_RANKS = 144, MAX_ELEMS = 400 };

// Every rank's values; `has` says which elements it holds.
typedef struct world_t {
  const tspec_mesh_t *mesh;
  tspec_type_t type;
  int64_t nranks;
  int64_t nelems;
  bool has[MAX_RANKS][MAX_ELEMS];
  int64_t value[MAX_RANKS][MAX_ELEMS];
  int64_t received[MAX_RANKS];
} world_t;

// Which elements are in a rank's block.
static void mark_block(const world_t *world, const tspec_sharding_t *sharding, int64_t rank,
                       bool *out_inside) {
  tspec_block_t blocks[4];
  tspec_sharding_blocks(world->mesh, sharding, world->type, rank, blocks);
  for (int64_t e = 0; e < world->nelems; e++) {
    int64_t rest = e;
    out_inside[e] = true;
    for (int d = world->type.rank - 1; d >= 0; d--) {
      int64_t index = rest % world->type.dims[d];
      rest /= world->type.dims[d];
      out_inside[e] &= index >= blocks[d].begin && index < blocks[d].end;
    }
  }
}

// Number of the rank's group: its rank with the coordinates along `axes` set to 0.
static int64_t group_of(const tspec_mesh_t *mesh, int64_t rank, const tspec_axis_t *axes,
                        int naxes) {
  for (int i = 0; i < naxes; i++) {
    int64_t stride = mesh->axes[axes[i].axis].size / (axes[i].pre * axes[i].size);
    for (int j = axes[i].axis + 1; j < mesh->naxes; j++) {
      stride *= mesh->axes[j].size;
    }
    rank -= tspec_axis_coordinate(mesh, rank, axes[i]) * stride;
  }
  return rank;
}

static int64_t combine(tspec_reduce_t reduce, int64_t a, int64_t b) {
  if (reduce == TSPEC_REDUCE_MAX) {
    return a > b ? a : b;
  }
  if (reduce == TSPEC_REDUCE_MIN) {
    return a < b ? a : b;
  }
  return a + b;
}

static bool run_step(world_t *world, const tspec_step_t *step) {
  static world_t next;
  static int64_t held[MAX_RANKS];
  static int64_t count[MAX_RANKS];
  bool reduces =
      step->kind == TSPEC_COLLECTIVE_ALL_REDUCE || step->kind == TSPEC_COLLECTIVE_REDUCE_SCATTER;
  bool local =
      step->kind == TSPEC_COLLECTIVE_ALL_SLICE || step->kind == TSPEC_COLLECTIVE_MAKE_PENDING;
  int naxes = local ? 0 : step->naxes;
  int64_t size = tspec_axes_product(step->axes, naxes);
  static int64_t groups[MAX_RANKS];
  next = *world;
  for (int64_t r = 0; r < world->nranks; r++) {
    mark_block(world, step->to, r, next.has[r]);
    groups[r] = group_of(world->mesh, r, step->axes, naxes);
  }
  for (int64_t e = 0; e < world->nelems; e++) {
    memset(count, 0, sizeof count);
    for (int64_t r = 0; r < world->nranks; r++) {
      int64_t group = groups[r];
      if (world->has[r][e]) {
        held[group] = count[group] == 0 || !reduces
                          ? world->value[r][e]
                          : combine(step->reduce, held[group], world->value[r][e]);
        count[group]++;
      }
    }
    for (int64_t r = 0; r < world->nranks; r++) {
      int64_t group = groups[r];
      if (!next.has[r][e]) {
        continue;
      }
      if (count[group] == 0 || (reduces && count[group] != size)) {
        return false;
      }
      next.value[r][e] = held[group];
      bool first = group_of(world->mesh, r, step->axes, step->naxes) == r;
      if (step->kind == TSPEC_COLLECTIVE_MAKE_PENDING && step->reduce == TSPEC_REDUCE_SUM &&
          !first) {
        next.value[r][e] = 0;
      }
      next.received[r] += !reduces && !world->has[r][e] ? 1 : 0;
    }
  }
  *world = next;
  return true;
}

static void fill(world_t *world, const tspec_sharding_t *sharding, const int64_t *truth) {
  for (int64_t r = 0; r < world->nranks; r++) {
    bool first = group_of(world->mesh, r, sharding->pending, sharding->npending) == r;
    int64_t parts = tspec_axes_product(sharding->pending, sharding->npending);
    world->received[r] = 0;
    mark_block(world, sharding, r, world->has[r]);
    for (int64_t e = 0; e < world->nelems; e++) {
      world->value[r][e] = truth[e];
      if (sharding->npending > 0 && sharding->pending_kind == TSPEC_REDUCE_SUM) {
        world->value[r][e] = first ? truth[e] - (parts - 1) * 7 : 7;
      } else if (sharding->npending > 0 && !first) {
        world->value[r][e] += sharding->pending_kind == TSPEC_REDUCE_MAX ? -1 : 1;
      }
    }
  }
}

static bool is_right(const world_t *world, const tspec_sharding_t *sharding, const int64_t *truth) {
  static int64_t total[MAX_RANKS];
  static bool seen[MAX_RANKS];
  static bool inside[MAX_RANKS][MAX_ELEMS];
  static int64_t groups[MAX_RANKS];
  for (int64_t r = 0; r < world->nranks; r++) {
    mark_block(world, sharding, r, inside[r]);
    groups[r] = group_of(world->mesh, r, sharding->pending, sharding->npending);
  }
  for (int64_t e = 0; e < world->nelems; e++) {
    memset(seen, 0, sizeof seen);
    for (int64_t r = 0; r < world->nranks; r++) {
      if (world->has[r][e] != inside[r][e]) {
        return false;
      }
      if (world->has[r][e]) {
        int64_t group = groups[r];
        total[group] = seen[group]
                           ? combine(sharding->pending_kind, total[group], world->value[r][e])
                           : world->value[r][e];
        seen[group] = true;
      }
    }
    for (int64_t g = 0; g < world->nranks; g++) {
      if (seen[g] && total[g] != truth[e]) {
        return false;
      }
    }
  }
  return true;
}

// Splits the mesh's axes into pieces and deals some of them out to dims and, rarely, pending axes.
static const tspec_sharding_t *draw_sharding(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                             int rank, bool may_pend) {
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, rank);
  tspec_axis_t *pending = TSPEC_ARENA_NEW(arena, tspec_axis_t, 8);
  tspec_axis_t pieces[8];
  int npieces = 0;
  for (int i = 0; i < mesh->naxes; i++) {
    int64_t size = mesh->axes[i].size;
    int64_t major = size % 2 == 0 && size > 2 && draw(3) == 0 ? (draw(2) == 0 ? 2 : size / 2) : 0;
    if (major > 0 && major < size) {
      pieces[npieces++] = (tspec_axis_t){i, 1, major};
      pieces[npieces++] = (tspec_axis_t){i, major, size / major};
    } else {
      pieces[npieces++] = tspec_axis_full(mesh, i);
    }
  }
  for (int d = 0; d < rank; d++) {
    dims[d].axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, 8);
  }
  while (npieces > 0) {
    int i = (int)draw(npieces);
    int64_t where = draw(rank + 2);
    if (where < rank) {
      tspec_axis_t *axes = (tspec_axis_t *)dims[where].axes;
      tspec_axis_t *last = dims[where].naxes > 0 ? &axes[dims[where].naxes - 1] : NULL;
      if (last == NULL || !tspec_axis_merge(*last, pieces[i], last)) {
        axes[dims[where].naxes++] = pieces[i];
      }
    } else if (may_pend && where == rank && draw(2) == 0) {
      pending[sharding->npending++] = pieces[i];
    }
    pieces[i] = pieces[--npieces];
  }
  sharding->rank = rank;
  sharding->dims = dims;
  return tspec_sharding_with_pending(arena, mesh, sharding, (tspec_reduce_t)draw(3), pending,
                                     sharding->npending);
}

// What the busiest rank would receive by gathering every dim that differs and slicing.
static int64_t gathered(const world_t *world, const tspec_sharding_t *from,
                        const tspec_sharding_t *to) {
  int64_t most = 0;
  for (int64_t r = 0; r < world->nranks; r++) {
    tspec_block_t blocks[4];
    tspec_sharding_blocks(world->mesh, from, world->type, r, blocks);
    int64_t own = 1;
    int64_t whole = 1;
    for (int d = 0; d < world->type.rank; d++) {
      bool differs = from->dims[d].naxes != to->dims[d].naxes;
      for (int i = 0; !differs && i < from->dims[d].naxes; i++) {
        differs = !tspec_axis_equal(from->dims[d].axes[i], to->dims[d].axes[i]);
      }
      own *= blocks[d].end - blocks[d].begin;
      whole *= differs ? world->type.dims[d] : blocks[d].end - blocks[d].begin;
    }
    most = whole - own > most ? whole - own : most;
  }
  return most;
}

// Bytes that the busiest rank sends, counted rank by rank.
static int64_t sent_by_busiest(const world_t *world, const tspec_step_t *step) {
  static int64_t sent[MAX_RANKS];
  int64_t most = 0;
  memset(sent, 0, sizeof sent);
  for (int64_t r = 0; r < world->nranks; r++) {
    bool inside[MAX_ELEMS];
    mark_block(world, step->to, r, inside);
    for (int64_t e = 0; e < world->nelems; e++) {
      if (!inside[e]) {
        continue;
      }
      int64_t indices[4];
      int64_t rest = e;
      for (int d = world->type.rank - 1; d >= 0; d--) {
        int64_t nblocks = tspec_dim_nblocks(&step->from->dims[d]);
        indices[d] = rest % world->type.dims[d] / tspec_block(world->type.dims[d], nblocks, 0).end;
        rest /= world->type.dims[d];
      }
      int64_t sender = tspec_step_sender(world->mesh, step, r, indices);
      cr_assert(world->has[sender][e] &&
                group_of(world->mesh, r, step->axes, step->naxes) ==
                    group_of(world->mesh, sender, step->axes, step->naxes));
      cr_assert(sender == r || !world->has[r][e]);
      sent[sender] += sender != r ? 4 : 0;
      most = sent[sender] > most ? sent[sender] : most;
    }
  }
  return most;
}

// No axis twice, and all pieces of an axis cut it alike.
static bool is_legal(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding) {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
  bool legal = tspec_sharding_check(mesh, sharding, "a step", (tspec_range_t){0}, &diag);
  tspec_arena_deinit(&arena);
  return legal;
}

static void check_one(world_t *world, tspec_arena_t *arena, const tspec_sharding_t *from,
                      const tspec_sharding_t *to, const char *what) {
  int64_t truth[MAX_ELEMS];
  for (int64_t e = 0; e < world->nelems; e++) {
    truth[e] = draw(1000);
  }
  tspec_steps_t steps = tspec_reshard_decompose(arena, world->mesh, world->type, from, to);
  fill(world, from, truth);
  bool lacks = false;
  for (int64_t r = 0; r < world->nranks; r++) {
    bool inside[MAX_ELEMS];
    mark_block(world, to, r, inside);
    for (int64_t e = 0; e < world->nelems; e++) {
      lacks |= !world->has[r][e] && inside[e];
    }
  }
  for (int i = 0; i < steps.count; i++) {
    const tspec_step_t *step = &steps.items[i];
    cr_expect(tspec_step_is_local_to_axes(world->mesh, world->type, step), "%s", what);
    cr_expect(is_legal(world->mesh, step->to), "%s: step %d has no legal sharding", what, i);
    if (step->kind == TSPEC_COLLECTIVE_ALL_TO_ALL || step->kind == TSPEC_COLLECTIVE_PERMUTE) {
      int64_t cost = tspec_step_cost_bytes(world->mesh, world->type, step);
      int64_t want = sent_by_busiest(world, step);
      cr_expect(cost == want, "%s: step %d costs %d, %d counted", what, i, (int)cost, (int)want);
    }
    cr_assert(run_step(world, step), "%s: step %d lacks elements", what, i);
  }
  cr_expect(is_right(world, to, truth), "%s: wrong values", what);
  int64_t most = 0;
  for (int64_t r = 0; r < world->nranks; r++) {
    most = world->received[r] > most ? world->received[r] : most;
  }
  int64_t limit = lacks ? gathered(world, from, to) : 0;
  cr_expect(most <= limit, "%s: receives %d, at most %d needed", what, (int)most, (int)limit);
}

Test(decompose, random_conversions_are_right_and_never_gather_too_much, .timeout = 300) {
  static const int64_t sizes[] = {2, 3, 4, 5, 6, 8};
  static const char *const names[] = {"a", "b", "c", "d"};
  static world_t world;
  for (int round = 0; round < 2000; round++) {
    random_state = (uint64_t)round * 7919 + 17;
    tspec_arena_t arena;
    tspec_arena_init(&arena);
    tspec_mesh_axis_t axes[4];
    tspec_mesh_t mesh = {0, axes};
    int64_t nranks = 1;
    for (int wanted = 1 + (int)draw(4); wanted > 0; wanted--) {
      int64_t size = sizes[draw(6)];
      if (nranks * size <= MAX_RANKS) {
        axes[mesh.naxes] = (tspec_mesh_axis_t){names[mesh.naxes], size, 0};
        mesh.naxes++;
        nranks *= size;
      }
    }
    int64_t dims[3];
    int rank = 1 + (int)draw(3);
    int64_t nelems = 1;
    for (int d = 0; d < rank; d++) {
      static const int64_t nice[] = {1, 2, 4, 6, 8, 12, 16, 24};
      dims[d] = draw(2) == 0 ? nice[draw(8)] : 1 + draw(20);
      while (nelems * dims[d] > MAX_ELEMS) {
        dims[d] = (dims[d] + 1) / 2;
      }
      nelems *= dims[d];
    }
    world.mesh = &mesh;
    world.type = tspec_type_make(&arena, TSPEC_DTYPE_F32, rank, dims);
    world.nranks = nranks;
    world.nelems = nelems;
    bool may_pend = round % 3 == 0;
    const tspec_sharding_t *from = draw_sharding(&arena, &mesh, rank, may_pend);
    const tspec_sharding_t *to = draw_sharding(&arena, &mesh, rank, may_pend);
    const char *what = tspec_arena_printf(
        &arena, "round %d: mesh %s, %s %s to %s", round, tspec_mesh_print(&arena, &mesh),
        tspec_type_print(&arena, world.type), tspec_sharding_print(&arena, &mesh, from),
        tspec_sharding_print(&arena, &mesh, to));
    check_one(&world, &arena, from, to, what);
    tspec_arena_deinit(&arena);
  }
}
