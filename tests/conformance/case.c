#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

const char *case_text(json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

bool case_flag(json_t *object, const char *key) {
  return json_is_true(json_object_get(object, key));
}

int64_t case_int(json_t *object, const char *key, int64_t otherwise) {
  json_t *value = json_object_get(object, key);
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static int64_t *ints_of(const case_t *c, json_t *list, int64_t *out_count) {
  *out_count = (int64_t)json_array_size(list);
  int64_t *ints = TSPEC_ARENA_NEW(c->arena, int64_t, *out_count);
  for (int64_t i = 0; i < *out_count; i++) {
    ints[i] = json_integer_value(json_array_get(list, (size_t)i));
  }
  return ints;
}

int64_t *case_ints(const case_t *c, json_t *object, const char *key, int64_t *out_count) {
  return ints_of(c, json_object_get(object, key), out_count);
}

bool case_ints_contain(json_t *list, int64_t value) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) {
    if (json_integer_value(item) == value) {
      return true;
    }
  }
  return false;
}

tspec_axis_t case_axis(const case_t *c, const char *token) {
  char name[64] = {0};
  long long pre = 0;
  long long size = 0;
  int fields = sscanf(token, "%63[^:]:(%lld)%lld", name, &pre, &size);
  int axis = tspec_mesh_find(&c->mesh, name);
  TSPEC_CHECK(axis >= 0, "%s: axis '%s'", c->id, token);
  return fields == 3 ? (tspec_axis_t){.axis = axis, .pre = pre, .size = size}
                     : tspec_axis_full(&c->mesh, axis);
}

tspec_axis_t *case_axes(const case_t *c, json_t *tokens, int *out_count) {
  tspec_axis_t *axes = TSPEC_ARENA_NEW(c->arena, tspec_axis_t, json_array_size(tokens));
  size_t i;
  json_t *token;
  *out_count = 0;
  json_array_foreach(tokens, i, token) {
    tspec_axes_push(axes, out_count, case_axis(c, json_string_value(token)));
  }
  return axes;
}

const tspec_sharding_t *case_sharding(const case_t *c, json_t *entry) {
  json_t *dims = json_object_get(entry, "sharding");
  if (!json_is_array(dims)) {
    return NULL;
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(c->arena, tspec_sharding_t, 1);
  sharding->rank = (int)json_array_size(dims);
  tspec_dim_t *out = TSPEC_ARENA_NEW(c->arena, tspec_dim_t, sharding->rank);
  sharding->dims = out;
  for (int i = 0; i < sharding->rank; i++) {
    out[i].axes = case_axes(c, json_array_get(dims, (size_t)i), &out[i].naxes);
    out[i].open = json_is_true(json_array_get(json_object_get(entry, "open"), (size_t)i));
    out[i].priority =
        (int)json_integer_value(json_array_get(json_object_get(entry, "priority"), (size_t)i));
  }
  sharding->replicated = case_axes(c, json_object_get(entry, "replicated"), &sharding->nreplicated);
  int npending = 0;
  const tspec_axis_t *pending = case_axes(c, json_object_get(entry, "unreduced"), &npending);
  tspec_reduce_t kind = TSPEC_REDUCE_SUM;
  const char *name = case_text(entry, "unreduced_op");
  TSPEC_CHECK(name == NULL || tspec_reduce_parse(name, &kind));
  return tspec_sharding_with_pending(c->arena, &c->mesh, sharding, kind, pending, npending);
}

const char *case_print(const case_t *c, const tspec_sharding_t *sharding) {
  if (sharding == NULL) {
    return "nothing";
  }
  const char *text = tspec_sharding_print(c->arena, &c->mesh, sharding);
  if (sharding->nreplicated == 0) {
    return text;
  }
  return tspec_arena_printf(
      c->arena, "%s replicated(%s)", text,
      tspec_axes_print(c->arena, &c->mesh, sharding->replicated, sharding->nreplicated));
}

/// Rules and shardings do not look at element types; those that the language lacks are f32 here.
static tspec_type_t type_of(const case_t *c, json_t *entry) {
  tspec_dtype_t dtype = TSPEC_DTYPE_F32;
  const char *name = case_text(entry, "dtype");
  if (name != NULL) {
    tspec_dtype_parse(name, strlen(name), &dtype);
  }
  int64_t rank = 0;
  int64_t *dims = case_ints(c, entry, "shape", &rank);
  return (tspec_type_t){.dtype = dtype, .rank = (int)rank, .dims = dims};
}

case_value_t *case_define(case_t *c, json_t *entry, const char *key, json_t *definition) {
  case_value_t *value = TSPEC_ARENA_NEW(c->arena, case_value_t, 1);
  value->name = case_text(entry, key);
  value->type = type_of(c, entry);
  value->sharding = case_sharding(c, entry);
  value->definition = definition;
  value->id = -1;
  tspec_names_set(c->arena, &c->values, value->name, value);
  return value;
}

case_value_t *case_find(const case_t *c, const char *name) {
  case_value_t *value = tspec_names_get(&c->values, name);
  TSPEC_CHECK(value != NULL, "%s: value '%s'", c->id, name);
  return value;
}

case_op_t case_read_op(case_t *c, json_t *op) {
  json_t *operands = json_object_get(op, "operands");
  json_t *results = json_object_get(op, "results");
  case_op_t read = {.json = op,
                    .name = case_text(op, "op"),
                    .noperands = (int)json_array_size(operands),
                    .nresults =
                        case_text(op, "result") != NULL ? 1 : (int)json_array_size(results)};
  read.operands = TSPEC_ARENA_NEW(c->arena, case_value_t *, read.noperands);
  read.operand_types = TSPEC_ARENA_NEW(c->arena, tspec_type_t, read.noperands);
  for (int i = 0; i < read.noperands; i++) {
    read.operands[i] = case_find(c, json_string_value(json_array_get(operands, (size_t)i)));
    read.operand_types[i] = read.operands[i]->type;
  }
  read.results = TSPEC_ARENA_NEW(c->arena, case_value_t *, read.nresults);
  read.result_types = TSPEC_ARENA_NEW(c->arena, tspec_type_t, read.nresults);
  for (int i = 0; i < read.nresults; i++) {
    json_t *entry = results != NULL ? json_array_get(results, (size_t)i) : op;
    read.results[i] = case_define(c, entry, "result", op);
    read.result_types[i] = read.results[i]->type;
  }
  return read;
}

void case_init(case_t *c, tspec_arena_t *arena, json_t *json, tspec_buf_t *complaint) {
  *c = (case_t){.arena = arena,
                .json = json,
                .id = case_text(json, "id"),
                .conservative = case_flag(json, "conservative"),
                .complaint = complaint};
  json_t *order = json_object_get(json, "mesh_order");
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_mesh_axis_t, json_array_size(order));
  size_t i;
  json_t *item;
  json_array_foreach(order, i, item) {
    axes[i].name = json_string_value(item);
    axes[i].size = case_int(json_object_get(json, "mesh"), axes[i].name, 1);
  }
  c->mesh = (tspec_mesh_t){.naxes = (int)json_array_size(order), .axes = axes};
  json_array_foreach(json_object_get(json, "inputs"), i, item) {
    case_define(c, item, "name", NULL);
  }
}
