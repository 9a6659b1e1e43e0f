// UnreadKinds: lines that hold the word loss and numbers, come again and again,
// and were read by nobody.

#ifndef NANWATCH_LOGS_UNREAD_KINDS_H_
#define NANWATCH_LOGS_UNREAD_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "logs/number_row.h"

namespace nanwatch {

class UnreadKinds {
 public:
  // Lines with the same words.
  struct Kind {
    uint64_t words = 0;
    uint64_t lines = 0;
    uint64_t first = 0;  // its line
    uint64_t bad = 0;    // newest ones, in a row, that hold NaN or Inf
    // Their number is lost: they had one.
    bool lost() const { return bad >= kLost && bad < lines; }
  };

  // Takes in a line that nobody read, the `number`th.
  void Note(std::string_view line, uint64_t number);
  // The kind that has most lines; without lines: none has any.
  Kind most() const;

 private:
  static constexpr size_t kKinds = 16;  // the first ones; ours
  static constexpr uint64_t kLost = 3;  // lines; as LossParts

  NumberRow row_;
  std::vector<Kind> kinds_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_UNREAD_KINDS_H_
