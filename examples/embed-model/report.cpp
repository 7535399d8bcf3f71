#include "report.h"

#include <cstdio>
#include <vector>

#include "stats.h"

tspec_rt_status_t report(tspec_rt_t *stats, const float *y, bool prints) {
  tspec_rt_view_t view;
  if (!tspec_rt_get_result(stats, TSPEC_stats_summary, TSPEC_stats_summary_OUT_mean, &view)) {
    return TSPEC_RT_USAGE;
  }
  std::vector<float> mean(view.bytes / sizeof(float));
  float largest = 0;
  const void *inputs[TSPEC_stats_summary_NINPUTS] = {y};
  void *results[TSPEC_stats_summary_NRESULTS] = {};
  results[TSPEC_stats_summary_OUT_mean] = mean.data();
  results[TSPEC_stats_summary_OUT_largest] = &largest;
  tspec_rt_status_t status = tspec_rt_call(stats, TSPEC_stats_summary, inputs, results);
  for (int64_t row = view.begin[0]; status == TSPEC_RT_OK && prints && row < view.end[0]; row++) {
    std::printf("mean %lld %.9g\n", (long long)row, mean[row - view.begin[0]]);
  }
  if (status == TSPEC_RT_OK && tspec_rt_rank(stats) == 0) {
    std::printf("largest %.9g\n", largest);
  }
  return status;
}
