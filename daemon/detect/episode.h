// Episode: from a rule's first trigger to its clearing, counted in updates.

#ifndef NANWATCH_DETECT_EPISODE_H_
#define NANWATCH_DETECT_EPISODE_H_

#include <algorithm>
#include <cstdint>

#include "model/finding.h"
#include "model/severity.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class Episode {
 public:
  // One update at `step`. A trigger opens the episode or makes it worse; it is
  // never milder than it was. `clear_after` clean updates in a row (a trigger
  // is not clean) end it; a clean record may stand for `updates` of them. After
  // a few of those the trouble is back only with a trigger: another record that
  // is not clean puts off the end, and is no part of it.
  Severity On(Severity trigger, bool clean, int64_t step, double clear_after,
              int32_t updates = 1) {
    if (trigger == Severity::kNone && severity_ == Severity::kNone) {
      return Severity::kNone;
    }
    if (trigger != Severity::kNone || (!clean && !rests_)) {
      last_ = step;
      gap_ = 0;
      rests_ = false;
    } else if (clean && clean_ == 0 && updates == 1 && !rests_) {
      const int64_t gap = step - last_;
      gap_ = gap > 0 && gap <= UINT16_MAX ? static_cast<uint16_t>(gap) : 0;
    }
    if (trigger != Severity::kNone) {
      if (severity_ == Severity::kNone) opened_ = step;
      severity_ = std::max(severity_, trigger);
      clean_ = 0;
    } else if (!clean) {
      clean_ = 0;
    } else {
      clean_ += updates;
      rests_ |= clean_ >= kRests;
      if (clean_ >= clear_after) severity_ = Severity::kNone;
    }
    return severity_;
  }

  // The same of a trouble that began at `first`, before the trigger.
  Severity OnSince(int64_t first, Severity trigger, bool clean, int64_t step,
                   double clear_after) {
    if (open()) return On(trigger, clean, step, clear_after);
    if (trigger == Severity::kNone) return Severity::kNone;
    On(trigger, clean, step, clear_after);
    opened_ = first;
    return severity_;
  }

  // Makes one that is open worse, without another record.
  Severity Worsen(Severity to) {
    if (open()) severity_ = std::max(severity_, to);
    return severity_;
  }

  Severity severity() const { return severity_; }
  bool open() const { return severity_ != Severity::kNone; }
  // The newest update was clean, and more must be until it is over.
  bool clears() const { return open() && clean_ > 0; }
  // The trouble is over, without a clean update.
  void End() { severity_ = Severity::kNone; }
  // Says that the trouble began earlier than the trigger.
  void OpenedAt(int64_t step) { opened_ = step; }
  // Says that the trouble, if it turns out to be one, goes on.
  void SeenAt(int64_t step) { last_ = step; }
  int64_t last_step() const { return last_; }
  int64_t opened_step() const { return opened_; }

  void Describe(Finding* finding) const {
    finding->opened_step = opened_;
    finding->last_step = last_;
    finding->back_step.reset();
    if (gap_ > 0) finding->back_step = last_ + gap_;
  }

 private:
  static constexpr int32_t kRests = 8;  // clean updates; ours

  int64_t opened_ = 0;
  int64_t last_ = 0;  // the newest step of the trouble
  int32_t clean_ = 0;
  uint16_t gap_ = 0;    // steps from that to the first clean one; 0: not known
  bool rests_ = false;  // kRests clean ones came
  Severity severity_ = Severity::kNone;
};

// The episode of what must be so in several records in a row.
class HeldEpisode : public Episode {
 public:
  // The record at `step`: it `is` so, or not. From `hold` records in a row on
  // that triggers `severity`, since the first of them.
  Severity OnRecord(bool is, double hold, Severity severity, int64_t step,
                    double clear_after) {
    held_ = is ? held_ + (held_ < INT32_MAX) : 0;
    if (held_ == 1 && !open()) OpenedAt(step);
    if (is) SeenAt(step);
    return OnSince(opened_step(), held_ >= hold ? severity : Severity::kNone,
                   !is, step, clear_after);
  }
  // No record follows: fewer in a row are enough.
  Severity OnEnd(double hold, Severity severity) {
    if (open() || held_ < hold) return this->severity();
    return OnSince(opened_step(), severity, false, last_step(), 1);
  }
  // Returns how many records in a row are so, the newest among them.
  int32_t held() const { return held_; }

 private:
  int32_t held_ = 0;  // saturates
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_EPISODE_H_
