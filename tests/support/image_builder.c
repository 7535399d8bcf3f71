#include "tests/support/image_builder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void builder_begin(image_builder_t *b, const char *name) {
  b->used = sizeof(tspec_image_t);
  memcpy(b->header.magic, TSPEC_IMAGE_MAGIC, sizeof b->header.magic);
  b->header.version = TSPEC_IMAGE_VERSION;
  b->header.name = builder_string(b, name);
  b->header.cpu = builder_string(b, "x86-64-v2");
  b->header.features = builder_string(b, "sse4.2,popcnt");
  b->header.compiler = builder_string(b, "by hand");
}

tspec_image_span_t builder_span(image_builder_t *b, const void *records, uint32_t count,
                                size_t bytes) {
  if (count == 0) {
    return (tspec_image_span_t){0};
  }
  b->used = (b->used + 7) / 8 * 8;
  tspec_image_span_t span = {b->used, count};
  assert(b->used + count * bytes <= sizeof b->bytes);
  memcpy(b->bytes + b->used, records, count * bytes);
  b->used += (uint32_t)(count * bytes);
  return span;
}

tspec_image_string_t builder_string(image_builder_t *b, const char *text) {
  return builder_span(b, text, (uint32_t)strlen(text) + 1, 1).offset;
}

void builder_axis(image_builder_t *b, const char *name, int64_t size) {
  b->axis_names[b->naxes] = name;
  b->axes[b->naxes++] = (tspec_image_axis_t){.name = builder_string(b, name), .size = size};
}

static tspec_image_piece_t parse_piece(const image_builder_t *b, const char *text) {
  char name[32] = "";
  long long pre = 1;
  long long size = 0;
  int fields = sscanf(text, " %31[^: ]:(%lld)%lld", name, &pre, &size);
  for (uint32_t a = 0; a < b->naxes; ++a) {
    if (strcmp(b->axis_names[a], name) == 0) {
      return (tspec_image_piece_t){a, pre, fields == 3 ? size : b->axes[a].size};
    }
  }
  assert(!"unknown axis");
  return (tspec_image_piece_t){0};
}

tspec_image_span_t builder_pieces(image_builder_t *b, const char *text) {
  tspec_image_piece_t pieces[8];
  uint32_t count = 0;
  char copy[128];
  (void)snprintf(copy, sizeof copy, "%s", text);
  char *rest = NULL;
  for (char *one = strtok_r(copy, "* ", &rest); one != NULL; one = strtok_r(NULL, "* ", &rest)) {
    if (strcmp(one, "-") != 0) {
      pieces[count++] = parse_piece(b, one);
    }
  }
  return builder_span(b, pieces, count, sizeof pieces[0]);
}

uint32_t builder_tensor(image_builder_t *b, tspec_rt_dtype_t dtype, int ndims, const int64_t *sizes,
                        const char *sharding) {
  tspec_image_dim_t dims[8];
  char copy[128];
  (void)snprintf(copy, sizeof copy, "%s", sharding);
  char *close = strchr(copy, ']');
  assert(copy[0] == '[' && close != NULL);
  *close = '\0';
  char *pending = strchr(close + 1, '(');
  char *rest = NULL;
  char *one = strtok_r(copy + 1, ",", &rest);
  for (int d = 0; d < ndims; ++d) {
    dims[d] = (tspec_image_dim_t){sizes[d], builder_pieces(b, one != NULL ? one : "-")};
    one = strtok_r(NULL, ",", &rest);
  }
  tspec_image_tensor_t tensor = {.dtype = (uint32_t)dtype,
                                 .dims = builder_span(b, dims, (uint32_t)ndims, sizeof dims[0])};
  if (pending != NULL) {
    pending[strlen(pending) - 1] = '\0';
    tensor.pending = builder_pieces(b, pending + 1);
  }
  b->tensors[b->ntensors] = tensor;
  return b->ntensors++;
}

uint32_t builder_param(image_builder_t *b, const char *path, uint32_t tensor, uint32_t init,
                       double a, double c) {
  b->params[b->nparams] = (tspec_image_param_t){
      .path = builder_string(b, path), .tensor = tensor, .init = init, .args = {a, c}};
  return b->nparams++;
}

void builder_entry_begin(image_builder_t *b, const char *name) {
  b->nbuffers = b->ninputs = b->nresults = b->nupdates = b->nsteps = 0;
  b->arena_bytes = 0;
  b->entry_name = name;
}

// Bytes of the largest block.
static int64_t capacity(const image_builder_t *b, uint32_t index) {
  const tspec_image_tensor_t *tensor = &b->tensors[index];
  const tspec_image_dim_t *dims = (const void *)(b->bytes + tensor->dims.offset);
  int64_t bytes = tspec_rt_dtype_bytes((tspec_rt_dtype_t)tensor->dtype);
  for (uint32_t d = 0; d < tensor->dims.count; ++d) {
    const tspec_image_piece_t *pieces = (const void *)(b->bytes + dims[d].pieces.offset);
    int64_t k = 1;
    for (uint32_t i = 0; i < dims[d].pieces.count; ++i) {
      k *= pieces[i].size;
    }
    bytes *= (dims[d].size + k - 1) / k;
  }
  return bytes;
}

uint32_t builder_buffer(image_builder_t *b, uint32_t tensor) {
  int64_t bytes = capacity(b, tensor);
  b->buffers[b->nbuffers] = (tspec_image_buffer_t){.tensor = tensor,
                                                   .space = TSPEC_IMAGE_ARENA,
                                                   .offset_bytes = b->arena_bytes,
                                                   .capacity_bytes = bytes};
  b->arena_bytes += (bytes + 63) / 64 * 64;
  return b->nbuffers++;
}

uint32_t builder_param_buffer(image_builder_t *b, uint32_t param) {
  uint32_t tensor = b->params[param].tensor;
  b->buffers[b->nbuffers] = (tspec_image_buffer_t){.tensor = tensor,
                                                   .space = TSPEC_IMAGE_PARAM,
                                                   .index = param,
                                                   .capacity_bytes = capacity(b, tensor)};
  return b->nbuffers++;
}

void builder_input(image_builder_t *b, const char *name, uint32_t buffer) {
  b->inputs[b->ninputs++] = (tspec_image_slot_t){builder_string(b, name), buffer, -1};
}

void builder_result(image_builder_t *b, const char *name, uint32_t buffer) {
  b->results[b->nresults++] = (tspec_image_slot_t){builder_string(b, name), buffer, -1};
}

void builder_update(image_builder_t *b, uint32_t param, uint32_t buffer) {
  b->updates[b->nupdates++] = (tspec_image_slot_t){b->params[param].path, buffer, param};
}

tspec_image_step_t *builder_step(image_builder_t *b, uint32_t kind, const uint32_t *buffers,
                                 uint32_t count, const char *what, const char *where) {
  tspec_image_step_t *step = &b->steps[b->nsteps++];
  *step = (tspec_image_step_t){.kind = kind,
                               .buffers = builder_span(b, buffers, count, sizeof *buffers),
                               .range_arg = ~0u,
                               .what = builder_string(b, what),
                               .where = builder_string(b, where)};
  return step;
}

void builder_entry_end(image_builder_t *b) {
  b->entries[b->nentries++] = (tspec_image_entry_t){
      .name = builder_string(b, b->entry_name),
      .arena_bytes = b->arena_bytes,
      .inputs = builder_span(b, b->inputs, b->ninputs, sizeof b->inputs[0]),
      .results = builder_span(b, b->results, b->nresults, sizeof b->results[0]),
      .updates = builder_span(b, b->updates, b->nupdates, sizeof b->updates[0]),
      .buffers = builder_span(b, b->buffers, b->nbuffers, sizeof b->buffers[0]),
      .steps = builder_span(b, b->steps, b->nsteps, sizeof b->steps[0])};
}

const tspec_image_t *builder_end(image_builder_t *b) {
  b->header.axes = builder_span(b, b->axes, b->naxes, sizeof b->axes[0]);
  b->header.tensors = builder_span(b, b->tensors, b->ntensors, sizeof b->tensors[0]);
  b->header.params = builder_span(b, b->params, b->nparams, sizeof b->params[0]);
  b->header.entries = builder_span(b, b->entries, b->nentries, sizeof b->entries[0]);
  b->header.size_bytes = b->used;
  memcpy(b->bytes, &b->header, sizeof b->header);
  return (const tspec_image_t *)(const void *)b->bytes;
}
