// RecordJoiner: makes one line of a record that a program prints as a line with
// its step and, set in below it, a line a number:
//
//  [step=1000/739328,epoch=0]
//      train/CrossEntropyLoss=2.95
//      optim/total_grad_norm=0.41
//
// or that a console as narrow as rich's broke between its numbers:
//
//  [10:01:11] INFO     step=10/4000                       loop.py:212
//                      loss=2.3529 grad_norm=0.6480

#ifndef NANWATCH_LOGS_RECORD_JOINER_H_
#define NANWATCH_LOGS_RECORD_JOINER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

class RecordJoiner {
 public:
  // Called once for each line that was taken, in their order: the header as it
  // is; of the lines below it all but the last are empty, and the last is the
  // whole record.
  using LineSink = std::function<void(std::string_view line)>;
  explicit RecordJoiner(LineSink sink) : sink_(std::move(sink)) {}

  void Take(std::string_view line);
  // Nothing more follows, or not soon: passes on what waits.
  void Flush();

  // Of a header, and of a record. Longer ones are none.
  static constexpr size_t kHeaderMax = 256;
  static constexpr size_t kRecordMax = 8192;

 private:
  bool TakePart(std::string_view line);

  const LineSink sink_;
  std::string header_;  // the line before, or above what waits; empty: none is
  std::string record_;  // what waits: the header and lines below it
  size_t parts_ = 0;    // lines in it
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RECORD_JOINER_H_
