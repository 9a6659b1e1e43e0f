// What is written down for the audit of what trainings and people say.

#ifndef NANWATCH_APP_AUDIT_ENTRIES_H_
#define NANWATCH_APP_AUDIT_ENTRIES_H_

#include <optional>

#include "base/result.h"
#include "engine/admission.h"
#include "model/audit.h"
#include "model/client_message.h"

namespace nanwatch {

class IngestAudit {
 public:
  explicit IngestAudit(const ClientMessage& message);

  // What became of it; nullopt: nothing that is written down. Records are not,
  // nor what is refused of them for want of room.
  std::optional<AuditEntry> Of(const Admitted& admitted) const;

 private:
  AuditEntry entry_;  // of whoever it is, as far as the message says
  bool opens_;
  bool closes_;
};

// What a person said of a run.
AuditEntry EntryOfSaid(const RunKey& run, const BenchmarkSet& set,
                       const Caller& who);
AuditEntry EntryOfSaid(const RunKey& run, const Annotation& said,
                       const Caller& who);

// A configuration that was read again.
AuditEntry EntryOfReload(const Status& taken, const Caller& who);

}  // namespace nanwatch

#endif  // NANWATCH_APP_AUDIT_ENTRIES_H_
