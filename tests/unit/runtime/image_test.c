#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/image_view.h"
#include "runtime/program.h"
#include "tests/support/image_builder.h"

TestSuite(image, .timeout = 60);

static void nothing(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)buffers;
  (void)args;
  (void)begin;
  (void)end;
}

static const tspec_kernel_fn_t kernels[] = {nothing};

// A bit of everything: sub-axes, a parameter, a product, a kernel with arguments, collectives.
static const tspec_image_t *build(image_builder_t *b) {
  const int64_t sizes[] = {7, 6};
  const int64_t square[] = {6, 6};
  memset(b, 0, sizeof *b);
  builder_begin(b, "image");
  builder_axis(b, "data", 2);
  builder_axis(b, "model", 4);
  uint32_t w = builder_param(b, "net/w", builder_tensor(b, TSPEC_RT_F32, 2, square, "[-, model]"),
                             TSPEC_IMAGE_INIT_NORMAL, 0, 1);
  builder_entry_begin(b, "step");
  uint32_t x = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, sizes, "[data, -]"));
  uint32_t y = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, sizes, "[data, model]"));
  uint32_t z = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, sizes, "[data, model:(1)2]"));
  uint32_t p = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[] sum(data*model)"));
  uint32_t s = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[]"));
  uint32_t wb = builder_param_buffer(b, w);
  builder_input(b, "x", x);
  builder_result(b, "s", s);
  builder_update(b, w, wb);
  tspec_image_step_t *dot =
      builder_step(b, TSPEC_IMAGE_GEMM, (uint32_t[]){x, wb, y}, 3, "dot", "a:1");
  dot->nm = dot->nn = dot->nk = 1;
  tspec_image_step_t *kernel =
      builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){y, p}, 2, "sum", "a:2");
  tspec_image_arg_t args[] = {
      {.kind = TSPEC_IMAGE_ARG_ELEMS, .buffer = y, .dim = 1},
      {.kind = TSPEC_IMAGE_ARG_OFFSET, .buffer = y, .dim = 1},
      {.kind = TSPEC_IMAGE_ARG_RANK_ON, .pieces = builder_pieces(b, "model:(2)2")}};
  kernel->args = builder_span(b, args, 3, sizeof args[0]);
  kernel->range_arg = 0;
  tspec_image_step_t *gather =
      builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){y, z}, 2, "all_gather", "a:3");
  gather->collective = TSPEC_IMAGE_ALL_GATHER;
  gather->axes = builder_pieces(b, "data*model");
  tspec_image_step_t *reduce =
      builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){p, s}, 2, "all_reduce", "a:4");
  reduce->axes = builder_pieces(b, "data*model");
  // y's rows 2 .. 6, then every second one
  const int64_t longer[] = {9, 6};
  uint32_t h = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, longer, "[data, model]"));
  static const tspec_image_window_t windows[] = {
      {0, 2, 1, 5}, {0, 0, 1, 6}, {5, 0, 2, 4}, {0, 0, 1, 6}};
  tspec_image_step_t *parts =
      builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){y, y, h}, 3, "permute", "a:5");
  parts->collective = TSPEC_IMAGE_PERMUTE;
  parts->axes = builder_pieces(b, "data");
  parts->windows = builder_span(b, windows, 4, sizeof windows[0]);
  uint32_t q = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 1, sizes, "[-] sum(data*model)"));
  uint32_t r = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 1, sizes, "[-]"));
  tspec_image_step_t *call =
      builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){p, q, s, r}, 4, "all_reduce", "a:6");
  call->axes = builder_pieces(b, "data*model");
  builder_entry_end(b);
  return builder_end(b);
}

static tspec_rt_status_t check(const tspec_image_t *image, tspec_rt_error_t *error) {
  tspec_compiled_t compiled = {image, kernels, 1};
  *error = (tspec_rt_error_t){0};
  return tspec_rt_image_check(&compiled, error);
}

Test(image, accepts_what_is_right) {
  static image_builder_t builder;
  tspec_rt_error_t error;
  cr_assert(eq(int, (int)check(build(&builder), &error), (int)TSPEC_RT_OK), "%s", error.text);
}

Test(image, gives_each_rank_its_blocks) {
  static image_builder_t builder;
  tspec_compiled_t compiled = {build(&builder), kernels, 1};
  // rank, columns of y begin and end, rows begin and end: 7 rows over 2, 6 columns over 4
  static const int64_t want[][5] = {
      {0, 0, 2, 0, 4}, {2, 4, 6, 0, 4}, {3, 6, 6, 0, 4}, {5, 2, 4, 4, 7}};
  for (size_t i = 0; i < sizeof want / sizeof want[0]; ++i) {
    tspec_rt_program_t program;
    tspec_rt_error_t error = {0};
    cr_assert(tspec_rt_program_init(&program, &compiled, (int)want[i][0], &error) == TSPEC_RT_OK);
    const tspec_rt_box_t *box = &program.tensors[2].box;
    cr_assert(eq(i64, box->begin[1], want[i][1]));
    cr_assert(eq(i64, box->end[1], want[i][2]));
    cr_assert(eq(i64, box->begin[0], want[i][3]));
    cr_assert(eq(i64, box->end[0], want[i][4]));
    tspec_rt_program_deinit(&program);
  }
}

static tspec_image_window_t *windows_of(image_builder_t *b, const tspec_image_step_t *step) {
  return (void *)(b->bytes + step->windows.offset);
}

Test(image, refuses_what_is_wrong) {
  static image_builder_t b;
  tspec_rt_error_t error;
#define REFUSES(change)                                                                            \
  do {                                                                                             \
    build(&b);                                                                                     \
    tspec_image_t *image = (tspec_image_t *)(void *)b.bytes;                                       \
    tspec_image_tensor_t *tensors = (void *)(b.bytes + image->tensors.offset);                     \
    tspec_image_param_t *params = (void *)(b.bytes + image->params.offset);                        \
    tspec_image_entry_t *entry = (void *)(b.bytes + image->entries.offset);                        \
    tspec_image_step_t *steps = (void *)(b.bytes + entry->steps.offset);                           \
    tspec_image_buffer_t *buffers = (void *)(b.bytes + entry->buffers.offset);                     \
    tspec_image_slot_t *updates = (void *)(b.bytes + entry->updates.offset);                       \
    (void)tensors, (void)params, (void)steps, (void)buffers, (void)updates;                        \
    change;                                                                                        \
    cr_assert(eq(int, (int)check(image, &error), (int)TSPEC_RT_IMAGE), #change);                   \
  } while (0)
  REFUSES(image->magic[0] = 'X');
  REFUSES(image->version = TSPEC_IMAGE_VERSION + 1);
  REFUSES(image->size_bytes = 100);
  REFUSES(image->size_bytes = (uint64_t)1 << 40);
  REFUSES(image->name = (uint32_t)image->size_bytes);
  REFUSES(image->axes.offset += 4);
  REFUSES(image->tensors.count = 1u << 30);
  REFUSES(tensors[0].dtype = 10);
  REFUSES(tensors[1].dims.count = 99);
  REFUSES(params[0].tensor = 77);
  REFUSES(params[0].init = 4);
  REFUSES(entry->arena_bytes = 1);
  REFUSES(buffers[1].space = 2);
  REFUSES(buffers[1].offset_bytes = -8);
  REFUSES(buffers[1].offset_bytes = 2);
  REFUSES(buffers[1].capacity_bytes = 1);
  REFUSES(buffers[5].index = 1);
  REFUSES(updates[0].param = 1);
  REFUSES(updates[0].buffer = 4);
  REFUSES(steps[0].kind = 3);
  REFUSES(steps[0].nk = 2);
  REFUSES(steps[1].function = 1);
  REFUSES(steps[1].range_arg = 3);
  REFUSES(steps[2].collective = 6);
  REFUSES(steps[2].buffers.count = 1);
  REFUSES(steps[3].reduce = 6);
  REFUSES(steps[3].reduce = TSPEC_RT_ALL);
  REFUSES(steps[2].fills = 1);
  REFUSES(steps[4].collective = TSPEC_IMAGE_ALL_GATHER);
  REFUSES(steps[5].collective = TSPEC_IMAGE_ALL_TO_ALL);
  REFUSES(steps[5].collective = TSPEC_IMAGE_PERMUTE);
  REFUSES(steps[5].buffers.count = 3);
  REFUSES(buffers[7].tensor = buffers[4].tensor);
  REFUSES(buffers[8].tensor = buffers[0].tensor);
  REFUSES(steps[4].windows.count = 2);
  REFUSES(steps[4].windows.count = 0);
  REFUSES(windows_of(&b, &steps[4])[0].lo = 5);
  REFUSES(windows_of(&b, &steps[4])[0].start = 3);
  REFUSES(windows_of(&b, &steps[4])[2].step = 3);
  REFUSES(windows_of(&b, &steps[4])[2].step = 0);
  REFUSES(windows_of(&b, &steps[4])[2].count = 5);
  REFUSES(windows_of(&b, &steps[4])[1].start = -1);
#undef REFUSES
}

Test(image, survives_any_single_changed_byte) {
  static image_builder_t b;
  const tspec_image_t *image = build(&b);
  size_t size = (size_t)image->size_bytes;
  static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  for (size_t at = 0; at < size; ++at) {
    for (size_t v = 0; v < sizeof values; ++v) {
      // its own allocation, so that a stray read is seen by the address sanitizer
      char *copy = malloc(size);
      memcpy(copy, b.bytes, size);
      copy[at] = (char)values[v];
      tspec_image_t *changed = (tspec_image_t *)(void *)copy;
      tspec_rt_error_t error = {0};
      if (changed->size_bytes <= size && check(changed, &error) == TSPEC_RT_OK) {
        tspec_compiled_t compiled = {changed, kernels, 1};
        tspec_rt_program_t program;
        cr_assert(tspec_rt_program_init(&program, &compiled, 0, &error) == TSPEC_RT_OK);
        tspec_rt_program_deinit(&program);
      }
      free(copy);
    }
  }
}
