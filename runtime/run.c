// Walking the steps of an entry.
#include <string.h>

#include "runtime/launch.h"
#include "runtime/session.h"

enum { SMALLEST_PART_BYTES = 64 << 10 }; // below, waking a thread costs more than it saves

tspec_rt_entry_t *tspec_rt_find_entry(tspec_rt_t *rt, const char *name) {
  tspec_rt_entry_t *entry = tspec_rt_program_find_entry(&rt->program, name);
  if (entry == NULL || entry->steps == NULL) {
    (void)tspec_rt_fail(&rt->error, TSPEC_RT_USAGE, "no entry '%s' was opened", name);
    return NULL;
  }
  return entry;
}

static void run_part(void *user, int64_t begin, int64_t end) {
  const tspec_rt_step_t *step = user;
  step->kernel(step->pointers, step->args, begin, end);
}

static void run_kernel(tspec_rt_t *rt, tspec_rt_step_t *step) {
  if (rt->workers == NULL || step->range <= 1) {
    if (step->range > 0) {
      run_part(step, 0, step->range);
    }
    return;
  }
  int64_t bytes = 1;
  for (int i = 0; i < step->nbuffers; ++i) {
    bytes += step->buffers[i]->tensor->bytes;
  }
  int64_t per_index = bytes / step->range + 1;
  tspec_rt_workers_run(rt->workers, step->range, SMALLEST_PART_BYTES / per_index + 1, run_part,
                       step);
}

static tspec_rt_status_t run_gemm(tspec_rt_t *rt, const tspec_rt_step_t *step) {
  if (step->gemm_is_empty) {
    return TSPEC_RT_OK;
  }
  if (step->gemm_is_zero) {
    memset(step->pointers[2], 0, (size_t)step->buffers[2]->tensor->bytes);
    return TSPEC_RT_OK;
  }
  if (!tspec_gemm_run(&step->gemm, step->pointers[0], step->pointers[1], step->pointers[2])) {
    return tspec_rt_fail(&rt->error, TSPEC_RT_KERNEL, "the matrix product '%s' at %s failed",
                         step->what, step->where);
  }
  return TSPEC_RT_OK;
}

// One operand after the other into the only result.
static tspec_rt_status_t run_operands(const tspec_rt_step_t *step, void *scratch) {
  void *to = step->pointers[step->noperands];
  if (step->image->fills != 0) {
    const tspec_rt_tensor_t *tensor = step->buffers[step->noperands]->tensor;
    tspec_rt_dtype_fill(tensor->dtype, step->image->fill, tensor->elems, to);
  }
  for (int i = 0; i < step->noperands; ++i) {
    TSPEC_RT_TRY(tspec_rt_collective_run(&step->collectives[i], step->pointers[i], to, scratch));
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_collective(tspec_rt_t *rt, const tspec_rt_step_t *step) {
  tspec_rt_watchdog_begin(rt->watchdog, step->what, step->where);
  tspec_rt_status_t status =
      step->joint == NULL
          ? run_operands(step, rt->program.scratch)
          : tspec_rt_joint_run(step->joint, step->pointers, step->pointers + step->noperands,
                               rt->program.scratch);
  tspec_rt_watchdog_end(rt->watchdog);
  if (status != TSPEC_RT_OK) {
    return tspec_rt_fail(&rt->error, status, "%s at %s: %s", step->what, step->where,
                         rt->comm->error);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_step(tspec_rt_t *rt, tspec_rt_step_t *step) {
  switch (step->image->kind) {
  case TSPEC_IMAGE_KERNEL:
    run_kernel(rt, step);
    return TSPEC_RT_OK;
  case TSPEC_IMAGE_GEMM:
    return run_gemm(rt, step);
  default:
    return run_collective(rt, step);
  }
}

const void *tspec_rt_result_memory(const tspec_rt_slot_t *result) {
  return result->stage != NULL ? result->stage : result->buffer->memory;
}

// First everything that lies where an update goes is set aside, then the updates go there: all read
// the old values.
static void apply_updates(tspec_rt_t *rt, tspec_rt_entry_t *entry) {
  for (int i = 0; i < entry->nresults + entry->nupdates; ++i) {
    const tspec_rt_slot_t *slot =
        i < entry->nresults ? &entry->results[i] : &entry->updates[i - entry->nresults];
    if (slot->stage != NULL) {
      memcpy(slot->stage, slot->buffer->memory, (size_t)slot->buffer->tensor->bytes);
    }
  }
  for (int i = 0; i < entry->nupdates; ++i) {
    const void *value = tspec_rt_result_memory(&entry->updates[i]);
    void *param = rt->program.params[entry->updates[i].param].memory;
    if (value != param) {
      memcpy(param, value, (size_t)entry->updates[i].buffer->tensor->bytes);
    }
  }
}

tspec_rt_status_t tspec_rt_run_entry(tspec_rt_t *rt, tspec_rt_entry_t *entry) {
  for (int i = 0; i < entry->ninputs; ++i) {
    const tspec_rt_slot_t *input = &entry->inputs[i];
    if (input->stage != NULL) {
      memcpy(input->buffer->memory, input->stage, (size_t)input->buffer->tensor->bytes);
    }
  }
  for (int i = 0; i < entry->nsteps; ++i) {
    tspec_rt_event_t *event = rt->nevents < rt->room_events ? &rt->events[rt->nevents] : NULL;
    int64_t begin = event != NULL ? tspec_rt_clock_ns() : 0;
    tspec_rt_crash_step(entry->steps[i].what, entry->steps[i].where);
    TSPEC_RT_TRY(run_step(rt, &entry->steps[i]));
    if (event != NULL) {
      *event = (tspec_rt_event_t){&entry->steps[i], begin, tspec_rt_clock_ns()};
      rt->nevents += 1;
    }
  }
  tspec_rt_crash_step(NULL, NULL);
  apply_updates(rt, entry);
  entry->runs += 1;
  return TSPEC_RT_OK;
}
