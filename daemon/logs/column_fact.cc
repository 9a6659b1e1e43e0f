#include "logs/column_fact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "logs/message_number.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Steps and counts beyond this are no steps; a double holds them exactly.
bool IsCount(double value) { return value >= 0 && value <= 1e15; }

// "train_step" may be the time of one.
bool IsStep(double value) {
  return IsCount(value) && value == std::floor(value);
}

std::optional<double> Truth(std::string_view text) {
  if (text == "True" || text == "true" || text == "TRUE") return 1;
  if (text == "False" || text == "false" || text == "FALSE") return 0;
  return std::nullopt;
}

constexpr double kAllWrong = 0.99;  // of all words, or of the first rate; ours
constexpr double kNothingExplained = 0.02;  // of the variance; ours

// Returns what a line's loss of that name says beside others: a part of the
// whole less than the whole, a mean, which stays NaN for ever after one, less,
// and what only stands for a loss least.
int WorthOf(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::kWeakMeasure  ? 1
         : meaning == ColumnMeaning::kPerplexity ? 2
         : meaning == ColumnMeaning::kObjective  ? 2
         : meaning == ColumnMeaning::kMeasure    ? ColumnFact::kWorthOfStandIn
         : meaning == ColumnMeaning::kReconstruction
             ? ColumnFact::kWorthOfStandIn
         : meaning == ColumnMeaning::kSquares      ? ColumnFact::kWorthOfSquares
         : meaning == ColumnMeaning::kMeanTerm     ? 5
         : meaning == ColumnMeaning::kMeanLoss     ? ColumnFact::kWorthOfMean
         : meaning == ColumnMeaning::kTermLoss     ? 7
         : meaning == ColumnMeaning::kCrossEntropy ? 8
                                                   : 9;
}

}  // namespace

void ColumnFact::Begin(size_t at) {
  static const LogFact kNothing;
  fact_ = kNothing;
  fact_.at = static_cast<uint32_t>(at);
  rival_.reset();
  reward_.reset();
  may_be_term_ = false;
  term_.reset();
  total_.reset();
  weak_norm_.reset();
  divergence_.reset();
  reconstructs_ = false;
  epoch_.reset();
  whole_ = 0;
  counter_.reset();
  two_steps_ = false;
  worth_ = 0;
  numbers_ = 0;
  knob_ = 0;
}

void ColumnFact::SetEpoch(double epoch) {
  // Far above any count of epochs: times the steps of one it is still a step.
  if (!(epoch >= 0 && epoch < 1e6)) return;
  epoch_ = static_cast<int64_t>(epoch);
  if (!has_step()) laps_.Note(*epoch_);
}

// The same text in two lines, one after the other, was cut in neither.
bool ColumnFact::IsCut(std::string_view scale) {
  if (scale_before_ == 0) return false;
  const bool cut = IsTorn(scale, scale_before_) ||
                   IsTorn(scale, scale_before_ / 2) ||
                   IsTorn(scale, scale_before_ * 2);
  if (!cut) return false;
  const bool again = cut_ == scale;
  cut_ = scale;
  return !again;
}

void ColumnFact::Add(ColumnMeaning meaning, std::string_view text,
                     bool ends_line) {
  if (meaning == ColumnMeaning::kNothing) return;
  text = TrimBlanks(text);
  if (meaning == ColumnMeaning::kLossScale) {
    const std::optional<double> scale = WholeNumber(text);
    if (scale) AddScale(text, *scale, ends_line);
    return;
  }
  const std::optional<double> truth = Truth(text);
  if (truth && meaning == ColumnMeaning::kSkipped) {
    if (!fact_.overflow) fact_.overflow = *truth != 0;
    return;
  }
  const std::optional<double> value = truth ? truth : PrintedValue(text);
  if (value) {
    AddNumber(meaning, *value);
  } else if (meaning == ColumnMeaning::kStep) {
    // "8_280", "8280/11043".
    size_t size = 0;
    const std::string plain = WithoutThousands(text, &size);
    if (!plain.empty() && size == text.size()) return Add(meaning, plain);
    Scan scan(text);
    const std::optional<Ratio> step = ReadRatio(&scan);
    if (step && scan.done()) {
      AddNumber(meaning, static_cast<double>(step->part));
    }
  }
}

void ColumnFact::AddScale(std::string_view text, double value, bool ends_line) {
  if (fact_.has(StepField::kLossScale)) return;
  if (ends_line && IsCut(text)) return;
  SetScale(text, value, scales_, &fact_);
  if (fact_.has(StepField::kLossScale)) ++numbers_;
}

void ColumnFact::AddSkipped(double value) {
  if (!IsCount(value)) return;
  if (value < skipped_before_) skipped_of_line_ = true;
  skipped_before_ = value;
  if (skipped_of_line_) {
    fact_.skipped_since = static_cast<int64_t>(value);
  } else {
    fact_.skipped_total = static_cast<int64_t>(value);
  }
}

void ColumnFact::AddAdversary(double value) {
  ++numbers_;
  adversaries_seen_ = true;
  if (std::exchange(fact_.guessed, false)) {
    fact_.Unset(StepField::kLoss);
    worth_ = 0;
  }
  if (!fact_.has(StepField::kLoss)) {
    fact_.of_adversary = true;
    fact_.Set(StepField::kLoss, value);
  } else if (!rival_ || (std::isfinite(*rival_) && !std::isfinite(value))) {
    rival_ = value;
  }
}

// Each of two adversaries has a loss of its own, as optimizers have.
void ColumnFact::TellRival(FactList* facts) {
  LogFact& first = facts->back();
  first.of_adversary = true;
  first.scaler = 0;
  LogFact second;
  second.at = first.at;
  second.step = first.step;
  second.step_counted = first.step_counted;
  second.rank = first.rank;
  second.of_epoch = first.of_epoch;
  second.of_adversary = true;
  second.scaler = 1;
  second.Set(StepField::kLoss, *rival_);
  facts->push_back(second);
}

// Of several the one that says most.
void ColumnFact::WeighLoss(ColumnMeaning meaning, double value) {
  reconstructs_ |= meaning == ColumnMeaning::kObjective ||
                   meaning == ColumnMeaning::kReconstruction;
  const int worth = WorthOf(meaning);
  if (worth > worth_ && (worth_ > 0 || !fact_.has(StepField::kLoss))) {
    // "CELoss: 2.3, loss: 2.3": the whole is that alone.
    const bool alone = fact_.cross_entropy && value == fact_[StepField::kLoss];
    if (worth_ > 0) fact_.Set(StepField::kLoss, value);
    worth_ = worth;
    fact_.guessed = meaning == ColumnMeaning::kWeakMeasure;
    fact_.cross_entropy = alone || meaning == ColumnMeaning::kCrossEntropy;
    fact_.of_objective = meaning == ColumnMeaning::kObjective;
  }
}

bool ColumnFact::NoteHowWell(ColumnMeaning meaning, double value) {
  switch (meaning) {
    case ColumnMeaning::kWeakReward:
      if (!of_episodes_) return true;
      [[fallthrough]];
    case ColumnMeaning::kReward:
      fact_.of_rewards = true;
      if (!reward_) reward_ = value;
      NoteScore(value);
      return true;
    case ColumnMeaning::kAccuracy:
      if (fact_.of_adversary) return true;  // of real and made ones
      fact_.of_classes = true;
      NoteScore(value);
      if (value > 0) NoteBetter();
      return true;
    case ColumnMeaning::kScore:
      NoteWorst(value == 0);
      return true;
    case ColumnMeaning::kExplained:
      NoteWorst(value <= kNothingExplained);
      return true;
    case ColumnMeaning::kErrorRate:
      NoteErrorRate(value);
      return true;
    default:
      return false;
  }
}

void ColumnFact::AddRank(double value) {
  if (IsCount(value) && value < 1e6) fact_.rank = static_cast<int32_t>(value);
}

void ColumnFact::AddNumber(ColumnMeaning meaning, double value) {
  if (NoteHowWell(meaning, value)) return;
  switch (meaning) {
    case ColumnMeaning::kNothing:
      return;
    case ColumnMeaning::kStep:
      if (!IsStep(value)) return;
      if (fact_.step) {
        two_steps_ |= !counter_;
        return AddNumber(ColumnMeaning::kCounter, value);
      }
      fact_.step = static_cast<int64_t>(value);
      rounded_.NoteExact(*fact_.step);
      return;
    case ColumnMeaning::kCounter:
      if (!counter_ && IsCount(value)) counter_ = static_cast<int64_t>(value);
      return;
    case ColumnMeaning::kOverflow:
      if (!fact_.overflow) fact_.overflow = value != 0;
      return;
    case ColumnMeaning::kSkipped:
      return AddSkipped(value);
    case ColumnMeaning::kSkippedTotal:
      if (IsCount(value)) fact_.skipped_total = static_cast<int64_t>(value);
      return;
    // Beside a loss of the whole it may be a term of that.
    case ColumnMeaning::kGeneratorLoss:
      if (worth_ == 0 || !std::isfinite(value)) AddAdversary(value);
      may_be_term_ = true;
      return;
    case ColumnMeaning::kAdversaryLoss:
      return AddAdversary(value);
    case ColumnMeaning::kKnob:
      if (knob_ < knobs_.size()) {
        fact_.objective_moves |= knobs_[knob_++].Moves(value);
      }
      return;
    case ColumnMeaning::kWeakNorm:
      return AddWeakNorm(value);
    case ColumnMeaning::kTotal:
      real_total_ |= value != std::floor(value);
      if (!total_) total_ = value;
      return;
    case ColumnMeaning::kDivergence:
      if (!divergence_) divergence_ = value;
      [[fallthrough]];
    case ColumnMeaning::kTerm:
      if (!std::isfinite(value)) term_ = value;
      return;
    case ColumnMeaning::kRank:
      return AddRank(value);
    default:
      break;
  }
  const StepField field = FieldOf(meaning);
  if (meaning == ColumnMeaning::kObjective && !std::isnan(value))
    value = -value;
  const bool weak = meaning == ColumnMeaning::kWeakMeasure;
  if (weak && (fact_.of_adversary || !IsReal(value))) return;
  // The line's own, which says more: it is the other adversary's, or of both.
  if (field == StepField::kLoss && std::exchange(fact_.of_adversary, false)) {
    if (!may_be_term_) rival_ = fact_[StepField::kLoss];
    fact_.Unset(StepField::kLoss);
  }
  if (field == StepField::kLoss) WeighLoss(meaning, value);
  if (fact_.has(field)) return;
  if (meaning == ColumnMeaning::kLog2LossScale) {
    SetLog2Scale(value, &fact_);
  } else if (meaning != ColumnMeaning::kLossScale || !(value < 0)) {
    fact_.Set(field, value);
  }
  if (fact_.has(field)) ++numbers_;
}

bool ColumnFact::TellScore(FactList* facts) const {
  const bool rewarded = reward_ && std::isfinite(*reward_) && has_step();
  // An accuracy alone says nothing of how bad it is.
  const bool scored =
      fact_.scores_worst && (*fact_.scores_worst || !fact_.of_classes);
  if (SaysHealth() || (!rewarded && !scored)) return false;
  LogFact& fact = AddFact(LogFact::Kind::kScored, fact_.at, facts);
  fact.step = fact_.step;
  fact.scores_worst = fact_.scores_worst;
  if (rewarded) fact.score = *reward_;
  return true;
}

// One that is no share may be in percent: it is the worst only as long as it
// does not fall.
void ColumnFact::NoteErrorRate(double value) {
  if (error_rate_ == 0) error_rate_ = value;
  NoteWorst(value >= kAllWrong && value >= kAllWrong * error_rate_);
}

bool ColumnFact::SaysHealth() const {
  return fact_.has(StepField::kLoss) || fact_.has(StepField::kLossScale) ||
         fact_.has(StepField::kGradNorm) || fact_.overflow ||
         fact_.skipped_total || fact_.skipped_since || term_;
}

bool ColumnFact::LooksLikeStep() const {
  if (has_step()) return SaysHealth();
  // Of settings, too, there are several: "loss_scale=128, lr=0.1".
  const bool trained = (fact_.has(StepField::kLoss) && !fact_.guessed) ||
                       fact_.has(StepField::kGradNorm);
  return (trained && numbers_ >= 2) || (SaysHealth() && epoch_ && !steps_seen_);
}

void ColumnFact::Tell(FactList* facts) {
  ChooseStep();
  TakeTotal();
  DropStandIn();
  if (term_) AddTerm();
  if (weak_norm_ && fact_.has(StepField::kLoss) &&
      !fact_.has(StepField::kGradNorm)) {
    fact_.Set(StepField::kGradNorm, *weak_norm_);
  }
  if (!SaysHealth()) return;
  fact_.of_rewards |= rewards_apart_ && !fact_.of_adversary;
  // That of a policy is its distance from the old one.
  if (reconstructs_ && !fact_.of_rewards && !fact_.of_classes) {
    fact_.divergence = divergence_;
  }
  // Losses that begin after a while are another series.
  if (fact_.has(StepField::kLoss)) {
    fact_.objective_moves |= of_stand_in_ && !fact_.guessed;
    of_stand_in_ = fact_.guessed;
  }
  if (fact_.has(StepField::kLossScale)) {
    scale_before_ = fact_[StepField::kLossScale];
    cut_.clear();
  }
  if (fact_.step && StandsStill(*fact_.step)) fact_.step.reset();
  // Trainers that leave NaN out of the mean of their losses print 0 of NaN
  // alone (Hugging Face's, and what prints its dicts).
  if (fact_.has(StepField::kLoss) && fact_.has(StepField::kGradNorm) &&
      fact_[StepField::kLoss] == 0 && std::isnan(fact_[StepField::kGradNorm])) {
    fact_.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
  }
  if (IsMeanOfNothing()) {
    fact_.Unset(StepField::kLoss);
    if (!SaysHealth()) fact_.kind = LogFact::Kind::kUnderstood;
  }
  if (fact_.step) {
    steps_seen_ = true;
    std::optional<int64_t> epoch = epoch_;
    epochs_told_ |= epoch.has_value();
    if (whole_ != 0 && !epochs_told_) epoch = laps_.Epoch(*fact_.step, whole_);
    fact_.step = steps_.Step(epoch, *fact_.step, whole_);
  } else if (epoch_ && !steps_seen_) {
    fact_.step = lines_.Step(*epoch_, &fact_.step_counted);
    fact_.of_epoch = !fact_.step_counted || lines_.one_each();
  }
  facts->push_back(fact_);
  if (fact_.has(StepField::kLoss) && rival_) TellRival(facts);
}

}  // namespace nanwatch
