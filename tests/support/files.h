// Files that tests hand to executables and read back: .npy and .safetensors of whole tensors,
// written and read plainly here, so that the runtime's own code is not checked against itself.
#ifndef TSPEC_TESTS_SUPPORT_FILES_H
#define TSPEC_TESTS_SUPPORT_FILES_H

#include <stdbool.h>

#include "ir/eval/dense.h"

/// Writes a .npy (version 1, C order; bf16 as raw 'V2'). False with a line on stderr if it fails.
bool tspec_files_write_npy(const char *path, const tspec_dense_t *dense);
/// Reads a .npy that must hold exactly `type`. NULL with a line on stderr if it does not.
tspec_dense_t *tspec_files_read_npy(const char *path, tspec_type_t type);

typedef struct tspec_files_tensor_t {
  const char *name;
  const tspec_dense_t *dense;
} tspec_files_tensor_t;

/// Writes a .safetensors. False with a line on stderr if it fails.
bool tspec_files_write_safetensors(const char *path, int count,
                                   const tspec_files_tensor_t *tensors);

#endif
