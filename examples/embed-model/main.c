// An ordinary MPI program that uses two compiled programs (mlp.tspec, stats.tspec) on some of its
// ranks: its own MPI_Init, its own communicator, its own memory. The first four ranks run the
// model, all others sum something up meanwhile.
//
//   mpirun -n 5 embed_model [WEIGHTS.safetensors]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mlp.h"
#include "report.h"
#include "stats.h"

enum { CALLS = 3 };

/// The input's element at a place of the whole tensor.
static float element(int64_t row, int64_t column) {
  return (float)(row * 7 + column) * 0.0625f - 1.0f;
}

static void *get_block(const tspec_rt_view_t *view) {
  return malloc(view->bytes > 0 ? (size_t)view->bytes : 1);
}

/// Reads a whole file.
static void *read_file(const char *path, size_t *out_bytes) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long length = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    length = ftell(file);
    rewind(file);
    bytes = malloc((size_t)length + 1);
  }
  if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  if (file != NULL) {
    fclose(file);
  }
  *out_bytes = bytes == NULL ? 0 : (size_t)length;
  return bytes;
}

/// Initial values, or those of a file: the first rank reads it itself, the others let the runtime.
static tspec_rt_status_t fill_params(tspec_rt_t *rt, const char *weights) {
  if (weights == NULL) {
    return tspec_rt_init_params(rt, 0);
  }
  if (tspec_rt_rank(rt) > 0) {
    return tspec_rt_load_params(rt, weights);
  }
  size_t bytes = 0;
  void *content = read_file(weights, &bytes);
  tspec_rt_status_t status =
      content == NULL ? TSPEC_RT_FILE : tspec_rt_load_params_memory(rt, content, bytes);
  free(content);
  return status;
}

/// y = forward(forward(forward(x))) on blocks of this program's own, each call's result the next
/// one's input.
static tspec_rt_status_t run_model(tspec_rt_t *mlp, tspec_rt_t *stats) {
  tspec_rt_view_t x, y;
  if (!tspec_rt_get_input(mlp, TSPEC_mlp_forward, TSPEC_mlp_forward_IN_x, &x) ||
      !tspec_rt_get_result(mlp, TSPEC_mlp_forward, TSPEC_mlp_forward_OUT_y, &y)) {
    return TSPEC_RT_USAGE;
  }
  float *block = get_block(&x);
  if (block == NULL) {
    return TSPEC_RT_MEMORY;
  }
  int64_t columns = x.end[1] - x.begin[1];
  for (int64_t i = x.begin[0]; i < x.end[0]; i++) {
    for (int64_t j = x.begin[1]; j < x.end[1]; j++) {
      block[(i - x.begin[0]) * columns + j - x.begin[1]] = element(i, j);
    }
  }
  const void *inputs[TSPEC_mlp_forward_NINPUTS] = {[TSPEC_mlp_forward_IN_x] = block};
  void *results[TSPEC_mlp_forward_NRESULTS] = {[TSPEC_mlp_forward_OUT_y] = block};
  tspec_rt_status_t status = TSPEC_RT_OK;
  for (int call = 0; call < CALLS && status == TSPEC_RT_OK; call++) {
    status = tspec_rt_call(mlp, TSPEC_mlp_forward, inputs, results);
  }
  bool prints = tspec_rt_rank(mlp) % 2 == 0; // rows lie on pairs of ranks, model=2
  for (int64_t i = 0; status == TSPEC_RT_OK && prints && i < y.bytes / (int64_t)sizeof(float);
       i++) {
    printf("y %lld %lld %.9g\n", (long long)(y.begin[0] + i / columns), (long long)(i % columns),
           block[i]);
  }
  if (status == TSPEC_RT_OK) {
    status = report(stats, block, prints);
  }
  free(block);
  return status;
}

/// Says what is wrong, which stays this program's affair. Returns true if all ranks are well.
static bool is_well(MPI_Comm comm, tspec_rt_status_t status, const tspec_rt_t *rt) {
  int failed = status != TSPEC_RT_OK, any = 0;
  if (failed) {
    bool has_message = rt != NULL && tspec_rt_message(rt)[0] != '\0';
    fprintf(stderr, "embed_model: %s\n", has_message ? tspec_rt_message(rt) : "failed");
  }
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm);
  return any == 0;
}

static bool use_model(MPI_Comm comm, const char *weights) {
  tspec_rt_open_t open_mlp = {.compiled = &tspec_program_mlp, .communicator = &comm};
  tspec_rt_open_t open_stats = {.compiled = &tspec_program_stats, .communicator = &comm};
  tspec_rt_t *mlp = NULL, *stats = NULL;
  tspec_rt_status_t status = tspec_rt_open(&open_mlp, &mlp);
  bool ok = is_well(comm, status, mlp);
  if (ok) {
    status = tspec_rt_open(&open_stats, &stats);
    ok = is_well(comm, status, stats);
  }
  ok = ok && is_well(comm, fill_params(mlp, weights), mlp) &&
       is_well(comm, run_model(mlp, stats), mlp);
  tspec_rt_close(stats);
  tspec_rt_close(mlp);
  return ok;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool in_model = rank < TSPEC_mlp_RANKS;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, in_model, rank, &comm);
  bool ok = true;
  if (in_model) {
    ok = use_model(comm, argc > 1 ? argv[1] : NULL);
  } else {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    printf("others %d\n", sum);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return ok ? 0 : 1;
}
