// What the C++ half of the program does: it shows that the headers serve both languages.
#ifndef EMBED_MODEL_REPORT_H
#define EMBED_MODEL_REPORT_H

#include "runtime/tspec_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs `stats` on this rank's block of y and prints what it finds, the rows that this rank holds
/// if it is the first with them. Ranks: collective over the program's.
tspec_rt_status_t report(tspec_rt_t *stats, const float *y, bool prints);

#ifdef __cplusplus
}
#endif

#endif
