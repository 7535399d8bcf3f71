// Fused elementwise chains, compiled by tspecc, against plain loops over the same memory.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/loops.h"
#include "bench/parts.h"
#include "runtime/tspec_rt.h"

extern const tspec_compiled_t tspec_program_chains;

enum { MOST_INPUTS = 4 };

typedef struct chain_t {
  tspec_rt_t *rt;
  const char *entry;
  int64_t count; ///< elements of an array
  int ninputs;   ///< 1 or 4
  float *inputs[MOST_INPUTS];
  float *result;
} chain_t;

static void run_chain(void *user) {
  chain_t *chain = user;
  tspec_rt_status_t status = tspec_rt_run(chain->rt, chain->entry);
  if (status != TSPEC_RT_OK) {
    tspec_rt_abort(chain->rt, status);
  }
}

static void run_loop(void *user) {
  chain_t *chain = user;
  if (chain->ninputs == 1) {
    bench_scale(chain->count, chain->inputs[0], chain->result);
  } else {
    const float *in[] = {chain->inputs[0], chain->inputs[1], chain->inputs[2], chain->inputs[3]};
    bench_add4(chain->count, in, chain->result);
  }
}

static void run_copy(void *user) {
  chain_t *chain = user;
  size_t bytes = (size_t)chain->count * sizeof(float);
  memcpy((char *)chain->result, (const char *)chain->inputs[chain->ninputs - 1], bytes);
}

static float value_of(int input, int64_t i) {
  return (float)((i * 7 + input * 3) % 31 - 15) / 16;
}

static bool find_arrays(chain_t *chain) {
  static const char *const names[] = {"x", "a", "b", "c"};
  tspec_rt_view_t view;
  for (int i = 0; i < chain->ninputs; ++i) {
    if (!tspec_rt_find_input(chain->rt, chain->entry, names[i], &view)) {
      return false;
    }
    chain->inputs[i] = view.memory;
    chain->count = view.sizes[0];
  }
  if (!tspec_rt_find_result(chain->rt, chain->entry, "y", &view)) {
    return false;
  }
  chain->result = view.memory;
  return true;
}

// Arrays may share memory (y takes that of an input that is used up), so they are filled afresh.
static void fill(chain_t *chain) {
  for (int input = 0; input < chain->ninputs; ++input) {
    for (int64_t i = 0; i < chain->count; ++i) {
      chain->inputs[input][i] = value_of(input, i);
    }
  }
}

static bool is_right(chain_t *chain) {
  fill(chain);
  run_chain(chain);
  for (int64_t i = 0; i < chain->count; ++i) {
    bool four = chain->ninputs == 4;
    float x = value_of(0, i), a = four ? value_of(1, i) : 0.5F;
    float b = four ? value_of(2, i) : 0.25F, c = four ? value_of(3, i) : 0.75F;
    float sum = a * x + b;
    float expected = (sum > 0 ? sum : 0) * c - x;
    if (!(fabsf(chain->result[i] - expected) <= 1e-6F)) {
      return false;
    }
  }
  return true;
}

static void measure(chain_t *chain, const char *loop, bench_tally_t *tally) {
  if (!find_arrays(chain) || !is_right(chain)) {
    printf("  %s: wrong result\n", chain->entry);
    return;
  }
  bool in_place = false;
  for (int i = 0; i < chain->ninputs; ++i) {
    in_place = in_place || chain->inputs[i] == chain->result;
  }
  double bytes = (double)chain->count * (double)sizeof(float);
  double traffic = bytes * (chain->ninputs + 1);
  fill(chain);
  bench_pair_t pair = bench_compare(run_chain, run_loop, chain);
  printf("  %-10s %g MiB arrays%s: %.1f GB/s, %s %.1f: ratio %.3f, aim >= 0.8: %s", chain->entry,
         bytes / (1 << 20), in_place ? ", in place" : "", traffic / pair.a * 1e-9, loop,
         traffic / pair.b * 1e-9, pair.ratio, bench_tally_add(tally, pair.ratio >= 0.8));
  if (chain->inputs[chain->ninputs - 1] != chain->result) {
    bench_pair_t copy = bench_compare(run_chain, run_copy, chain);
    printf("; memcpy %.1f", 2 * bytes / copy.b * 1e-9);
  }
  printf("\n");
  (void)fflush(stdout);
}

void bench_chains(bench_tally_t *tally) {
  tspec_rt_t *rt = NULL;
  tspec_rt_open_t open = {.compiled = &tspec_program_chains, .threads = 1};
  if (tspec_rt_open(&open, &rt) != TSPEC_RT_OK) {
    printf("  %s\n", rt != NULL ? tspec_rt_message(rt) : "out of memory");
    tspec_rt_close(rt);
    return;
  }
  chain_t four_large = {.rt = rt, .entry = "four_large", .ninputs = 4};
  chain_t one_large = {.rt = rt, .entry = "one_large", .ninputs = 1};
  chain_t four_small = {.rt = rt, .entry = "four_small", .ninputs = 4};
  chain_t one_small = {.rt = rt, .entry = "one_small", .ninputs = 1};
  measure(&four_large, "y = (x + a + b + c) / 4", tally);
  measure(&one_large, "y = x / 2", tally);
  measure(&four_small, "y = (x + a + b + c) / 4", tally);
  measure(&one_small, "y = x / 2", tally);
  tspec_rt_close(rt);
}
