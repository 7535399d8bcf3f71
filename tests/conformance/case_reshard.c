// Kinds "reshard" and "fuse": conversions as collectives.
#include "case.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/axes.h"
#include "ir/shard/decompose.h"

/// A collective as both sides are written for the comparison.
static void print_step(const case_t *c, tspec_buf_t *buf, const char *name, int src_dim,
                       int dst_dim, const tspec_sharding_t *after) {
  tspec_buf_puts(buf, buf->length > 0 ? " -> " : "");
  tspec_buf_puts(buf, name);
  if (strcmp(name, "all_to_all") == 0) {
    tspec_buf_printf(buf, " %d>%d", src_dim, dst_dim);
  }
  after = tspec_sharding_close(c->arena, tspec_sharding_complete(c->arena, after));
  tspec_buf_printf(buf, " %s", case_print(c, after));
}

static void print_steps(const case_t *c, tspec_buf_t *buf, tspec_steps_t steps) {
  for (int i = 0; i < steps.count; i++) {
    const tspec_step_t *step = &steps.items[i];
    const char *name = step->kind == TSPEC_COLLECTIVE_PERMUTE ? "collective_permute"
                                                              : tspec_collective_name(step->kind);
    print_step(c, buf, name, step->src_dim, step->dst_dim, step->to);
  }
}

static const tspec_sharding_t *sharding_after(const case_t *c, json_t *collective) {
  json_t *entry = json_object();
  json_object_set(entry, "sharding", json_object_get(collective, "sharding_after"));
  const tspec_sharding_t *sharding = case_sharding(c, entry);
  json_decref(entry);
  return sharding;
}

static void print_listed(const case_t *c, tspec_buf_t *buf, json_t *collectives) {
  size_t i;
  json_t *item;
  json_array_foreach(collectives, i, item) {
    print_step(c, buf, case_text(item, "op"), (int)case_int(item, "src_dim", -1),
               (int)case_int(item, "dst_dim", -1), sharding_after(c, item));
  }
}

static verdict_t compare(const case_t *c, tspec_buf_t *got) {
  tspec_buf_t wanted = {0};
  print_listed(c, &wanted, json_object_get(c->json, "expect_collectives"));
  verdict_t verdict = VERDICT_PASSED;
  if (strcmp(tspec_buf_get(got), tspec_buf_get(&wanted)) != 0) {
    tspec_buf_printf(c->complaint, "  got    %s\n  wanted %s\n", tspec_buf_get(got),
                     tspec_buf_get(&wanted));
    verdict = VERDICT_FAILED;
  }
  tspec_buf_deinit(&wanted);
  tspec_buf_deinit(got);
  return verdict;
}

static const tspec_sharding_t *closed(const case_t *c, const case_value_t *value) {
  return value->sharding == NULL ? tspec_sharding_replicated(c->arena, value->type.rank)
                                 : tspec_sharding_close(c->arena, value->sharding);
}

verdict_t case_run_reshard(case_t *c) {
  tspec_buf_t got = {0};
  size_t i;
  json_t *json;
  json_array_foreach(json_object_get(c->json, "ops"), i, json) {
    case_op_t op = case_read_op(c, json);
    tspec_steps_t steps;
    if (!tspec_reshard_plan(c->arena, &c->mesh, op.operand_types[0], closed(c, op.operands[0]),
                            closed(c, op.results[0]), &steps)) {
      tspec_buf_puts(&got, "no plan");
      break;
    }
    print_steps(c, &got, steps);
  }
  return compare(c, &got);
}

// ---- fuse ---------------------------------------------------------------------------------------

/// An all_reduce and the all_slice that reads it, if the case is that.
static bool read_reduce_and_slice(const case_t *c, tspec_step_t out_steps[2]) {
  json_t *collectives = json_object_get(c->json, "collectives");
  json_t *first = json_array_get(collectives, 0);
  json_t *second = json_array_get(collectives, 1);
  if (json_array_size(collectives) != 2 || strcmp(case_text(first, "op"), "all_reduce") != 0 ||
      strcmp(case_text(second, "op"), "all_slice") != 0) {
    return false;
  }
  tspec_reduce_t reduce = TSPEC_REDUCE_SUM;
  const char *name = case_text(c->json, "reduction");
  TSPEC_CHECK(name == NULL || tspec_reduce_parse(name, &reduce));
  int naxes = 0;
  tspec_axis_t *axes = case_axes(c, json_object_get(first, "axes"), &naxes);
  naxes = tspec_axes_sort(axes, naxes);
  const tspec_sharding_t *between = sharding_after(c, first);
  const tspec_sharding_t *after = sharding_after(c, second);
  out_steps[0] = (tspec_step_t){
      .kind = TSPEC_COLLECTIVE_ALL_REDUCE,
      .reduce = reduce,
      .naxes = naxes,
      .axes = axes,
      .from = tspec_sharding_with_pending(c->arena, &c->mesh, between, reduce, axes, naxes),
      .to = between,
      .src_dim = -1,
      .dst_dim = -1};
  out_steps[1] = (tspec_step_t){.kind = TSPEC_COLLECTIVE_ALL_SLICE,
                                .reduce = TSPEC_REDUCE_SUM,
                                .from = between,
                                .to = after,
                                .src_dim = -1,
                                .dst_dim = -1};
  TSPEC_VEC(tspec_axis_t) sliced = {0};
  json_t *lists = json_object_get(second, "axes");
  for (size_t d = 0; d < json_array_size(lists); d++) {
    int count = 0;
    const tspec_axis_t *of_dim = case_axes(c, json_array_get(lists, d), &count);
    for (int i = 0; i < count; i++) {
      TSPEC_VEC_PUSH(c->arena, &sliced, of_dim[i]);
    }
  }
  out_steps[1].naxes = tspec_axes_sort(sliced.items, (int)sliced.count);
  out_steps[1].axes = sliced.items;
  return true;
}

/// The corpus looks at axes alone. Ours asks whether blocks nest, so let every size divide.
static tspec_type_t divisible(const case_t *c, tspec_type_t type) {
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, type.rank);
  for (int i = 0; i < type.rank; i++) {
    dims[i] = type.dims[i] * tspec_mesh_nranks(&c->mesh);
  }
  return (tspec_type_t){.dtype = type.dtype, .rank = type.rank, .dims = dims};
}

verdict_t case_run_fuse(case_t *c) {
  tspec_buf_t got = {0};
  tspec_step_t steps[2];
  tspec_step_t formed[2];
  int count = 0;
  if (read_reduce_and_slice(c, steps)) {
    const case_value_t *input =
        case_find(c, case_text(json_array_get(json_object_get(c->json, "inputs"), 0), "name"));
    count = tspec_steps_form_reduce_scatter(c->arena, &c->mesh, divisible(c, input->type),
                                            &steps[0], &steps[1], formed);
  }
  if (count > 0) {
    print_steps(c, &got, (tspec_steps_t){.count = count, .items = formed});
  } else {
    print_listed(c, &got, json_object_get(c->json, "collectives"));
  }
  return compare(c, &got);
}
