// What stands behind a tspec_rt_t.
#ifndef TSPEC_RUNTIME_SESSION_H
#define TSPEC_RUNTIME_SESSION_H

#include "runtime/program.h"
#include "runtime/tspec_rt.h"
#include "runtime/watchdog.h"
#include "runtime/workers.h"

/// One step of one run, for the profile.
typedef struct tspec_rt_event_t {
  const tspec_rt_step_t *step;
  int64_t begin_ns;
  int64_t end_ns;
} tspec_rt_event_t;

struct tspec_rt_t {
  tspec_rt_error_t error; ///< of this rank
  tspec_comm_t *comm;     ///< NULL if communication did not start
  tspec_rt_program_t program;
  tspec_rt_watchdog_t *watchdog;
  tspec_rt_workers_t *workers;
  tspec_rt_event_t *events;
  int64_t nevents;
  int64_t room_events; ///< further ones are dropped
};

/// Runs a prepared entry once. Errors: TSPEC_RT_COMM, TSPEC_RT_KERNEL. Ranks: collective over all.
tspec_rt_status_t tspec_rt_run_entry(tspec_rt_t *rt, tspec_rt_entry_t *entry);

/// A new call of the public interface begins: its message will be its own. Ranks: local.
void tspec_rt_clear_error(tspec_rt_t *rt);

/// Where a result of the last run can be read.
const void *tspec_rt_result_memory(const tspec_rt_slot_t *result);

/// The prepared entry of that name; NULL after reporting that there is none.
tspec_rt_entry_t *tspec_rt_find_entry(tspec_rt_t *rt, const char *name);

#endif
