// The runtime's public interface: what a compiled program's own main uses, and what any other
// program, in C or C++, can use that links a compiled object (tspecc --emit=obj, which writes a
// header, too) and libtspecrt. All ranks make the same calls in the same order unless a call says
// that it is local. After a failure on some ranks only, tspec_rt_settle brings all to one outcome.
//
//   #include "gpt.h"
//   MPI_Comm mine = ...; // as many ranks as the mesh has: TSPEC_gpt_RANKS
//   tspec_rt_t *rt = NULL;
//   tspec_rt_open_t open = {.compiled = &tspec_program_gpt, .communicator = &mine};
//   if (tspec_rt_open(&open, &rt) == TSPEC_RT_OK && tspec_rt_init_params(rt, 0) == TSPEC_RT_OK) {
//     const void *inputs[TSPEC_gpt_forward_NINPUTS] = {[TSPEC_gpt_forward_IN_x] = my_block_of_x};
//     void *results[TSPEC_gpt_forward_NRESULTS] = {[TSPEC_gpt_forward_OUT_y] = my_block_of_y};
//     status = tspec_rt_call(rt, TSPEC_gpt_forward, inputs, results);
//
// Nothing here prints, exits or aborts but where it says so (tspec_rt_settle, tspec_rt_abort,
// tspec_rt_main, a timeout).
#ifndef TSPEC_RUNTIME_TSPEC_RT_H
#define TSPEC_RUNTIME_TSPEC_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/dtype.h"
#include "runtime/image.h"
#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tspec_rt_t tspec_rt_t;

/// How to open a program; zero what does not matter.
typedef struct tspec_rt_open_t {
  const tspec_compiled_t *compiled; ///< borrowed for the life of the rt
  const char *const *entries;       ///< names of those that will run; NULL: all
  int nentries;
  bool deterministic;     ///< sums in rank order, builtin products
  int threads;            ///< of each rank; 0: 1
  double timeout_seconds; ///< that a collective may take; when it has passed, the ranks are taken
                          ///< down with a line that says who waits for whom. 0: 300, but no limit
                          ///< with a communicator of the caller's
  int64_t profile_events; ///< room for so many steps of tspec_rt_write_profile; 0: no profile
  int64_t runs; ///< of an entry that are planned; so few that starting the product library
                ///< would take longer than it saves use the builtin one. 0: many
  const void *communicator; ///< points to an MPI_Comm whose ranks are the mesh's, row-major; it is
                            ///< duplicated, and MPI stays the caller's. NULL: MPI_COMM_WORLD
} tspec_rt_open_t;

/// A tensor as this rank sees it. `memory` is this rank's block, dense and row-major.
typedef struct tspec_rt_view_t {
  const char *name;
  tspec_rt_dtype_t dtype;
  int ndims;
  const int64_t *begin; ///< first global index of the block, per dim
  const int64_t *end;   ///< one past the last
  const int64_t *sizes; ///< of the whole tensor
  int64_t bytes;        ///< of the block
  void *memory;
} tspec_rt_view_t;

/// Checks the image and the processor, starts MPI if the mesh has more than one rank and nobody
/// has, plans, and gets all memory. Ownership: *out_rt is closed by tspec_rt_close, also after a
/// failure, when it carries the message; NULL only when out of memory. Several programs can be open
/// at once. Ranks: collective over the communicator, which must have as many ranks as the mesh.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_open(const tspec_rt_open_t *open, tspec_rt_t **out_rt);
/// Ends MPI if tspec_rt_open started it; a caller that ends MPI closes first. Ranks: collective.
void tspec_rt_close(tspec_rt_t *rt);

/// Why the last call failed on this rank, without "rank 2/8: "; "" if none has. Ranks: local.
const char *tspec_rt_message(const tspec_rt_t *rt);
int tspec_rt_rank(const tspec_rt_t *rt);
int tspec_rt_nranks(const tspec_rt_t *rt);

/// If `status` is a failure on any rank, the lowest such rank prints its line to stderr, and all
/// get a failure; *out_exit_code (may be NULL) is what all should exit with. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_settle(tspec_rt_t *rt, tspec_rt_status_t status,
                                                    int *out_exit_code);
/// Prints this rank's message and takes all ranks down. For failures in the middle of a run. Ranks:
/// local.
void tspec_rt_abort(tspec_rt_t *rt, tspec_rt_status_t status) __attribute__((noreturn));

/// Gives every parameter and state its initial value: docs/numbers.md. Ranks: local.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_init_params(tspec_rt_t *rt, uint64_t seed);
/// Reads parameters and state from a .safetensors file, by path, each rank its own bytes. Ranks:
/// local.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_load_params(tspec_rt_t *rt, const char *file);
/// The same from the `bytes` bytes of such a file in memory; they are not kept. Ranks: local.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_load_params_memory(tspec_rt_t *rt, const void *from,
                                                                size_t bytes);
/// Writes them as whole tensors, under a temporary name until all is well. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_save_params(tspec_rt_t *rt, const char *file);

/// An input, a result or a parameter, by name or by its index (the header beside the object has
/// them as constants); false if there is none (inputs and results: of an opened entry). What a view
/// says of the block holds until the program is closed; its memory can be read and written: a
/// parameter's at any time between runs, an input's before a run, a result's after one. Ranks:
/// local.
bool tspec_rt_find_input(const tspec_rt_t *rt, const char *entry, const char *name,
                         tspec_rt_view_t *out_view);
bool tspec_rt_find_result(const tspec_rt_t *rt, const char *entry, const char *name,
                          tspec_rt_view_t *out_view);
bool tspec_rt_find_param(const tspec_rt_t *rt, const char *path, tspec_rt_view_t *out_view);
bool tspec_rt_get_input(const tspec_rt_t *rt, const char *entry, int index,
                        tspec_rt_view_t *out_view);
bool tspec_rt_get_result(const tspec_rt_t *rt, const char *entry, int index,
                         tspec_rt_view_t *out_view);
bool tspec_rt_get_param(const tspec_rt_t *rt, int index, tspec_rt_view_t *out_view);

/// Fills an input from "FILE.npy", "FILE.safetensors[:TENSOR]" or a number. The value is kept apart
/// and put in place before every run. Ranks: local.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_read_input(tspec_rt_t *rt, const char *entry,
                                                        const char *name, const char *from);
/// Writes a result of the last run to a .npy file as one whole array. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_write_result(tspec_rt_t *rt, const char *entry,
                                                          const char *name, const char *file);

/// Runs an entry once: inputs that were read are put in place (others are as the caller set them; a
/// run may use their memory for something else once they are no longer needed), the steps run,
/// parameters and state take their new values. Results stay readable until the next run. Errors: a
/// collective or a product failed; the ranks may then be apart, so end with tspec_rt_abort. Ranks:
/// collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_run(tspec_rt_t *rt, const char *entry);

/// The same on the caller's memory: before the run this rank's block of each input is copied from
/// inputs[i], after it that of each result to results[i], both dense and row-major, of as many
/// bytes as the view of input or result i says. NULL, for one or for all: not copied, and so is
/// nothing that has no elements on this rank. The memory is the caller's and is not kept; an array
/// may be input and result of one call. Errors: as tspec_rt_run. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_call(tspec_rt_t *rt, const char *entry,
                                                  const void *const *inputs, void *const *results);

/// A Chrome trace of the runs so far: kernels, products and collectives with bytes and source
/// lines, one row per rank. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_write_profile(tspec_rt_t *rt, const char *file);
/// What every collective of an opened entry sends in one run (by the rank that sends most, ring
/// convention), next to what the compiler predicted, as JSON: {"program", "entry", "ranks", "runs",
/// "predicted_bytes", "bytes", "collectives": [{"step", "kind", "what", "where", "ranks",
/// "predicted_bytes", "bytes"}, ..]}. Ranks: collective.
TSPEC_RT_MUST_USE tspec_rt_status_t tspec_rt_write_counts(tspec_rt_t *rt, const char *entry,
                                                          const char *file);

/// The whole command line of a compiled program. Returns the exit code.
int tspec_rt_main(int argc, char **argv, const tspec_compiled_t *compiled);

#ifdef __cplusplus
}
#endif

#endif
