// LineJoiner: makes one line of a dict that a console broke into several, as
// rich does to fit its width: with blanks before each part, and the place in
// the source behind the first, "trainer.py:88". And of a tensor that its
// library printed in two.

#ifndef NANWATCH_LOGS_LINE_JOINER_H_
#define NANWATCH_LOGS_LINE_JOINER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class LineJoiner {
 public:
  // Called once for each line that was taken, in their order. Of a dict in
  // parts all but the last are empty, and the last is the whole.
  using LineSink = std::function<void(std::string_view line)>;
  explicit LineJoiner(LineSink sink) : sink_(std::move(sink)) {}

  void Take(std::string_view line);
  // Nothing more follows, or not soon: passes on what waits as it is.
  void Flush();

  // Parts of one dict at most.
  static constexpr size_t kParts = 12;

 private:
  const LineSink sink_;
  std::vector<std::string> parts_;  // of a dict that is open, or a tensor
  char close_ = '}';                // what ends it
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_JOINER_H_
