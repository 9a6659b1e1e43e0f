// LoneEvaluations: losses of evaluations, in a log that shows no training's.
// A few of them may be anything; of more each is a step's.

#ifndef NANWATCH_LOGS_LONE_EVALUATIONS_H_
#define NANWATCH_LOGS_LONE_EVALUATIONS_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "logs/evaluation_news.h"
#include "logs/fact.h"
#include "logs/in_words.h"
#include "logs/scan.h"

namespace nanwatch {

class LoneEvaluations {
 public:
  // The next line.
  void Begin() {
    at_.reset();
    taken_ = false;
  }
  // The value of an evaluation's loss begins at `at`; the line's first counts.
  void Note(size_t at) {
    if (!at_) at_ = at;
  }
  std::optional<double> Loss(std::string_view line) {
    if (!at_) at_ = EvaluationLossInWords(line);
    return at_ ? ValueAt(line.substr(*at_)) : std::nullopt;
  }
  // It is the line's loss. Returns where it begins. REQUIRES: Loss() is one.
  size_t Take() {
    taken_ = true;
    return *at_;
  }
  // Tells a line below an evaluation's heading: only that its loss is not
  // finite is news, as batches have losses of their own.
  void Tell(const LogFact& fact, FactList* facts) {
    AddFact(LogFact::Kind::kUnderstood, 0, facts);
    if (!fact.has(StepField::kLoss)) return;
    news_.Take(fact[StepField::kLoss], "evaluation loss", 0, facts, false);
  }
  // Takes back those of `*facts` from `first` on, the line's and one that
  // waited for it, where they are of such a loss, until they are enough.
  void Hold(size_t first, FactList* facts) {
    if (!taken_ || told_) return;
    for (size_t i = first; i < facts->size(); ++i) {
      waiting_.push_back((*facts)[i]);
      waiting_.back().before_loss = {};
    }
    facts->resize(first);
    told_ = waiting_.size() >= kEnough;
    if (told_) {
      facts->insert(facts->end(), waiting_.begin(), waiting_.end());
      waiting_.clear();
    } else {
      AddFact(LogFact::Kind::kUnderstood, 0, facts);
    }
  }

 private:
  static constexpr size_t kEnough = 3;  // as LoneLosses; ours

  EvaluationNews news_;
  FactList waiting_;
  std::optional<size_t> at_;
  bool taken_ = false;
  bool told_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LONE_EVALUATIONS_H_
