#include "app/audit_entries.h"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <variant>

namespace nanwatch {

IngestAudit::IngestAudit(const ClientMessage& message)
    : entry_(EntryOf(AuditKind::kOpening, message.caller)),
      opens_(std::holds_alternative<OpenSessionMessage>(message.body)),
      closes_(std::holds_alternative<CloseMessage>(message.body)) {
  if (const auto* open = std::get_if<OpenSessionMessage>(&message.body)) {
    entry_.run_id = open->run_id;
    entry_.attempt = open->attempt;
    entry_.rank = open->rank.rank;
  }
}

std::optional<AuditEntry> IngestAudit::Of(const Admitted& admitted) const {
  AuditEntry entry = entry_;
  if (admitted.refused) {
    const bool told =
        opens_ || admitted.refused->reason == RefusalReason::kForbidden;
    if (!told) return std::nullopt;
    entry.kind = AuditKind::kRefusal;
    entry.what = admitted.refused->message;
    return entry;
  }
  if (admitted.opened) {
    const OpenedSession& opened = *admitted.opened;
    entry.run_id = opened.run.run_id;
    entry.attempt = opened.run.attempt;
    if (opened.owner != entry.who) entry.owner = opened.owner;
    if (opened.resumed) {
      entry.kind = AuditKind::kResume;
    } else if (opened.next_attempt || !entry.owner.empty()) {
      entry.kind = AuditKind::kTakeover;
    }
    return entry;
  }
  // A close that comes twice makes no event.
  if (!closes_ || admitted.events.empty()) return std::nullopt;
  entry.kind = AuditKind::kClose;
  const Event& closed = admitted.events.front();
  entry.run_id = closed.run.run_id;
  entry.attempt = closed.run.attempt;
  entry.rank = closed.rank;
  return entry;
}

AuditEntry EntryOfSaid(const RunKey& run, const Annotation& said,
                       const Caller& who) {
  AuditKind kind = AuditKind::kMute;
  switch (said.kind) {
    case Annotation::Kind::kMute:
      break;
    case Annotation::Kind::kUnmute:
      kind = AuditKind::kUnmute;
      break;
    case Annotation::Kind::kAcknowledge:
      kind = AuditKind::kAcknowledge;
      break;
    case Annotation::Kind::kStopRequest:
      kind = AuditKind::kStop;
      break;
  }
  AuditEntry entry = EntryOf(kind, who);
  entry.run_id = run.run_id;
  entry.attempt = run.attempt;
  entry.what = "by " + said.by;
  if (said.incident != 0) {
    entry.what += fmt::format(", incident {:016x}", said.incident);
  }
  if (!said.reason.empty()) entry.what += ": " + said.reason;
  return entry;
}

AuditEntry EntryOfSaid(const RunKey& run, const BenchmarkSet& set,
                       const Caller& who) {
  AuditEntry entry = EntryOf(AuditKind::kBenchmark, who);
  entry.run_id = run.run_id;
  entry.attempt = run.attempt;
  entry.what = set.benchmark == nullptr ? "taken away"
                                        : "set to " + set.benchmark->reference;
  return entry;
}

AuditEntry EntryOfReload(const Status& taken, const Caller& who) {
  AuditEntry entry = EntryOf(AuditKind::kReload, who);
  entry.what = taken.ok() ? "taken" : "not taken: " + taken.error();
  return entry;
}

}  // namespace nanwatch
