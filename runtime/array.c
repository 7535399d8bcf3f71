// Blocks of arrays in files.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/file.h"

enum {
  WINDOW_BYTES = 4 << 20,  ///< read at once where runs are short
  SHORT_STRIDE = 64 << 10, ///< runs closer than this are read together with what is between them
  NPY_HEADER_LIMIT = 1 << 16,
};

const char *tspec_rt_type_print(tspec_rt_dtype_t dtype, int ndims, const int64_t *dims, char *out,
                                size_t out_bytes) {
  size_t at =
      (size_t)snprintf(out, out_bytes, "%s%s", tspec_rt_dtype_name(dtype), ndims > 0 ? "[" : "");
  for (int d = 0; d < ndims && at < out_bytes; ++d) {
    at += (size_t)snprintf(out + at, out_bytes - at, "%lld%s", (long long)dims[d],
                           d + 1 < ndims ? ", " : "]");
  }
  return out;
}

const char *tspec_rt_tensor_print(const tspec_rt_tensor_t *tensor, char *out, size_t out_bytes) {
  return tspec_rt_type_print(tensor->dtype, tensor->layout.ndims, tensor->sizes, out, out_bytes);
}

static tspec_rt_status_t open_npy(int file, const char *name, tspec_rt_error_t *error,
                                  tspec_rt_array_t *out_array) {
  struct stat info;
  char *header = malloc(NPY_HEADER_LIMIT);
  if (header == NULL || fstat(file, &info) != 0) {
    free(header);
    return tspec_rt_fail(error, TSPEC_RT_FILE, "cannot read '%s': %s", name, strerror(errno));
  }
  ssize_t got = pread(file, header, NPY_HEADER_LIMIT, 0);
  tspec_rt_status_t status =
      got < 0 ? tspec_rt_fail(error, TSPEC_RT_FILE, "cannot read '%s': %s", name, strerror(errno))
              : tspec_rt_npy_parse(header, (size_t)got, info.st_size, name, error, out_array);
  free(header);
  return status;
}

static tspec_rt_status_t open_safetensors(int file, const char *name, const char *tensor,
                                          tspec_rt_error_t *error, tspec_rt_array_t *out_array) {
  tspec_rt_safetensors_t *header = NULL;
  TSPEC_RT_TRY(tspec_rt_safetensors_read(file, name, error, &header));
  bool found = false;
  tspec_rt_status_t status = tspec_rt_safetensors_find(header, tensor, error, &found, out_array);
  tspec_rt_safetensors_destroy(header);
  if (status == TSPEC_RT_OK && !found) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' has no tensor '%s'", name, tensor);
  }
  return status;
}

static bool ends_with(const char *text, size_t length, const char *ending) {
  size_t wanted = strlen(ending);
  return length > wanted && memcmp(text + length - wanted, ending, wanted) == 0;
}

tspec_rt_status_t tspec_rt_array_open(const char *spec, const char *otherwise,
                                      tspec_rt_error_t *error, int *out_file,
                                      tspec_rt_array_t *out_array) {
  *out_file = -1;
  size_t length = strlen(spec);
  const char *tensor = otherwise;
  for (const char *colon = strchr(spec, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
    if (ends_with(spec, (size_t)(colon - spec), ".safetensors")) {
      length = (size_t)(colon - spec);
      tensor = colon + 1;
      break;
    }
  }
  char *name = strndup(spec, length);
  if (name == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory");
  }
  tspec_rt_status_t status = TSPEC_RT_OK;
  int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    status = tspec_rt_fail(error, TSPEC_RT_FILE, "cannot open '%s': %s", name, strerror(errno));
  } else if (ends_with(name, length, ".npy")) {
    status = open_npy(file, name, error, out_array);
  } else if (ends_with(name, length, ".safetensors")) {
    status = open_safetensors(file, name, tensor, error, out_array);
  } else {
    status =
        tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' is neither a .npy nor a .safetensors file", name);
  }
  free(name);
  if (status != TSPEC_RT_OK && file >= 0) {
    (void)close(file);
    file = -1;
  }
  *out_file = file;
  return status;
}

tspec_rt_status_t tspec_rt_array_check(const tspec_rt_array_t *array,
                                       const tspec_rt_tensor_t *tensor, const char *file,
                                       const char *name, tspec_rt_error_t *error) {
  bool same = array->dtype == tensor->dtype && array->ndims == tensor->layout.ndims;
  for (int d = 0; same && d < array->ndims; ++d) {
    same = array->dims[d] == tensor->layout.dims[d].size;
  }
  if (same) {
    return TSPEC_RT_OK;
  }
  char got[256];
  char wanted[256];
  return tspec_rt_fail(
      error, TSPEC_RT_INPUT, "'%s' has %s for '%s', wanted %s", file,
      tspec_rt_type_print(array->dtype, array->ndims, array->dims, got, sizeof got), name,
      tspec_rt_tensor_print(tensor, wanted, sizeof wanted));
}

static bool read_all(int file, char *out, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t got = pread(file, out, (size_t)bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      errno = got == 0 ? EIO : errno; // shorter than it was when it was opened
      return false;
    }
    out += got;
    bytes -= got;
    offset += got;
  }
  return true;
}

static bool write_all(int file, const char *from, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t done = pwrite(file, from, (size_t)bytes, (off_t)offset);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    from += done;
    bytes -= done;
    offset += done;
  }
  return true;
}

typedef struct transfer_t {
  int file;
  int64_t data_offset;
  char *block;
  char *window; ///< NULL: run by run
  int64_t window_begin, window_end;
  int64_t last; ///< end of the last run
} transfer_t;

static bool read_run(void *user, int64_t from, int64_t to, int64_t bytes) {
  transfer_t *transfer = user;
  if (transfer->window == NULL || bytes > WINDOW_BYTES) {
    return read_all(transfer->file, transfer->block + to, bytes, transfer->data_offset + from);
  }
  if (from < transfer->window_begin || from + bytes > transfer->window_end) {
    int64_t length = transfer->last - from < WINDOW_BYTES ? transfer->last - from : WINDOW_BYTES;
    if (!read_all(transfer->file, transfer->window, length, transfer->data_offset + from)) {
      return false;
    }
    transfer->window_begin = from;
    transfer->window_end = from + length;
  }
  memcpy(transfer->block + to, transfer->window + (from - transfer->window_begin), (size_t)bytes);
  return true;
}

static bool write_run(void *user, int64_t from, int64_t to, int64_t bytes) {
  const transfer_t *transfer = user;
  return write_all(transfer->file, transfer->block + from, bytes, transfer->data_offset + to);
}

// Last byte after what a copy reads.
static int64_t end_of(const tspec_rt_copy_t *copy) {
  int64_t end = copy->from_offset + copy->run_bytes;
  for (int d = 0; d < copy->ndims; ++d) {
    end += copy->from_stride[d] * (copy->extent[d] - 1);
  }
  return end;
}

// Reads `box` of an array of shape `whole` in C order into a dense block.
static bool read_box(int file, int64_t data_offset, const tspec_rt_box_t *whole,
                     const tspec_rt_box_t *box, int64_t elem_bytes, void *out) {
  tspec_rt_copy_t copy = tspec_rt_copy_plan(whole, box, box, elem_bytes);
  transfer_t transfer = {
      .file = file, .data_offset = data_offset, .block = out, .last = end_of(&copy)};
  if (copy.ndims > 0 && copy.from_stride[copy.ndims - 1] <= SHORT_STRIDE) {
    transfer.window = malloc(WINDOW_BYTES);
  }
  bool ok = tspec_rt_copy_for_each(&copy, read_run, &transfer);
  free(transfer.window);
  return ok;
}

static tspec_rt_box_t reversed(const tspec_rt_box_t *box) {
  tspec_rt_box_t turned = {.ndims = box->ndims};
  for (int d = 0; d < box->ndims; ++d) {
    turned.begin[d] = box->begin[box->ndims - 1 - d];
    turned.end[d] = box->end[box->ndims - 1 - d];
  }
  return turned;
}

// Fortran order: the file holds the array with its dims reversed, in C order.
static bool read_fortran(int file, const tspec_rt_array_t *array, const tspec_rt_tensor_t *tensor,
                         void *out) {
  int64_t elem_bytes = tspec_rt_dtype_bytes(array->dtype);
  tspec_rt_box_t whole = tspec_rt_layout_whole(&tensor->layout);
  tspec_rt_box_t file_whole = reversed(&whole);
  tspec_rt_box_t file_box = reversed(&tensor->box);
  char *turned = malloc((size_t)tensor->bytes + 1);
  if (turned == NULL) {
    errno = ENOMEM;
    return false;
  }
  bool ok = read_box(file, array->data_offset, &file_whole, &file_box, elem_bytes, turned);
  if (ok && tensor->elems > 0) {
    tspec_rt_copy_t copy = {.ndims = array->ndims, .run_bytes = elem_bytes};
    int64_t from_stride = elem_bytes;
    int64_t to_stride = elem_bytes;
    for (int d = 0; d < array->ndims; ++d) {
      int back = array->ndims - 1 - d;
      copy.extent[d] = tensor->box.end[d] - tensor->box.begin[d];
      copy.from_stride[d] = from_stride;
      from_stride *= copy.extent[d];
      copy.to_stride[back] = to_stride;
      to_stride *= tensor->box.end[back] - tensor->box.begin[back];
    }
    tspec_rt_copy_execute(&copy, turned, out);
  }
  free(turned);
  return ok;
}

tspec_rt_status_t tspec_rt_array_read(int file, const tspec_rt_array_t *array,
                                      const tspec_rt_tensor_t *tensor, const char *name, void *out,
                                      tspec_rt_error_t *error) {
  tspec_rt_box_t whole = tspec_rt_layout_whole(&tensor->layout);
  bool ok = array->fortran ? read_fortran(file, array, tensor, out)
                           : read_box(file, array->data_offset, &whole, &tensor->box,
                                      tspec_rt_dtype_bytes(array->dtype), out);
  return ok ? TSPEC_RT_OK
            : tspec_rt_fail(error, TSPEC_RT_FILE, "cannot read '%s': %s", name, strerror(errno));
}

tspec_rt_status_t tspec_rt_array_write(int file, int64_t data_offset,
                                       const tspec_rt_tensor_t *tensor, const char *name,
                                       const void *block, tspec_rt_error_t *error) {
  tspec_rt_box_t whole = tspec_rt_layout_whole(&tensor->layout);
  tspec_rt_copy_t copy =
      tspec_rt_copy_plan(&tensor->box, &whole, &tensor->box, tspec_rt_dtype_bytes(tensor->dtype));
  transfer_t transfer = {
      .file = file, .data_offset = data_offset, .block = (char *)(uintptr_t)block};
  return tspec_rt_copy_for_each(&copy, write_run, &transfer)
             ? TSPEC_RT_OK
             : tspec_rt_fail(error, TSPEC_RT_FILE, "cannot write '%s': %s", name, strerror(errno));
}

bool tspec_rt_is_writer(const tspec_rt_mesh_t *mesh, const tspec_rt_tensor_t *tensor, int rank) {
  int64_t mine = tspec_rt_layout_block_number(mesh, &tensor->layout, rank);
  for (int lower = 0; lower < rank; ++lower) {
    if (tspec_rt_layout_block_number(mesh, &tensor->layout, lower) == mine) {
      return false;
    }
  }
  return true;
}
