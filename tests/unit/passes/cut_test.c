// Against all 2^n sides of small graphs.
#include "passes/cut.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { MAX_NODES = 9, MAX_EDGES = 24, ROUNDS = 3000 };

typedef struct graph_t {
  int nnodes, nedges;
  int64_t source[MAX_NODES], sink[MAX_NODES];
  int from[MAX_EDGES], to[MAX_EDGES];
  int64_t cost[MAX_EDGES];
} graph_t;

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

static graph_t draw_graph(uint64_t seed) {
  uint64_t state = seed;
  graph_t graph = {.nnodes = 1 + (int)draw(&state, MAX_NODES)};
  graph.nedges = (int)draw(&state, MAX_EDGES);
  for (int i = 0; i < graph.nnodes; i++) {
    graph.source[i] = draw(&state, 2) == 0 ? 0 : (int64_t)draw(&state, 9);
    graph.sink[i] = draw(&state, 3) == 0 ? (int64_t)draw(&state, 9) : 0;
    graph.sink[i] = draw(&state, 6) == 0 ? TSPEC_CUT_NEVER : graph.sink[i];
  }
  for (int e = 0; e < graph.nedges; e++) {
    graph.from[e] = (int)draw(&state, (uint64_t)graph.nnodes);
    graph.to[e] = (int)draw(&state, (uint64_t)graph.nnodes);
    graph.cost[e] = draw(&state, 3) == 0 ? TSPEC_CUT_NEVER : (int64_t)draw(&state, 9);
  }
  return graph;
}

static int64_t cost_of(const graph_t *graph, unsigned sides) {
  int64_t sum = 0;
  for (int i = 0; i < graph->nnodes; i++) {
    sum += (sides >> i & 1) != 0 ? graph->sink[i] : graph->source[i];
    sum = sum > TSPEC_CUT_NEVER ? TSPEC_CUT_NEVER : sum;
  }
  for (int e = 0; e < graph->nedges; e++) {
    bool cut = (sides >> graph->from[e] & 1) != 0 && (sides >> graph->to[e] & 1) == 0;
    sum += cut ? graph->cost[e] : 0;
    sum = sum > TSPEC_CUT_NEVER ? TSPEC_CUT_NEVER : sum;
  }
  return sum;
}

static unsigned solve(tspec_arena_t *arena, const graph_t *graph) {
  tspec_cut_t *cut = tspec_cut_create(arena, graph->nnodes);
  for (int i = 0; i < graph->nnodes; i++) {
    tspec_cut_source(cut, i, graph->source[i]);
    tspec_cut_sink(cut, i, graph->sink[i]);
  }
  for (int e = 0; e < graph->nedges; e++) {
    tspec_cut_edge(cut, graph->from[e], graph->to[e], graph->cost[e]);
  }
  const bool *sides = tspec_cut_solve(cut);
  unsigned bits = 0;
  for (int i = 0; i < graph->nnodes; i++) {
    bits |= sides[i] ? 1u << i : 0;
  }
  return bits;
}

Test(cut, is_the_cheapest_and_of_several_the_one_with_the_fewest_source_nodes) {
  for (uint64_t seed = 0; seed < ROUNDS; seed++) {
    tspec_arena_t arena;
    tspec_arena_init(&arena);
    graph_t graph = draw_graph(seed);
    unsigned got = solve(&arena, &graph);
    unsigned best = 0;
    for (unsigned sides = 0; sides < 1u << graph.nnodes; sides++) {
      int64_t cost = cost_of(&graph, sides);
      int64_t least = cost_of(&graph, best);
      bool fewer = __builtin_popcount(sides) < __builtin_popcount(best);
      if (cost < least || (cost == least && fewer)) {
        best = sides;
      }
    }
    cr_expect(got == best, "seed %d: want %x (%lld), got %x (%lld)", (int)seed, best,
              (long long)cost_of(&graph, best), got, (long long)cost_of(&graph, got));
    tspec_arena_deinit(&arena);
  }
}

// A ladder in which each path is found only after long searches: it is given up, and says so by
// leaving everything on the sink side; a small region beside it is still cut.
Test(cut, a_region_with_too_much_work_is_left_alone) {
  enum { N = 60000 };
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_cut_t *cut = tspec_cut_create(&arena, N + 1);
  for (int i = 0; i + 1 < N; i++) {
    tspec_cut_edge(cut, i, i + 1, TSPEC_CUT_NEVER);
    tspec_cut_source(cut, i, 1);
  }
  tspec_cut_sink(cut, N - 1, N / 2);
  tspec_cut_source(cut, N, 2);
  tspec_cut_sink(cut, N, 1);
  const bool *sides = tspec_cut_solve(cut);
  cr_assert(not(sides[0]));
  cr_assert(not(sides[N - 1]));
  cr_assert(sides[N]);
  tspec_arena_deinit(&arena);
}
