// AuditEntry: who did something, or was not let do it, from where.

#ifndef NANWATCH_MODEL_AUDIT_H_
#define NANWATCH_MODEL_AUDIT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/caller.h"

namespace nanwatch {

enum class AuditKind : uint8_t {
  kOpening,   // a session of a rank begins
  kResume,    // one goes on, on another connection
  kTakeover,  // an opening of a run's next attempt, or in another's run
  kClose,     // of a rank, by its program
  kMute,
  kUnmute,
  kAcknowledge,
  kStop,       // a training was asked to stop
  kBenchmark,  // what a run is compared with was set, or taken away
  kReload,     // of the configuration
  kRefusal,
};
std::string_view Name(AuditKind kind);

struct AuditEntry {
  AuditKind kind = AuditKind::kOpening;
  std::string who;  // empty: nobody knows
  std::string from;
  std::string run_id;  // empty: of no run
  std::optional<int32_t> attempt;
  std::optional<int32_t> rank;
  std::string owner;  // of the run, where it is another one than `who`
  std::string what;   // what was asked for, or what became of it, in words
};

// Any thread; never blocks, never fails.
using AuditSink = std::function<void(AuditEntry)>;

inline AuditEntry EntryOf(AuditKind kind, const Caller& caller) {
  AuditEntry entry;
  entry.kind = kind;
  entry.who = caller.name;
  entry.from = caller.from;
  return entry;
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_AUDIT_H_
