// Who judges records: each is asked for what it says of the same ones.

#ifndef NANWATCH_TESTS_PROPERTY_JUDGES_H_
#define NANWATCH_TESTS_PROPERTY_JUDGES_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/diagnosis.h"
#include "model/event.h"
#include "model/run.h"
#include "model/severity.h"
#include "model/snapshot.h"
#include "model/step.h"

namespace nanwatch {

inline constexpr Time kBegin{std::chrono::seconds(1'000'000'000)};

// Step records of a run, in the order in which they are heard.
struct Taken {
  int32_t rank = 0;
  std::string optimizer;
  StepRecord record;
};
struct Recording {
  std::string name;
  RunDescription run;
  int32_t ranks = 1;
  std::vector<Taken> taken;
};
using Events = std::vector<StampedEvent>;
using Attempts = std::vector<std::shared_ptr<const RunView>>;

struct Said {
  Severity worst = Severity::kNone;
  Severity at_end = Severity::kNone;
  bool to_its_end = true;
  Condition condition = Condition::kNotKnown;  // of the newest attempt
  std::vector<std::string> incidents;
  std::vector<std::string> timeless;  // without steps that the clock says
  bool operator==(const Said&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Said& said);

// Returns what the attempts of one run say together.
Said SaidOf(const Attempts& attempts);

// Asks RecordJudge, as `check` does; `events` are those it decided by.
Said CheckSays(const Recording& recording, Events* events);
// Asks a backtest of these events. It does not say what fires at the end: that
// is `like`'s.
Said BacktestSays(const Events& events, const Said& like);
// Asks a replay of a history of these events.
Said ReplaySays(const Events& events);
// Asks a daemon that hears the records from clients, each as it comes, and then
// the close of each rank; `events` are those it applied.
Said DaemonSays(const Recording& recording, Events* events);

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_PROPERTY_JUDGES_H_
