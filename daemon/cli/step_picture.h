// StepPicture: a log's numbers over its steps in a few hundred buckets, however
// long it is: when they are used up, neighbours become one.

#ifndef NANWATCH_CLI_STEP_PICTURE_H_
#define NANWATCH_CLI_STEP_PICTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/style.h"
#include "history/reader.h"
#include "logs/assembler.h"

namespace nanwatch {

class StepPicture {
 public:
  // Records of the first rank and optimizer seen; others are not drawn.
  void Add(const LogRecord& record);
  // Loss, loss scale and overflows; empty when there is nothing to draw.
  std::string Text(const Style& style) const;

 private:
  static constexpr size_t kBuckets = 512;

  std::vector<StepBucket> buckets_;
  uint64_t bucket_records_ = 1;  // of a full one
  int32_t rank_ = -1;
  std::string optimizer_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_STEP_PICTURE_H_
