// Exposition: the published snapshot and the daemon's own figures as Prometheus
// families, made anew at each scrape. A scrape changes nothing, keeps nothing,
// and several may run at once.

#ifndef NANWATCH_METRICS_EXPOSITION_H_
#define NANWATCH_METRICS_EXPOSITION_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "metrics/family_set.h"
#include "metrics/options.h"
#include "model/self_sample.h"
#include "model/snapshot.h"

namespace nanwatch {

class Exposition : public prometheus::Collectable {
 public:
  using SnapshotSource = std::function<std::shared_ptr<const Snapshot>()>;
  using SelfSource = std::function<std::vector<SelfSample>()>;

  // Both sources are called from any thread that scrapes.
  Exposition(MetricsOptions options, SnapshotSource snapshot, SelfSource self);

  // Any thread. The newest attempt of each run: two attempts would be one
  // series with two values.
  MetricSet Gather() const;
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const MetricsOptions options_;
  const SnapshotSource snapshot_;
  const SelfSource self_;
};

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_EXPOSITION_H_
