// Arrays in files: .npy and .safetensors, read and written block by block, each rank its own byte
// ranges. Headers are data of others: nothing in them is believed unchecked.
#ifndef TSPEC_RUNTIME_FILE_H
#define TSPEC_RUNTIME_FILE_H

#include <stddef.h>

#include "runtime/comm.h"
#include "runtime/layout.h"

/// Where an array lies in a file and what it is. A plain value.
typedef struct tspec_rt_array_t {
  tspec_rt_dtype_t dtype;
  int ndims;
  int64_t dims[TSPEC_RT_MAX_DIMS];
  bool fortran;        ///< the first dim is the fastest
  int64_t data_offset; ///< bytes from the start of the file
} tspec_rt_array_t;

/// "f32[8, 1024]", a scalar "f32"; cut if longer. Returns `out`.
const char *tspec_rt_type_print(tspec_rt_dtype_t dtype, int ndims, const int64_t *dims, char *out,
                                size_t out_bytes);
/// The same of a tensor of a program, whole.
const char *tspec_rt_tensor_print(const tspec_rt_tensor_t *tensor, char *out, size_t out_bytes);

/// Reads the header of a .npy file (versions 1 to 3) from its first `bytes` bytes; the file has
/// `file_bytes` in all. Errors: TSPEC_RT_FILE; `name` names the file. Ranks: local.
tspec_rt_status_t tspec_rt_npy_parse(const char *memory, size_t bytes, int64_t file_bytes,
                                     const char *name, tspec_rt_error_t *error,
                                     tspec_rt_array_t *out_array);

/// Longest header that tspec_rt_npy_print makes.
enum { TSPEC_RT_NPY_HEADER_BYTES = 1024 };
/// The header of a .npy file of version 1, padded to 64 bytes. Returns its length. Ranks: local.
size_t tspec_rt_npy_print(const tspec_rt_array_t *array, char out[TSPEC_RT_NPY_HEADER_BYTES]);

/// A read .safetensors header.
typedef struct tspec_rt_safetensors_t tspec_rt_safetensors_t;

/// Parses a header: its JSON text, and how many bytes of data follow it. Errors: TSPEC_RT_FILE.
/// Ownership: destroyed by tspec_rt_safetensors_destroy. Ranks: local.
tspec_rt_status_t tspec_rt_safetensors_parse(const char *json, size_t json_bytes,
                                             int64_t data_bytes, const char *name,
                                             tspec_rt_error_t *error,
                                             tspec_rt_safetensors_t **out_header);
/// The same from an open file.
tspec_rt_status_t tspec_rt_safetensors_read(int file, const char *name, tspec_rt_error_t *error,
                                            tspec_rt_safetensors_t **out_header);
void tspec_rt_safetensors_destroy(tspec_rt_safetensors_t *header);
/// Finds a tensor. Errors: TSPEC_RT_FILE if its entry is wrong; found = false if there is none.
tspec_rt_status_t tspec_rt_safetensors_find(const tspec_rt_safetensors_t *header,
                                            const char *tensor, tspec_rt_error_t *error,
                                            bool *out_found, tspec_rt_array_t *out_array);

/// Opens an array: `spec` is FILE.npy, FILE.safetensors:TENSOR, or FILE.safetensors for the tensor
/// `otherwise`. Errors: TSPEC_RT_FILE. Ownership: *out_file is closed by the caller. Ranks: local.
tspec_rt_status_t tspec_rt_array_open(const char *spec, const char *otherwise,
                                      tspec_rt_error_t *error, int *out_file,
                                      tspec_rt_array_t *out_array);

/// Fails, with one line that names the file, the tensor, and both types, unless the array is what
/// the tensor is.
tspec_rt_status_t tspec_rt_array_check(const tspec_rt_array_t *array,
                                       const tspec_rt_tensor_t *tensor, const char *file,
                                       const char *name, tspec_rt_error_t *error);

/// Reads this rank's block of a checked array. Errors: TSPEC_RT_FILE. Ranks: local.
tspec_rt_status_t tspec_rt_array_read(int file, const tspec_rt_array_t *array,
                                      const tspec_rt_tensor_t *tensor, const char *name, void *out,
                                      tspec_rt_error_t *error);

/// Writes this rank's block to an array that begins at `data_offset` of an open file, in C order.
/// Errors: TSPEC_RT_FILE. Ranks: local.
tspec_rt_status_t tspec_rt_array_write(int file, int64_t data_offset,
                                       const tspec_rt_tensor_t *tensor, const char *name,
                                       const void *block, tspec_rt_error_t *error);

/// True if this rank is the lowest that holds its block: the one that writes it.
bool tspec_rt_is_writer(const tspec_rt_mesh_t *mesh, const tspec_rt_tensor_t *tensor, int rank);

/// A file that all ranks write into, under a temporary name until all is well.
typedef struct tspec_rt_output_t {
  int file;
  char name[4096];
  char temporary[4160];
} tspec_rt_output_t;

/// What a file begins with, and how long it will be.
typedef struct tspec_rt_head_t {
  const char *text;
  int64_t bytes; ///< of the text
  int64_t file_bytes;
} tspec_rt_head_t;

/// Rank 0 makes the file with `head` and its whole size; the others open it. Errors:
/// TSPEC_RT_FILE or TSPEC_RT_ELSEWHERE, on all ranks or none. Ranks: collective over all.
tspec_rt_status_t tspec_rt_output_create(tspec_comm_t *comm, const char *name, tspec_rt_head_t head,
                                         tspec_rt_error_t *error, tspec_rt_output_t *out_output);
/// Closes it; rank 0 renames it into place if every rank's `status` is ok, else removes it. Ranks:
/// collective over all.
tspec_rt_status_t tspec_rt_output_finish(tspec_comm_t *comm, tspec_rt_output_t *output,
                                         tspec_rt_status_t status, tspec_rt_error_t *error);

/// Agrees on the outcome: ok if all are; else the lowest rank that failed keeps its own status and
/// the others get TSPEC_RT_ELSEWHERE. *out_rank: that rank, *out_exit_code: what all exit with;
/// either may be NULL. Ranks: collective over all.
tspec_rt_status_t tspec_rt_agree(tspec_comm_t *comm, tspec_rt_status_t status, int *out_rank,
                                 int *out_exit_code);

#endif
