// mute, unmute, ack, stop: what a person may say to a run.

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "cli/commands.h"
#include "cli/rule_named.h"
#include "rpc/account.h"

namespace nanwatch {
namespace {

std::string UserName() {
  return AccountName(getuid()).value_or(std::to_string(getuid()));
}

std::optional<uint64_t> ParseIncident(const std::string& text) {
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, id, 16);
  if (error != std::errc() || at != end) return std::nullopt;
  return id;
}

Result<uint64_t> IncidentOf(const AnnotateOptions& options) {
  const std::string& said = *options.incident;
  const std::optional<uint64_t> id = ParseIncident(said);
  if (!id) {
    return Error{
        "--incident takes the id that `nanwatch diagnose` shows, 16 "
        "hexadecimal digits, not '" +
        Clean(said) + "'"};
  }
  // On the wire 0 is the whole run.
  if (*id == 0) {
    return Error{fmt::format(
        "run {0} has no incident {1:016x}: `nanwatch diagnose {0}` lists them",
        Clean(options.run.run_id), *id)};
  }
  return *id;
}

// The daemon knows rules by their names; `explain` takes numbers too.
Result<std::string> RuleOf(const std::string& said) {
  if (said.empty()) {
    return Error{
        "--rule takes a rule's name or number, and got an empty text; without "
        "--rule all of the run is meant"};
  }
  const RuleSpec* rule = RuleNamed(said);
  if (rule == nullptr) return Error{NoSuchRule(said)};
  return std::string(rule->name);
}

}  // namespace

int AnnotateRun(QueryClient& client, const AnnotateOptions& options) {
  v1::AnnotateRequest request;
  request.set_run_id(options.run.run_id);
  if (options.run.attempt) request.set_attempt(*options.run.attempt);
  request.set_kind(options.kind);
  if (options.rule) {
    const Result<std::string> rule = RuleOf(*options.rule);
    if (!rule.ok()) return Fail(rule.error(), kExitUsage);
    request.set_rule(*rule);
  }
  request.set_for_seconds(options.for_seconds);
  request.set_by(options.by.empty() ? UserName() : options.by);
  request.set_reason(options.reason);
  if (options.incident) {
    const Result<uint64_t> id = IncidentOf(options);
    if (!id.ok()) return Fail(id.error(), kExitUsage);
    request.set_incident(*id);
  }
  const Result<std::string> done = client.Annotate(request);
  if (!done.ok()) return Fail(done.error());
  std::printf("%s\n", Clean(*done).c_str());
  return 0;
}

}  // namespace nanwatch
