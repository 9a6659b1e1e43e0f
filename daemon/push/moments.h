// Moments: what stores of metrics get of a history. One record is one moment,
// at the record's own time: a sample of each series of its lane.
//
// A lane is one optimizer of one rank of one attempt. So steps that a resumed
// run replays are of other series than those before, at later times, and both
// are kept. Within a lane each moment is at least 1 ms after the one before, as
// stores want them; admission has seen to that but for ranks that are faster
// (engine/admission.h), whose moments are put behind each other, up to 1 s.

#ifndef NANWATCH_PUSH_MOMENTS_H_
#define NANWATCH_PUSH_MOMENTS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/event.h"

namespace nanwatch {

// What has a series: the numbers of a step in the order of StepField, then
// these.
inline constexpr int kPushedOverflow = kStepFields;
inline constexpr int kPushedSkipped = kStepFields + 1;
inline constexpr int kPushedStep = kStepFields + 2;
inline constexpr int kPushedFields = kStepFields + 3;
// "loss", "overflow", "number" (of the step), ...
std::string_view PushedName(int field);

struct LaneKey {
  RunKey run;
  int32_t rank = 0;
  std::string optimizer;  // empty: it has no name
  auto operator<=>(const LaneKey&) const = default;
};

struct Lane {
  LaneKey key;
  int64_t last_ms = 0;  // of the newest moment that was made
  uint32_t fields = 0;  // that have series, and did not end
  // The same, of what is behind us: sent, or given up.
  int64_t done_ms = 0;
  uint32_t done_fields = 0;
};

struct Moment {
  std::shared_ptr<Lane> lane;
  uint64_t event = 0;   // that it was made of
  uint64_t row = 0;     // of that event
  int64_t ms = 0;       // since the Unix epoch
  uint32_t fields = 0;  // that have a value here
  bool ends = false;    // instead of values: the series end
  bool of_run = false;  // ... since the run did: the lane is gone
  std::array<double, kPushedFields> value{};

  int samples() const { return __builtin_popcount(fields); }
};

class Moments {
 public:
  explicit Moments(int64_t ranks) : ranks_(ranks) {}

  // From a cursor file.
  void Know(const Lane& lane);
  // Appends what the event makes, but for its first `skip` rows of a batch.
  void Take(const StampedEvent& stamped, uint64_t skip,
            std::deque<Moment>* queue);
  // What a moment said is behind us.
  void Done(const Moment& moment);

  const std::map<LaneKey, std::shared_ptr<Lane>>& lanes() const {
    return lanes_;
  }
  // Samples that nobody will send, since the last call.
  uint64_t TakeCrowded();  // there are kLanes
  uint64_t TakeUnordered();

 private:
  void TakeSteps(const StampedEvent& stamped, const StepColumns& columns,
                 uint64_t skip, std::deque<Moment>* queue);
  // Of one rank, or of the whole run (-1).
  void End(const StampedEvent& stamped, std::deque<Moment>* queue);
  std::shared_ptr<Lane> Find(LaneKey key);

  const int64_t ranks_;
  std::map<LaneKey, std::shared_ptr<Lane>> lanes_;
  uint64_t crowded_ = 0;
  uint64_t unordered_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_MOMENTS_H_
