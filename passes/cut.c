#include "passes/cut.h"

#include "ir/base/vec.h"

// Edges that the search may look at, per edge of a region.
enum { WORK_PER_EDGE = 256 };

// Edge 2 i and its reverse 2 i + 1.
typedef struct edge_t {
  int to;
  int next; // of the same node, or -1
  int64_t left;
} edge_t;

struct tspec_cut_t {
  tspec_arena_t *arena;
  int nnodes;
  int *heads;      // [node]: first edge, or -1
  int64_t *source; // [node]: capacity left from the source
  int64_t *sink;   // [node]: capacity left to the sink
  int *region;     // [node]: union-find
  int64_t *work;   // [region]: that may still be done
  TSPEC_VEC(edge_t) edges;
  int *seen;  // [node]: the search that reached it last
  int *via;   // [node]: the edge by which, or -1: a start
  int *queue; // [node]
  int nsearches;
};

tspec_cut_t *tspec_cut_create(tspec_arena_t *arena, int nnodes) {
  tspec_cut_t *cut = TSPEC_ARENA_NEW(arena, tspec_cut_t, 1);
  *cut = (tspec_cut_t){.arena = arena,
                       .nnodes = nnodes,
                       .heads = TSPEC_ARENA_NEW(arena, int, nnodes),
                       .source = TSPEC_ARENA_NEW(arena, int64_t, nnodes),
                       .sink = TSPEC_ARENA_NEW(arena, int64_t, nnodes),
                       .region = TSPEC_ARENA_NEW(arena, int, nnodes),
                       .work = TSPEC_ARENA_NEW(arena, int64_t, nnodes),
                       .seen = TSPEC_ARENA_NEW(arena, int, nnodes),
                       .via = TSPEC_ARENA_NEW(arena, int, nnodes),
                       .queue = TSPEC_ARENA_NEW(arena, int, nnodes)};
  for (int i = 0; i < nnodes; i++) {
    cut->heads[i] = -1;
    cut->region[i] = i;
  }
  return cut;
}

static int64_t add(int64_t a, int64_t b) {
  return b >= TSPEC_CUT_NEVER - a ? TSPEC_CUT_NEVER : a + b;
}

static int region_of(tspec_cut_t *cut, int node) {
  while (cut->region[node] != node) {
    cut->region[node] = cut->region[cut->region[node]];
    node = cut->region[node];
  }
  return node;
}

static void push_edge(tspec_cut_t *cut, int from, int to, int64_t left) {
  TSPEC_VEC_PUSH(cut->arena, &cut->edges, (edge_t){to, cut->heads[from], left});
  cut->heads[from] = (int)cut->edges.count - 1;
}

void tspec_cut_edge(tspec_cut_t *cut, int from, int to, int64_t cost) {
  push_edge(cut, from, to, add(0, cost));
  push_edge(cut, to, from, 0);
  int a = region_of(cut, from);
  int b = region_of(cut, to);
  cut->region[a > b ? a : b] = a > b ? b : a;
}

void tspec_cut_source(tspec_cut_t *cut, int node, int64_t cost) {
  cut->source[node] = add(cut->source[node], cost);
}

void tspec_cut_sink(tspec_cut_t *cut, int node, int64_t cost) {
  cut->sink[node] = add(cut->sink[node], cost);
}

// Searches from `start` for a node with capacity to the sink. Returns it, or -1.
static int search(tspec_cut_t *cut, int start, int64_t *work) {
  int count = 0;
  int search = ++cut->nsearches;
  cut->seen[start] = search;
  cut->via[start] = -1;
  cut->queue[count++] = start;
  for (int i = 0; i < count; i++) {
    int node = cut->queue[i];
    (*work)--;
    if (cut->sink[node] > 0) {
      return node;
    }
    for (int e = cut->heads[node]; e >= 0; e = cut->edges.items[e].next) {
      const edge_t *edge = &cut->edges.items[e];
      (*work)--;
      if (edge->left > 0 && cut->seen[edge->to] != search) {
        cut->seen[edge->to] = search;
        cut->via[edge->to] = e;
        cut->queue[count++] = edge->to;
      }
    }
  }
  return -1;
}

// Edges that no cut may take stay so, whatever flows through them.
static void take(int64_t *left, int64_t amount) {
  if (*left < TSPEC_CUT_NEVER) {
    *left -= amount;
  }
}

static void augment(tspec_cut_t *cut, int start, int end) {
  edge_t *edges = cut->edges.items;
  int64_t amount = cut->source[start] < cut->sink[end] ? cut->source[start] : cut->sink[end];
  for (int node = end; cut->via[node] >= 0; node = edges[cut->via[node] ^ 1].to) {
    int64_t left = edges[cut->via[node]].left;
    amount = left < amount ? left : amount;
  }
  for (int node = end; cut->via[node] >= 0; node = edges[cut->via[node] ^ 1].to) {
    take(&edges[cut->via[node]].left, amount);
    edges[cut->via[node] ^ 1].left = add(edges[cut->via[node] ^ 1].left, amount);
  }
  take(&cut->source[start], amount);
  take(&cut->sink[end], amount);
}

// Fills paths from `start` until none is left, or no work.
static void saturate(tspec_cut_t *cut, int start, int64_t *work) {
  while (cut->source[start] > 0 && *work >= 0) {
    int end = search(cut, start, work);
    if (end < 0) {
      return;
    }
    augment(cut, start, end);
  }
}

static void mark(tspec_cut_t *cut, int start, bool *sides) {
  int count = 0;
  cut->queue[count++] = start;
  sides[start] = true;
  for (int i = 0; i < count; i++) {
    for (int e = cut->heads[cut->queue[i]]; e >= 0; e = cut->edges.items[e].next) {
      const edge_t *edge = &cut->edges.items[e];
      if (edge->left > 0 && !sides[edge->to]) {
        sides[edge->to] = true;
        cut->queue[count++] = edge->to;
      }
    }
  }
}

const bool *tspec_cut_solve(tspec_cut_t *cut) {
  bool *sides = TSPEC_ARENA_NEW(cut->arena, bool, cut->nnodes);
  for (int i = 0; i < cut->nnodes; i++) {
    cut->work[region_of(cut, i)] += WORK_PER_EDGE;
  }
  for (size_t e = 0; e < cut->edges.count; e++) {
    cut->work[region_of(cut, cut->edges.items[e].to)] += WORK_PER_EDGE;
  }
  for (int i = 0; i < cut->nnodes; i++) {
    saturate(cut, i, &cut->work[region_of(cut, i)]);
  }
  for (int i = 0; i < cut->nnodes; i++) {
    if (cut->source[i] > 0 && cut->work[region_of(cut, i)] >= 0 && !sides[i]) {
      mark(cut, i, sides);
    }
  }
  return sides;
}
