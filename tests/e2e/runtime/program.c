// A compiled program as the compiler would make it, its image built by hand and its kernels in C,
// so that the whole runtime is tested without the compiler. The mesh comes from the build:
// PROGRAM_DATA x PROGRAM_MODEL ranks.
//
//   entry step(x: f32[7, 5] @ [data, -], c: f32):
//     y = x @ w + c                      [data, model], then gathered to [data, -]
//     total = sum(y)                     pending over both axes, then reduced
//     count = count + 1; w = w * 0.5     count also is a result: the old one
//   entry stuck(): rank 1 sleeps before a barrier of an all_reduce
//   entry crash(): rank 1 dies in a kernel
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tspec_rt.h"
#include "tests/support/image_builder.h"

#ifndef PROGRAM_DATA
#define PROGRAM_DATA 2
#endif
#ifndef PROGRAM_MODEL
#define PROGRAM_MODEL 2
#endif

// buffers: y, c; args: rows, columns
static void add_scalar(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  float *y = buffers[0];
  const float *c = buffers[1];
  for (int64_t i = begin * args[1]; i < end * args[1]; ++i) {
    y[i] += *c;
  }
}

// buffers: y, total; args: rows, columns
static void sum_block(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  const float *y = buffers[0];
  float *total = buffers[1];
  *total = 0;
  for (int64_t i = 0; i < args[0] * args[1] && begin < end; ++i) {
    *total += y[i];
  }
}

// buffers: from, to; args: rows, columns
static void halve(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  const float *from = buffers[0];
  float *to = buffers[1];
  for (int64_t i = begin * args[1]; i < end * args[1]; ++i) {
    to[i] = from[i] * 0.5f;
  }
}

static void count_up(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)args;
  (void)begin;
  (void)end;
  *(int64_t *)buffers[1] = *(const int64_t *)buffers[0] + 1;
}

// args: 1 on the rank that misbehaves
static void sleep_long(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)begin;
  (void)end;
  *(float *)buffers[0] = 1;
  if (args[0] == 0) {
    (void)sleep(60);
  }
}

static void die(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)begin;
  (void)end;
  *(float *)buffers[0] = 1;
  if (args[0] == 0) {
    (void)raise(SIGKILL);
  }
}

static const tspec_kernel_fn_t kernels[] = {add_scalar, sum_block,  halve,
                                            count_up,   sleep_long, die};

static void set_args(image_builder_t *b, tspec_image_step_t *step, uint32_t buffer) {
  tspec_image_arg_t args[2] = {{.kind = TSPEC_IMAGE_ARG_EXTENT, .buffer = buffer, .dim = 0},
                               {.kind = TSPEC_IMAGE_ARG_EXTENT, .buffer = buffer, .dim = 1}};
  step->args = builder_span(b, args, 2, sizeof args[0]);
}

static void set_collective(image_builder_t *b, tspec_image_step_t *step, uint32_t kind,
                           const char *axes, int64_t predicted) {
  step->collective = kind;
  step->axes = builder_pieces(b, axes);
  step->predicted_bytes = predicted;
}

static void build_step(image_builder_t *b, uint32_t w, uint32_t count) {
  const int64_t x_sizes[] = {7, 5};
  const int64_t y_sizes[] = {7, 6};
  builder_entry_begin(b, "step");
  uint32_t x = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, x_sizes, "[data, -]"));
  uint32_t c = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[]"));
  uint32_t y = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, y_sizes, "[data, model]"));
  uint32_t all = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 2, y_sizes, "[data, -]"));
  uint32_t part = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[] sum(data*model)"));
  uint32_t total = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[]"));
  uint32_t next = builder_buffer(b, builder_tensor(b, TSPEC_RT_I64, 0, NULL, "[]"));
  uint32_t w_now = builder_param_buffer(b, w);
  uint32_t w_next = builder_buffer(b, b->params[w].tensor);
  uint32_t now = builder_param_buffer(b, count);
  builder_input(b, "x", x);
  builder_input(b, "c", c);

  tspec_image_step_t *dot =
      builder_step(b, TSPEC_IMAGE_GEMM, (uint32_t[]){x, w_now, y}, 3, "dot", "step.tspec:9");
  dot->nm = dot->nn = dot->nk = 1;
  tspec_image_step_t *add =
      builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){y, c}, 2, "add", "step.tspec:9");
  set_args(b, add, y);
  add->range_arg = 0;
  tspec_image_step_t *sum =
      builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){y, part}, 2, "sum", "step.tspec:10");
  sum->function = 1;
  set_args(b, sum, y);
  set_collective(b,
                 builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){part, total}, 2,
                              "all_reduce for 'sum'", "step.tspec:10"),
                 TSPEC_IMAGE_ALL_REDUCE, "data*model", 0);
  set_collective(b,
                 builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){y, all}, 2,
                              "all_gather for 'y'", "step.tspec:11"),
                 TSPEC_IMAGE_ALL_GATHER, "model", 0);
  builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){now, next}, 2, "count", "step.tspec:12")
      ->function = 3;
  tspec_image_step_t *half =
      builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){w_now, w_next}, 2, "mul", "step.tspec:13");
  half->function = 2;
  half->range_arg = 0;
  set_args(b, half, w_now);
  builder_result(b, "total", total);
  builder_result(b, "count", now);
  builder_result(b, "y", all);
  builder_update(b, count, next);
  builder_update(b, w, w_next);
  builder_entry_end(b);
}

static void build_failing(image_builder_t *b, const char *name, uint32_t function) {
  builder_entry_begin(b, name);
  uint32_t part = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[] sum(data*model)"));
  uint32_t total = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[]"));
  tspec_image_step_t *step =
      builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){part}, 1, "wait", "step.tspec:20");
  tspec_image_arg_t arg = {.kind = TSPEC_IMAGE_ARG_RANK_ON, .pieces = builder_pieces(b, "model")};
  step->function = function;
  step->args = builder_span(b, &arg, 1, sizeof arg);
  set_collective(b,
                 builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){part, total}, 2,
                              "all_reduce for 'sum'", "step.tspec:21"),
                 TSPEC_IMAGE_ALL_REDUCE, "data*model", 0);
  builder_result(b, "total", total);
  builder_entry_end(b);
}

int main(int argc, char **argv) {
  static image_builder_t builder;
  const int64_t w_sizes[] = {5, 6};
  builder_begin(&builder, "step");
  builder_axis(&builder, "data", PROGRAM_DATA);
  builder_axis(&builder, "model", PROGRAM_MODEL);
  uint32_t w = builder_param(&builder, "net/w",
                             builder_tensor(&builder, TSPEC_RT_F32, 2, w_sizes, "[-, model]"),
                             TSPEC_IMAGE_INIT_NORMAL, 0, 0.5);
  uint32_t count =
      builder_param(&builder, "count", builder_tensor(&builder, TSPEC_RT_I64, 0, NULL, "[]"),
                    TSPEC_IMAGE_INIT_FILL, 3, 0);
  builder.params[count].is_state = 1;
  build_step(&builder, w, count);
  build_failing(&builder, "stuck", 4);
  build_failing(&builder, "crash", 5);
  // What tests break on purpose.
  const char *features = getenv("PROGRAM_FEATURES");
  if (features != NULL) {
    builder.header.features = builder_string(&builder, features);
  }
  if (getenv("PROGRAM_DAMAGED") != NULL) {
    builder.steps[0].buffers.offset = 0x7fffffff;
    builder.entries[2].steps.offset = 0x7ffffff8;
  }
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (getenv("PROGRAM_DIFFERS") != NULL && rank != NULL && strcmp(rank, "1") == 0) {
    builder.header.schedule_hash = 77;
  }
  tspec_compiled_t compiled = {.image = builder_end(&builder),
                               .kernels = kernels,
                               .nkernels = sizeof kernels / sizeof kernels[0]};
  return tspec_rt_main(argc, argv, &compiled);
}
