// EarlyLosses: is a loss far above the few that there are? For the first dozens
// of records, which are all that a fine-tuning's log has, and for which no
// RobustBaseline stands yet.
//
// What is known early is a level that still falls, so a loss is compared with
// the lowest level so far (a running median of five). The noise is that of the
// moves from one loss to the next, which a descent does not disturb; the fewer
// there are, the more the largest of them counts, and the farther away a loss
// must be. A loss that rose from the beginning, as that of a critic or a
// contrastive one may, has no level that it could leave.

#ifndef NANWATCH_DETECT_EARLY_LOSSES_H_
#define NANWATCH_DETECT_EARLY_LOSSES_H_

#include <array>
#include <cstdint>

namespace nanwatch {

// Trivially copyable. What it says is a few hundred instructions: not for every
// record of a long run.
class EarlyLosses {
 public:
  // Fewer say nothing.
  static constexpr int kFewest = 5;  // losses; ours

  // A healthy one. REQUIRES: it is finite.
  void Add(float loss);
  // Far above? False with fewer than kFewest, or where a loss was not positive.
  bool IsHigh(float loss) const;
  // REQUIRES: known().
  float level() const { return level_; }
  bool known() const { return filled_ >= kFewest; }
  // None of them is so small that its logarithm, or its rise, says nothing.
  bool judges() const;
  // In spreads of the level, of the logarithm. REQUIRES: known(), loss > 0 and
  // all of those that were added, too.
  float Deviations(float loss) const;
  // Records in a row that are news, beside the usual ones: what few losses do
  // not show, time does.
  int MoreToHold() const { return filled_ < 8 ? 3 : filled_ < 16 ? 1 : 0; }

 private:
  static constexpr int kKept = 32;  // losses; ours

  float Noise() const;
  // It came down to its level, or began there, and left it lately.
  bool HasLevel(float noise) const;
  // Of the last eight the second largest: one may stand out.
  float RecentlyHigh() const;

  std::array<float, kKept> losses_{};  // the newest at filled_ - 1
  float level_ = 0;
  float smallest_ = 0;
  int16_t filled_ = 0;
  int16_t since_ = 0;  // losses after those of the level, saturates
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_EARLY_LOSSES_H_
