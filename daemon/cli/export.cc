// export: a run in one file of the history's own format.

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <variant>

#include "cli/commands.h"
#include "cli/name_hash.h"
#include "detect/all_rules.h"
#include "history/history.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

template <typename Enum>
Enum Named(std::string_view name, int count) {
  for (int i = 0; i < count; ++i) {
    if (Name(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return Enum{};
}

AlertState StateOf(v1::AlertState state) {
  switch (state) {
    case v1::ALERT_STATE_FIRING:
      return AlertState::kFiring;
    case v1::ALERT_STATE_RESOLVED:
      return AlertState::kResolved;
    default:
      return AlertState::kPending;
  }
}

Subject FromMessage(const v1::Subject& message) {
  Subject subject;
  subject.rank = message.rank();
  subject.optimizer = message.optimizer();
  subject.op = message.op();
  // Of a step's finding there is none: the default stands.
  if (!message.slot().empty()) {
    subject.slot = Named<Slot>(message.slot(), kSlots);
  }
  return subject;
}

Finding FromMessage(const v1::Finding& message) {
  Finding finding;
  if (const RuleSpec* rule = FindRule(message.rule()); rule != nullptr) {
    finding.rule = rule->id;
    finding.family = rule->family;
  }
  finding.subject = FromMessage(message.subject());
  finding.severity = static_cast<Severity>(message.severity());
  finding.opened_step = message.opened_step();
  finding.last_step = message.last_step();
  finding.opened = FromMicros(message.opened_us());
  finding.sentence = message.sentence();
  return finding;
}

// What a replay is compared with.
Incident FromMessage(const v1::Incident& message) {
  Incident incident;
  incident.id = message.id();
  incident.family = Named<Family>(message.family(), kFamilies);
  const RuleSpec* rule = FindRule(message.rule());
  incident.rule = rule != nullptr ? rule->id : RuleId::kNone;
  incident.cause = Named<Cause>(message.cause(), kCauses);
  incident.subject = FromMessage(message.subject());
  incident.state = StateOf(message.state());
  incident.severity = static_cast<Severity>(message.severity());
  incident.worst = static_cast<Severity>(message.worst());
  incident.opened_step = message.opened_step();
  if (message.has_resolved_step()) {
    incident.resolved_step = message.resolved_step();
  }
  incident.opened = FromMicros(message.opened_us());
  incident.fired = FromMicros(message.fired_us());
  incident.updated = FromMicros(message.updated_us());
  if (message.has_resolved_us()) {
    incident.resolved = FromMicros(message.resolved_us());
  }
  incident.summary = message.summary();
  for (const v1::Finding& finding : message.findings()) {
    incident.findings.push_back(FromMessage(finding));
  }
  incident.reopened = message.reopened();
  incident.resolved_reason = message.resolved_reason();
  return incident;
}

// What failed in the middle is no export, and would stand in the next try's
// way.
void Remove(const std::string& path) {
  for (const char* part : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(path + part, error);
  }
}

// A new history file, written on this thread.
class ExportFile {
 public:
  static Result<std::unique_ptr<ExportFile>> Create(const std::string& path) {
    auto file = std::make_unique<ExportFile>();
    HistoryOptions options;
    options.path = path;
    options.own_thread = false;
    options.keep_for = Duration(0);
    options.keep_bytes = 0;
    OpenReport report;
    Result<std::unique_ptr<History>> history =
        History::Open(options, SystemClock(), &report);
    if (!history.ok()) return Error{history.error()};
    if (report.degraded) {
      history->reset();
      Remove(path);
      return Error{report.message};
    }
    file->history_ = std::move(*history);
    file->path_ = path;
    return file;
  }

  Status Add(Time now, Event event) {
    std::vector<Event> one;
    one.push_back(std::move(event));
    const auto shared =
        std::make_shared<const std::vector<Event>>(std::move(one));
    if (!history_->Append(now, shared)) {
      history_->RunOnce(Duration(0));
      if (!history_->Append(now, shared)) return Unwritable();
    }
    return OkStatus();
  }
  void Add(const RunKey& run, const Incident& incident) {
    history_->SaveSent(run, incident);
  }
  Status Finish() {
    history_->RunOnce(Duration(0));
    history_->Close();
    if (history_->stats().degraded) return Unwritable();
    return OkStatus();
  }

 private:
  Status Unwritable() const { return Error{path_ + ": cannot be written"}; }

  std::string path_;
  std::unique_ptr<History> history_;
};

Status AddEvents(QueryClient& client, const RunKey& run, const NameHash* hash,
                 ExportFile* file) {
  v1::ExportRunRequest request;
  request.set_run_id(run.run_id);
  request.set_attempt(run.attempt);
  return client.ExportRun(
      request, [&](const v1::ExportRunResponse& response) -> Status {
        Result<Event> event = DecodeEvent(response.event());
        if (!event.ok()) return Error{event.error()};
        if (hash != nullptr) {
          // Names stand in its bytes, and a replay does without it.
          if (std::holds_alternative<RunCheckpoint>(event->body)) {
            return OkStatus();
          }
          hash->HashNames(&*event);
        }
        return file->Add(FromMicros(response.now_us()), std::move(*event));
      });
}

// The write-ahead log went back into the file: it is to be sent as one.
bool LogIsFolded(const std::string& path) {
  std::error_code error;
  return !std::filesystem::exists(path + "-wal", error);
}

// `hash`: null for names as they are.
Status WriteExport(QueryClient& client, const v1::RunDetail& detail,
                   const RunKey& run, const NameHash* hash,
                   const RunKey& written, ExportFile* file) {
  if (Status s = AddEvents(client, run, hash, file); !s) return s;
  for (const v1::Incident& message : detail.incidents()) {
    Incident incident = FromMessage(message);
    if (incident.state == AlertState::kPending) continue;
    if (hash != nullptr) hash->HashNames(written, &incident);
    file->Add(written, incident);
  }
  return file->Finish();
}

}  // namespace

int ExportRun(QueryClient& client, const ExportOptions& options) {
  if (options.output == "-") {
    return Fail("an export is a database, which no pipe can take: name a file",
                kExitUsage);
  }
  if (options.output.empty()) {
    return Fail("--output is empty: name a file", kExitUsage);
  }
  if (std::filesystem::exists(options.output)) {
    return Fail(options.output + " exists already: name another file");
  }
  const Result<v1::RunDetail> detail =
      client.GetRun(options.run.run_id, options.run.attempt);
  if (!detail.ok()) return Fail(detail.error());
  const RunKey run{detail->summary().run_id(), detail->summary().attempt()};
  std::optional<NameHash> hash;
  if (options.hash_names) {
    std::random_device random;
    hash.emplace(uint64_t{random()} << 32 | random());
  }
  Result<std::unique_ptr<ExportFile>> file = ExportFile::Create(options.output);
  if (!file.ok()) return Fail(file.error());
  RunKey written = run;
  if (hash) written.run_id = hash->Hash(run.run_id);
  const Status status = WriteExport(
      client, *detail, run, hash ? &*hash : nullptr, written, file->get());
  file->reset();
  if (!status.ok()) {
    Remove(options.output);
    return Fail(status.error());
  }
  if (!LogIsFolded(options.output)) {
    Remove(options.output);
    return Fail(options.output + ": its write-ahead log was not folded in");
  }
  std::printf("%s: attempt %d of %s%s\n", options.output.c_str(), run.attempt,
              written.run_id.c_str(), hash ? ", names hashed" : "");
  return 0;
}

}  // namespace nanwatch
