// Program images: refused, or everything that the runtime works out of it lies inside. Kernels do
// nothing; a program of one rank is prepared up to its memory, yet not run.
#include <stdlib.h>
#include <string.h>

#include "runtime/program.h"
#include "tests/fuzz/fuzz.h"

// Larger ones are not worth their time: planning looks at every rank and every step.
enum { MAX_BYTES = 1 << 14, MAX_ARENA_BYTES = 1 << 20 };

static void nothing(void *const *buffers, const int64_t *args, int64_t begin, int64_t end) {
  (void)buffers;
  (void)args;
  (void)begin;
  (void)end;
}

static const tspec_kernel_fn_t kKernels[] = {nothing, nothing, nothing, nothing};

static uint64_t hash_program(uint64_t said, const tspec_rt_program_t *program) {
  for (int i = 0; i < program->ntensors; i++) {
    const tspec_rt_tensor_t *tensor = &program->tensors[i];
    said = fuzz_hash_number(said, tensor->bytes);
    for (int d = 0; d < tensor->layout.ndims; d++) {
      FUZZ_CHECK(tensor->box.begin[d] >= 0 && tensor->box.begin[d] <= tensor->box.end[d] &&
                     tensor->box.end[d] <= tensor->sizes[d],
                 "tensor %d has [%lld, %lld) of %lld", i, (long long)tensor->box.begin[d],
                 (long long)tensor->box.end[d], (long long)tensor->sizes[d]);
    }
  }
  for (int i = 0; i < program->nparams; i++) {
    said = fuzz_hash_text(said, program->params[i].path);
  }
  for (int i = 0; i < program->nentries; i++) {
    said = fuzz_hash_text(said, program->entries[i].name);
  }
  return said;
}

/// Bytes of all parameters and the largest arena; saturates.
static int64_t memory_needed(const tspec_rt_program_t *program) {
  int64_t bytes = 0;
  for (int i = 0; i < program->nparams; i++) {
    bytes = bytes > MAX_ARENA_BYTES ? bytes : bytes + program->params[i].tensor->bytes;
  }
  for (int i = 0; i < program->nentries; i++) {
    int64_t arena = program->entries[i].image->arena_bytes;
    bytes = bytes > MAX_ARENA_BYTES || arena < bytes ? bytes : arena;
  }
  return bytes;
}

/// Groups, plans and memory of all entries.
static uint64_t prepare(uint64_t said, tspec_rt_program_t *program) {
  tspec_rt_error_t error = {0};
  tspec_comm_t *comm = tspec_comm_self_create();
  FUZZ_CHECK(comm != NULL, "out of memory");
  tspec_rt_status_t status = TSPEC_RT_OK;
  for (int i = 0; i < program->nentries && status == TSPEC_RT_OK; i++) {
    status = tspec_rt_program_prepare(program, comm, &program->entries[i], &error);
  }
  said = fuzz_hash_text(fuzz_hash_number(said, status), error.text);
  if (status == TSPEC_RT_OK && program->scratch_bytes <= MAX_ARENA_BYTES &&
      memory_needed(program) <= MAX_ARENA_BYTES) {
    status = tspec_rt_memory_create(program, &error);
    said = fuzz_hash_number(said, status);
  }
  tspec_rt_program_deinit(program);
  comm->ops->destroy(comm);
  return said;
}

static uint64_t read_as(uint64_t said, const tspec_compiled_t *compiled, int rank) {
  tspec_rt_program_t program;
  tspec_rt_error_t error = {0};
  tspec_rt_status_t status = tspec_rt_program_init(&program, compiled, rank, &error);
  FUZZ_CHECK(status == TSPEC_RT_OK, "a checked image is refused: %s", error.text);
  said = hash_program(said, &program);
  if (program.mesh.nranks == 1) {
    return prepare(said, &program);
  }
  tspec_rt_program_deinit(&program);
  return said;
}

static uint64_t check(const tspec_image_t *image) {
  tspec_compiled_t compiled = {image, kKernels, sizeof kKernels / sizeof *kKernels};
  tspec_rt_error_t error = {0};
  tspec_rt_status_t status = tspec_rt_image_check(&compiled, &error);
  uint64_t said = fuzz_hash_text(fuzz_hash_number(0, status), error.text);
  if (status != TSPEC_RT_OK) {
    FUZZ_CHECK(error.text[0] != '\0', "refused without a word");
    return said;
  }
  int64_t nranks = tspec_rt_image_mesh(image).nranks;
  said = read_as(said, &compiled, 0);
  return nranks > 1 ? read_as(said, &compiled, (int)(nranks - 1)) : said;
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  if (size < sizeof(tspec_image_t) || size > MAX_BYTES) {
    return 0;
  }
  // An image is linked into its program: its size is true, whatever else is wrong.
  tspec_image_t *image = malloc(size);
  FUZZ_CHECK(image != NULL, "out of memory");
  memcpy(image, data, size);
  if (image->size_bytes > size) {
    image->size_bytes = size;
  }
  uint64_t said = check(image);
  free(image);
  return said;
}
