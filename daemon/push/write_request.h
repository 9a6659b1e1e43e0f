// Moments as a request of remote write 1.0.

#ifndef NANWATCH_PUSH_WRITE_REQUEST_H_
#define NANWATCH_PUSH_WRITE_REQUEST_H_

#include <map>
#include <span>
#include <string>

#include "nanwatch/push/v1/push.pb.h"
#include "push/moments.h"

namespace nanwatch {

// Says that a series ends here: Prometheus' own NaN, unlike that of a loss.
double StaleMarker();

// Labels sorted, the samples of a series by time. Each NaN is the usual one.
push::v1::WriteRequest WriteRequestOf(
    std::span<const Moment> moments,
    const std::map<std::string, std::string>& labels);

// Adds the labels to `series`, sorted; those without a value are left out.
void SetLabels(const std::map<std::string, std::string>& labels,
               push::v1::TimeSeries* series);

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_WRITE_REQUEST_H_
