// The book against a naive reference, over every history of up to ten ticks in
// which one finding is absent, info, warning or critical.

#include <gmock/gmock.h>

#include <array>
#include <set>
#include <vector>

#include "tests/unit/alert/book_fixture.h"

namespace nanwatch {
namespace {

constexpr int kTicks = 10;
constexpr int kHold = 3;  // ticks
constexpr int kReopenWithin = 2;
constexpr int kFlapsAfter = 2;
constexpr int64_t kTickSeconds = 15;

AlertPolicy Policy() {
  AlertPolicy policy;
  policy.hold = std::chrono::seconds(kHold * kTickSeconds);
  policy.reopen_within = std::chrono::seconds(kReopenWithin * kTickSeconds);
  policy.flaps_after = kFlapsAfter;
  return policy;
}

using History = std::array<Severity, kTicks>;

// What the reference says at the last tick of a history.
struct Expected {
  AlertState state = AlertState::kResolved;  // of the newest incident, if any
  size_t incidents = 0;
  int reopened = 0;
  size_t told = 0;  // changes that are told at this very tick
  Severity severity = Severity::kNone;
};

// Recomputes everything from the start, in terms of intervals: when the alert
// begins to fire, and the first tick at which it may stop.
class Reference {
 public:
  Reference(const History& history, int length)
      : history_(history), length_(length) {}

  Expected Compute() {
    int t = 0;
    int ended = -1;  // tick at which the last interval (or flap) ended
    while (true) {
      while (t < length_ && !Present(t)) ++t;
      if (t >= length_) return expected_;
      const bool again = ended >= 0 && t - ended <= kReopenWithin;
      expected_.incidents += again ? 0 : 1;
      expected_.reopened = again ? expected_.reopened + 1 : 0;
      const bool flaps = again && expected_.reopened >= kFlapsAfter;
      const int wait = flaps ? kHold : 0;
      const int start = Fires(t, wait);
      if (start >= length_) return expected_;
      ended = t = start == t + wait ? Stops(start, flaps) : start;
      if (t >= length_) return expected_;
      expected_.state = AlertState::kResolved;
    }
  }

 private:
  bool Present(int t) const { return history_[t] != Severity::kNone; }
  void Tell(int t) { expected_.told += t == length_ - 1 ? 1 : 0; }

  // The tick at which it fires, having been present for `wait` ticks; or one
  // at which it is absent, or the end.
  int Fires(int t, int wait) {
    int start = t;
    while (start < length_ && start < t + wait && Present(start)) ++start;
    expected_.state = AlertState::kPending;
    expected_.severity = history_[std::min(start, length_ - 1)];
    return start;
  }

  // The tick at which it resolves, or the end. Timers (of the hold, of a flap
  // that had to wait) are before what happens at their tick.
  int Stops(int start, bool waited) {
    expected_.state = AlertState::kFiring;
    Severity severity = waited ? history_[start - 1] : Severity::kNone;
    if (waited) Tell(start);
    const int held = start + kHold;
    int t = start;
    for (; t < length_; ++t) {
      if (t > held && !Present(t)) break;
      if (t == held && (!Present(t) || !Present(t - 1))) break;
      if (!Present(t)) continue;
      if (history_[t] != severity) Tell(t);
      severity = history_[t];
    }
    expected_.severity = severity;
    if (t < length_) Tell(t);
    return t;
  }

  const History& history_;
  const int length_;
  Expected expected_;
};

class Walker {
 public:
  void Walk(const IncidentBook& before, int length, int64_t opened_step) {
    if (length == kTicks) return;
    for (const Severity severity : {Severity::kNone, Severity::kInfo,
                                    Severity::kWarning, Severity::kCritical}) {
      IncidentBook book = before;
      history_[length] = severity;
      const bool was = length > 0 && history_[length - 1] != Severity::kNone;
      const int64_t step = was ? opened_step : length;
      Tick(&book, length, severity, step);
      if (::testing::Test::HasFatalFailure()) return;
      Walk(book, length + 1, step);
    }
  }
  int64_t nodes() const { return nodes_; }

 private:
  void Tick(IncidentBook* book, int t, Severity severity, int64_t step) {
    ++nodes_;
    std::vector<Finding> findings;
    if (severity != Severity::kNone) {
      findings.push_back(ScaleFinding(4, severity, step));
    }
    changed_.clear();
    book->Update(At(t * kTickSeconds), t, findings, {}, nullptr, &changed_);
    const Expected expected = Reference(history_, t + 1).Compute();
    ASSERT_EQ(book->incidents().size(), expected.incidents) << Show(t);
    ASSERT_EQ(changed_.size(), expected.told) << Show(t);
    if (expected.incidents == 0) return;
    const Incident& newest = book->incidents()[0];
    ASSERT_EQ(newest.state, expected.state) << Show(t);
    ASSERT_EQ(newest.reopened, expected.reopened) << Show(t);
    if (expected.state != AlertState::kResolved) {
      ASSERT_EQ(newest.severity, expected.severity) << Show(t);
    }
    std::set<uint64_t> ids;
    for (const Incident& incident : book->incidents()) ids.insert(incident.id);
    ASSERT_EQ(ids.size(), book->incidents().size()) << Show(t);
    for (const Incident& told : changed_) {
      ASSERT_NE(told.state, AlertState::kPending) << Show(t);
      ASSERT_TRUE(ids.count(told.id)) << Show(t);
    }
  }
  std::string Show(int t) const {
    std::string text;
    for (int i = 0; i <= t; ++i) text += " iwc"[static_cast<int>(history_[i])];
    return "history '" + text + "'";
  }

  History history_{};
  std::vector<Incident> changed_;
  int64_t nodes_ = 0;
};

TEST(AllHistoriesTest, BookIsTheReference) {
  Walker walker;
  walker.Walk(IncidentBook({"run", 0}, Policy()), 0, 0);
  EXPECT_EQ(walker.nodes(), (int64_t{1} << 2 * (kTicks + 1)) / 3 - 1);
}

}  // namespace
}  // namespace nanwatch
