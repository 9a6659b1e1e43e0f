#include "cli/recording.h"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/file.h"
#include "cli/check_log.h"
#include "config/addresses.h"
#include "detect/all_rules.h"
#include "history/reader.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

using Take = std::function<void(Time now, const Event& event)>;

constexpr std::string_view kDatabase = "SQLite format 3";
// A list of more is no help.
constexpr size_t kRunsNamed = 8;

Result<RecordingNote> RecordLog(const std::string& path, CheckOptions options,
                                const Take& take) {
  options.on_event = take;
  // Changed rules are compared with the defaults.
  options.rules = DefaultRules();
  const CheckedLog log = CheckLog(path, options);
  if (log.verdict.records == 0) {
    return Error{log.error.empty() ? fmt::format("{}: nothing to judge: {}",
                                                 path, log.nothing)
                                   : log.error};
  }
  return RecordingNote{.is_log = true, .complaint = log.error};
}

Result<std::optional<RunKey>> Choose(const std::string& path,
                                     const RecordingChoice& only,
                                     HistoryReader* reader) {
  if (only.run.run_id.empty() && !only.one) return std::optional<RunKey>();
  const Result<std::vector<RunRow>> rows = reader->Runs();
  if (!rows.ok()) return Error{WhyUnreadable(path, rows.error())};
  std::set<std::string> names;
  for (const RunRow& row : *rows) names.insert(row.key.run_id);
  std::string wanted = only.run.run_id;
  if (wanted.empty() && names.size() == 1) wanted = *names.begin();
  const RunRow* row = FindRun(*rows, wanted, only.run.attempt);
  if (row != nullptr) return std::optional<RunKey>(row->key);
  std::string there;
  size_t named = 0;
  for (const std::string& name : names) {
    if (named++ == kRunsNamed) {
      there += fmt::format(" and {} more", names.size() - kRunsNamed);
      break;
    }
    there += (there.empty() ? "" : ", ") + Clean(name);
  }
  if (names.empty()) return Error{path + ": there is no run in it"};
  if (wanted.empty()) {
    return Error{fmt::format("{} holds several runs: name one with --run ({})",
                             path, there)};
  }
  return Error{fmt::format("{} holds no such attempt of {}; its runs: {}", path,
                           Clean(wanted), there)};
}

Result<RecordingNote> RecordHistory(const std::string& path,
                                    const RecordingChoice& only,
                                    const Take& take) {
  Result<std::unique_ptr<HistoryReader>> reader = HistoryReader::Open(path);
  if (!reader.ok()) return Error{WhyUnreadable(path, reader.error())};
  const Result<std::optional<RunKey>> run = Choose(path, only, reader->get());
  if (!run.ok()) return Error{run.error()};
  const Status status =
      (*reader)->ForEachEvent(0, *run, [&](const StampedEvent& event) {
        take(event.now, event.event);
        return true;
      });
  if (!status.ok()) return Error{WhyUnreadable(path, status.error())};
  RecordingNote note;
  note.complaint = (*reader)->missing();
  if (const uint64_t damaged = (*reader)->damaged_events(); damaged > 0) {
    note.complaint +=
        fmt::format("{}{} damaged events were passed over.",
                    note.complaint.empty() ? "" : " ", Grouped(damaged));
  }
  return note;
}

}  // namespace

std::string WhyUnreadable(const std::string& path, const std::string& error) {
  if (IsDirectory(path)) {
    return path + " is a folder: name the history file in it";
  }
  if (ReadHead(path, kDatabase.size()) != kDatabase) {
    return path +
           " is neither a history of nanwatchd nor a file of `nanwatch "
           "export`: name one of these; for a log there is `nanwatch check`";
  }
  if (error.find(kOfANewerNanwatch) != std::string::npos) return error;
  return error +
         ". Was it cut short? Copy it again, with its -wal beside it, or "
         "export the run again";
}

Result<RecordingNote> ReadDaemonsRun(
    const std::string& address, const RunChoice& run,
    const std::function<void(const Event& event)>& take) {
  QueryClient client(address.empty() ? FindDaemon() : address);
  const Result<v1::RunDetail> detail = client.GetRun(run.run_id, run.attempt);
  if (!detail.ok()) {
    return Error{fmt::format("{} is no file, and as a run: {}",
                             Clean(run.run_id), detail.error())};
  }
  v1::ExportRunRequest request;
  request.set_run_id(detail->summary().run_id());
  request.set_attempt(detail->summary().attempt());
  const Status read = client.ExportRun(
      request, [&take](const v1::ExportRunResponse& response) -> Status {
        const Result<Event> event = DecodeEvent(response.event());
        if (!event.ok()) return Error{event.error()};
        take(*event);
        return OkStatus();
      });
  if (!read.ok()) return Error{read.error()};
  return RecordingNote{};
}

Result<RecordingNote> ReadRecording(const std::string& path,
                                    const CheckOptions& log,
                                    const RecordingChoice& only,
                                    const Take& take) {
  if (path != "-" && ReadHead(path, kDatabase.size()) == kDatabase) {
    return RecordHistory(path, only, take);
  }
  return RecordLog(path, log, take);
}

}  // namespace nanwatch
