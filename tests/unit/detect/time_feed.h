// What a rule that is asked now and then says of a run's settings.

#ifndef NANWATCH_TESTS_UNIT_DETECT_TIME_FEED_H_
#define NANWATCH_TESTS_UNIT_DETECT_TIME_FEED_H_

#include "detect/context.h"

namespace nanwatch {

// Asks a rule at step 400. `t`: none where it has no thresholds.
template <typename Rule>
Severity Judge(const RunDescription& run, Rule* rule,
               Thresholds t = {nullptr}) {
  const TimeContext context{.run = run,
                            .now = {},
                            .opened = {},
                            .ranks = {},
                            .last_step = 400,
                            .step_seconds_p99 = 0,
                            .step_seconds_mean = 0};
  return rule->OnTime(context, t);
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DETECT_TIME_FEED_H_
