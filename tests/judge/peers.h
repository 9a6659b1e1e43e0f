// Peers: the rules of other programs on the loss or the gradient norm, in our
// own words, as references to stand beside ours. Each at its own defaults.

#ifndef NANWATCH_TESTS_JUDGE_PEERS_H_
#define NANWATCH_TESTS_JUDGE_PEERS_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace nanwatch {

// Sees one number a record and says whether it alarms there.
using PeerRule = std::function<bool(double value)>;

struct Peer {
  std::string_view name;
  bool on_loss;              // else: gradient norm
  std::string_view meaning;  // the rule in a line
  PeerRule (*make)();
};
const std::vector<Peer>& Peers();

// Counts alarms as a person would: what comes within 50 records of the last
// alarm is the same one.
class AlarmCount {
 public:
  // True: a new alarm.
  bool Note(bool alarm, size_t record) {
    const bool fresh = alarm && (count_ == 0 || record > last_ + 50);
    if (alarm) last_ = record;
    if (fresh) ++count_;
    return fresh;
  }
  int count() const { return count_; }

 private:
  size_t last_ = 0;
  int count_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_JUDGE_PEERS_H_
