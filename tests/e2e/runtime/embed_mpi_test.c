// An ordinary program that uses a compiled one through tspec_rt.h: two entries that share a
// parameter, inputs set in place, results read in place, runs that continue each other.
#include <string.h>

#include "runtime/tspec_rt.h"
#include "tests/e2e/runtime/mpi_test.h"
#include "tests/support/image_builder.h"

enum { ROWS = 7 };

// buffers: x, w, y. args: rows
static void scale(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)args;
  for (int64_t i = begin; i < end; ++i) {
    ((float *)buffers[2])[i] = ((const float *)buffers[0])[i] * *(const float *)buffers[1];
  }
}

// buffers: w, next
static void twice(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)args, (void)begin, (void)end;
  *(float *)buffers[1] = *(const float *)buffers[0] * 2;
}

static const tspec_kernel_fn_t kernels[] = {scale, twice};

static const tspec_image_t *build(image_builder_t *b, int nranks) {
  const int64_t sizes[] = {ROWS};
  builder_begin(b, "embedded");
  builder_axis(b, "data", nranks);
  uint32_t scalar = builder_tensor(b, TSPEC_RT_F32, 0, NULL, "[]");
  uint32_t split = builder_tensor(b, TSPEC_RT_F32, 1, sizes, "[data]");
  uint32_t w = builder_param(b, "w", scalar, TSPEC_IMAGE_INIT_FILL, 3, 0);
  builder_entry_begin(b, "apply");
  uint32_t x = builder_buffer(b, split);
  uint32_t y = builder_buffer(b, split);
  uint32_t all = builder_buffer(b, builder_tensor(b, TSPEC_RT_F32, 1, sizes, "[-]"));
  builder_input(b, "x", x);
  builder_result(b, "y", all);
  tspec_image_step_t *step = builder_step(
      b, TSPEC_IMAGE_KERNEL, (uint32_t[]){x, builder_param_buffer(b, w), y}, 3, "mul", "e:1");
  tspec_image_arg_t rows = {.kind = TSPEC_IMAGE_ARG_EXTENT, .buffer = x};
  step->args = builder_span(b, &rows, 1, sizeof rows);
  step->range_arg = 0;
  tspec_image_step_t *gather =
      builder_step(b, TSPEC_IMAGE_COLLECTIVE, (uint32_t[]){y, all}, 2, "all_gather", "e:2");
  gather->collective = TSPEC_IMAGE_ALL_GATHER;
  gather->axes = builder_pieces(b, "data");
  builder_entry_end(b);
  builder_entry_begin(b, "grow");
  uint32_t now = builder_param_buffer(b, w);
  uint32_t next = builder_buffer(b, scalar);
  builder_step(b, TSPEC_IMAGE_KERNEL, (uint32_t[]){now, next}, 2, "mul", "e:3")->function = 1;
  builder_result(b, "old", now);
  builder_update(b, w, next);
  builder_entry_end(b);
  return builder_end(b);
}

// Sets x to its global index plus `first`, runs, and looks at the whole of y.
static void apply(mpi_test_t *test, tspec_rt_t *rt, float first, float factor) {
  tspec_rt_view_t x;
  tspec_rt_view_t y;
  bool found =
      tspec_rt_find_input(rt, "apply", "x", &x) && tspec_rt_find_result(rt, "apply", "y", &y);
  MPI_CHECK(test, found && x.ndims == 1 && y.sizes[0] == ROWS, "views of apply");
  for (int64_t i = x.begin[0]; i < x.end[0]; ++i) {
    ((float *)x.memory)[i - x.begin[0]] = first + (float)i;
  }
  tspec_rt_status_t status = tspec_rt_run(rt, "apply");
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  for (int i = 0; i < ROWS; ++i) {
    float got = ((const float *)y.memory)[i];
    MPI_CHECK(test, got == (first + (float)i) * factor, "y[%d] is %g", i, (double)got);
  }
}

static void use(mpi_test_t *test, tspec_rt_t *rt) {
  tspec_rt_view_t w;
  tspec_rt_view_t old;
  MPI_CHECK(test, tspec_rt_init_params(rt, 0) == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  MPI_CHECK(test, tspec_rt_find_param(rt, "w", &w) && *(float *)w.memory == 3, "w");
  apply(test, rt, 1, 3);
  MPI_CHECK(test, tspec_rt_run(rt, "grow") == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  MPI_CHECK(test, tspec_rt_find_result(rt, "grow", "old", &old), "old");
  MPI_CHECK(test, *(float *)old.memory == 3 && *(float *)w.memory == 6, "grow: %g then %g",
            (double)*(float *)old.memory, (double)*(float *)w.memory);
  apply(test, rt, 5, 6);
  MPI_CHECK(test, !tspec_rt_find_input(rt, "apply", "z", &w), "an input that is not there");
  MPI_CHECK(test, tspec_rt_run(rt, "other") == TSPEC_RT_USAGE, "an entry that is not there");
  MPI_CHECK(test, strcmp(tspec_rt_message(rt), "no entry 'other' was opened") == 0, "%s",
            tspec_rt_message(rt));
}

// The caller's memory in and out, by index; what has no elements on this rank is not touched.
static void call(mpi_test_t *test, tspec_rt_t *rt, float factor) {
  tspec_rt_view_t x;
  MPI_CHECK(test, tspec_rt_get_input(rt, "apply", 0, &x), "input 0");
  MPI_CHECK(test, x.bytes == (x.end[0] - x.begin[0]) * 4, "%lld bytes", (long long)x.bytes);
  MPI_CHECK(test, !tspec_rt_get_input(rt, "apply", 1, &x), "input 1");
  MPI_CHECK(test, !tspec_rt_get_result(rt, "apply", -1, &x), "result -1");
  MPI_CHECK(test, !tspec_rt_get_param(rt, 1, &x), "parameter 1");
  MPI_CHECK(test, tspec_rt_get_input(rt, "apply", 0, &x), "input 0");
  float mine[ROWS];
  float all[ROWS];
  for (int64_t i = x.begin[0]; i < x.end[0]; ++i) {
    mine[i - x.begin[0]] = (float)(10 - i);
  }
  tspec_rt_status_t status =
      tspec_rt_call(rt, "apply", (const void *const[]){mine}, (void *const[]){all});
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  for (int i = 0; i < ROWS; ++i) {
    MPI_CHECK(test, all[i] == (float)(10 - i) * factor, "y[%d] is %g", i, (double)all[i]);
  }
  MPI_CHECK(test, tspec_rt_call(rt, "grow", NULL, NULL) == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
}

// A .safetensors file in memory with w = 2, written out by hand.
static void load(mpi_test_t *test, tspec_rt_t *rt) {
  static const char json[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}   ";
  char bytes[8 + sizeof json - 1 + 4] = {sizeof json - 1};
  memcpy(bytes + 8, json, sizeof json - 1);
  bytes[sizeof bytes - 1] = 0x40;
  tspec_rt_view_t w;
  tspec_rt_status_t status = tspec_rt_load_params_memory(rt, bytes, sizeof bytes);
  MPI_CHECK(test, status == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  MPI_CHECK(test, tspec_rt_get_param(rt, 0, &w) && *(float *)w.memory == 2, "w");
  apply(test, rt, 1, 2);
  MPI_CHECK(test, tspec_rt_load_params_memory(rt, bytes, 7) == TSPEC_RT_FILE, "7 bytes");
  MPI_CHECK(test, strcmp(tspec_rt_message(rt), "'memory' is not a .safetensors file") == 0, "%s",
            tspec_rt_message(rt));
  MPI_CHECK(test, tspec_rt_load_params_memory(rt, bytes, sizeof bytes - 1) == TSPEC_RT_FILE,
            "one byte less");
  MPI_CHECK(test, tspec_rt_load_params(rt, "none") == TSPEC_RT_FILE, "a file that is not there");
}

int main(void) {
  static image_builder_t builder;
  mpi_test_t test;
  mpi_test_start(&test, 1); // MPI runs before the program is opened, and after it is closed
  tspec_compiled_t compiled = {build(&builder, test.comm->nranks), kernels, 2};
  tspec_rt_open_t open = {.compiled = &compiled};
  tspec_rt_t *rt = NULL;
  tspec_rt_status_t status = tspec_rt_open(&open, &rt);
  MPI_CHECK(&test, status == TSPEC_RT_OK, "%s", tspec_rt_message(rt));
  MPI_CHECK(&test, tspec_rt_nranks(rt) == test.comm->nranks, "%d ranks", tspec_rt_nranks(rt));
  if (tspec_rt_settle(rt, status, NULL) == TSPEC_RT_OK) {
    use(&test, rt);
    call(&test, rt, 6);
    load(&test, rt);
  }
  tspec_rt_close(rt);
  return mpi_test_finish(&test, "embedding");
}
