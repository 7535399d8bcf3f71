// Reading an image: a base pointer and offsets. Nothing here may be called before
// tspec_rt_image_check has accepted the image. Ranks: local.
#ifndef TSPEC_RUNTIME_IMAGE_VIEW_H
#define TSPEC_RUNTIME_IMAGE_VIEW_H

#include <stddef.h>

#include "runtime/image.h"
#include "runtime/layout.h"
#include "runtime/status.h"

/// The records of a span; NULL if it is empty.
static inline const void *tspec_rt_image_span(const tspec_image_t *image, tspec_image_span_t span) {
  return span.count == 0 ? NULL : (const char *)image + span.offset;
}

/// The string at an offset; "" if there is none.
static inline const char *tspec_rt_image_string(const tspec_image_t *image,
                                                tspec_image_string_t string) {
  return string == 0 ? "" : (const char *)image + string;
}

/// A span of pieces as a list.
static inline tspec_rt_pieces_t tspec_rt_image_pieces(const tspec_image_t *image,
                                                      tspec_image_span_t span) {
  return (tspec_rt_pieces_t){(int)span.count, tspec_rt_image_span(image, span)};
}

/// Checks everything that can be known without a rank: magic, version, that all records and strings
/// lie inside and are aligned, that every index is in range, pieces fit their axes and no tensor
/// uses a part of an axis twice, blocks fit their buffers, buffers the arena, kernels the table,
/// products and collectives their shapes. Errors: TSPEC_RT_IMAGE. Ranks: local, with the same
/// outcome on all.
tspec_rt_status_t tspec_rt_image_check(const tspec_compiled_t *compiled, tspec_rt_error_t *error);

#endif
