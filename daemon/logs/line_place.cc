#include "logs/line_place.h"

#include <algorithm>
#include <utility>

#include "logs/loss_series.h"

namespace nanwatch {
namespace {

// "Eval begin...": in words alone, and few.
bool AnnouncesEvaluation(std::string_view line) {
  constexpr size_t kMost = 64;  // bytes; ours
  return line.size() <= kMost && std::ranges::none_of(line, IsDigit) &&
         IsEvaluation(line);
}

}  // namespace

bool LinePlace::Add(std::string_view line, const std::optional<BarPlace>& bar,
                    ColumnFact* fact) {
  apart_ = false;
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
  AddHeading(fact);
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
  apart_ = announced_ && place->whole > 0 && place->whole != whole_;
  if (!apart_ && place->whole > 0) {
    whole_ = place->whole;
    announced_ = false;
    begun_ = true;
  }
  fact->AddNumber(ColumnMeaning::kStep, static_cast<double>(place->step));
  const bool some = place->of_batches && place->whole == 0;
  fact->SetWhole(some ? Laps::kSome : place->whole);
  if (place->so_far) fact->TakeMeanApart();
  if (place->epoch) fact->SetEpoch(static_cast<double>(*place->epoch));
}

// The line's own, or that of the newest line that says nothing else.
void LinePlace::AddEpoch(std::string_view line, ColumnFact* fact) {
  if (const std::optional<double> epoch = EpochInWords(line)) {
    epoch_ = -1;
    fact->SetEpoch(*epoch);
  } else {
    AddHeading(fact);
  }
}

void LinePlace::AddHeading(ColumnFact* fact) {
  if (epoch_ < 0) return;
  if (headings_.BeginsAnew()) fact->BeginAnew();
  fact->SetEpoch(static_cast<double>(epoch_));
}

void LinePlace::Keep(bool named, bool bar, ColumnFact* fact) {
  using Axis = KeptAxis::Axis;
  if (!fact->has_step()) return;
  const Axis axis = named ? Axis::kName : bar ? Axis::kBar : Axis::kWords;
  const bool loss = fact->fact().has(StepField::kLoss);
  if (!axis_.Keep(axis, fact->step(), loss)) fact->DropStep();
}

bool LinePlace::Look(std::string_view line) {
  const bool step = bare_.Look(line);
  const auto heading = EpochAlone(line);
  if (!heading) {
    // The next heading ends it.
    const bool announces = begun_ && epoch_ >= 0 && AnnouncesEvaluation(line);
    announced_ |= announces;
    return step || announces;
  }
  evaluates_ = heading->evaluation && epoch_ >= 0;
  if (heading->evaluation) return true;
  epoch_ = heading->epoch;
  announced_ = begun_ = false;
  headings_.Note(NumberOfWords(line), heading->epoch, heading->whole);
  bare_.NoteEpoch();
  return true;
}

}  // namespace nanwatch
