// mute, unmute, ack, stop: what a person may say to a run.

#include <pwd.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "cli/commands.h"

namespace nanwatch {
namespace {

std::string UserName() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

std::optional<uint64_t> ParseIncident(const std::string& text) {
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, id, 16);
  if (error != std::errc() || at != end) return std::nullopt;
  return id;
}

}  // namespace

int AnnotateRun(QueryClient& client, const AnnotateOptions& options) {
  v1::AnnotateRequest request;
  request.set_run_id(options.run.run_id);
  if (options.run.attempt) request.set_attempt(*options.run.attempt);
  request.set_kind(options.kind);
  request.set_rule(options.rule);
  request.set_for_seconds(options.for_seconds);
  request.set_by(options.by.empty() ? UserName() : options.by);
  request.set_reason(options.reason);
  if (!options.incident.empty()) {
    const std::optional<uint64_t> id = ParseIncident(options.incident);
    if (!id) {
      return Fail(
          "--incident takes the id that `nanwatch diagnose` shows, 16 "
          "hexadecimal digits, not '" +
              options.incident + "'",
          kExitUsage);
    }
    request.set_incident(*id);
  }
  const Result<std::string> done = client.Annotate(request);
  if (!done.ok()) return Fail(done.error());
  std::printf("%s\n", done->c_str());
  return 0;
}

}  // namespace nanwatch
