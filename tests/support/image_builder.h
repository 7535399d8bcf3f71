// Builds program images by hand, for tests of the runtime that need no compiler.
#ifndef TSPEC_TESTS_IMAGE_BUILDER_H
#define TSPEC_TESTS_IMAGE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/dtype.h"
#include "runtime/image.h"

enum { TSPEC_BUILDER_ITEMS = 64, TSPEC_BUILDER_BYTES = 1 << 16 };

/// Collects records; all limits are asserted. Zero it, then call `begin`.
typedef struct image_builder_t {
  _Alignas(8) char bytes[TSPEC_BUILDER_BYTES];
  uint32_t used;
  tspec_image_t header;
  uint32_t naxes, ntensors, nparams, nentries;
  tspec_image_axis_t axes[8];
  const char *axis_names[8];
  tspec_image_tensor_t tensors[TSPEC_BUILDER_ITEMS];
  tspec_image_param_t params[TSPEC_BUILDER_ITEMS];
  tspec_image_entry_t entries[8];
  // of the entry being built
  uint32_t nbuffers, ninputs, nresults, nupdates, nsteps;
  int64_t arena_bytes;
  const char *entry_name;
  tspec_image_buffer_t buffers[TSPEC_BUILDER_ITEMS];
  tspec_image_slot_t inputs[TSPEC_BUILDER_ITEMS];
  tspec_image_slot_t results[TSPEC_BUILDER_ITEMS];
  tspec_image_slot_t updates[TSPEC_BUILDER_ITEMS];
  tspec_image_step_t steps[TSPEC_BUILDER_ITEMS];
} image_builder_t;

void builder_begin(image_builder_t *b, const char *name);
/// Axes before anything that names them.
void builder_axis(image_builder_t *b, const char *name, int64_t size);
/// Copies records in, 8-byte aligned.
tspec_image_span_t builder_span(image_builder_t *b, const void *records, uint32_t count,
                                size_t bytes);
tspec_image_string_t builder_string(image_builder_t *b, const char *text);
/// "data*model:(2)4" as pieces; "" or "-": none.
tspec_image_span_t builder_pieces(image_builder_t *b, const char *text);
/// A tensor with a sharding in the language's notation, "[data, -] sum(model)". Returns its index.
uint32_t builder_tensor(image_builder_t *b, tspec_rt_dtype_t dtype, int ndims, const int64_t *sizes,
                        const char *sharding);
uint32_t builder_param(image_builder_t *b, const char *path, uint32_t tensor, uint32_t init,
                       double a, double c);

void builder_entry_begin(image_builder_t *b, const char *name);
/// A buffer of its own in the arena, or the block of a parameter. Returns its index.
uint32_t builder_buffer(image_builder_t *b, uint32_t tensor);
uint32_t builder_param_buffer(image_builder_t *b, uint32_t param);
void builder_input(image_builder_t *b, const char *name, uint32_t buffer);
void builder_result(image_builder_t *b, const char *name, uint32_t buffer);
void builder_update(image_builder_t *b, uint32_t param, uint32_t buffer);
/// Adds a step; `buffers` as the image wants them. Returns it to fill in the rest.
tspec_image_step_t *builder_step(image_builder_t *b, uint32_t kind, const uint32_t *buffers,
                                 uint32_t count, const char *what, const char *where);
void builder_entry_end(image_builder_t *b);
/// Finishes the image; it lies in b->bytes.
const tspec_image_t *builder_end(image_builder_t *b);

#endif
