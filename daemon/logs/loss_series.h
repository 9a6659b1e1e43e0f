// LossSeries: the losses that a rank prints in lines of their own, told apart
// by the words before them: "[seg] step 7 loss 0.9", "[cls] step 7 loss 2.3".

#ifndef NANWATCH_LOGS_LOSS_SERIES_H_
#define NANWATCH_LOGS_LOSS_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nanwatch {

// Returns a number that goes with the words of `text`; never 0. Numbers, and
// words that stand for one (nan, True), are left out.
uint32_t NumberOfWords(std::string_view text);

// Returns the last of the words of `text`, of ASCII, and so many bytes at most;
// empty: it is none.
std::string LastNameOf(std::string_view text, size_t most);

// Whether two texts have the same words but for the last one: "step 7 mel_loss"
// and "step 8 dur_loss".
bool DifferInLastWord(std::string_view text, std::string_view other);

// What stands before the losses of a log, by the number of its words: facts may
// wait, lines do not.
class LossWords {
 public:
  // Others than the first ones have no text.
  static constexpr size_t kMax = 64;

  void Note(uint32_t words, std::string_view before);
  std::string_view TextOf(uint32_t words) const;

 private:
  static constexpr size_t kTextMax = 1024;  // bytes; ours

  std::vector<std::pair<uint32_t, std::string>> texts_;
  uint32_t newest_ = 0;
};

class LossSeries {
 public:
  // A log with more kinds of words has one series.
  static constexpr size_t kMax = 8;

  // Returns whose line comes next: 0 of the first one, and of words that are
  // not known to be another's. Words are another's once they came to a step
  // that others had shown, and differ from theirs in the loss's name alone;
  // else once they came back three times to such a step, or six times to and
  // fro within some lines. `in_turn`: that is known of them already.
  size_t Of(uint32_t words, std::optional<int64_t> step, const LossWords& texts,
            bool in_turn = false);
  // Whether these words, which are no other series', say again and again what
  // the line before said, of the same step or of none: "{'Step': 10, 'Loss':
  // '3.3008'}" behind "Iter 10: loss 3.301". Before Of() of the same line.
  bool SaysAgain(uint32_t words, std::optional<int64_t> step, double loss);
  // Whether they are known to be another's than the first line's.
  bool IsOther(uint32_t words) const;
  bool several() const { return several_ > 1; }
  // By their words they work against each other: a GAN's, an actor's and its
  // critic's.
  bool adversaries() const { return adversaries_; }
  // The last word by which a series differs from the one beside it, or its
  // number where that is not ASCII; empty of the first one. Lives as long as
  // this.
  const std::string& name(size_t series) const { return names_[series]; }

 private:
  struct Kind {
    uint32_t words = 0;
    std::string before;   // the first line's
    int64_t step = -1;    // newest; -1: none
    uint64_t line = 0;    // newest, counted in lines with a loss
    int shared = 0;       // steps that another kind had just shown
    double loss = 0;      // newest
    int again = 0;        // lines in a row that said another kind's again
    bool echoed = false;  // the newest was said again
    int turns = 0;        // to and fro, no more than kNear lines apart
    size_t series = 0;    // 0: the first one's, or not known yet
  };

  Kind* Find(uint32_t words);
  // Names the series of `own` by where its words differ from the other's.
  void Name(const Kind& own, const Kind& other, const LossWords& texts);

  static constexpr uint64_t kNear = 16;  // as StepCopies' lines
  static constexpr int kShared = 3;
  static constexpr int kTurns = 6;
  static constexpr size_t kNameMax = 32;

  std::array<Kind, kMax> kinds_;
  std::array<std::string, kMax> names_;
  size_t known_ = 0;
  size_t several_ = 1;
  size_t newest_ = 0;  // kind of the line before
  uint64_t lines_ = 0;
  bool crowded_ = false;
  bool adversaries_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LOSS_SERIES_H_
