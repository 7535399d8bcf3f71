// The sharding notation: the first byte picks a mesh, the second a rank, then come one or two
// notations, a newline between them. What parses prints as a text that parses as the same; its
// blocks are a partition; and from the first to the second there is a way by collectives.
#include <string.h>

#include "ir/shard/decompose.h"
#include "ir/shard/sharding.h"
#include "tests/fuzz/text.h"

enum { MAX_BYTES = 200, MAX_RANK = 4, MAX_AXES = 4 };

typedef struct meshes_t {
  int naxes;
  tspec_mesh_axis_t axes[MAX_AXES];
} meshes_t;

static const meshes_t kMeshes[] = {
    {0, {{NULL, 0, 0}}},
    {1, {{"data", 4, 0}}},
    {2, {{"data", 2, 0}, {"model", 4, 0}}},
    {2, {{"x", 8, 0}, {"y", 3, 0}}},
    {3, {{"data", 2, 0}, {"model", 1, 0}, {"pipe", 6, 0}}},
    {4, {{"a", 2, 0}, {"b", 2, 0}, {"c", 2, 0}, {"d", 4, 0}}},
};

static const tspec_sharding_t *parse(fuzz_text_t *text, const tspec_mesh_t *mesh,
                                     const char *notation, int rank) {
  int before = text->diag.nerrors;
  tspec_range_t range = tspec_source_range(&text->sources, text->file, 0, 0);
  const tspec_sharding_t *sharding = tspec_sharding_parse(
      &text->arena, mesh, notation, rank, (tspec_about_t){"'w'", range}, &text->diag);
  FUZZ_CHECK((sharding == NULL) == (text->diag.nerrors > before), "%s: %d errors for %s", notation,
             text->diag.nerrors - before, sharding == NULL ? "none" : "a sharding");
  return sharding;
}

static void check_printed(fuzz_text_t *text, const tspec_mesh_t *mesh,
                          const tspec_sharding_t *sharding, int rank) {
  FUZZ_CHECK(rank < 0 || sharding->rank == rank, "rank %d, wanted %d", sharding->rank, rank);
  FUZZ_CHECK(tspec_sharding_check(mesh, sharding, "'w'", (tspec_range_t){0}, &text->diag),
             "what was parsed is not legal");
  const char *printed = tspec_sharding_print(&text->arena, mesh, sharding);
  const tspec_sharding_t *again = parse(text, mesh, printed, sharding->rank);
  FUZZ_CHECK(again != NULL && tspec_sharding_equal(sharding, again), "%s is read as another one",
             printed);
  FUZZ_CHECK(strcmp(printed, tspec_sharding_print(&text->arena, mesh, again)) == 0,
             "%s is printed otherwise", printed);
}

static tspec_type_t type_of_rank(tspec_arena_t *arena, int rank) {
  static const int64_t kSizes[MAX_RANK] = {5, 8, 1, 12};
  return tspec_type_make(arena, TSPEC_DTYPE_F32, rank, kSizes);
}

/// All ranks together hold every element, and equally often.
static void check_blocks(fuzz_text_t *text, const tspec_mesh_t *mesh,
                         const tspec_sharding_t *sharding) {
  tspec_type_t type = type_of_rank(&text->arena, sharding->rank);
  int64_t nranks = tspec_mesh_nranks(mesh);
  int64_t nblocks = 1;
  for (int d = 0; d < sharding->rank; d++) {
    nblocks *= tspec_dim_nblocks(&sharding->dims[d]);
  }
  FUZZ_CHECK(nblocks > 0 && nranks % nblocks == 0, "%lld blocks on %lld ranks", (long long)nblocks,
             (long long)nranks);
  int64_t held = 0;
  for (int64_t rank = 0; rank < nranks; rank++) {
    tspec_block_t blocks[MAX_RANK];
    tspec_sharding_blocks(mesh, sharding, type, rank, blocks);
    int64_t elems = 1;
    for (int d = 0; d < sharding->rank; d++) {
      FUZZ_CHECK(blocks[d].begin >= 0 && blocks[d].begin <= blocks[d].end &&
                     blocks[d].end <= type.dims[d],
                 "rank %lld holds [%lld, %lld)", (long long)rank, (long long)blocks[d].begin,
                 (long long)blocks[d].end);
      elems *= blocks[d].end - blocks[d].begin;
    }
    held += elems;
  }
  FUZZ_CHECK(held == tspec_type_elems(type) * (nranks / nblocks), "%lld elements in all",
             (long long)held);
}

/// The way from one to the other: steps join, each fits the mesh, the last one ends there.
static uint64_t check_way(uint64_t said, fuzz_text_t *text, const tspec_mesh_t *mesh,
                          const tspec_sharding_t *from, const tspec_sharding_t *to) {
  tspec_arena_t *arena = &text->arena;
  from = tspec_sharding_close(arena, from);
  to = tspec_sharding_close(arena, to);
  tspec_type_t type = type_of_rank(arena, from->rank);
  tspec_steps_t steps = tspec_reshard_decompose(arena, mesh, type, from, to);
  const tspec_sharding_t *at = tspec_sharding_drop_ones(arena, from);
  for (int i = 0; i < steps.count; i++) {
    const tspec_step_t *step = &steps.items[i];
    FUZZ_CHECK(tspec_sharding_same_layout(tspec_sharding_drop_ones(arena, step->from), at),
               "step %d starts elsewhere: %s", i, tspec_steps_print(arena, mesh, steps));
    FUZZ_CHECK(tspec_step_is_local_to_axes(mesh, type, step), "step %d reaches too far: %s", i,
               tspec_steps_print(arena, mesh, steps));
    FUZZ_CHECK(tspec_step_cost_bytes(mesh, type, step) >= 0, "step %d costs less than nothing", i);
    at = tspec_sharding_drop_ones(arena, step->to);
  }
  FUZZ_CHECK(tspec_sharding_same_layout(at, tspec_sharding_drop_ones(arena, to)),
             "the way ends elsewhere: %s", tspec_steps_print(arena, mesh, steps));
  return fuzz_hash_text(said, tspec_steps_print(arena, mesh, steps));
}

static uint64_t check_notations(fuzz_text_t *text, const tspec_mesh_t *mesh, int rank) {
  const char *bytes = tspec_sources_get(&text->sources, text->file)->text;
  const char *newline = strchr(bytes, '\n');
  const char *first = tspec_arena_strdup(
      &text->arena, bytes, newline == NULL ? strlen(bytes) : (size_t)(newline - bytes));
  const tspec_sharding_t *from = parse(text, mesh, first, rank);
  uint64_t said = fuzz_hash_number(0, from != NULL);
  if (from != NULL) {
    check_printed(text, mesh, from, rank);
    said = fuzz_hash_text(said, tspec_sharding_print(&text->arena, mesh, from));
  }
  if (from == NULL || from->rank > MAX_RANK) {
    return said;
  }
  check_blocks(text, mesh, from);
  const tspec_sharding_t *to = newline == NULL ? NULL : parse(text, mesh, newline + 1, from->rank);
  return to == NULL ? said : check_way(said, text, mesh, from, to);
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  if (size < 2 || size > MAX_BYTES) {
    return 0;
  }
  const meshes_t *picked = &kMeshes[data[0] % (sizeof kMeshes / sizeof *kMeshes)];
  tspec_mesh_t mesh = {.naxes = picked->naxes, .axes = picked->axes};
  int rank = data[1] % (MAX_RANK + 2) - 1;
  fuzz_text_t text;
  fuzz_text_init(&text, "fuzz.txt", data + 2, size - 2);
  uint64_t said = check_notations(&text, &mesh, rank);
  fuzz_check_messages(&text);
  said = fuzz_hash_messages(said, &text);
  fuzz_text_deinit(&text);
  return said;
}
