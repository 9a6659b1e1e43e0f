#include "app/run_comparisons.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <utility>
#include <variant>

#include "app/comparison_json.h"
#include "compare/comparison.h"
#include "compare/distance_map.h"
#include "history/reader.h"
#include "json/value.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

size_t RowsOf(const Event& event) {
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    return steps->columns.rows();
  }
  const auto* ops = std::get_if<OpBatch>(&event.body);
  return ops == nullptr ? 0 : ops->columns.rows();
}

// Reads the two runs of a comparison, and no more than one may cost.
class Reading {
 public:
  explicit Reading(HistoryReader& history) : history_(history) {}

  Result<ComparedSide> Take(const RunKey& run) {
    RunCollector collector;
    const Status read =
        history_.ForEachEvent(0, run, [&](const StampedEvent& stamped) {
          rows_ += RowsOf(stamped.event);
          collector.Take(stamped.event);
          return rows_ <= limits::kComparedRows &&
                 held_ + collector.held() <= limits::kComparedHeld;
        });
    if (!read.ok()) return Error{read.error()};
    held_ += collector.held();
    return ComparedSide{fmt::format("{}@{}", run.run_id, run.attempt),
                        history_.missing(), collector.Finish()};
  }
  bool too_long() const {
    return rows_ > limits::kComparedRows || held_ > limits::kComparedHeld;
  }

 private:
  HistoryReader& history_;
  size_t rows_ = 0;
  size_t held_ = 0;
};

ComparisonReply Failed(const std::string& why) {
  return {503, "The history cannot be read: " + why,
          "Try again; the daemon's log says more.", ""};
}

class Taken {
 public:
  explicit Taken(std::atomic_flag& flag)
      : flag_(flag), mine_(!flag.test_and_set()) {}
  ~Taken() {
    if (mine_) flag_.clear();
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  std::atomic_flag& flag_;
  const bool mine_;
};

}  // namespace

RunComparisons::RunComparisons(std::string history_path)
    : history_path_(std::move(history_path)) {}

ComparisonReply RunComparisons::Compare(const RunKey& a, const RunKey& b) {
  const Taken taken(busy_);
  if (!taken) {
    return {503, "Two other runs are being compared.", "Try again.", ""};
  }
  const auto history = HistoryReader::Open(history_path_);
  if (!history.ok()) return Failed(history.error());
  Reading reading(**history);
  const Result<ComparedSide> side_a = reading.Take(a);
  if (!side_a.ok()) return Failed(side_a.error());
  const Result<ComparedSide> side_b = reading.Take(b);
  if (!side_b.ok()) return Failed(side_b.error());
  if (reading.too_long()) {
    return {413,
            fmt::format("{} and {} are too long to be compared here.",
                        side_a->name, side_b->name),
            fmt::format("Compare them with the command: nanwatch compare {} {}",
                        side_a->name, side_b->name),
            ""};
  }
  Json json = ComparisonJson(*side_a, *side_b,
                             nanwatch::Compare(side_a->run, side_b->run));
  json["map"] =
      DistanceMapJson(MapDistances(side_a->run, side_b->run, nullptr, {}));
  return {200, "", "", Dump(json)};
}

}  // namespace nanwatch
