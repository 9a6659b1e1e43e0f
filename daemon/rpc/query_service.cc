#include "rpc/query_service.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "model/limits.h"
#include "rpc/ended_runs.h"
#include "rpc/view_messages.h"
#include "wire/event_codec.h"

namespace nanwatch {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;

constexpr uint32_t kWatchIntervalMs = 200;
constexpr uint32_t kShortestWatchIntervalMs = 50;
constexpr uint32_t kLongestWatchIntervalMs = 60000;
constexpr uint32_t kPoints = 1000;
// How soon the place of a watcher who went is another's.
constexpr milliseconds kLook{100};

std::string NoSuchRun(const std::string& run_id,
                      std::optional<int32_t> attempt) {
  const std::string which =
      attempt ? fmt::format("attempt {} of run {}", *attempt, run_id)
              : fmt::format("run {}", run_id);
  return fmt::format(
      "there is no {}: `nanwatch runs` lists those that are "
      "there",
      which);
}

grpc::Status Taken(std::string_view what, int places) {
  return {StatusCode::RESOURCE_EXHAUSTED,
          fmt::format("{} callers {} already: come again later", places, what)};
}

grpc::Status Missing(const std::string& message) {
  return {StatusCode::NOT_FOUND, message};
}

}  // namespace

QueryServiceImpl::QueryServiceImpl(QueryBackend backend, Callers& callers,
                                   Users& users, RpcStats& stats)
    : backend_(std::move(backend)),
      callers_(callers),
      users_(users),
      stats_(stats) {}

void QueryServiceImpl::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
}

bool QueryServiceImpl::stopped() {
  MutexLock lock(mutex_);
  return stopped_;
}

bool QueryServiceImpl::WaitFor(const grpc::ServerContext& context,
                               Duration wait)
    NANWATCH_TS(no_thread_safety_analysis) {
  const auto end = std::chrono::steady_clock::now() + wait;
  std::unique_lock<std::mutex> lock(mutex_.native());
  while (!stopped_ && std::chrono::steady_clock::now() < end) {
    // gRPC wakes nobody when a caller goes.
    const auto look = std::chrono::steady_clock::now() + kLook;
    stopping_.wait_until(lock, std::min(look, end));
    if (context.IsCancelled()) break;
  }
  return !stopped_;
}

grpc::Status QueryServiceImpl::CheckReader(std::string_view run_id,
                                           std::string_view owner,
                                           const Identity& who) const {
  const Caller caller = callers_.Of(who);
  if (callers_.MayRead(owner, caller)) return grpc::Status::OK;
  return Deny(run_id, owner, caller);
}

grpc::Status QueryServiceImpl::Deny(std::string_view run_id,
                                    std::string_view owner,
                                    const Caller& caller) const {
  std::string why = WhyNotChange(run_id, owner, caller);
  Audit(caller, why, run_id, owner);
  return {StatusCode::PERMISSION_DENIED, std::move(why)};
}

void QueryServiceImpl::Audit(const Caller& caller, std::string why,
                             std::string_view run_id,
                             std::string_view owner) const {
  if (!backend_.audit) return;
  AuditEntry entry = EntryOf(AuditKind::kRefusal, caller);
  entry.run_id = run_id;
  entry.owner = owner;
  entry.what = std::move(why);
  backend_.audit(std::move(entry));
}

grpc::Status QueryServiceImpl::ListRuns(grpc::ServerContext* context,
                                        const v1::ListRunsRequest*,
                                        v1::ListRunsResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  const std::shared_ptr<const Snapshot> snapshot = backend_.snapshot();
  snapshot->runs.ForEach(
      [&](const RunView& run) { WriteSummary(run, response->add_runs()); });
  if (const auto reader = OpenHistory(); reader.ok()) {
    // What is there now is worth showing without what has been.
    const Status listed = AppendEndedRuns(**reader, *snapshot, response);
    if (!listed) LogWarning("ended runs are not listed", listed.error());
  }
  const Caller caller = callers_.Of(asked.who);
  auto* runs = response->mutable_runs();
  runs->erase(std::remove_if(runs->begin(), runs->end(),
                             [&](const v1::RunSummary& run) {
                               return !callers_.MayRead(run.owner(), caller);
                             }),
              runs->end());
  response->set_daemon(backend_.daemon);
  response->set_now_us(ToMicros(backend_.clock->Now()));
  return grpc::Status::OK;
}

Result<std::shared_ptr<const RunView>> QueryServiceImpl::Find(
    const std::string& run_id, std::optional<int32_t> attempt) const {
  if (auto run = backend_.snapshot()->Find(run_id, attempt)) return run;
  if (backend_.past_run) {
    auto past = backend_.past_run(run_id, attempt);
    if (!past || *past != nullptr) return past;
  }
  return Error{NoSuchRun(run_id, attempt)};
}

grpc::Status QueryServiceImpl::GetRun(grpc::ServerContext* context,
                                      const v1::GetRunRequest* request,
                                      v1::GetRunResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  const auto run = Find(request->run_id(), AttemptOf(*request));
  if (!run) return Missing(run.error());
  if (grpc::Status may =
          CheckReader(request->run_id(), (*run)->description.owner, asked.who);
      !may.ok()) {
    return may;
  }
  WriteDetail(**run, backend_.rule_name, response->mutable_run());
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::WatchRun(
    grpc::ServerContext* context, const v1::WatchRunRequest* request,
    grpc::ServerWriter<v1::WatchRunResponse>* writer) {
  Asked asked(*this, *context, Query::kWatch);
  if (!asked.in.ok()) return asked.in;
  const Places::Taken place(watching_);
  if (!place) return Taken("watch runs", limits::kWatchers);
  const uint32_t wanted = request->interval_ms();
  const milliseconds interval(wanted == 0
                                  ? kWatchIntervalMs
                                  : std::clamp(wanted, kShortestWatchIntervalMs,
                                               kLongestWatchIntervalMs));
  const auto first = Find(request->run_id(), AttemptOf(*request));
  if (!first) return Missing(first.error());
  const auto may = [&](const RunView& run) {
    return CheckReader(request->run_id(), run.description.owner, asked.who);
  };
  if (grpc::Status checked = may(**first); !checked.ok()) return checked;
  v1::WatchRunResponse response;
  WriteDetail(**first, backend_.rule_name, response.mutable_run());
  if (!writer->Write(response)) return grpc::Status::CANCELLED;
  std::shared_ptr<const RunView> shown = *first;
  while (!context->IsCancelled()) {
    auto run =
        backend_.snapshot()->Find(request->run_id(), AttemptOf(*request));
    if (run == nullptr) return grpc::Status::OK;  // ended, and gone from view
    if (!callers_.StillIn(context->peer(), &asked.who)) {
      return {StatusCode::UNAUTHENTICATED, asked.who.refused};
    }
    // Another attempt may be the newest by now.
    if (grpc::Status checked = may(*run); !checked.ok()) return checked;
    if (run != shown) {
      response.Clear();
      WriteDetail(*run, backend_.rule_name, response.mutable_run());
      if (!writer->Write(response)) break;
      shown = std::move(run);
    }
    if (shown->ended) return grpc::Status::OK;
    if (!WaitFor(*context, interval)) {
      return {StatusCode::UNAVAILABLE, "nanwatchd is shutting down"};
    }
  }
  return grpc::Status::CANCELLED;
}

Result<std::unique_ptr<HistoryReader>> QueryServiceImpl::OpenHistory() const {
  if (backend_.history_path.empty()) {
    return Error{
        "this daemon keeps no history: set history.enabled: true in its "
        "configuration, and start it without --history off"};
  }
  return HistoryReader::Open(backend_.history_path);
}

Result<QueryServiceImpl::Known> QueryServiceImpl::FindKnown(
    const std::string& run_id, std::optional<int32_t> attempt,
    HistoryReader& reader) const {
  const auto shown = backend_.snapshot()->Find(run_id, attempt);
  if (shown != nullptr) return Known{shown->key, shown->description.owner};
  Result<std::vector<RunRow>> rows = reader.Runs();
  if (!rows) return Error{rows.error()};
  const RunRow* newest = FindRun(*rows, run_id, attempt);
  if (newest == nullptr) return Error{NoSuchRun(run_id, attempt)};
  return Known{newest->key, newest->description.owner};
}

grpc::Status QueryServiceImpl::FindReadable(const std::string& run_id,
                                            std::optional<int32_t> attempt,
                                            const Identity& who,
                                            HistoryReader& reader,
                                            RunKey* run) const {
  const Result<Known> known = FindKnown(run_id, attempt, reader);
  if (!known) return Missing(known.error());
  *run = known->key;
  return CheckReader(run_id, known->owner, who);
}

grpc::Status QueryServiceImpl::GetSteps(grpc::ServerContext* context,
                                        const v1::GetStepsRequest* request,
                                        v1::GetStepsResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  auto reader = OpenHistory();
  if (!reader) return {StatusCode::FAILED_PRECONDITION, reader.error()};
  RunKey run;
  if (grpc::Status may = FindReadable(request->run_id(), AttemptOf(*request),
                                      asked.who, **reader, &run);
      !may.ok()) {
    return may;
  }
  StepQuery query;
  query.run = run;
  query.rank = request->rank();
  if (request->has_from()) query.from = request->from();
  if (request->has_to()) query.to = request->to();
  query.points = static_cast<int>(
      std::min<uint32_t>(request->points() == 0 ? kPoints : request->points(),
                         limits::kPointsPerQuery));
  const Result<std::vector<StepBucket>> buckets = (*reader)->Steps(query);
  if (!buckets) return {StatusCode::INTERNAL, buckets.error()};
  WriteBuckets(*buckets, response);
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::GetLayers(grpc::ServerContext* context,
                                         const v1::GetLayersRequest* request,
                                         v1::GetLayersResponse* response) {
  const Asked asked(*this, *context, Query::kCall);
  if (!asked.in.ok()) return asked.in;
  if (request->scales()) return GetLayerScales(*request, asked.who, response);
  auto reader = OpenHistory();
  if (!reader) return {StatusCode::FAILED_PRECONDITION, reader.error()};
  RunKey run;
  if (grpc::Status may = FindReadable(request->run_id(), AttemptOf(*request),
                                      asked.who, **reader, &run);
      !may.ok()) {
    return may;
  }
  OpQuery query;
  query.run = run;
  query.rank = request->rank();
  query.rows = limits::kPointsPerQuery;
  const Result<OpRows> found = (*reader)->Ops(query);
  if (!found) return {StatusCode::INTERNAL, found.error()};
  WriteLayers(found->rows, response);
  response->set_cut(found->rows.size() >= limits::kPointsPerQuery);
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::GetLayerScales(
    const v1::GetLayersRequest& request, const Identity& who,
    v1::GetLayersResponse* response) {
  const auto run = Find(request.run_id(), AttemptOf(request));
  if (!run) return Missing(run.error());
  if (grpc::Status may =
          CheckReader(request.run_id(), (*run)->description.owner, who);
      !may.ok()) {
    return may;
  }
  if ((*run)->layer_ranges != nullptr) {
    WriteLayerScales(*(*run)->layer_ranges, response);
  }
  return grpc::Status::OK;
}

grpc::Status QueryServiceImpl::ExportRun(
    grpc::ServerContext* context, const v1::ExportRunRequest* request,
    grpc::ServerWriter<v1::ExportRunResponse>* writer) {
  const Asked asked(*this, *context, Query::kExport);
  if (!asked.in.ok()) return asked.in;
  const Places::Taken place(exporting_);
  if (!place) return Taken("export runs", limits::kExports);
  auto reader = OpenHistory();
  if (!reader) return {StatusCode::FAILED_PRECONDITION, reader.error()};
  RunKey run;
  if (grpc::Status may = FindReadable(request->run_id(), AttemptOf(*request),
                                      asked.who, **reader, &run);
      !may.ok()) {
    return may;
  }
  // It may have been found in the snapshot.
  if (backend_.wait_until_stored) backend_.wait_until_stored();
  const Status done =
      (*reader)->ForEachEvent(0, run, [&](const StampedEvent& stamped) {
        v1::ExportRunResponse response;
        response.set_id(stamped.id);
        response.set_now_us(ToMicros(stamped.now));
        EncodeEvent(stamped.event, response.mutable_event());
        return writer->Write(response) && !stopped();
      });
  if (!done) return {StatusCode::DATA_LOSS, done.error()};
  if (context->IsCancelled()) return grpc::Status::CANCELLED;
  if (stopped()) {
    return {StatusCode::UNAVAILABLE, "nanwatchd is shutting down"};
  }
  return grpc::Status::OK;
}

std::string QueryServiceImpl::WhyNotToldTo(
    const std::string& run_id, std::optional<int32_t> attempt) const {
  const auto reader = OpenHistory();
  if (!reader) return NoSuchRun(run_id, attempt);
  const Result<Known> run = FindKnown(run_id, attempt, **reader);
  if (!run) return run.error();
  return fmt::format(
      "run {} attempt {} has ended: nothing can be said to it any more",
      run->key.run_id, run->key.attempt);
}

}  // namespace nanwatch
