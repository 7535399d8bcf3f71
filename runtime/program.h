// A checked image, worked out for one rank: blocks, groups, collective plans, prepared products,
// kernel arguments. Made once at start; running steps only reads it.
#ifndef TSPEC_RUNTIME_PROGRAM_H
#define TSPEC_RUNTIME_PROGRAM_H

#include "runtime/collective.h"
#include "runtime/comm.h"
#include "runtime/gemm.h"
#include "runtime/image.h"
#include "runtime/image_view.h"
#include "runtime/layout.h"
#include "runtime/pool.h"

typedef struct tspec_rt_param_t {
  const char *path;
  const tspec_image_param_t *image;
  const tspec_rt_tensor_t *tensor;
  void *memory; ///< this rank's block, set by tspec_rt_memory_create
} tspec_rt_param_t;

typedef struct tspec_rt_buffer_t {
  const tspec_rt_tensor_t *tensor;
  const tspec_image_buffer_t *image;
  void *memory; ///< set by tspec_rt_memory_create
} tspec_rt_buffer_t;

/// An input, a result or an update of an entry.
typedef struct tspec_rt_slot_t {
  const char *name;
  tspec_rt_buffer_t *buffer;
  int64_t param; ///< updates: the parameter that takes the value; else -1
  void *stage;   ///< a copy of the block, or NULL. Inputs: what every run starts from. Results and
                 ///< updates: set aside, as the parameter that holds the value is about to change
} tspec_rt_slot_t;

typedef struct tspec_rt_step_t {
  const tspec_image_step_t *image;
  const char *what;  ///< "dot"
  const char *where; ///< "gpt.tspec:9"
  int nbuffers;
  tspec_rt_buffer_t **buffers;
  void **pointers; ///< of the buffers, set by tspec_rt_memory_create
  // kernel
  tspec_kernel_fn_t kernel;
  int64_t *args;
  int64_t range; ///< end of the outer range, which begins at 0
  // product
  tspec_gemm_t gemm;
  bool gemm_is_empty; ///< the result has no elements
  bool gemm_is_zero;  ///< the sum is over nothing
  // collective
  int noperands;
  tspec_rt_collective_t *collectives; ///< one per operand, done in this order ...
  tspec_rt_joint_t *joint;            ///< ... or, where it is not NULL, in one call
  int64_t sent_bytes;                 ///< by this rank, in all of them
} tspec_rt_step_t;

typedef struct tspec_rt_entry_t {
  const char *name;
  const tspec_image_entry_t *image;
  int nbuffers, ninputs, nresults, nupdates, nsteps;
  tspec_rt_buffer_t *buffers;
  tspec_rt_slot_t *inputs;
  tspec_rt_slot_t *results;
  tspec_rt_slot_t *updates;
  tspec_rt_step_t *steps; ///< NULL until the entry is prepared
  bool has_few_products;  ///< in all runs that are planned; they do without the library
  int64_t runs;           ///< so far
} tspec_rt_entry_t;

/// A group of ranks, kept by its pieces so that each is made once.
typedef struct tspec_rt_group_t {
  tspec_rt_pieces_t axes;
  tspec_comm_group_t *group;
  struct tspec_rt_group_t *next;
} tspec_rt_group_t;

typedef struct tspec_rt_program_t {
  const tspec_compiled_t *compiled;
  const tspec_image_t *image;
  tspec_rt_mesh_t mesh;
  tspec_comm_t *comm; ///< borrowed
  int rank;
  bool deterministic;
  int64_t runs; ///< planned of an entry; 0: many
  int ntensors, nparams, nentries;
  tspec_rt_tensor_t *tensors;
  tspec_rt_param_t *params;
  tspec_rt_entry_t *entries;
  tspec_rt_group_t *groups;
  int64_t scratch_bytes; ///< largest need of a collective
  void *scratch;
  void *memory; ///< the one mapping: parameters, an arena for the largest entry, scratch, stages
  int64_t memory_bytes;
  tspec_rt_pool_t pool;
} tspec_rt_program_t;

/// The mesh of a checked image.
tspec_rt_mesh_t tspec_rt_image_mesh(const tspec_image_t *image);

/// Works out shapes and blocks of everything for `rank`; no steps yet, no communication. Errors:
/// TSPEC_RT_MEMORY. Ownership: tspec_rt_program_deinit, also after a failure; `compiled` is
/// borrowed and must have passed tspec_rt_image_check. Ranks: local.
tspec_rt_status_t tspec_rt_program_init(tspec_rt_program_t *program,
                                        const tspec_compiled_t *compiled, int rank,
                                        tspec_rt_error_t *error);

/// Makes the groups and the steps of one entry (once; a second call does nothing). Errors: as
/// tspec_rt_collective_plan; a failure on one rank is reported on that rank alone, yet every rank
/// makes every group. Ranks: collective over all, entries in the same order.
tspec_rt_status_t tspec_rt_program_prepare(tspec_rt_program_t *program, tspec_comm_t *comm,
                                           tspec_rt_entry_t *entry, tspec_rt_error_t *error);

/// Maps the memory for parameters, and for the prepared entries, which share one arena, and sets
/// every pointer. Nothing is allocated after this. Errors: TSPEC_RT_MEMORY. Ranks: local.
tspec_rt_status_t tspec_rt_memory_create(tspec_rt_program_t *program, tspec_rt_error_t *error);

/// Gives the memory back; fine if there is none. Ranks: local.
void tspec_rt_memory_destroy(tspec_rt_program_t *program);

/// Releases all of it. Ranks: collective over all if entries were prepared.
void tspec_rt_program_deinit(tspec_rt_program_t *program);

/// NULL if there is none of that name.
tspec_rt_entry_t *tspec_rt_program_find_entry(tspec_rt_program_t *program, const char *name);

#endif
