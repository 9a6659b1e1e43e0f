// CatBoost: a line a tree or so, with tabs between its numbers. What it prints
// is a metric that the user chose: one that rises is an objective.
//
//  0:  learn: 0.6812  test: 0.6843  best: 0.6843 (0)  total: 3ms  remaining: 3s

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

class CatBoostReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    constexpr std::string_view kMetric = ":\tlearn";
    const size_t at = line.find(kMetric);
    if (at == line.npos) return;
    const size_t before = line.find_last_not_of("0123456789", at - 1);
    Scan scan(line, before == line.npos ? 0 : before + 1);
    const std::optional<int64_t> tree = ReadCount(&scan);
    if (!tree || scan.at() != at || !scan.Skip(kMetric)) return;
    // Old ones print no sign, and may lose the tab: "learn nanpassed: 17 sec".
    scan.Skip(':');
    if (!scan.Skip(' ')) return;
    const std::string_view rest = line.substr(scan.at());
    const auto metric =
        Scan(rest.substr(0, rest.find("passed: "))).PrintedNumber();
    if (!metric) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    fact.step = tree;
    fact.Set(StepField::kLoss, metric->value);
    // Which way it goes the second line shows; none, where it is no number.
    if (!shown_ && (first_ || std::isfinite(metric->value))) {
      if (!std::exchange(first_, first_ ? first_ : fact)) return;
      shown_ = true;
      rises_ = metric->value > (*first_)[StepField::kLoss];
      Tell(*first_, facts);
    }
    Tell(fact, facts);
  }

 private:
  void Tell(LogFact fact, FactList* facts) const {
    if (rises_) fact.Set(StepField::kLoss, -fact[StepField::kLoss]);
    fact.of_objective = rises_;
    facts->push_back(fact);
  }

  std::optional<LogFact> first_;
  bool shown_ = false;  // two lines were seen
  bool rises_ = false;
};

constexpr std::string_view kMarks[] = {"\tremaining: "};

}  // namespace

const LogFormat kCatBoost = {
    .name = "catboost",
    .title = "CatBoost",
    .marks = kMarks,
    .make = Fresh<CatBoostReader>,
};

}  // namespace nanwatch
