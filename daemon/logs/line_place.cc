#include "logs/line_place.h"

#include <utility>

#include "logs/find_word.h"

namespace nanwatch {

bool LinePlace::Add(std::string_view line, const std::optional<BarPlace>& bar,
                    ColumnFact* fact) {
  const bool named = fact->has_step() && !AddInFront(line, fact);
  if (!fact->has_step()) AddStep(line, bar, fact);
  bare_.DropAbove();
  Keep(named, in_bar_, fact);
  if (!fact->has_epoch()) AddEpoch(line, fact);
  return named;
}

void LinePlace::AddUsual(std::string_view line,
                         const std::optional<BarPlace>& bar, ColumnFact* fact) {
  const bool named = fact->has_step();
  if (!named && bar) AddStep(line, bar, fact);
  bare_.DropAbove();
  Keep(named, bar.has_value(), fact);
  if (epoch_ >= 0) fact->SetEpoch(static_cast<double>(epoch_));
}

// "8004/50000: episode: 50": of a line that names a counter alone. One that
// stands while that moves is a fold's, or an epoch's.
bool LinePlace::AddInFront(std::string_view line, ColumnFact* fact) {
  if (!fact->has_only_counter() || front_stood_) return false;
  const std::optional<StepPlace> front = RatioAtStart(line);
  if (!front) return false;
  const int64_t before = std::exchange(front_, front->step);
  front_stood_ = before == front->step;
  if (before < 0 || before >= front->step) return false;
  fact->AddNumber(ColumnMeaning::kStep, static_cast<double>(front->step));
  return true;
}

void LinePlace::AddStep(std::string_view line,
                        const std::optional<BarPlace>& bar, ColumnFact* fact) {
  std::optional<StepPlace> place =
      bar ? std::optional(bar->step) : StepInWords(line, &in_bar_);
  if (!place) place = bare_.Find(line);
  if (!place) return;
  // The bar around those of steps.
  if (place->counts_epochs && fact->steps_seen()) return;
  fact->AddNumber(ColumnMeaning::kStep, static_cast<double>(place->step));
  fact->SetWhole(place->whole);
  if (place->so_far) fact->TakeMeanApart();
  if (place->epoch) fact->SetEpoch(static_cast<double>(*place->epoch));
}

// The line's own, or that of the newest line that says nothing else.
void LinePlace::AddEpoch(std::string_view line, ColumnFact* fact) {
  if (const std::optional<double> epoch = EpochInWords(line)) {
    epoch_ = -1;
    fact->SetEpoch(*epoch);
  } else if (epoch_ >= 0) {
    fact->SetEpoch(static_cast<double>(epoch_));
  }
}

void LinePlace::Keep(bool named, bool bar, ColumnFact* fact) {
  using Axis = KeptAxis::Axis;
  if (!fact->has_step()) return;
  if (!evaluates_) step_ = fact->step();
  const Axis axis = named ? Axis::kName : bar ? Axis::kBar : Axis::kWords;
  const bool loss = fact->fact().has(StepField::kLoss);
  if (!axis_.Keep(axis, fact->step(), loss)) fact->DropStep();
}

bool LinePlace::IsOfEvaluation(const ColumnFact& fact) {
  if (evaluates_ && fact.has_step()) evaluates_ = fact.step() <= step_;
  return evaluates_ && (fact.has_step() || of_epoch_);
}

bool LinePlace::Look(std::string_view line) {
  const bool step = bare_.Look(line);
  const auto epoch = EpochAlone(line);
  // Only where epochs begin with headings does another one end it.
  if (epoch || (epoch_ >= 0 && BeginsEvaluation(line))) {
    evaluates_ = !epoch;
    of_epoch_ = HasWord(line, "poch");
  }
  if (epoch) {
    epoch_ = *epoch;
    bare_.NoteEpoch();
  }
  return step || epoch || evaluates_;
}

}  // namespace nanwatch
