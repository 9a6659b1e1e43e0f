#include "web/run_request.h"

#include <charconv>
#include <set>
#include <utility>

#include "history/worst_sent.h"
#include "json/incident.h"
#include "json/run.h"
#include "model/limits.h"
#include "web/json_history.h"
#include "web/json_reply.h"

namespace nanwatch {
namespace {

constexpr int64_t kPointsDefault = 1000;
// Ranks of one reply: 300 to 900 bytes each.
constexpr int64_t kRanksDefault = 4096;
constexpr int64_t kRanksMost = 8192;

// One request about one run.
class RunRequest {
 public:
  RunRequest(const WebBackend& backend, RunPath path, Query query,
             const Caller& who)
      : backend_(backend),
        path_(std::move(path)),
        query_(std::move(query)),
        who_(who) {}

  HttpReply Answer() {
    view_ = backend_.snapshot()->Find(path_.run_id, path_.attempt);
    if (view_ && !Shown(view_->description)) return NoSuchRun(path_.run_id);
    if (path_.what.empty()) {
      const Result<int64_t> ranks =
          query_.Take("ranks", kRanksDefault, 0, kRanksMost);
      if (!ranks.ok()) return BadParameter(ranks.error());
      if (!query_.Untaken().empty()) {
        return UnknownParameter(query_.Untaken());
      }
      return Detail(static_cast<size_t>(*ranks));
    }
    if (path_.what == "layers") return Layers();
    if (path_.what == "benchmark") return BenchmarkLosses();
    if (path_.what == "compare") return Compared();
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
    if (path_.what == "ops") take("bad", 0, 0, 1, &bad_only_);
    if (problem_.empty() && !query_.Untaken().empty()) {
      problem_ = "The parameter " + query_.Untaken() + " is not known here.";
    }
    if (problem_.empty() && from_ > to_) problem_ = "from is above to.";
    if (problem_.empty()) return std::nullopt;
    return BadParameter(problem_);
  }

  HttpReply DetailOf(const RunView& run, size_t ranks) const {
    Json json = RunDetailJson(run, backend_.rule_name, ranks);
    json["annotations"] = MayChange(run.description.owner, who_);
    return JsonReply(json, "run");
  }

  HttpReply Detail(size_t ranks) const {
    if (view_) return DetailOf(*view_, ranks);
    if (const auto past = PastRun()) return DetailOf(*past, ranks);
    // Too long to be judged again, say: what history has of it at hand.
    const auto history = OpenHistory();
    if (!history.ok()) return NoSuchRun(path_.run_id);
    const std::optional<RunRow> row = FindRow(**history);
    if (!row) return NoSuchRun(path_.run_id);
    const auto worst = WorstSent(**history);
    if (!worst.ok()) return HistoryFailed(worst.error(), path_.run_id);
    const auto found = worst->find(row->key);
    return JsonReply(RunRowJson(*row, found == worst->end() ? Severity::kNone
                                                            : found->second),
                     "run");
  }

  HttpReply Layers() {
    if (!query_.Untaken().empty()) return UnknownParameter(query_.Untaken());
    const std::shared_ptr<const RunView> view = view_ ? view_ : PastRun();
    if (view == nullptr) return NoSuchRun(path_.run_id);
    Json json = {{"run_id", view->key.run_id}, {"attempt", view->key.attempt}};
    json.update(LayerRangesJson(view->layer_ranges != nullptr
                                    ? *view->layer_ranges
                                    : LayerRangesView{}));
    return JsonReply(json, "layers");
  }

  HttpReply BenchmarkLosses() {
    if (!query_.Untaken().empty()) return UnknownParameter(query_.Untaken());
    const std::shared_ptr<const RunView> view = view_ ? view_ : PastRun();
    if (view == nullptr) return NoSuchRun(path_.run_id);
    Json json = {{"run_id", view->key.run_id}, {"attempt", view->key.attempt}};
    Json& points = json["points"] = Json::array();
    json["reference"] = nullptr;
    if (view->bench != nullptr) {
      json["reference"] = view->bench->reference;
      for (const BenchmarkPoint& point : view->bench->points) {
        points.push_back({point.step, JsonNumber(point.loss)});
      }
    }
    return JsonReply(json, "benchmark");
  }

  // Beside the run that `with` names.
  HttpReply Compared() {
    const Result<int64_t> attempt =
        query_.Take("with_attempt", -1, 0, INT32_MAX);
    if (!attempt.ok()) return BadParameter(attempt.error());
    const std::optional<std::string> with = query_.TakeText("with");
    if (!query_.Untaken().empty()) return UnknownParameter(query_.Untaken());
    if (!with || with->empty()) {
      return BadParameter("The parameter with names no run.");
    }
    if (!backend_.compare) return HistoryIsOff();
    const auto history = OpenHistory();
    if (!history.ok()) return HistoryFailed(history.error(), path_.run_id);
    RunPath path{*with, std::nullopt, ""};
    if (*attempt >= 0) path.attempt = static_cast<int32_t>(*attempt);
    const RunRequest other(backend_, std::move(path), {}, who_);
    const std::optional<RunKey> a = other.FindKey(**history);
    if (!a) return NoSuchRun(*with);
    const std::optional<RunKey> b = FindKey(**history);
    if (!b) return NoSuchRun(path_.run_id);
    ComparisonReply reply = backend_.compare(*a, *b);
    if (reply.status == 200) {
      return WrittenReply(std::move(reply.json), "compare");
    }
    return ErrorReply(reply.status, reply.what, path_.run_id, reply.todo);
  }

  HttpReply HistoryIsOff() const {
    return ErrorReply(503, "The history is off: steps are not kept.",
                      path_.run_id,
                      "Set history.enabled: true in the configuration, and "
                      "start nanwatchd without --history off.");
  }

  // Of a run that he may see; nullopt: there is none.
  std::optional<RunKey> FindKey(HistoryReader& history) const {
    const auto view = backend_.snapshot()->Find(path_.run_id, path_.attempt);
    if (view && Shown(view->description)) return view->key;
    const auto row = view ? std::nullopt : FindRow(history);
    return row ? std::optional(row->key) : std::nullopt;
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
    std::shared_ptr<const RunView> view = view_;
    if (view == nullptr) view = PastRun();
    if (view != nullptr) {
      key = view->key;
      for (const Incident& incident : view->incidents) add(incident);
    } else {
      // What cannot be judged again is shown as it was last reported.
      const auto history = OpenHistory();
      if (!history.ok()) return NoSuchRun(path_.run_id);
      const std::optional<RunRow> row = FindRow(**history);
      if (!row) return NoSuchRun(path_.run_id);
      key = row->key;
      const auto sent = (*history)->Sent();
      if (!sent.ok()) return HistoryFailed(sent.error(), path_.run_id);
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
          const OpQuery query{
              run,           rank_, from_, to_, static_cast<int>(points_),
              bad_only_ != 0};
          const auto found = history.Ops(query);
          if (!found.ok()) return Error{found.error()};
          if (found->from) (*json)["from"] = *found->from;
          Json& list = (*json)["statuses"] = Json::array();
          for (const OpRow& row : found->rows) list.push_back(OpRowJson(row));
          return OkStatus();
        });
  }

  template <typename Fill>
  HttpReply FromHistory(std::string_view handler, Fill&& fill) const {
    if (!backend_.open_history) return HistoryIsOff();
    const auto history = OpenHistory();
    if (!history.ok()) return HistoryFailed(history.error(), path_.run_id);
    const std::optional<RunKey> key = FindKey(**history);
    if (!key) return NoSuchRun(path_.run_id);
    Json json = Head(*key, handler);
    const Status filled = fill(**history, *key, &json);
    if (!filled.ok()) return HistoryFailed(filled.error(), path_.run_id);
    return JsonReply(json, handler);
  }

  Result<std::unique_ptr<HistoryReader>> OpenHistory() const {
    if (!backend_.open_history) return Error{"The history is off."};
    return backend_.open_history();
  }

  // The attempt asked for, else the newest.
  std::optional<RunRow> FindRow(HistoryReader& history) const {
    const auto rows = history.Runs();
    if (!rows.ok()) return std::nullopt;
    const RunRow* row = FindRun(*rows, path_.run_id, path_.attempt);
    if (row == nullptr || !Shown(row->description)) return std::nullopt;
    return *row;
  }

  bool Shown(const RunDescription& run) const {
    return MayRead(backend_, run.owner, who_);
  }

  // Null: there is none, or not for him.
  std::shared_ptr<const RunView> PastRun() const {
    if (!backend_.past_run) return nullptr;
    const auto past = backend_.past_run(path_.run_id, path_.attempt);
    if (!past.ok() || *past == nullptr) return nullptr;
    return Shown((*past)->description) ? *past : nullptr;
  }

  Json Head(const RunKey& run, std::string_view what) const {
    Json json = {{"run_id", run.run_id}, {"attempt", run.attempt}};
    if (what != "incidents") json["rank"] = rank_;
    return json;
  }

  const WebBackend& backend_;
  const RunPath path_;
  Query query_;
  const Caller& who_;
  std::string problem_;
  std::shared_ptr<const RunView> view_;  // null: not in the snapshot
  int32_t rank_ = 0;
  int64_t from_ = INT64_MIN;
  int64_t to_ = INT64_MAX;
  int64_t points_ = kPointsDefault;
  int64_t bad_only_ = 0;
};

}  // namespace

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
  static const std::set<std::string> kKnown = {
      "",          "steps",   "ops",       "layers",
      "benchmark", "compare", "incidents", "annotations"};
  if (next != path.size() || kKnown.count(parsed.what) == 0) {
    return std::nullopt;
  }
  return parsed;
}

HttpReply AnswerRun(const WebBackend& backend, RunPath path, Query query,
                    const Caller& who) {
  if (path.what == "annotations") {
    return ErrorReply(404, "Annotations are sent here, not read.", path.run_id,
                      "Their effect stands in incidents; API.md has the POST.");
  }
  return RunRequest(backend, std::move(path), std::move(query), who).Answer();
}

}  // namespace nanwatch
