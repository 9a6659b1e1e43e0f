// TermNews: what of the terms of a finite loss, or of the metrics beside it, is
// news: one that is not finite in step lines in a row, and that it is finite
// again.

#ifndef NANWATCH_LOGS_TERM_NEWS_H_
#define NANWATCH_LOGS_TERM_NEWS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "logs/fact.h"

namespace nanwatch {

class TermNews {
 public:
  // Lines in a row that are no accident, and the same of what never was finite.
  struct Hold {
    int32_t row;
    int32_t from_start;
    int32_t finite = 1;  // lines before that show it to be a number
  };
  explicit TermNews(Hold hold) : hold_(hold) {}

  // Takes in a step line with a finite loss; `name`: the term that is not, if
  // one is; `step`: the newest. Returns what to tell where it is news: "1200
  // kl", or "".
  std::optional<std::string> Take(const LogFact& fact, std::string_view name,
                                  int64_t step) {
    // Of ranks in turn, the one whose term it is.
    if (row_ > 0 && fact.rank != rank_) return std::nullopt;
    if (name.empty()) {
      finite_ = std::min(finite_ + 1, kMost);
      longest_ = std::max(longest_, row_);
      row_ = 0;
      if (!told_) return std::nullopt;
      told_ = false;
      return "";
    }
    if (row_ == 0) {
      name_ = name;
      since_ = step;
      rank_ = fact.rank;
    }
    row_ = std::min(row_ + 1, kMost);
    const int32_t hold = finite_ >= hold_.finite ? hold_.row : hold_.from_start;
    if (told_ || row_ < std::max(hold, kTimes * longest_)) return std::nullopt;
    told_ = true;
    return std::to_string(std::max<int64_t>(since_, 0)) + " " + name_;
  }

 private:
  static constexpr int32_t kTimes = 4;  // longer than any row before; ours
  static constexpr int32_t kMost = 1 << 20;

  const Hold hold_;
  std::string name_;
  std::optional<int32_t> rank_;
  int64_t since_ = 0;  // step of the first of the row
  int32_t row_ = 0;    // lines in a row whose term is not finite
  int32_t longest_ = 0;
  int32_t finite_ = 0;  // lines; saturates
  bool told_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TERM_NEWS_H_
