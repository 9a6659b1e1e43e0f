// LineJoiner: makes one line of a dict that a console broke into several, as
// rich does to fit its width: with blanks before each part, and the place in
// the source behind the first, "trainer.py:88". And of a tensor that its
// library printed in two, or of one number in lines of its own, as torch 0.3
// and MXNet do:
//
//  step 10 loss Variable containing:      step 10 loss
//   2.3231                                [2.3231]
//  [torch.FloatTensor of size 1]          <NDArray 1 @cpu(0)>
//
// And of an object of a file that is a list of such, a line a number, as
// Chainer's and ESPnet's LogReport writes it.

#ifndef NANWATCH_LOGS_LINE_JOINER_H_
#define NANWATCH_LOGS_LINE_JOINER_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class LineJoiner {
 public:
  // Called once for each line that was taken, in their order. Of what came in
  // parts all but the last are empty, and the last is the whole.
  using LineSink = std::function<void(std::string_view line)>;
  explicit LineJoiner(LineSink sink) : sink_(std::move(sink)) {}

  void Take(std::string_view line);
  // Nothing more follows, or not soon: passes on what waits as it is.
  void Flush();

  // Parts of one dict at most.
  static constexpr size_t kParts = 64;

 private:
  void TakePart(std::string_view line);
  void TakeOfNumber(std::string_view line);
  // Passes on `whole` as the last of the parts and one line more.
  void TellWhole(const std::string& whole);

  const LineSink sink_;
  // Of a dict that is open, a tensor, or the lines of a number.
  std::vector<std::string> parts_;
  std::optional<bool> list_;  // the first line begins one; absent: none came
  char close_ = '}';  // what ends it; kNumber: a line that says what it is
  static constexpr char kNumber = '>';
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LINE_JOINER_H_
