#include "web/api.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/limits.h"
#include "web/json_incident.h"
#include "web/json_run.h"
#include "web/json_step.h"

namespace nanwatch {
namespace {

constexpr int64_t kPointsDefault = 1000;

HttpReply JsonReply(const Json& json, std::string_view handler) {
  HttpReply reply;
  reply.content_type = kJsonType;
  reply.body = Dump(json);
  if (reply.body.size() > limits::kHttpReplyBytes) {
    reply = ErrorReply(413,
                       "The answer has " + std::to_string(reply.body.size()) +
                           " bytes, more than " +
                           std::to_string(limits::kHttpReplyBytes) + ".",
                       "", "Ask for fewer points or a smaller range of steps.");
  }
  reply.handler = handler;
  return reply;
}

HttpReply BadParameter(const std::string& sentence) {
  return ErrorReply(400, sentence, "query",
                    "Correct the parameter; API.md lists them.");
}

HttpReply NoSuchRun(const std::string& run) {
  return ErrorReply(404, "There is no such run or attempt.", run,
                    "GET /api/v1/runs lists the runs; in a path, a slash "
                    "inside a run id is written %2F.");
}

// What a path under /runs/RUN asks for.
struct RunPath {
  std::string run_id;
  std::optional<int32_t> attempt;
  std::string what;  // "", "steps", "ops", "incidents"
};

// path: RUN [attempts N] [what].
std::optional<RunPath> ParseRunPath(const std::vector<std::string>& path) {
  RunPath parsed{path[0], std::nullopt, ""};
  size_t next = 1;
  if (path.size() > next + 1 && path[next] == "attempts") {
    const std::string& text = path[next + 1];
    const char* end = text.data() + text.size();
    int32_t attempt = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, attempt);
    if (error != std::errc() || stop != end || attempt < 0) {
      return std::nullopt;
    }
    parsed.attempt = attempt;
    next += 2;
  }
  if (next < path.size()) parsed.what = path[next++];
  static const std::set<std::string> kKnown = {"", "steps", "ops", "incidents"};
  if (next != path.size() || kKnown.count(parsed.what) == 0) {
    return std::nullopt;
  }
  return parsed;
}

// One request about one run.
class RunRequest {
 public:
  RunRequest(const WebBackend& backend, RunPath path, Query query)
      : backend_(backend), path_(std::move(path)), query_(std::move(query)) {}

  HttpReply Answer() {
    if (!query_.Untaken().empty() && path_.what.empty()) {
      return BadParameter("The parameter " + query_.Untaken() +
                          " is not known here.");
    }
    view_ = backend_.snapshot()->Find(path_.run_id, path_.attempt);
    if (path_.what.empty()) return Detail();
    if (auto refused = TakeParameters()) return *refused;
    if (path_.what == "incidents") return Incidents();
    return path_.what == "steps" ? Steps() : Ops();
  }

 private:
  std::optional<HttpReply> TakeParameters() {
    const auto take = [&](const char* name, int64_t fallback, int64_t min,
                          int64_t max, int64_t* value) {
      if (!problem_.empty()) return;
      const Result<int64_t> taken = query_.Take(name, fallback, min, max);
      if (taken.ok()) {
        *value = *taken;
      } else {
        problem_ = taken.error();
      }
    };
    int64_t any_rank = -1;
    if (path_.what == "incidents") {
      take("rank", -1, -1, limits::kWorldSizeMax, &any_rank);
    } else {
      take("rank", 0, 0, limits::kWorldSizeMax, &any_rank);
    }
    rank_ = static_cast<int32_t>(any_rank);
    take("from", INT64_MIN, INT64_MIN, INT64_MAX, &from_);
    take("to", INT64_MAX, INT64_MIN, INT64_MAX, &to_);
    take("points", kPointsDefault, 1, limits::kPointsPerQuery, &points_);
    if (problem_.empty() && !query_.Untaken().empty()) {
      problem_ = "The parameter " + query_.Untaken() + " is not known here.";
    }
    if (problem_.empty() && from_ > to_) problem_ = "from is above to.";
    if (problem_.empty()) return std::nullopt;
    return BadParameter(problem_);
  }

  HttpReply Detail() const {
    if (view_) {
      return JsonReply(RunDetailJson(*view_, backend_.rule_name), "run");
    }
    const auto history = OpenHistory();
    if (!history.ok()) return NoSuchRun(path_.run_id);
    const std::optional<RunRow> row = FindRow(**history);
    if (!row) return NoSuchRun(path_.run_id);
    return JsonReply(RunRowJson(*row), "run");
  }

  HttpReply Incidents() const {
    Json list = Json::array();
    std::optional<RunKey> key;
    const auto add = [&](const Incident& incident) {
      if (incident.opened_step < from_ || incident.opened_step > to_) return;
      if (rank_ >= 0 && incident.subject.rank != rank_) return;
      if (list.size() >= static_cast<size_t>(points_)) return;
      list.push_back(IncidentJson(incident, backend_.rule_name));
    };
    if (view_) {
      key = view_->key;
      for (const Incident& incident : view_->incidents) add(incident);
    } else {
      const auto history = OpenHistory();
      if (!history.ok()) return NoSuchRun(path_.run_id);
      const std::optional<RunRow> row = FindRow(**history);
      if (!row) return NoSuchRun(path_.run_id);
      key = row->key;
      const auto sent = (*history)->Sent();
      if (!sent.ok()) return HistoryFailed(sent.error());
      for (const auto& [run, incident] : *sent) {
        if (run == *key) add(incident);
      }
    }
    Json json = Head(*key, "incidents");
    json["incidents"] = std::move(list);
    return JsonReply(json, "incidents");
  }

  HttpReply Steps() const {
    return FromHistory(
        "steps",
        [&](HistoryReader& history, const RunKey& run, Json* json) -> Status {
          const StepQuery query{run, rank_, from_, to_,
                                static_cast<int>(points_)};
          const auto buckets = history.Steps(query);
          if (!buckets.ok()) return Error{buckets.error()};
          Json& list = (*json)["buckets"] = Json::array();
          for (const StepBucket& bucket : *buckets) {
            list.push_back(BucketJson(bucket));
          }
          return OkStatus();
        });
  }

  HttpReply Ops() const {
    return FromHistory(
        "ops",
        [&](HistoryReader& history, const RunKey& run, Json* json) -> Status {
          const OpQuery query{run, rank_, from_, to_,
                              static_cast<int>(points_)};
          const auto rows = history.Ops(query);
          if (!rows.ok()) return Error{rows.error()};
          Json& list = (*json)["statuses"] = Json::array();
          for (const OpRow& row : *rows) list.push_back(OpRowJson(row));
          return OkStatus();
        });
  }

  template <typename Fill>
  HttpReply FromHistory(std::string_view handler, Fill&& fill) const {
    if (!backend_.open_history) {
      return ErrorReply(503, "The history is off: steps are not kept.",
                        path_.run_id, "Set history.path in the configuration.");
    }
    const auto history = OpenHistory();
    if (!history.ok()) return HistoryFailed(history.error());
    std::optional<RunKey> key;
    if (view_) {
      key = view_->key;
    } else if (const auto row = FindRow(**history)) {
      key = row->key;
    }
    if (!key) return NoSuchRun(path_.run_id);
    Json json = Head(*key, handler);
    const Status filled = fill(**history, *key, &json);
    if (!filled.ok()) return HistoryFailed(filled.error());
    return JsonReply(json, handler);
  }

  Result<std::unique_ptr<HistoryReader>> OpenHistory() const {
    if (!backend_.open_history) return Error{"The history is off."};
    return backend_.open_history();
  }

  HttpReply HistoryFailed(const std::string& why) const {
    return ErrorReply(503, "The history cannot be read: " + why, path_.run_id,
                      "Try again; the daemon's log says more.");
  }

  // The attempt asked for, else the newest.
  std::optional<RunRow> FindRow(HistoryReader& history) const {
    const auto rows = history.Runs();
    std::optional<RunRow> found;
    if (!rows.ok()) return found;
    for (const RunRow& row : *rows) {
      if (row.key.run_id != path_.run_id) continue;
      if (path_.attempt ? row.key.attempt == *path_.attempt
                        : !found || row.key.attempt > found->key.attempt) {
        found = row;
      }
    }
    return found;
  }

  Json Head(const RunKey& run, std::string_view what) const {
    Json json = {{"run_id", run.run_id}, {"attempt", run.attempt}};
    if (what != "incidents") json["rank"] = rank_;
    return json;
  }

  const WebBackend& backend_;
  const RunPath path_;
  Query query_;
  std::string problem_;
  std::shared_ptr<const RunView> view_;  // null: not in the snapshot
  int32_t rank_ = 0;
  int64_t from_ = INT64_MIN;
  int64_t to_ = INT64_MAX;
  int64_t points_ = kPointsDefault;
};

HttpReply ListRuns(const WebBackend& backend, Query query) {
  const Result<int64_t> ended = query.Take("ended", 0, 0, 1);
  if (!ended.ok()) return BadParameter(ended.error());
  const Result<int64_t> limit =
      query.Take("limit", limits::kRuns, 1, limits::kRuns);
  if (!limit.ok()) return BadParameter(limit.error());
  if (!query.Untaken().empty()) {
    return BadParameter("The parameter " + query.Untaken() +
                        " is not known here.");
  }
  const auto most = static_cast<size_t>(*limit);
  const auto snapshot = backend.snapshot();
  std::set<RunKey> shown;
  Json runs = Json::array();
  snapshot->runs.ForEach([&](const RunView& run) {
    if (runs.size() >= most) return;
    if (*ended == 1) shown.insert(run.key);
    runs.push_back(RunSummaryJson(run));
  });
  if (*ended == 1 && backend.open_history) {
    const auto history = backend.open_history();
    if (!history.ok()) {
      return ErrorReply(503, "The history cannot be read: " + history.error(),
                        "history", "Ask without ended=1.");
    }
    const auto rows = (*history)->Runs();
    if (rows.ok()) {
      for (const RunRow& row : *rows) {
        if (runs.size() >= most || shown.count(row.key) > 0) continue;
        runs.push_back(RunRowJson(row));
      }
    }
  }
  return JsonReply({{"time", JsonTime(snapshot->time)}, {"runs", runs}},
                   "runs");
}

HttpReply StatusPage(const WebBackend& backend) {
  const auto snapshot = backend.snapshot();
  const std::string reason = backend.not_ready();
  size_t runs = 0;
  size_t sick = 0;
  snapshot->runs.ForEach([&](const RunView& run) {
    ++runs;
    sick += run.severity >= Severity::kWarning;
  });
  Json json = {{"version", backend.version},
               {"ready", reason.empty()},
               {"reason", reason},
               {"now", JsonTime(backend.now())},
               {"snapshot_time", JsonTime(snapshot->time)},
               {"snapshot_event_id", snapshot->event_id},
               {"history", static_cast<bool>(backend.open_history)},
               {"runs", runs},
               {"runs_in_trouble", sick}};
  Json& figures = json["figures"] = Json::array();
  for (const SelfSample& sample : backend.self_samples()) {
    Json labels = Json::object();
    for (const auto& [name, value] : sample.labels) labels[name] = value;
    figures.push_back({{"name", sample.name},
                       {"labels", labels},
                       {"value", JsonNumber(sample.value)}});
  }
  return JsonReply(json, "status");
}

}  // namespace

HttpReply Api::Answer(const std::vector<std::string>& path, Query query) const {
  if (path.size() == 1 && path[0] == "status") return StatusPage(backend_);
  if (!path.empty() && path[0] == "runs") {
    if (path.size() == 1) return ListRuns(backend_, std::move(query));
    auto parsed = ParseRunPath({path.begin() + 1, path.end()});
    if (parsed) {
      return RunRequest(backend_, std::move(*parsed), std::move(query))
          .Answer();
    }
  }
  return ErrorReply(404, "There is nothing under this path.", "path",
                    "API.md lists the paths; in a path, a slash inside a run "
                    "id is written %2F.");
}

}  // namespace nanwatch
