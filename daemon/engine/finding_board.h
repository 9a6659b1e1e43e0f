// FindingBoard: what the rules of one run hold now: at most one finding a rule
// and subject.

#ifndef NANWATCH_ENGINE_FINDING_BOARD_H_
#define NANWATCH_ENGINE_FINDING_BOARD_H_

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/state_fields.h"
#include "model/finding.h"

namespace nanwatch {

// Which rule of which list. A rule's Describe may name another subject (a run's
// rule that found a rank), so the subject is not the key.
struct FindingKey {
  enum class List : uint8_t {
    kStep,
    kOp,
    kAligned,
    kTime,
    kLife,
    kLayer,
    kLayerMove,
    kBench
  };
  List list = List::kStep;
  int32_t rank = -1;
  uint32_t place = 0;  // track, op * kSlots + slot, group, or op
  uint32_t rule = 0;   // index in its list
  auto operator<=>(const FindingKey&) const = default;
};

class FindingBoard {
 public:
  // False: no room (limits::kFindingsPerRun), counted.
  bool Put(const FindingKey& key, Finding finding);
  // True: there was one.
  bool Remove(const FindingKey& key);
  // Removes all findings of a rank that has closed; a run's own when rank is
  // -1.
  bool RemoveRank(int32_t rank);
  void Clear() { findings_.clear(); }

  Finding* Find(const FindingKey& key);
  bool empty() const { return findings_.empty(); }
  size_t size() const { return findings_.size(); }
  uint64_t not_kept() const { return not_kept_; }
  std::vector<FindingKey> Keys() const;
  // True when one of them is of the rank.
  bool HasAnyOf(int32_t rank) const;
  // Returns the keys of one rank's findings.
  std::vector<FindingKey> KeysOf(int32_t rank) const;
  // Returns the worst of a rank's findings, under the ceilings of their causes.
  Severity WorstOf(int32_t rank, const Diagnosis& diagnosis) const;
  // Returns them by (first step, rule, subject): the order in which ranks were
  // heard does not show.
  std::vector<Finding> Sorted() const;

  template <typename A>
  friend void Fields(A& archive, FindingBoard& b) {
    archive(b.findings_, b.not_kept_);
  }

 private:
  std::map<FindingKey, Finding> findings_;
  uint64_t not_kept_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_FINDING_BOARD_H_
