#include <gmock/gmock.h>

#include "cli/simulate.h"

namespace nanwatch {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

SimulationReport Report(const RecordedRun& run) {
  SimulationReport report;
  report.run = &run;
  return report;
}

TEST(SimulationAssumptions, AreSaidOfOneAttemptAsOfMany) {
  const RecordedRun run;
  SimulationReport one = Report(run);
  one.simulated.higher = {.updates = 1, .overflows = 0, .first_step = 7};
  one.simulated.measured = 1;
  EXPECT_THAT(AssumptionsOf(one),
              Contains("1 update, first at step 7, did not overflow, and here "
                       "has a higher scale. It was judged as the nearest "
                       "update that tells, before or after: it does not "
                       "overflow."));
  EXPECT_THAT(AssumptionsOf(one),
              Contains(HasSubstr("1 update was judged by the largest")));
  SimulationReport many = Report(run);
  many.simulated.lower = {
      .updates = 10, .overflows = 8, .untold = 3, .stuck = 4, .first_step = 7};
  EXPECT_THAT(
      AssumptionsOf(many),
      Contains("10 updates, first at step 7, overflowed, and here "
               "have a lower scale. 3 were judged as the nearest "
               "update that tells, before or after: 1 overflow, 2 do "
               "not. 4 are taken to overflow, since overflow followed "
               "overflow at a scale where a lower one does not help. Of "
               "3 no update tells: these are taken to overflow."));
}

}  // namespace
}  // namespace nanwatch
