#define _GNU_SOURCE // memfd_create
// The public interface: parameters, inputs and results.
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/file.h"
#include "runtime/random.h"
#include "runtime/session.h"

tspec_rt_status_t tspec_rt_init_params(tspec_rt_t *rt, uint64_t seed) {
  for (int i = 0; i < rt->program.nparams; ++i) {
    const tspec_rt_param_t *param = &rt->program.params[i];
    tspec_rt_init_block(param->tensor, param->image->init, param->image->args, seed, param->path,
                        param->memory);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t load_param(tspec_rt_t *rt, int file, const char *name,
                                    const tspec_rt_safetensors_t *header,
                                    const tspec_rt_param_t *param) {
  bool found = false;
  tspec_rt_array_t array;
  TSPEC_RT_TRY(tspec_rt_safetensors_find(header, param->path, &rt->error, &found, &array));
  if (!found) {
    char type[256];
    return tspec_rt_fail(&rt->error, TSPEC_RT_INPUT, "'%s' has no tensor '%s' (%s)", name,
                         param->path, tspec_rt_tensor_print(param->tensor, type, sizeof type));
  }
  TSPEC_RT_TRY(tspec_rt_array_check(&array, param->tensor, name, param->path, &rt->error));
  return tspec_rt_array_read(file, &array, param->tensor, name, param->memory, &rt->error);
}

// Reads all parameters from an open file and closes it.
static tspec_rt_status_t load_all(tspec_rt_t *rt, int file, const char *name) {
  tspec_rt_safetensors_t *header = NULL;
  tspec_rt_status_t status = tspec_rt_safetensors_read(file, name, &rt->error, &header);
  for (int i = 0; i < rt->program.nparams && status == TSPEC_RT_OK; ++i) {
    status = load_param(rt, file, name, header, &rt->program.params[i]);
  }
  tspec_rt_safetensors_destroy(header);
  (void)close(file);
  return status;
}

tspec_rt_status_t tspec_rt_load_params(tspec_rt_t *rt, const char *file) {
  tspec_rt_clear_error(rt);
  int opened = open(file, O_RDONLY | O_CLOEXEC);
  if (opened < 0) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_FILE, "cannot open '%s': %s", file, strerror(errno));
  }
  return load_all(rt, opened, file);
}

static bool write_all(int file, const char *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t written = write(file, from + done, bytes - done);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    done += written > 0 ? (size_t)written : 0;
  }
  return true;
}

tspec_rt_status_t tspec_rt_load_params_memory(tspec_rt_t *rt, const void *from, size_t bytes) {
  tspec_rt_clear_error(rt);
  int file = memfd_create("tspec-params", MFD_CLOEXEC); // a file that is memory: one way to read
  if (file < 0 || !write_all(file, from, bytes)) {
    tspec_rt_status_t status =
        tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "cannot get %zu bytes to read parameters: %s",
                      bytes, strerror(errno));
    if (file >= 0) {
      (void)close(file);
    }
    return status;
  }
  return load_all(rt, file, "memory");
}

// The header of a checkpoint; sets where each tensor begins, counted from the end of the header,
// and the bytes of all.
static char *checkpoint_header(const tspec_rt_program_t *program, int64_t *offsets,
                               int64_t *out_bytes) {
  json_t *root = json_object();
  int64_t at = 0;
  (void)json_object_set_new(root, "__metadata__",
                            json_pack("{s:s, s:s}", "format", "tspec 1", "program",
                                      tspec_rt_image_string(program->image, program->image->name)));
  for (int i = 0; i < program->nparams; ++i) {
    const tspec_rt_tensor_t *tensor = program->params[i].tensor;
    json_t *shape = json_array();
    for (int d = 0; d < tensor->layout.ndims; ++d) {
      (void)json_array_append_new(shape, json_integer(tensor->layout.dims[d].size));
    }
    tspec_rt_box_t whole = tspec_rt_layout_whole(&tensor->layout);
    int64_t end = at + tspec_rt_box_elems(&whole) * tspec_rt_dtype_bytes(tensor->dtype);
    json_t *entry =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", tspec_rt_dtype_safetensors(tensor->dtype),
                  "shape", shape, "data_offsets", (json_int_t)at, (json_int_t)end);
    (void)json_object_set_new(root, program->params[i].path, entry);
    offsets[i] = at;
    at = end;
  }
  *out_bytes = at;
  char *text = json_dumps(root, JSON_COMPACT);
  json_decref(root);
  return text;
}

// Length, text, blanks up to a multiple of 8.
static char *frame_header(const char *text, int64_t *out_bytes) {
  size_t length = (strlen(text) + 7) / 8 * 8;
  char *framed = malloc(8 + length);
  if (framed != NULL) {
    for (int i = 0; i < 8; ++i) {
      framed[i] = (char)((uint64_t)length >> (8 * i) & 0xff);
    }
    for (size_t i = 0; i < length; ++i) {
      framed[8 + i] = i < strlen(text) ? text[i] : ' ';
    }
    *out_bytes = 8 + (int64_t)length;
  }
  return framed;
}

static tspec_rt_status_t save_blocks(tspec_rt_t *rt, const tspec_rt_output_t *output,
                                     int64_t header_bytes, const int64_t *offsets) {
  for (int i = 0; i < rt->program.nparams; ++i) {
    const tspec_rt_param_t *param = &rt->program.params[i];
    if (tspec_rt_is_writer(&rt->program.mesh, param->tensor, rt->comm->rank)) {
      TSPEC_RT_TRY(tspec_rt_array_write(output->file, header_bytes + offsets[i], param->tensor,
                                        output->name, param->memory, &rt->error));
    }
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_save_params(tspec_rt_t *rt, const char *file) {
  int64_t data_bytes = 0;
  int64_t header_bytes = 0;
  int64_t *offsets = calloc((size_t)rt->program.nparams + 1, sizeof *offsets);
  char *text = offsets == NULL ? NULL : checkpoint_header(&rt->program, offsets, &data_bytes);
  char *header = text == NULL ? NULL : frame_header(text, &header_bytes);
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (header == NULL) {
    status = tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory");
  }
  status = tspec_rt_agree(rt->comm, status, NULL, NULL);
  tspec_rt_output_t output;
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_output_create(
        rt->comm, file, (tspec_rt_head_t){header, header_bytes, header_bytes + data_bytes},
        &rt->error, &output);
  }
  if (status == TSPEC_RT_OK) {
    status = save_blocks(rt, &output, header_bytes, offsets);
    status = tspec_rt_output_finish(rt->comm, &output, status, &rt->error);
  }
  free(header);
  free(text);
  free(offsets);
  return status;
}

static void fill_view(const char *name, const tspec_rt_tensor_t *tensor, void *memory,
                      tspec_rt_view_t *out_view) {
  *out_view = (tspec_rt_view_t){.name = name,
                                .dtype = tensor->dtype,
                                .ndims = tensor->layout.ndims,
                                .begin = tensor->box.begin,
                                .end = tensor->box.end,
                                .sizes = tensor->sizes,
                                .bytes = tensor->bytes,
                                .memory = memory};
}

static tspec_rt_slot_t *find_slot(tspec_rt_slot_t *slots, int count, const char *name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(slots[i].name, name) == 0) {
      return &slots[i];
    }
  }
  return NULL;
}

static const tspec_rt_entry_t *opened_entry(const tspec_rt_t *rt, const char *name) {
  for (int i = 0; i < rt->program.nentries; ++i) {
    const tspec_rt_entry_t *entry = &rt->program.entries[i];
    if (entry->steps != NULL && strcmp(entry->name, name) == 0) {
      return entry;
    }
  }
  return NULL;
}

static void fill_input(const tspec_rt_slot_t *slot, tspec_rt_view_t *out_view) {
  fill_view(slot->name, slot->buffer->tensor, slot->buffer->memory, out_view);
}

static void fill_result(const tspec_rt_slot_t *slot, tspec_rt_view_t *out_view) {
  void *memory = slot->stage != NULL ? slot->stage : slot->buffer->memory;
  fill_view(slot->name, slot->buffer->tensor, memory, out_view);
}

bool tspec_rt_get_input(const tspec_rt_t *rt, const char *entry, int index,
                        tspec_rt_view_t *out_view) {
  const tspec_rt_entry_t *found = opened_entry(rt, entry);
  bool there = found != NULL && index >= 0 && index < found->ninputs;
  if (there) {
    fill_input(&found->inputs[index], out_view);
  }
  return there;
}

bool tspec_rt_get_result(const tspec_rt_t *rt, const char *entry, int index,
                         tspec_rt_view_t *out_view) {
  const tspec_rt_entry_t *found = opened_entry(rt, entry);
  bool there = found != NULL && index >= 0 && index < found->nresults;
  if (there) {
    fill_result(&found->results[index], out_view);
  }
  return there;
}

bool tspec_rt_get_param(const tspec_rt_t *rt, int index, tspec_rt_view_t *out_view) {
  bool there = index >= 0 && index < rt->program.nparams;
  if (there) {
    const tspec_rt_param_t *param = &rt->program.params[index];
    fill_view(param->path, param->tensor, param->memory, out_view);
  }
  return there;
}

bool tspec_rt_find_input(const tspec_rt_t *rt, const char *entry, const char *name,
                         tspec_rt_view_t *out_view) {
  const tspec_rt_entry_t *found = opened_entry(rt, entry);
  const tspec_rt_slot_t *slot =
      found == NULL ? NULL : find_slot(found->inputs, found->ninputs, name);
  if (slot != NULL) {
    fill_input(slot, out_view);
  }
  return slot != NULL;
}

bool tspec_rt_find_result(const tspec_rt_t *rt, const char *entry, const char *name,
                          tspec_rt_view_t *out_view) {
  const tspec_rt_entry_t *found = opened_entry(rt, entry);
  const tspec_rt_slot_t *slot =
      found == NULL ? NULL : find_slot(found->results, found->nresults, name);
  if (slot != NULL) {
    fill_result(slot, out_view);
  }
  return slot != NULL;
}

bool tspec_rt_find_param(const tspec_rt_t *rt, const char *path, tspec_rt_view_t *out_view) {
  for (int i = 0; i < rt->program.nparams; ++i) {
    const tspec_rt_param_t *param = &rt->program.params[i];
    if (strcmp(param->path, path) == 0) {
      return tspec_rt_get_param(rt, i, out_view);
    }
  }
  return false;
}

// Fills a block with the number that `text` is. False if it is none, or not one of the dtype.
static bool fill_number(const char *text, const tspec_rt_tensor_t *tensor, void *out,
                        bool *out_is_number) {
  char *end = NULL;
  double number = strtod(text, &end);
  bool is_bool = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
  *out_is_number = is_bool || (end != text && *end == '\0');
  unsigned char element[8] = {0};
  if (!*out_is_number) {
    return false;
  }
  if (tensor->dtype == TSPEC_RT_BOOL) {
    number = is_bool ? text[0] == 't' : number;
    element[0] = number != 0;
    if (!is_bool && number != 0 && number != 1) {
      return false;
    }
  } else if (tspec_rt_dtype_is_float(tensor->dtype)) {
    tspec_rt_dtype_store(tensor->dtype, number, element);
  } else {
    errno = 0;
    int64_t whole = strtoll(text, &end, 10);
    tspec_rt_dtype_store(tensor->dtype, (double)whole, element);
    if (tensor->dtype == TSPEC_RT_I64) {
      memcpy(element, &whole, sizeof whole);
    }
    if (*end != '\0' || errno != 0 ||
        (tensor->dtype != TSPEC_RT_I64 && tspec_rt_dtype_load(tensor->dtype, element) != number)) {
      return false;
    }
  }
  if (is_bool && tensor->dtype != TSPEC_RT_BOOL) {
    return false;
  }
  int64_t bytes = tspec_rt_dtype_bytes(tensor->dtype);
  for (int64_t i = 0; i < tensor->elems; ++i) {
    memcpy((char *)out + i * bytes, element, (size_t)bytes);
  }
  return true;
}

static tspec_rt_status_t read_file(tspec_rt_t *rt, const tspec_rt_slot_t *input, const char *from) {
  int file = -1;
  tspec_rt_array_t array;
  TSPEC_RT_TRY(tspec_rt_array_open(from, input->name, &rt->error, &file, &array));
  const tspec_rt_tensor_t *tensor = input->buffer->tensor;
  tspec_rt_status_t status = tspec_rt_array_check(&array, tensor, from, input->name, &rt->error);
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_array_read(file, &array, tensor, from, input->stage, &rt->error);
  }
  (void)close(file);
  return status;
}

tspec_rt_status_t tspec_rt_read_input(tspec_rt_t *rt, const char *entry, const char *name,
                                      const char *from) {
  tspec_rt_entry_t *found = tspec_rt_find_entry(rt, entry);
  if (found == NULL) {
    return TSPEC_RT_USAGE;
  }
  tspec_rt_slot_t *input = find_slot(found->inputs, found->ninputs, name);
  if (input == NULL) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_USAGE, "'%s' has no input '%s'", entry, name);
  }
  const tspec_rt_tensor_t *tensor = input->buffer->tensor;
  if (input->stage == NULL) {
    input->stage = tspec_rt_pool_get(&rt->program.pool, (size_t)tensor->bytes, 1);
    if (input->stage == NULL) {
      return tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory for input '%s'", name);
    }
  }
  bool is_number = false;
  if (fill_number(from, tensor, input->stage, &is_number)) {
    return TSPEC_RT_OK;
  }
  if (is_number) {
    char type[256];
    return tspec_rt_fail(&rt->error, TSPEC_RT_INPUT, "'%s' is no value for '%s' (%s)", from, name,
                         tspec_rt_tensor_print(tensor, type, sizeof type));
  }
  return read_file(rt, input, from);
}

tspec_rt_status_t tspec_rt_write_result(tspec_rt_t *rt, const char *entry, const char *name,
                                        const char *file) {
  tspec_rt_entry_t *found = tspec_rt_find_entry(rt, entry);
  if (found == NULL) {
    return TSPEC_RT_USAGE;
  }
  const tspec_rt_slot_t *result = find_slot(found->results, found->nresults, name);
  if (result == NULL) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_USAGE, "'%s' has no result '%s'", entry, name);
  }
  const tspec_rt_tensor_t *tensor = result->buffer->tensor;
  tspec_rt_array_t array = {.dtype = tensor->dtype, .ndims = tensor->layout.ndims};
  memcpy(array.dims, tensor->sizes, (size_t)array.ndims * sizeof array.dims[0]);
  char header[TSPEC_RT_NPY_HEADER_BYTES];
  int64_t header_bytes = (int64_t)tspec_rt_npy_print(&array, header);
  tspec_rt_box_t whole = tspec_rt_layout_whole(&tensor->layout);
  int64_t data_bytes = tspec_rt_box_elems(&whole) * tspec_rt_dtype_bytes(tensor->dtype);
  tspec_rt_output_t output;
  TSPEC_RT_TRY(tspec_rt_output_create(
      rt->comm, file, (tspec_rt_head_t){header, header_bytes, header_bytes + data_bytes},
      &rt->error, &output));
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (tspec_rt_is_writer(&rt->program.mesh, tensor, rt->comm->rank)) {
    status = tspec_rt_array_write(output.file, header_bytes, tensor, file,
                                  tspec_rt_result_memory(result), &rt->error);
  }
  return tspec_rt_output_finish(rt->comm, &output, status, &rt->error);
}
