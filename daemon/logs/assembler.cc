#include "logs/assembler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace nanwatch {
namespace {

// Facts that may wait for the second step line.
constexpr size_t kHeldMax = 4096;
constexpr size_t kLaneName = 32;  // bytes of an optimizer's name; ours
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, OptimizerLanes::kMax> kLaneNames = {
    "0", "1", "2", "3", "4", "5", "6", "7"};

void SetFlag(StepFlag flag, bool value, StepRecord* record) {
  const uint8_t bit = static_cast<uint8_t>(1u << static_cast<int>(flag));
  record->flags_present |= bit;
  record->flags =
      static_cast<uint8_t>(value ? record->flags | bit : record->flags & ~bit);
}

void SetField(StepField field, double value, StepRecord* record) {
  record->present |= 1u << static_cast<int>(field);
  record->value[static_cast<int>(field)] = value + 0.0;  // -0 is 0
}

void MarkOverflow(std::optional<bool> applied, StepRecord* record) {
  SetFlag(StepFlag::kOverflow, true, record);
  SetFlag(StepFlag::kSkipped, !applied.value_or(false), record);
}

void MarkClean(StepRecord* record) {
  SetFlag(StepFlag::kOverflow, false, record);
  SetFlag(StepFlag::kSkipped, false, record);
}

// The numbers of a step line.
void AddLine(const LogFact& fact, bool clean, StepRecord* record) {
  for (uint32_t left = fact.present; left != 0; left &= left - 1) {
    const StepField field = static_cast<StepField>(std::countr_zero(left));
    SetField(field, fact[field], record);
  }
  if (fact.overflow) {
    SetFlag(StepFlag::kOverflow, *fact.overflow, record);
    SetFlag(StepFlag::kSkipped, *fact.overflow && !fact.applied.value_or(false),
            record);
  } else if (fact.applied) {
    SetFlag(StepFlag::kSkipped, !*fact.applied, record);
  }
  // Such a line always shows a loss, and nothing was skipped: it was NaN.
  if (fact.loss_left_out && clean) {
    SetField(StepField::kLoss, kNan, record);
  }
}

// Bars show the steps of all overflows between two step lines.
template <typename Happenings>
bool ArePlaced(const Happenings& all, int64_t begin, int64_t end) {
  return !all.empty() &&
         std::all_of(all.begin(), all.end(), [begin, end](const auto& each) {
           return each.fact.in_bar && *each.fact.in_bar >= begin &&
                  *each.fact.in_bar <= end + 1;
         });
}

// A scale that stands above the step line and in it is the same update's.
template <typename Happenings>
void DropSaidAgain(const LogFact& fact, Happenings* waiting) {
  while (!waiting->empty() && fact.has(StepField::kLossScale) &&
         waiting->back().fact.kind == LogFact::Kind::kScale &&
         waiting->back().fact[StepField::kLossScale] ==
             fact[StepField::kLossScale]) {
    waiting->pop_back();
  }
}

// Whether the next of them, of which `told` are told, is at that step; none may
// be left behind the last of `rows` more.
template <typename Happenings>
bool IsPlacedAt(const Happenings& all, int64_t told, int64_t step,
                int64_t rows) {
  const int64_t left = static_cast<int64_t>(all.size()) - told;
  return left > 0 &&
         (rows <= left || step >= *all[static_cast<size_t>(told)].fact.in_bar);
}

}  // namespace

Assembler::Assembler(LogRecordSink sink) : sink_(std::move(sink)) {}

// `happening`: null: an overflow that only a counter told.
void Assembler::MarkEvent(const Happening* happening, StepRecord* record) {
  if (happening == nullptr) {
    MarkOverflow(std::nullopt, record);
    return;
  }
  const LogFact& fact = happening->fact;
  if (fact.has(StepField::kLossScale)) {
    SetField(StepField::kLossScale, fact[StepField::kLossScale], record);
  }
  if (fact.kind != LogFact::Kind::kOverflow) return;
  MarkOverflow(fact.applied, record);
  if (!fact.has(StepField::kLossScale) && fact.scale_before) {
    SetField(StepField::kLossScale, *fact.scale_before, record);
  }
}

void Assembler::MarkGood(double scale, StepRecord* record) {
  MarkClean(record);
  SetField(StepField::kLossScale, scale, record);
}

Assembler::Rank& Assembler::At(std::optional<int32_t> rank) {
  const int32_t number = std::max(0, rank.value_or(0));
  Rank& held = ranks_[number];
  held.rank = number;
  return held;
}

void Assembler::Take(const LogFact& fact, uint64_t line) {
  // A library's line beside shows nothing of the program's counter.
  if (!held_.empty() && fact.step && fact.kind == LogFact::Kind::kProgress &&
      !(fact.beside && habits_.has_program)) {
    const int64_t gap = *fact.step - *held_.front().fact.step;
    if (gap > 0) DoubtFirst(fact);
    // Copies of the first line wait with it.
    if (gap != 0) Release(std::max<int64_t>(0, gap));
  }
  if (held_.size() == kHeldMax) Release(0);
  if (Holds(fact)) {
    held_.push_back({line, fact});
  } else {
    Pass(fact, line);
  }
}

bool Assembler::Holds(const LogFact& fact) const {
  if (!held_.empty()) return true;
  return fact.kind == LogFact::Kind::kProgress && !has_step_lines() &&
         fact.step && fact.skipped_since &&
         (*fact.skipped_since > 0 ? *fact.step > 1
                                  : fact.has(StepField::kLossScale));
}

void Assembler::Release(int64_t gap) {
  if (held_.empty()) return;
  if (*held_.front().fact.skipped_since > 0) first_gap_ = gap;
  for (const Numbered& held : std::exchange(held_, {})) {
    Pass(held.fact, held.line);
  }
}

void Assembler::Pass(const LogFact& fact, uint64_t line) {
  switch (fact.kind) {
    case LogFact::Kind::kProgress:
      TakeProgress(fact, line);
      return;
    case LogFact::Kind::kOverflow:
    case LogFact::Kind::kScale:
      TakeHappening(fact, line);
      return;
    default:
      return;  // the run's, not a step's
  }
}

void Assembler::TellProgress(Rank* rank, const LogFact& fact, uint64_t line) {
  const bool numbered = fact.step && !fact.step_counted;
  ++(numbered ? numbered_lines_ : counted_lines_);
  epoch_lines_ += numbered && fact.of_epoch && !fact.step_of_counter;
  // Series may count in ways of their own.
  const int64_t before = rank->series.several() && fact.scaler
                             ? rank->lanes.last_step(*fact.scaler)
                             : rank->last_step;
  if (fact.step && *fact.step < before) {
    // From the beginning, or from a checkpoint: a new attempt of the run.
    TellWaiting(rank);
    rank->last_step = -1;
    for (OptimizerLane& each : rank->lanes) {
      each.first_step = each.last_step = each.told_step = -1;
      each.ahead = each.early = each.early_overflows = 0;
    }
    rank->searching = true;
  }
  const size_t lane = rank->lanes.OfStepLine(fact);
  OptimizerLane& own = rank->lanes[lane];
  own.has_lines = true;
  const bool named = fact.scaler && fact.words != 0 && !rank->series.several();
  if (named && own.name.empty()) {
    own.name = LastNameOf(words_.TextOf(fact.words), kLaneName);
  }
  TellOtherLanes(rank, lane, fact, line);
  TellLane(rank, lane, fact, line);
  if (fact.step) rank->last_step = *fact.step;
}

void Assembler::TellLane(Rank* rank, size_t lane, const LogFact& fact,
                         uint64_t line) {
  const OptimizerLane& own = rank->lanes[lane];
  // "0" of a scale that is known, and is below what was printed.
  if (fact.scale_at_most && own.scale > 0 &&
      own.scale <= fact[StepField::kLossScale]) {
    LogFact known = fact;
    known.Set(StepField::kLossScale, own.scale);
    TellKnown(rank, lane, known, line);
  } else {
    TellKnown(rank, lane, fact, line);
  }
}

void Assembler::TellKnown(Rank* rank, size_t lane, const LogFact& fact,
                          uint64_t line) {
  OptimizerLane& own = rank->lanes[lane];
  const Interval interval = Weigh(rank, lane, fact);
  if (ShowsOverflow(own, interval, fact)) {
    LogFact known = fact;
    known.overflow = true;
    TellInterval(rank, lane, known, line, interval);
  } else {
    TellInterval(rank, lane, fact, line, interval);
  }
  if (fact.step) {
    own.last_step = *fact.step;
    if (own.first_step < 0) own.first_step = *fact.step;
  }
  own.early = own.early_overflows = 0;
  const bool clean = interval.overflows + interval.unlisted == 0;
  own.clean_lines = clean ? own.clean_lines + 1 : 0;
}

// The lane's own of what waits; the others' go on waiting.
std::vector<Assembler::Happening> Assembler::TakeLane(Rank* rank, size_t lane) {
  std::vector<Happening> own;
  std::vector<Happening> others;
  for (Happening& h : rank->waiting) {
    (h.lane == lane ? own : others).push_back(std::move(h));
  }
  rank->waiting = std::move(others);
  return own;
}

void Assembler::TellInterval(Rank* rank, size_t lane, const LogFact& fact,
                             uint64_t line, Interval interval) {
  const bool several = interval.known && interval.updates > 1;
  if (rank->waiting.empty() && interval.unlisted == 0 && !several) {
    TellUpdate(rank, lane, fact, line, interval.known);
    return;
  }
  std::vector<Happening> waiting = TakeLane(rank, lane);
  if (!interval.known && !updates_unknown()) DropSaidAgain(fact, &waiting);
  const std::vector<Quiet> quiet =
      QuietBetween(&rank->lanes[lane], waiting, fact.of_epoch);
  const double first_scale = SearchedFrom(rank->lanes[lane], fact, interval);
  if (first_scale > 0) rank->searching = true;
  const int64_t listed = static_cast<int64_t>(waiting.size());
  const int64_t events = listed + interval.unlisted;
  // Every update overflowed, the one of the step line too.
  const bool full = interval.overflows + interval.unlisted >= interval.updates;
  // The update of the step line is the last one that overflowed.
  const bool ends =
      full || EndsInOverflow(waiting, rank->lanes[lane], interval, fact);
  // Where nothing is known of the updates between, only what happened is told.
  const int64_t rows = interval.known ? std::max(interval.updates, events)
                                      : events + (ends && events > 0 ? 0 : 1);
  const auto [last_step, told_step] =
      std::pair(rank->lanes[lane].last_step, rank->lanes[lane].told_step);
  const int64_t end = fact.step.value_or(std::max<int64_t>(0, told_step + 1));
  const int64_t begin = last_step >= 0
                            ? std::min(end, std::max(last_step, told_step) + 1)
                            : std::max<int64_t>(0, end - interval.updates + 1);
  const bool placed = rows == end - begin + 1 && events == listed &&
                      ArePlaced(waiting, begin, end);
  // The line's scale alone shows an overflow, and not where.
  const double scale =
      fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  const bool falls = !interval.known && events == 1 && listed == 0 && scale > 0;
  int64_t told = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const bool last = row + 1 == rows;
    // Evenly; but a start-up search is one row of overflows, then good steps.
    const int64_t spread = events - (ends && !full && !last ? 1 : 0);
    const bool spreads =
        told < spread &&
        (rank->searching || (last ? ends || told + 1 == events
                                  : (row + 1) * (spread + 1) / rows > told));
    const bool due =
        placed ? IsPlacedAt(waiting, told, begin + row, rows - row) : spreads;
    const Happening* happening = nullptr;
    LogRecord out;
    StepRecord& record = out.step;
    if (interval.known) MarkClean(&record);
    // Behind the last overflow the scale is the line's already.
    if (events > 0 && told == events && fact.has(StepField::kLossScale)) {
      SetField(StepField::kLossScale, fact[StepField::kLossScale], &record);
    }
    if (due) {
      if (told < listed) {
        happening = &waiting[static_cast<size_t>(told)];
        TellQuiet(rank, *happening, quiet[static_cast<size_t>(told)]);
      }
      MarkEvent(happening, &record);
      if (told == 0 && first_scale > 0) {
        SetField(StepField::kLossScale, first_scale, &record);
      }
      ++told;
      // That one fell to the line's scale: none falls to it again.
      if (falls) SetField(StepField::kLossScale, scale, &record);
      if (told > events - interval.nan) {
        SetField(StepField::kLoss, kNan, &record);
      }
    }
    // Steps rise evenly over the interval.
    record.step = last || falls ? end : begin + (end - begin + 1) * row / rows;
    if (record.is_not(StepFlag::kOverflow)) rank->searching = false;
    out.shown = last || happening != nullptr;
    if (last) AddLine(fact, interval.known && events == 0, &record);
    Tell(rank, lane, happening != nullptr && !last ? happening->line : line,
         &out);
  }
  NoteScale(fact, first_scale, &rank->lanes[lane]);
}

// Tells what most lines do: one update, its own, and no more is known of it.
void Assembler::TellUpdate(Rank* rank, size_t lane, const LogFact& fact,
                           uint64_t line, bool known) {
  LogRecord record;
  record.step.step =
      fact.step.value_or(std::max<int64_t>(0, rank->lanes[lane].told_step + 1));
  if (known) {
    MarkClean(&record.step);
    rank->searching = false;
  }
  AddLine(fact, known, &record.step);
  Tell(rank, lane, line, &record);
  NoteScale(fact, 0, &rank->lanes[lane]);
}

void Assembler::NoteScale(const LogFact& fact, double first_scale,
                          OptimizerLane* lane) {
  if (!fact.has(StepField::kLossScale)) return;
  const double scale = fact[StepField::kLossScale];
  lane->scale = lane->left = scale;
  if (lane->began == 0) lane->began = std::max(first_scale, scale);
}

// Tells updates of other optimizers, which have no step line: each made those
// that this one's line counts. One that has lines of its own waits for them,
// and a new one for the next line of others, before which its own may come.
void Assembler::TellOtherLanes(Rank* rank, size_t lane, const LogFact& fact,
                               uint64_t line) {
  // Those with names have lines of their own.
  if (rank->lanes.size() == 1 || !rank->lanes[lane].name.empty()) return;
  LogFact updates;
  updates.step = fact.step;
  for (size_t other = 0; other < rank->lanes.size(); ++other) {
    OptimizerLane& its = rank->lanes[other];
    if (other == lane || its.has_lines) continue;
    // Of its time before its first overflow nothing is told.
    if (its.last_step < 0) its.last_step = its.told_step = rank->last_step;
    if (its.lines_of_others++ > 0) TellLane(rank, other, updates, line);
  }
}

void Assembler::Tell(Rank* rank, size_t lane, uint64_t line,
                     LogRecord* record) {
  OptimizerLane& own = rank->lanes[lane];
  if (own.may_be_double) return;
  // Never back, but where TellProgress began anew.
  own.told_step = record->step.step =
      std::max(record->step.step, own.told_step);
  record->line = line;
  record->rank = rank->rank;
  if (!own.told) own.named = rank->lanes.several();
  own.told = true;
  if (own.named) {
    record->optimizer = own.name.empty() ? LaneName(*rank, lane) : own.name;
  }
  sink_(*record);
}

std::string_view Assembler::LaneName(const Rank& rank, size_t lane) {
  if (rank.series.several() && !rank.series.name(lane).empty()) {
    return rank.series.name(lane);
  }
  return kLaneNames[lane];
}

void Assembler::Flush() {
  Release(0);
  for (auto& [number, rank] : ranks_) {
    TellBeside(&rank);
    TellWaiting(&rank);
  }
}

}  // namespace nanwatch
