// Numbers, shardings and blocks of a run's results against those that its row states.
#include <math.h>
#include <string.h>

#include "tests/e2e/bugs.h"

// ---- tensors from JSON ----

static double number_or(const json_t *object, const char *key, double otherwise) {
  const json_t *number = json_object_get(object, key);
  return json_is_number(number) ? json_number_value(number) : otherwise;
}

static double read_number(const json_t *json) {
  if (json_is_string(json)) {
    const char *text = json_string_value(json);
    return strcmp(text, "nan") == 0 ? NAN : strcmp(text, "-inf") == 0 ? -INFINITY : INFINITY;
  }
  return json_number_value(json);
}

// Sets elements from `at` on; what would lie outside is only counted. Returns where it ended.
static int64_t fill(tspec_dense_t *dense, const json_t *json, int64_t at) {
  if (!json_is_array(json)) {
    if (at < dense->count) {
      tspec_dense_set(dense, at, read_number(json));
    }
    return at + 1;
  }
  for (size_t i = 0; i < json_array_size(json); ++i) {
    at = fill(dense, json_array_get(json, i), at);
  }
  return at;
}

tspec_dense_t *bugs_tensor(bugs_run_t *run, const char *name, const json_t *json,
                           tspec_type_t type) {
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  if (json == NULL || json_is_object(json)) {
    double mod = number_or(json, "mod", INFINITY);
    for (int64_t i = 0; i < dense->count; ++i) {
      double n = isinf(mod) ? (double)i : fmod((double)i, mod);
      tspec_dense_set(dense, i, (n + number_or(json, "add", 0)) * number_or(json, "mul", 1));
    }
    return dense;
  }
  int64_t count = fill(dense, json, 0);
  if (count != dense->count) {
    bugs_fail(run, "'%s' has %lld elements, %lld are stated", name, (long long)dense->count,
              (long long)count);
    tspec_dense_destroy(dense);
    return NULL;
  }
  return dense;
}

// ---- values ----

static bool near(double want, double got, double within) {
  if (want == got || (isnan(want) && isnan(got))) {
    return true;
  }
  return fabs(want - got) <= within * fmax(1, fabs(want));
}

static void compare(bugs_run_t *run, const char *what, const char *name, const tspec_dense_t *want,
                    const tspec_dense_t *got, int64_t count) {
  double within = number_or(run->json, "within", 0);
  for (int64_t i = 0; i < count; ++i) {
    double a = tspec_dense_get(want, i), b = tspec_dense_get(got, i);
    if (!near(a, b, within)) {
      bugs_fail(run, "%s: '%s' has %.9g at %lld, not %.9g", what, name, b, (long long)i, a);
      return;
    }
  }
}

// "sums": of all elements; "begins": the first elements only.
static void compare_parts(bugs_run_t *run, const char *name, const tspec_dense_t *got) {
  const json_t *sum = json_object_get(json_object_get(run->json, "sums"), name);
  double total = 0;
  for (int64_t i = 0; i < got->count; ++i) {
    total += tspec_dense_get(got, i);
  }
  if (sum != NULL && !near(json_number_value(sum), total, number_or(run->json, "within", 0))) {
    bugs_fail(run, "the sum of '%s' is %.9g, not %.9g", name, total, json_number_value(sum));
  }
  const json_t *begins = json_object_get(json_object_get(run->json, "begins"), name);
  if (begins != NULL) {
    int64_t dims[] = {(int64_t)json_array_size(begins)};
    tspec_dense_t *want = bugs_tensor(run, name, begins, (tspec_type_t){got->type.dtype, 1, dims});
    compare(run, "begins", name, want, got, dims[0] < got->count ? dims[0] : got->count);
    tspec_dense_destroy(want);
  }
}

void bugs_compare(bugs_run_t *run, int index, tspec_eval_t *whole, tspec_eval_t *ranks) {
  const char *name = run->func->results[index].name;
  tspec_dense_t *one = tspec_eval_result_at(whole, index);
  tspec_dense_t *all = tspec_eval_result_at(ranks, index);
  const json_t *json = json_object_get(json_object_get(run->json, "results"), name);
  tspec_dense_t *want = json == NULL ? NULL : bugs_tensor(run, name, json, one->type);
  compare(run, "all ranks against one", name, one, all, one->count);
  if (want != NULL) {
    compare(run, "one rank", name, want, one, one->count);
    compare(run, "all ranks", name, want, all, one->count);
  }
  compare_parts(run, name, one);
  compare_parts(run, name, all);
  tspec_dense_destroy(one);
  tspec_dense_destroy(all);
  tspec_dense_destroy(want);
}

// ---- blocks ----

// "blocks": {NAME: {"dim": d, "sizes": [..], "offsets": [..]}}, one per rank; an empty block lies
// at the dim's end or wherever else, but is empty. The offset is seen in the values: the block is
// that part of the whole.
static void compare_block(bugs_run_t *run, int index, tspec_eval_t *ranks, const json_t *split,
                          int64_t rank) {
  const tspec_result_t *result = &run->func->results[index];
  tspec_type_t type = result->value->type;
  int dim = (int)json_integer_value(json_object_get(split, "dim"));
  int64_t size = json_integer_value(json_array_get(json_object_get(split, "sizes"), (size_t)rank));
  int64_t offset =
      json_integer_value(json_array_get(json_object_get(split, "offsets"), (size_t)rank));
  tspec_block_t *blocks = TSPEC_ARENA_NEW(&run->arena, tspec_block_t, type.rank);
  tspec_sharding_blocks(&run->local->mesh, result->sharding, type, rank, blocks);
  const tspec_dense_t *block = tspec_eval_result_block(ranks, index, rank);
  if (block->type.dims[dim] != size || blocks[dim].begin != offset) {
    bugs_fail(run, "rank %lld holds %lld elements from %lld of '%s', not %lld from %lld",
              (long long)rank, (long long)block->type.dims[dim], (long long)blocks[dim].begin,
              result->name, (long long)size, (long long)offset);
    return;
  }
  tspec_dense_t *whole = tspec_eval_result_at(ranks, index);
  blocks[dim] = (tspec_block_t){offset, offset + size};
  tspec_dense_t *want = tspec_dense_cut(whole, blocks);
  if (!tspec_dense_equal(want, block)) {
    bugs_fail(run, "rank %lld holds another part of '%s'", (long long)rank, result->name);
  }
  tspec_dense_destroy(want);
  tspec_dense_destroy(whole);
}

// The sharding of a result is the one stated. False if the row says that it is known to be another.
static bool compare_sharding(bugs_run_t *run, const tspec_result_t *result) {
  const json_t *stated = json_object_get(json_object_get(run->json, "shardings"), result->name);
  const json_t *known = json_object_get(
      json_object_get(json_object_get(run->json, "known"), "shardings"), result->name);
  const char *got = tspec_sharding_print(&run->arena, &run->local->mesh, result->sharding);
  const json_t *want = known != NULL ? known : stated;
  if (want != NULL && strcmp(json_string_value(want), got) != 0) {
    bugs_fail(run, "'%s' is %s, not %s%s", result->name, got, json_string_value(want),
              known != NULL ? ", as was known: mend its row" : "");
  }
  return known == NULL;
}

void bugs_compare_blocks(bugs_run_t *run, int index, tspec_eval_t *ranks) {
  const tspec_result_t *result = &run->func->results[index];
  const json_t *split = json_object_get(json_object_get(run->json, "blocks"), result->name);
  if (!compare_sharding(run, result) || split == NULL) {
    return;
  }
  int64_t nranks = tspec_eval_nranks(ranks);
  if ((int64_t)json_array_size(json_object_get(split, "sizes")) != nranks ||
      (int64_t)json_array_size(json_object_get(split, "offsets")) != nranks) {
    bugs_fail(run, "blocks of '%s' are not stated for each of %lld ranks", result->name,
              (long long)nranks);
    return;
  }
  for (int64_t rank = 0; rank < nranks; ++rank) {
    compare_block(run, index, ranks, split, rank);
  }
}
