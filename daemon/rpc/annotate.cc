#include "rpc/annotate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "model/caller.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

using std::chrono::seconds;

constexpr int64_t kLongestMuteSeconds = 10 * 365 * 24 * 3600ll;

std::optional<Annotation::Kind> KindOnWire(v1::AnnotationKind kind) {
  switch (kind) {
    case v1::ANNOTATION_KIND_MUTE:
      return Annotation::Kind::kMute;
    case v1::ANNOTATION_KIND_UNMUTE:
      return Annotation::Kind::kUnmute;
    case v1::ANNOTATION_KIND_ACKNOWLEDGE:
      return Annotation::Kind::kAcknowledge;
    case v1::ANNOTATION_KIND_STOP:
      return Annotation::Kind::kStopRequest;
    default:
      return std::nullopt;
  }
}

// Why nobody would hear of a stop; empty: somebody would.
std::string WhyNotStopped(const RunView& run) {
  if (run.state == LifeState::kClosed) {
    return fmt::format("run {} attempt {} has ended already", run.key.run_id,
                       run.key.attempt);
  }
  if (run.state == LifeState::kLost) {
    return fmt::format(
        "run {} attempt {} is lost: no rank is connected to receive it; "
        "repeat it when one has come back",
        run.key.run_id, run.key.attempt);
  }
  return "";
}

// "2026-11-21 15:42:07 UTC".
std::string ClockText(Time time) {
  const time_t seconds = ToMicros(time) / 1'000'000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%F %T UTC", &parts);
  return text;
}

}  // namespace

Result<Annotation> ReadAnnotation(const v1::AnnotateRequest& request,
                                  const RunView& run,
                                  const QueryBackend& backend,
                                  const std::string& caller) {
  const std::optional<Annotation::Kind> kind = KindOnWire(request.kind());
  if (!kind) return Error{"say what to do: mute, unmute, acknowledge or stop"};
  if (std::max(request.by().size(), request.reason().size()) >
      limits::kSettingBytes) {
    return Error{fmt::format("the reason is longer than {} bytes: shorten it",
                             limits::kSettingBytes)};
  }
  if (*kind == Annotation::Kind::kStopRequest) {
    if (std::string why = WhyNotStopped(run); !why.empty()) return Error{why};
  }
  Annotation annotation;
  annotation.kind = *kind;
  annotation.incident = request.incident();
  annotation.by = Speaker(request.by(), caller);
  annotation.reason = request.reason();
  const bool known = std::any_of(
      run.incidents.begin(), run.incidents.end(),
      [&](const Incident& one) { return one.id == annotation.incident; });
  if (annotation.incident != 0 && !known) {
    return Error{
        fmt::format("run {} has no incident {:016x}: `nanwatch diagnose {}` "
                    "lists them",
                    run.key.run_id, annotation.incident, run.key.run_id)};
  }
  if (!request.rule().empty()) {
    const std::optional<RuleId> rule = backend.rule_number(request.rule());
    if (!rule) {
      return Error{
          fmt::format("there is no rule {}: `nanwatch diagnose {}` "
                      "names those that found something",
                      request.rule(), run.key.run_id)};
    }
    annotation.rule = *rule;
  }
  if (request.for_seconds() < 0 ||
      request.for_seconds() > kLongestMuteSeconds) {
    return Error{
        fmt::format("cannot mute for {} s: between 1 s and ten years, "
                    "or 0 for ever",
                    request.for_seconds())};
  }
  if (request.for_seconds() > 0) {
    annotation.until = backend.clock->Now() + seconds(request.for_seconds());
  }
  return annotation;
}

std::string Describe(const Annotation& annotation, const RunView& run,
                     const std::string& rule) {
  const std::string where =
      fmt::format("run {} attempt {}", run.key.run_id, run.key.attempt);
  std::string what =
      annotation.incident == 0
          ? where
          : fmt::format("incident {:016x} of {}", annotation.incident, where);
  if (!rule.empty()) what = fmt::format("rule {} of {}", rule, what);
  switch (annotation.kind) {
    case Annotation::Kind::kMute:
      return fmt::format("muted {}{}", what,
                         annotation.until == Time{}
                             ? " until it is unmuted"
                             : " until " + ClockText(annotation.until));
    case Annotation::Kind::kUnmute:
      return fmt::format("unmuted {}", what);
    case Annotation::Kind::kAcknowledge:
      return fmt::format("acknowledged {} by {}", what, annotation.by);
    case Annotation::Kind::kStopRequest:
      return fmt::format("asked {} to stop; its training polls for that", what);
  }
  return "";
}

}  // namespace nanwatch
