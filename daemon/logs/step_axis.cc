#include "logs/step_axis.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanwatch {
namespace {

bool IsCounter(const LogFact& fact) {
  return fact.kind == LogFact::Kind::kProgress && fact.beside && fact.step;
}

bool IsLine(const LogFact& fact) {
  return fact.kind == LogFact::Kind::kProgress && !fact.beside;
}

// An epoch is no step either.
bool ShowsStep(const LogFact& fact) {
  return fact.step && !fact.step_counted && !fact.of_epoch;
}

double Share(int64_t steps, int64_t lines) {
  return lines > 0 ? static_cast<double>(steps) / static_cast<double>(lines)
                   : 0;
}

}  // namespace

StepAxis::StepAxis(FactSink sink) : sink_(std::move(sink)) {}

void StepAxis::Take(const LogFact& fact, uint64_t line) {
  if (numbered_) {
    sink_(fact, line);
    return;
  }
  if (IsLine(fact) && ShowsStep(fact)) {
    DropCut(fact);
    Flush();
    numbered_ = true;
    sink_(fact, line);
    return;
  }
  if (IsCounter(fact) && first_ && *fact.step != *first_) {
    Release(Share(*fact.step - *first_, after_first_));
  }
  if (MustWait(fact)) {
    Wait(fact, line);
  } else {
    Pass(fact, line);
  }
}

bool StepAxis::MustWait(const LogFact& fact) const {
  if (!waiting_.empty()) return true;
  const bool placed = stride_ > 0 || (counter_ && lines_ == 0);
  return IsLine(fact) && may_wait_ && !placed;
}

void StepAxis::Wait(const LogFact& fact, uint64_t line) {
  if (waiting_.empty()) {
    first_ = counter_;
    before_first_ = 0;
    after_first_ = lines_;
  }
  if (IsCounter(fact) && !first_) first_ = fact.step;
  if (IsLine(fact)) ++(first_ ? after_first_ : before_first_);
  waiting_.push_back({line, fact});
  waiting_.back().fact.text = {};  // of a line that is not kept
  if (waiting_.size() >= kWaitingMax) Flush();
}

// `stride`: steps a line from the first of the counter's on. 0: unknown.
void StepAxis::Release(double stride) {
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  if (first_ && !counter_) {
    const double first = static_cast<double>(*first_);
    const double places = static_cast<double>(before_first_ + 1);
    // A log that begins at the first step has no room for more before it.
    if (!(stride > 0) || stride * places > first) {
      stride_ = first / places;
    } else {
      stride_ = stride;
      step_ = first - stride * places;
    }
  } else if (stride > 0) {
    stride_ = stride;
  }
  first_.reset();
  for (const Waiting& each : waiting) {
    Pass(each.fact, each.line);
    if (IsCounter(each.fact) && stride > 0) stride_ = stride;
  }
}

void StepAxis::Pass(const LogFact& fact, uint64_t line) {
  if (IsLine(fact)) {
    PassLine(fact, line);
    return;
  }
  if (IsCounter(fact)) NoteCounter(*fact.step);
  sink_(fact, line);
}

void StepAxis::NoteCounter(int64_t step) {
  if (counter_ == step) return;  // that of another optimizer
  const bool on = counter_ && step > *counter_;
  if (on) {
    gap_ = step - *counter_;
    if (lines_ > 0) stride_ = Share(gap_, lines_);
  } else if (counter_) {  // from a checkpoint
    gap_ = 0;
    step_ = 0;
  }
  counter_ = step;
  lines_ = 0;
}

void StepAxis::PassLine(const LogFact& fact, uint64_t line) {
  ++lines_;
  if (!counter_ && stride_ == 0) {
    sink_(fact, line);
    return;
  }
  step_ = Next(fact);
  count_ = fact.step.value_or(0);
  LogFact placed = fact;
  placed.step = std::max<int64_t>(1, std::llround(step_));
  placed.step_counted = false;
  placed.step_of_counter = true;
  sink_(placed, line);
}

double StepAxis::Next(const LogFact& fact) const {
  const double counter = static_cast<double>(counter_.value_or(0));
  if (counter_ && lines_ == 1 && counter >= step_) return counter;
  // The program's own count goes back: so did the run.
  if (fact.step_counted && *fact.step < count_) {
    return step_ * Share(*fact.step, count_);
  }
  const double stride = stride_ > 0 ? stride_ : 1;
  const double next = step_ + stride;
  // The counter's next line is not behind this one's step, unless it is
  // missing.
  const double gap = static_cast<double>(gap_);
  if (stride * static_cast<double>(lines_) >= 2 * gap) return next;
  return std::max(step_, std::min(next, counter + gap - 1));
}

// A log that was rotated begins in the middle of a line, which has lost its
// step.
void StepAxis::DropCut(const LogFact& first) {
  if (waiting_.size() != 1 || counter_) return;
  const LogFact& only = waiting_.front().fact;
  const bool bad =
      only.has(StepField::kLoss) && !std::isfinite(only[StepField::kLoss]);
  const bool whole = only.present == first.present && only.words == first.words;
  if (IsLine(only) && !only.step && !bad && !whole) waiting_.clear();
}

void StepAxis::Flush() {
  Release(0);
  may_wait_ = false;
}

}  // namespace nanwatch
