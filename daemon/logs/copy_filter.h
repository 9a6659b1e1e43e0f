// CopyFilter: tells an overflow from its copies. Where every rank prints what
// its scaler does, one overflow stands in the log 8 or 1,024 times, often a few
// lines apart, sometimes with a step line in between.

#ifndef NANWATCH_LOGS_COPY_FILTER_H_
#define NANWATCH_LOGS_COPY_FILTER_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "logs/fact.h"

namespace nanwatch {

class CopyFilter {
 public:
  enum class Verdict : uint8_t {
    kNew,    // an overflow of its own
    kCopy,   // another rank's word on one that is known
    kOther,  // the same rank says it again: another optimizer's scaler
  };
  // A kOverflow fact, in the order of the log.
  Verdict Judge(const LogFact& fact);
  // A step line stands between what came and what comes.
  void Separate();
  // A counter counted what the same rank said twice as two overflows: all that
  // it says again happened again.
  void CountedTwice();

  // How many ranks print: the most copies of an overflow that could not have
  // happened twice. 1 until a copy was seen.
  int32_t copies() const {
    return two_scalers_ || counted_twice_ ? ranks_ : copies_;
  }
  // A rank that said an overflow twice has two scalers, as later ones show that
  // it said once; else it prints all twice.
  bool two_scalers() const { return two_scalers_; }

 private:
  struct Key {
    double before = 0;  // 0: not printed
    double after = 0;
    int32_t scaler = -1;
    std::optional<int64_t> step;
    bool operator==(const Key&) const = default;
    // The scale stands still: the same again may be another overflow.
    bool may_repeat() const {
      return after == 0 || before == after || (before == 0 && after == 0);
    }
  };
  // Ranks whose names are kept; of more, copies are counted.
  static constexpr int32_t kRanks = 1024;
  // Step lines that a named rank may be late.
  static constexpr int32_t kLate = 16;
  struct Group {
    Key key;
    int32_t seen = 0;  // copies, the first included
    int32_t rank = -1;
    int32_t lines = 0;  // step lines that came after its first
    bool learned = false;
    int32_t returns = 0;        // of copies behind another overflow
    int32_t doubles = 0;        // of `seen`: by the rank that said it first
    std::bitset<kRanks> ranks;  // that spoke of it, by their names
  };

  Group* Find(const Key& key);
  Verdict JudgeKnown(Group* known, int32_t rank);
  Verdict JudgeNamed(Group* known, int32_t rank, bool raised);
  void Begin(Group* group, Key key, int32_t rank);
  void JudgeDouble(const Group& group);
  void Learn(Group* group);

  // The newest groups: late copies come a few lines after newer ones.
  static constexpr size_t kGroups = 4;
  std::array<Group, kGroups> groups_;
  size_t newest_ = 0;
  size_t latest_ = 0;     // of the newest line
  int32_t copies_ = 1;    // the most of a group
  int32_t ranks_ = 1;     // the same without doubles
  int32_t singles_ = 0;   // groups that ended with one
  bool doubled_ = false;  // a rank said it twice
  bool two_scalers_ = false;
  bool counted_twice_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_COPY_FILTER_H_
