// NumberWords: what the words beside a number of a line say that it is.

#ifndef NANWATCH_LOGS_NUMBER_WORDS_H_
#define NANWATCH_LOGS_NUMBER_WORDS_H_

#include <cstdint>
#include <string_view>

#include "logs/column_meaning.h"

namespace nanwatch {

// kTrain: "train 2.31 valid 2.44", a loss where it falls. kPart: "loss_seg",
// one of several, as far as its name says. kWhole: it says that there is no
// other.
enum class LossWord : uint8_t {
  kNone,
  kReward,
  kAccuracy,
  kTrain,
  kWeak,
  kNamed,
  kPart,
  kLoss,
  kWhole
};

struct NumberWords {
  void Raise(LossWord to, bool rising) {
    if (to <= loss) return;
    loss = to;
    rises = rising;
  }

  LossWord loss = LossWord::kNone;
  bool rises = false;             // what is named rises as it gets better
  bool rises_below_zero = false;  // the same, if its values are below 0
  bool part = false;              // of a loss
  bool step = false;
  bool epoch = false;
  bool rate = false;  // steps, samples or frames a second
  ColumnMeaning usual = ColumnMeaning::kNothing;
  bool any = false;  // word, but one that says of what the step is
};

// Returns what `text`, between two numbers, says of the one beside it.
NumberWords WordsOf(std::string_view text);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NUMBER_WORDS_H_
