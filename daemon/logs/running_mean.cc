#include "logs/running_mean.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "logs/names_before.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// "steps:  1%|  | 3/200 [00:06<06:39, 1.98s/it, avr_loss=": a bar over epochs
// shows the mean of each.
bool NamesRunningMean(std::string_view before) {
  if (before.find("%|") == before.npos || before.find("poch") != before.npos) {
    return false;
  }
  const size_t end = before.find_last_not_of(" =:'\"");
  const std::string_view name = NameAtEnd(before.substr(0, end + 1));
  return UsualMeaning(name) == ColumnMeaning::kMeanLoss;
}

}  // namespace

bool RunningMean::IsNoNews(const LogFact& fact) {
  if (over_) return false;
  const double loss = fact[StepField::kLoss];
  const bool next = fact.step && *fact.step >= step_ && *fact.step <= step_ + 1;
  over_ = !next || !std::isfinite(loss) || !NamesRunningMean(fact.before_loss);
  if (over_) return false;
  const double move = std::fabs(loss - std::exchange(newest_, loss));
  step_ = *fact.step;
  if (step_ > 1) (step_ <= kFirst ? first_ : next_) += move;
  if (news_step_ == 0) news_ = step_ == 1 ? loss : std::min(news_, loss);
  // It goes somewhere, which is to be seen.
  over_ = (step_ == 2 * kFirst && next_ > first_) ||
          (news_step_ == 0 && loss >= kFirstLeap * news_);
  if (over_) return false;
  const bool old =
      step_ < news_step_ + kApart && (news_step_ == 0 || loss < kLeap * news_);
  if (!old) {
    news_step_ = step_;
    news_ = loss;
  }
  return old;
}

}  // namespace nanwatch
