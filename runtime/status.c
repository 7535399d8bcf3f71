#include "runtime/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *tspec_rt_status_text(tspec_rt_status_t status) {
  static const char *const texts[TSPEC_RT_STATUS_COUNT] = {
#define TSPEC_RT_STATUS(id, code, text) [TSPEC_RT_##id] = (text),
#include "runtime/status.def"
#undef TSPEC_RT_STATUS
  };
  return (unsigned)status < TSPEC_RT_STATUS_COUNT ? texts[status] : "unknown failure";
}

int tspec_rt_status_exit_code(tspec_rt_status_t status) {
  static const int codes[TSPEC_RT_STATUS_COUNT] = {
#define TSPEC_RT_STATUS(id, code, text) [TSPEC_RT_##id] = (code),
#include "runtime/status.def"
#undef TSPEC_RT_STATUS
  };
  return (unsigned)status < TSPEC_RT_STATUS_COUNT ? codes[status] : 70;
}

tspec_rt_status_t tspec_rt_fail(tspec_rt_error_t *error, tspec_rt_status_t status,
                                const char *format, ...) {
  if (error->status != TSPEC_RT_OK) {
    return status;
  }
  error->status = status;
  va_list args;
  va_start(args, format);
  (void)vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  return status;
}
