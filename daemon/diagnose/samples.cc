#include "diagnose/samples.h"

#include <spdlog/fmt/fmt.h>

#include <string>

#include "diagnose/actions.h"

namespace nanwatch {

bool MayComeFromData(Cause cause) {
  return cause == Cause::kNanFromForward || cause == Cause::kNanFromBackward ||
         cause == Cause::kDivergence || cause == Cause::kOutlierBatch ||
         cause == Cause::kUnexplained;
}

void SaySamples(const SampleRange& samples, CauseVerdict* cause) {
  const std::string which =
      samples.first == samples.last
          ? fmt::format("sample {}", samples.first)
          : fmt::format("samples {} to {}", samples.first, samples.last);
  cause->evidence.push_back(
      {EvidenceGrade::kEstablished,
       fmt::format("Step {} trained on {}.", cause->step, which)});
  cause->actions.insert(
      cause->actions.begin(),
      Action{"",
             fmt::format(
                 "Look at {}, the data of step {}; to go on without them, {}.",
                 which, cause->step, WithWayBack("{back}", cause->step))});
}

}  // namespace nanwatch
