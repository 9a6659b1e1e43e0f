// StepPicture: a log's numbers over its steps in a few hundred buckets for each
// rank and optimizer, however long it is: when they are used up, neighbours
// become one.

#ifndef NANWATCH_CLI_STEP_PICTURE_H_
#define NANWATCH_CLI_STEP_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/style.h"
#include "history/reader.h"
#include "logs/assembler.h"

namespace nanwatch {

class StepPicture {
 public:
  // Records of the first kSeries ranks and optimizers; others are not drawn.
  void Add(const LogRecord& record);
  // The loss of all records is the negative of a reward: that is drawn.
  void TakeForReward() { of_reward_ = true; }
  // Returns loss, loss scale and overflows of a rank's optimizer, or of the
  // first one where there is none such; empty when there is nothing to draw.
  std::string Text(int32_t rank, std::string_view optimizer,
                   const Style& style) const;

 private:
  static constexpr size_t kBuckets = 512;
  static constexpr size_t kSeries = 16;  // 4 MB a log

  struct Series {
    int32_t rank = -1;
    std::string optimizer;
    std::vector<StepBucket> buckets;
    uint64_t bucket_records = 1;  // of a full one
  };

  // Returns where it is among series_; their number: it is not.
  size_t IndexOf(int32_t rank, std::string_view optimizer) const;

  std::vector<Series> series_;
  bool of_reward_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_STEP_PICTURE_H_
