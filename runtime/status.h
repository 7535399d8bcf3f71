// Failure in the runtime: a code that every call returns, and one message that its context keeps.
// The callee that sees the reason reports with tspec_rt_fail; callers only hand the code on.
#ifndef TSPEC_RUNTIME_STATUS_H
#define TSPEC_RUNTIME_STATUS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tspec_rt_status_t {
#define TSPEC_RT_STATUS(id, ...) TSPEC_RT_##id,
#include "runtime/status.def"
#undef TSPEC_RT_STATUS
  TSPEC_RT_STATUS_COUNT,
} tspec_rt_status_t;

#define TSPEC_RT_MUST_USE __attribute__((warn_unused_result))

/// Hands a failure on to the caller. (A loop that runs once at most, as it needs a name of its own
/// and must be one statement.)
#define TSPEC_RT_TRY(call)                                                                         \
  for (tspec_rt_status_t tspec_rt_try_ = (call); tspec_rt_try_ != TSPEC_RT_OK;                     \
       tspec_rt_try_ = TSPEC_RT_OK)                                                                \
  return tspec_rt_try_

/// The message of the first failure. A plain value, all zero at first.
typedef struct tspec_rt_error_t {
  tspec_rt_status_t status;
  char text[1024]; ///< one line without a full stop; cut if longer
} tspec_rt_error_t;

/// "out of memory"; never NULL.
const char *tspec_rt_status_text(tspec_rt_status_t status);
/// What a program that fails so exits with.
int tspec_rt_status_exit_code(tspec_rt_status_t status);

/// Keeps the message (unless there is one already) and returns `status`. Ranks: local.
tspec_rt_status_t tspec_rt_fail(tspec_rt_error_t *error, tspec_rt_status_t status,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
