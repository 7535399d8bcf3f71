// The public interface: opening, agreeing, closing.
#include "runtime/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/file.h"
#include "runtime/launch.h"

static tspec_rt_status_t start_comm(tspec_rt_t *rt, const tspec_rt_open_t *open,
                                    const tspec_rt_mesh_t *mesh) {
  if (open->communicator == NULL && mesh->nranks == 1 && tspec_rt_launch_get().nranks == 1) {
    rt->comm = tspec_comm_self_create();
    return rt->comm != NULL ? TSPEC_RT_OK
                            : tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory");
  }
  return tspec_comm_mpi_create(open->communicator, &rt->error, &rt->comm);
}

// All ranks must run the same program: the smallest and the largest hash are equal.
static tspec_rt_status_t compare_programs(tspec_rt_t *rt, const tspec_image_t *image) {
  int64_t mine = (int64_t)(image->schedule_hash & INT64_MAX);
  int64_t ends[2] = {mine, -mine};
  tspec_rt_status_t status =
      rt->comm->ops->allreduce(rt->comm->world, ends, 2, TSPEC_RT_I64, TSPEC_RT_MIN);
  if (status != TSPEC_RT_OK) {
    return tspec_rt_fail(&rt->error, status, "%s", rt->comm->error);
  }
  if (ends[0] != -ends[1]) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_RANKS,
                         "the ranks do not all run the same compiled program");
  }
  return TSPEC_RT_OK;
}

static bool is_wanted(const tspec_rt_open_t *open, const char *name) {
  bool wanted = open->entries == NULL;
  for (int i = 0; i < open->nentries && open->entries != NULL; ++i) {
    wanted = wanted || strcmp(open->entries[i], name) == 0;
  }
  return wanted;
}

static tspec_rt_status_t prepare_entries(tspec_rt_t *rt, const tspec_rt_open_t *open) {
  tspec_rt_status_t status = TSPEC_RT_OK;
  for (int i = 0; i < rt->program.nentries; ++i) {
    tspec_rt_entry_t *entry = &rt->program.entries[i];
    if (is_wanted(open, entry->name)) {
      tspec_rt_status_t one = tspec_rt_program_prepare(&rt->program, rt->comm, entry, &rt->error);
      status = status == TSPEC_RT_OK ? one : status;
    }
  }
  return status;
}

static tspec_rt_status_t get_memory(tspec_rt_t *rt, const tspec_rt_open_t *open) {
  TSPEC_RT_TRY(tspec_rt_memory_create(&rt->program, &rt->error));
  if (open->profile_events > 0) {
    rt->events = calloc((size_t)open->profile_events, sizeof *rt->events);
    if (rt->events == NULL) {
      return tspec_rt_fail(&rt->error, TSPEC_RT_MEMORY, "out of memory for a profile of %lld steps",
                           (long long)open->profile_events);
    }
    rt->room_events = open->profile_events;
  }
  rt->workers = tspec_rt_workers_create(open->threads);
  return TSPEC_RT_OK;
}

// Each step ends in an agreement, so that no rank goes on alone into a call that waits for all.
static tspec_rt_status_t open_together(tspec_rt_t *rt, const tspec_rt_open_t *open) {
  const tspec_image_t *image = open->compiled->image;
  tspec_rt_status_t status =
      tspec_rt_cpu_check(tspec_rt_image_string(image, image->features),
                         tspec_rt_image_string(image, image->cpu), &rt->error);
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_program_init(&rt->program, open->compiled, rt->comm->rank, &rt->error);
  }
  TSPEC_RT_TRY(tspec_rt_agree(rt->comm, status, NULL, NULL));
  TSPEC_RT_TRY(compare_programs(rt, image));
  rt->program.deterministic = open->deterministic;
  rt->program.runs = open->runs;
  TSPEC_RT_TRY(tspec_rt_agree(rt->comm, prepare_entries(rt, open), NULL, NULL));
  TSPEC_RT_TRY(tspec_rt_agree(rt->comm, get_memory(rt, open), NULL, NULL));
  // It ends the process: in a program of others only if they ask for it.
  if (open->timeout_seconds > 0 || open->communicator == NULL) {
    rt->watchdog =
        tspec_rt_watchdog_create(rt->comm, open->timeout_seconds > 0 ? open->timeout_seconds : 300);
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_open(const tspec_rt_open_t *open, tspec_rt_t **out_rt) {
  tspec_rt_t *rt = calloc(1, sizeof *rt);
  *out_rt = rt;
  if (rt == NULL) {
    return TSPEC_RT_MEMORY;
  }
  TSPEC_RT_TRY(tspec_rt_image_check(open->compiled, &rt->error));
  tspec_rt_mesh_t mesh = tspec_rt_image_mesh(open->compiled->image);
  TSPEC_RT_TRY(start_comm(rt, open, &mesh));
  if (rt->comm->nranks != mesh.nranks) {
    return tspec_rt_fail(
        &rt->error, TSPEC_RT_RANKS, "the mesh needs %lld ranks, %s %d", (long long)mesh.nranks,
        open->communicator == NULL ? "started with" : "the communicator has", rt->comm->nranks);
  }
  return open_together(rt, open);
}

void tspec_rt_close(tspec_rt_t *rt) {
  if (rt == NULL) {
    return;
  }
  tspec_rt_watchdog_destroy(rt->watchdog);
  tspec_rt_workers_destroy(rt->workers);
  tspec_rt_program_deinit(&rt->program);
  if (rt->comm != NULL) {
    rt->comm->ops->destroy(rt->comm);
  }
  free(rt->events);
  free(rt);
}

void tspec_rt_clear_error(tspec_rt_t *rt) {
  rt->error = (tspec_rt_error_t){0};
}

const char *tspec_rt_message(const tspec_rt_t *rt) {
  return rt->error.text;
}

int tspec_rt_rank(const tspec_rt_t *rt) {
  return rt->comm != NULL ? rt->comm->rank : (int)tspec_rt_launch_get().rank;
}

int tspec_rt_nranks(const tspec_rt_t *rt) {
  return rt->comm != NULL ? rt->comm->nranks : (int)tspec_rt_launch_get().nranks;
}

static void print_failure(const tspec_rt_t *rt, tspec_rt_status_t status) {
  const char *text = rt->error.text[0] != '\0' ? rt->error.text : tspec_rt_status_text(status);
  (void)fflush(stdout);
  (void)fprintf(stderr, "rank %d/%d: %s\n", tspec_rt_rank(rt), tspec_rt_nranks(rt), text);
  (void)fflush(stderr);
}

tspec_rt_status_t tspec_rt_settle(tspec_rt_t *rt, tspec_rt_status_t status, int *out_exit_code) {
  int first = 0;
  int exit_code = tspec_rt_status_exit_code(status);
  if (rt->comm != NULL) {
    status = tspec_rt_agree(rt->comm, status, &first, &exit_code);
  }
  if (status != TSPEC_RT_OK && first == tspec_rt_rank(rt)) {
    print_failure(rt, status);
  }
  if (out_exit_code != NULL) {
    *out_exit_code = exit_code;
  }
  return status;
}

void tspec_rt_abort(tspec_rt_t *rt, tspec_rt_status_t status) {
  print_failure(rt, status);
  if (rt->comm != NULL) {
    rt->comm->ops->abort(rt->comm, tspec_rt_status_exit_code(status));
  }
  _Exit(tspec_rt_status_exit_code(status));
}

tspec_rt_status_t tspec_rt_run(tspec_rt_t *rt, const char *entry) {
  tspec_rt_clear_error(rt);
  tspec_rt_entry_t *found = tspec_rt_find_entry(rt, entry);
  return found == NULL ? TSPEC_RT_USAGE : tspec_rt_run_entry(rt, found);
}

tspec_rt_status_t tspec_rt_call(tspec_rt_t *rt, const char *entry, const void *const *inputs,
                                void *const *results) {
  tspec_rt_clear_error(rt);
  tspec_rt_entry_t *found = tspec_rt_find_entry(rt, entry);
  if (found == NULL) {
    return TSPEC_RT_USAGE;
  }
  for (int i = 0; i < found->ninputs && inputs != NULL; ++i) {
    const tspec_rt_slot_t *input = &found->inputs[i];
    int64_t bytes = input->buffer->tensor->bytes;
    if (inputs[i] != NULL && bytes > 0) {
      // A value that was read before would be put in place once more.
      memcpy(input->stage != NULL ? input->stage : input->buffer->memory, inputs[i], (size_t)bytes);
    }
  }
  TSPEC_RT_TRY(tspec_rt_run_entry(rt, found));
  for (int i = 0; i < found->nresults && results != NULL; ++i) {
    const tspec_rt_slot_t *result = &found->results[i];
    int64_t bytes = result->buffer->tensor->bytes;
    if (results[i] != NULL && bytes > 0) {
      memcpy(results[i], tspec_rt_result_memory(result), (size_t)bytes);
    }
  }
  return TSPEC_RT_OK;
}
