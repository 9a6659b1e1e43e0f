// BareNumbers: files whose lines are numbers alone, "2.31" or "40,2.31". What
// they are stands in a first line of its own, "losses", or in the file's name,
// train_loss.txt.

#ifndef NANWATCH_LOGS_BARE_NUMBERS_H_
#define NANWATCH_LOGS_BARE_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nanwatch {

class BareNumbers {
 public:
  // `file`: what the log's file is called, folders before it or not. Call
  // before the first line.
  void SetFile(std::string_view file);
  // Returns `line`; where the log holds numbers alone, with their name before
  // them: "loss 2.31", "epoch 7: val_loss=2.31", "episode 7 reward 12.5". Valid
  // until the next call, and as long as `line` is.
  std::string_view Of(std::string_view line) {
    return state_ == State::kOver ? line : Name(line);
  }
  // Returns whether all lines so far were numbers and nothing says of what.
  bool unnamed() const {
    return state_ != State::kOver && lines_ > 0 && !named();
  }

 private:
  enum class State : uint8_t { kBegins, kNumbers, kOver };
  enum class What : uint8_t { kNothing, kLoss, kEvaluation, kReward };

  static What MeaningOf(std::string_view name);
  bool named() const { return what_ != What::kNothing; }
  std::string_view Name(std::string_view line);

  State state_ = State::kBegins;
  What what_ = What::kNothing;
  uint64_t lines_ = 0;  // of numbers
  std::string header_;  // empty: there is none
  std::string line_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_BARE_NUMBERS_H_
