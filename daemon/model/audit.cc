#include "model/audit.h"

namespace nanwatch {

std::string_view Name(AuditKind kind) {
  switch (kind) {
    case AuditKind::kOpening:
      return "opening";
    case AuditKind::kResume:
      return "resume";
    case AuditKind::kTakeover:
      return "takeover";
    case AuditKind::kClose:
      return "close";
    case AuditKind::kMute:
      return "mute";
    case AuditKind::kUnmute:
      return "unmute";
    case AuditKind::kAcknowledge:
      return "ack";
    case AuditKind::kStop:
      return "stop";
    case AuditKind::kBenchmark:
      return "benchmark";
    case AuditKind::kReload:
      return "reload";
    case AuditKind::kRefusal:
      return "refusal";
  }
  return "";
}

}  // namespace nanwatch
