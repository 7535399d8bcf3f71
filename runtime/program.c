#include "runtime/program.h"

#include <string.h>

tspec_rt_mesh_t tspec_rt_image_mesh(const tspec_image_t *image) {
  tspec_rt_mesh_t mesh = {.naxes = (int)image->axes.count,
                          .axes = tspec_rt_image_span(image, image->axes),
                          .nranks = 1};
  for (int i = 0; i < mesh.naxes; ++i) {
    mesh.nranks *= mesh.axes[i].size;
  }
  return mesh;
}

static tspec_rt_status_t out_of_memory(tspec_rt_error_t *error) {
  return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory while reading the program image");
}

static void *get(tspec_rt_program_t *program, uint64_t count, size_t bytes) {
  return tspec_rt_pool_get(&program->pool, (size_t)count, bytes);
}

static bool init_tensor(tspec_rt_program_t *program, const tspec_image_tensor_t *image,
                        tspec_rt_tensor_t *out_tensor) {
  tspec_rt_pieces_t *splits = get(program, image->dims.count, sizeof *splits);
  int64_t *sizes = get(program, image->dims.count, sizeof *sizes);
  if (splits == NULL || sizes == NULL) {
    return false;
  }
  const tspec_image_dim_t *dims = tspec_rt_image_span(program->image, image->dims);
  for (uint32_t d = 0; d < image->dims.count; ++d) {
    splits[d] = tspec_rt_image_pieces(program->image, dims[d].pieces);
    sizes[d] = dims[d].size;
  }
  out_tensor->sizes = sizes;
  out_tensor->dtype = (tspec_rt_dtype_t)image->dtype;
  out_tensor->layout =
      (tspec_rt_layout_t){.ndims = (int)image->dims.count,
                          .dims = dims,
                          .splits = splits,
                          .pending = tspec_rt_image_pieces(program->image, image->pending)};
  out_tensor->box = tspec_rt_layout_box(&program->mesh, &out_tensor->layout, program->rank);
  out_tensor->elems = tspec_rt_box_elems(&out_tensor->box);
  out_tensor->bytes = out_tensor->elems * tspec_rt_dtype_bytes(out_tensor->dtype);
  return true;
}

static bool init_slots(tspec_rt_program_t *program, const tspec_rt_entry_t *entry,
                       tspec_image_span_t span, int *out_count, tspec_rt_slot_t **out_slots) {
  const tspec_image_slot_t *image = tspec_rt_image_span(program->image, span);
  tspec_rt_slot_t *slots = get(program, span.count, sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < span.count; ++i) {
    slots[i] = (tspec_rt_slot_t){.name = tspec_rt_image_string(program->image, image[i].name),
                                 .buffer = &entry->buffers[image[i].buffer],
                                 .param = image[i].param};
  }
  *out_count = (int)span.count;
  *out_slots = slots;
  return true;
}

static bool init_entry(tspec_rt_program_t *program, const tspec_image_entry_t *image,
                       tspec_rt_entry_t *entry) {
  entry->image = image;
  entry->name = tspec_rt_image_string(program->image, image->name);
  const tspec_image_buffer_t *buffers = tspec_rt_image_span(program->image, image->buffers);
  entry->nbuffers = (int)image->buffers.count;
  entry->buffers = get(program, image->buffers.count, sizeof *entry->buffers);
  if (entry->buffers == NULL) {
    return false;
  }
  for (int i = 0; i < entry->nbuffers; ++i) {
    entry->buffers[i].image = &buffers[i];
    entry->buffers[i].tensor = &program->tensors[buffers[i].tensor];
  }
  return init_slots(program, entry, image->inputs, &entry->ninputs, &entry->inputs) &&
         init_slots(program, entry, image->results, &entry->nresults, &entry->results) &&
         init_slots(program, entry, image->updates, &entry->nupdates, &entry->updates);
}

tspec_rt_status_t tspec_rt_program_init(tspec_rt_program_t *program,
                                        const tspec_compiled_t *compiled, int rank,
                                        tspec_rt_error_t *error) {
  const tspec_image_t *image = compiled->image;
  *program = (tspec_rt_program_t){
      .compiled = compiled, .image = image, .mesh = tspec_rt_image_mesh(image), .rank = rank};
  program->tensors = get(program, image->tensors.count, sizeof *program->tensors);
  program->params = get(program, image->params.count, sizeof *program->params);
  program->entries = get(program, image->entries.count, sizeof *program->entries);
  if (program->tensors == NULL || program->params == NULL || program->entries == NULL) {
    return out_of_memory(error);
  }
  program->ntensors = (int)image->tensors.count;
  program->nparams = (int)image->params.count;
  program->nentries = (int)image->entries.count;
  const tspec_image_tensor_t *tensors = tspec_rt_image_span(image, image->tensors);
  for (int i = 0; i < program->ntensors; ++i) {
    if (!init_tensor(program, &tensors[i], &program->tensors[i])) {
      return out_of_memory(error);
    }
  }
  const tspec_image_param_t *params = tspec_rt_image_span(image, image->params);
  for (int i = 0; i < program->nparams; ++i) {
    program->params[i] = (tspec_rt_param_t){.path = tspec_rt_image_string(image, params[i].path),
                                            .image = &params[i],
                                            .tensor = &program->tensors[params[i].tensor]};
  }
  const tspec_image_entry_t *entries = tspec_rt_image_span(image, image->entries);
  for (int i = 0; i < program->nentries; ++i) {
    if (!init_entry(program, &entries[i], &program->entries[i])) {
      return out_of_memory(error);
    }
  }
  return TSPEC_RT_OK;
}

tspec_rt_entry_t *tspec_rt_program_find_entry(tspec_rt_program_t *program, const char *name) {
  for (int i = 0; i < program->nentries; ++i) {
    if (strcmp(program->entries[i].name, name) == 0) {
      return &program->entries[i];
    }
  }
  return NULL;
}

void tspec_rt_program_deinit(tspec_rt_program_t *program) {
  for (int i = 0; i < program->nentries; ++i) {
    for (int s = 0; s < program->entries[i].nsteps; ++s) {
      tspec_gemm_release(&program->entries[i].steps[s].gemm);
    }
  }
  for (tspec_rt_group_t *group = program->groups; group != NULL; group = group->next) {
    if (group->group != NULL) {
      program->comm->ops->group_destroy(group->group);
    }
  }
  tspec_rt_memory_destroy(program);
  tspec_rt_pool_deinit(&program->pool);
  *program = (tspec_rt_program_t){0};
}
