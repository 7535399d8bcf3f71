// The program image: what the runtime must know about a planned program. Layout: runtime/image.h.
#ifndef TSPEC_PASSES_IMAGE_H
#define TSPEC_PASSES_IMAGE_H

#include <stddef.h>

#include "ir/program.h"

/// What the image says about the code beside it.
typedef struct tspec_image_target_t {
  const char *cpu;      ///< "x86-64-v3"
  const char *features; ///< "avx2,fma"
  const char *compiler; ///< "tspecc 0.1.0"
} tspec_image_target_t;

/// The image of `program` (level kernels, memory planned), in `arena`; *out_bytes is its size.
/// Kernel steps name kernels by their index in program->kernels. `sources` names places (NULL:
/// none).
const void *tspec_image_build(const tspec_program_t *program, const tspec_image_target_t *target,
                              const tspec_sources_t *sources, tspec_arena_t *arena,
                              size_t *out_bytes);

/// How others that link an object file name the program: "tspec_program_NAME", with '_' for what C
/// has not in names. In `arena`.
const char *tspec_image_symbol(const tspec_program_t *program, tspec_arena_t *arena);

#endif
