// SilentLines: lines of which readers said nothing. A log prints most of them
// again and again, with other numbers: of such a line it is known at once who
// has nothing to say.

#ifndef NANWATCH_LOGS_SILENT_LINES_H_
#define NANWATCH_LOGS_SILENT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/mark_search.h"

namespace nanwatch {

class SilentLines {
 public:
  // Lines that differ in the digits of their numbers alone.
  struct Kind {
    MarkGroups marked;  // who is asked of them
    MarkGroups silent;  // of these, who says nothing
  };

  // Returns the kind of `line`, if it is known.
  std::optional<Kind> Find(std::string_view line);
  // Takes in a line of no known kind.
  void Learn(std::string_view line, const Kind& kind);
  // Forgets all: who said nothing may have something to say now.
  void Forget() { known_.clear(); }

 private:
  static constexpr size_t kKinds = 64;        // ours
  static constexpr size_t kLineMax = 512;     // bytes; ours
  static constexpr uint64_t kTakesTurns = 8;  // lines, once all are taken; ours

  struct Known {
    std::string words;           // what is between the numbers, without a break
    std::vector<uint16_t> ends;  // in `words`; one more than numbers
    uint64_t head = 0;           // the first bytes, up to a number
    uint64_t head_mask = 0;      // all bits of these
    Kind kind;
    uint64_t seen = 0;  // number of the newest such line
  };
  static bool Match(const Known& known, std::string_view line);

  std::vector<Known> known_;
  uint64_t lines_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_SILENT_LINES_H_
