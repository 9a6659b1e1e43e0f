// LossParts: the loss of a line that shows what it is made of, and not the sum:
// "ObjLoss=32.9, BoxLoss=15.6", a table's "train/box_loss,train/cls_loss".

#ifndef NANWATCH_LOGS_LOSS_PARTS_H_
#define NANWATCH_LOGS_LOSS_PARTS_H_

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

// A training's loss, by its name, that is one of several.
bool IsPartOfLoss(std::string_view name);

// What a loss is called, or its first word, says that it is a policy's, or of
// how good actions are: "actor_loss", "train/vf_loss". Such losses follow
// rewards.
bool IsOfPolicy(std::string_view name);

// The word that ends `before` makes the loss that follows a part of one: "ctc "
// before "loss", and not "avg ".
bool MakesPart(std::string_view before);

// Returns where "{'rpn': 0.4, 'box': 0.2}" ends, which stands behind the sign
// at `at`, if what is before it is called losses; else 0.
size_t WithinLosses(std::string_view line, size_t at);

class LossParts {
 public:
  // The next line begins.
  void Begin();
  // What stands before a sign in a line, and behind it: a part's name ends the
  // one, and its value begins the other; or nothing of it is one. Returns
  // whether it is.
  bool Look(std::string_view before, std::string_view behind);
  // The same of a pair within what WithinLosses() found: whatever its name.
  bool Take(std::string_view name, std::string_view behind);
  // One of the line's is of a policy.
  bool of_policy() const { return of_policy_; }
  // Of two parts or more.
  std::optional<double> sum() const {
    return parts_ > 1 ? std::optional(sum_) : std::nullopt;
  }
  // Of one.
  std::optional<double> alone() const {
    return parts_ == 1 ? std::optional(sum_) : std::nullopt;
  }

  // The same, where those of its name have not been finite in some lines in a
  // row: in a log of other losses it is news.
  std::optional<double> alone_and_lost() const {
    const bool lost = bad_ >= kLost && !std::isfinite(sum_);
    return lost ? alone() : std::nullopt;
  }

 private:
  static constexpr int kLost = 3;  // as a term beside its loss (TermNews)

  void NoteLost(std::string_view name, double value);

  int parts_ = 0;
  bool of_policy_ = false;
  double sum_ = 0;
  std::string bad_name_;  // that was not finite
  int bad_ = 0;           // of that name in a row
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LOSS_PARTS_H_
