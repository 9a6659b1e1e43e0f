#include "push/write_request.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace nanwatch {
namespace {

// Remote write 1.0, "Stale markers".
constexpr uint64_t kStale = 0x7ff0000000000002;

}  // namespace

double StaleMarker() { return std::bit_cast<double>(kStale); }

void SetLabels(const std::map<std::string, std::string>& labels,
               push::v1::TimeSeries* series) {
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    push::v1::Label* label = series->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
}

push::v1::WriteRequest WriteRequestOf(
    std::span<const Moment> moments,
    const std::map<std::string, std::string>& labels) {
  push::v1::WriteRequest request;
  std::map<std::pair<const Lane*, int>, int> series_of;
  for (const Moment& moment : moments) {
    for (int field = 0; field < kPushedFields; ++field) {
      if ((moment.fields >> field & 1) == 0) continue;
      const auto [it, fresh] = series_of.try_emplace({moment.lane.get(), field},
                                                     request.timeseries_size());
      if (fresh) {
        const LaneKey& lane = moment.lane->key;
        std::map<std::string, std::string> all = labels;
        all["__name__"] = "nanwatch_step_" + std::string(PushedName(field));
        all["run_id"] = lane.run.run_id;
        all["attempt"] = std::to_string(lane.run.attempt);
        all["rank"] = std::to_string(lane.rank);
        all["optimizer"] = lane.optimizer;
        SetLabels(all, request.add_timeseries());
      }
      push::v1::Sample* sample =
          request.mutable_timeseries(it->second)->add_samples();
      sample->set_timestamp(moment.ms);
      double value = moment.value[field];
      if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
      sample->set_value(moment.ends ? StaleMarker() : value);
    }
  }
  return request;
}

}  // namespace nanwatch
