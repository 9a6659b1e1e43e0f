// FamilySet: the families of one scrape while they are filled, in the order of
// model/metric_names.h. A family's series stay together, as every format wants.

#ifndef NANWATCH_METRICS_FAMILY_SET_H_
#define NANWATCH_METRICS_FAMILY_SET_H_

#include <prometheus/metric_family.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "model/metric_names.h"

namespace nanwatch {

struct LabelRef {
  std::string_view name;
  std::string_view value;
};

// Where a counter last rose; OpenMetrics only.
struct Exemplar {
  size_t family = 0;  // index into MetricSet::families
  size_t metric = 0;  // index into that family
  int64_t step = 0;
  int32_t rank = -1;  // -1: not known
};

// What a scrape shows.
struct MetricSet {
  std::vector<prometheus::MetricFamily> families;  // none is empty
  std::vector<Exemplar> exemplars;                 // ascending
};

class FamilySet {
 public:
  FamilySet();

  // A value that is NaN or infinite is no value: the series is missing.
  void Add(Metric metric, std::initializer_list<LabelRef> labels, double value);
  // With labels that are only known at run time.
  void Add(Metric metric, std::vector<prometheus::ClientMetric::Label> labels,
           double value);
  // On the series that was added last to `metric`.
  void AddExemplar(Metric metric, int64_t step, int32_t rank);

  size_t series() const { return series_; }

  // Undo for a run that does not fit.
  using Mark = std::array<size_t, kMetrics + 1>;
  Mark mark() const;
  void ResetTo(const Mark& mark);

  // Leaves this empty.
  MetricSet Take();

 private:
  std::vector<prometheus::MetricFamily> families_;  // one a Metric
  std::vector<Exemplar> exemplars_;
  size_t series_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_FAMILY_SET_H_
