#include "web/api.h"

#include <set>
#include <utility>

#include "history/worst_sent.h"
#include "json/run.h"
#include "model/limits.h"
#include "web/annotation_request.h"
#include "web/json_history.h"
#include "web/json_reply.h"
#include "web/run_request.h"

namespace nanwatch {
namespace {

HttpReply ListRuns(const WebBackend& backend, Query query, const Caller& who) {
  const Result<int64_t> ended = query.Take("ended", 0, 0, 1);
  if (!ended.ok()) return BadParameter(ended.error());
  const Result<int64_t> limit =
      query.Take("limit", limits::kRuns, 1, limits::kRuns);
  if (!limit.ok()) return BadParameter(limit.error());
  if (!query.Untaken().empty()) {
    return UnknownParameter(query.Untaken());
  }
  const auto most = static_cast<size_t>(*limit);
  const auto snapshot = backend.snapshot();
  std::set<RunKey> shown;
  Json runs = Json::array();
  snapshot->runs.ForEach([&](const RunView& run) {
    if (runs.size() >= most) return;
    if (!MayRead(backend, run.description.owner, who)) return;
    if (*ended == 1) shown.insert(run.key);
    runs.push_back(RunSummaryJson(run));
  });
  if (*ended == 1 && backend.open_history) {
    const auto history = backend.open_history();
    if (!history.ok()) {
      return HistoryFailed(history.error(), "history");
    }
    const auto rows = (*history)->Runs();
    if (!rows.ok()) return HistoryFailed(rows.error(), "history");
    const auto worst = WorstSent(**history);
    if (!worst.ok()) return HistoryFailed(worst.error(), "history");
    for (const RunRow& row : *rows) {
      if (runs.size() >= most || shown.count(row.key) > 0) continue;
      if (!MayRead(backend, row.description.owner, who)) continue;
      const auto found = worst->find(row.key);
      runs.push_back(RunRowJson(
          row, found == worst->end() ? Severity::kNone : found->second));
    }
  }
  return JsonReply({{"time", JsonTime(snapshot->time)}, {"runs", runs}},
                   "runs");
}

HttpReply StatusPage(const WebBackend& backend, const HttpRequest& request) {
  const auto snapshot = backend.snapshot();
  const std::string reason = backend.not_ready();
  size_t runs = 0;
  size_t sick = 0;
  const Caller& who = CallerOf(backend, request);
  snapshot->runs.ForEach([&](const RunView& run) {
    if (!MayRead(backend, run.description.owner, who)) return;
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
               {"runs_in_trouble", sick},
               {"annotations", MayAnnotate(backend, request)},
               {"user", request.caller ? Json(request.caller->name) : Json()},
               {"insecure", backend.insecure ? backend.insecure() : ""}};
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

// The server sends them; here only what is asked for.
HttpReply Events(Query query, bool sees_all) {
  const Result<int64_t> attempt = query.Take("attempt", -1, 0, INT32_MAX);
  if (!attempt.ok()) return BadParameter(attempt.error());
  HttpReply reply;
  reply.content_type = "text/event-stream";
  reply.handler = "events";
  EventQuery& events = reply.events.emplace();
  events.run_id = query.TakeText("run").value_or("");
  // Nobody learns when another's run has changed.
  if (!sees_all) events.run_id.clear();
  if (*attempt >= 0) events.attempt = static_cast<int32_t>(*attempt);
  if (!query.Untaken().empty()) return UnknownParameter(query.Untaken());
  return reply;
}

}  // namespace

HttpReply Api::Answer(const std::vector<std::string>& path, Query query,
                      const HttpRequest& request) const {
  if (path.size() == 1 && path[0] == "status") {
    if (!query.Untaken().empty()) return UnknownParameter(query.Untaken());
    return StatusPage(backend_, request);
  }
  if (path.size() == 1 && path[0] == "events") {
    return Events(std::move(query),
                  SeesAll(backend_, CallerOf(backend_, request)));
  }
  if (!path.empty() && path[0] == "runs") {
    if (path.size() == 1) {
      return ListRuns(backend_, std::move(query), CallerOf(backend_, request));
    }
    auto parsed = ParseRunPath({path.begin() + 1, path.end()});
    if (parsed && request.method == "POST") {
      return AnswerAnnotation(backend_, request, parsed->run_id,
                              parsed->attempt);
    }
    if (parsed) {
      return AnswerRun(backend_, std::move(*parsed), std::move(query),
                       CallerOf(backend_, request));
    }
  }
  return ErrorReply(404, "There is nothing under this path.", "path",
                    "API.md lists the paths; in a path, a slash inside a run "
                    "id is written %2F.");
}

}  // namespace nanwatch
