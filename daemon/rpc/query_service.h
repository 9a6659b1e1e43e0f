// QueryServiceImpl: answers what people and programs ask about runs.
//
// On gRPC's synchronous API, on threads of its own: history is read from disk
// and watchers wait, and neither may hold up ingest. RpcServer bounds the
// threads.

#ifndef NANWATCH_RPC_QUERY_SERVICE_H_
#define NANWATCH_RPC_QUERY_SERVICE_H_

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "history/reader.h"
#include "model/limits.h"
#include "nanwatch/v1/query.grpc.pb.h"
#include "rpc/callers.h"
#include "rpc/places.h"
#include "rpc/query_backend.h"
#include "rpc/stats.h"
#include "rpc/users.h"

namespace nanwatch {

class QueryServiceImpl final : public v1::QueryService::Service {
 public:
  // All must outlive this.
  QueryServiceImpl(QueryBackend backend, Callers& callers, Users& users,
                   RpcStats& stats);

  // Watchers and exports end. Any thread.
  void Stop();

  grpc::Status ListRuns(grpc::ServerContext* context,
                        const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;
  grpc::Status GetRun(grpc::ServerContext* context,
                      const v1::GetRunRequest* request,
                      v1::GetRunResponse* response) override;
  grpc::Status WatchRun(
      grpc::ServerContext* context, const v1::WatchRunRequest* request,
      grpc::ServerWriter<v1::WatchRunResponse>* writer) override;
  grpc::Status GetSteps(grpc::ServerContext* context,
                        const v1::GetStepsRequest* request,
                        v1::GetStepsResponse* response) override;
  grpc::Status GetLayers(grpc::ServerContext* context,
                         const v1::GetLayersRequest* request,
                         v1::GetLayersResponse* response) override;
  grpc::Status ExportRun(
      grpc::ServerContext* context, const v1::ExportRunRequest* request,
      grpc::ServerWriter<v1::ExportRunResponse>* writer) override;
  grpc::Status Annotate(grpc::ServerContext* context,
                        const v1::AnnotateRequest* request,
                        v1::AnnotateResponse* response) override;
  grpc::Status SetBenchmark(grpc::ServerContext* context,
                            const v1::SetBenchmarkRequest* request,
                            v1::SetBenchmarkResponse* response) override;

 private:
  grpc::Status GetLayerScales(const v1::GetLayersRequest& request,
                              const Identity& who,
                              v1::GetLayersResponse* response);
  // A call while it is answered: who asks, and that it counts among his.
  class Asked {
   public:
    Asked(QueryServiceImpl& service, const grpc::ServerContext& context,
          Query kind);
    ~Asked();
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

    // OK, or why it is not answered.
    grpc::Status in;
    Identity who;

   private:
    const Query kind_;
    std::shared_ptr<User> user_;  // null: it does not count
  };

  // Waits so long, or until the caller has gone. False: stopped.
  bool WaitFor(const grpc::ServerContext& context, Duration wait);
  bool stopped();
  Result<std::unique_ptr<HistoryReader>> OpenHistory() const;
  // In the snapshot, else from history. `attempt` absent: the newest.
  Result<std::shared_ptr<const RunView>> Find(
      const std::string& run_id, std::optional<int32_t> attempt) const;
  // Of a run that is not in the snapshot.
  std::string WhyNotToldTo(const std::string& run_id,
                           std::optional<int32_t> attempt) const;
  // OK and the run, or why the caller may not say anything to it.
  grpc::Status FindToTell(const std::string& run_id,
                          std::optional<int32_t> attempt, const Caller& caller,
                          std::shared_ptr<const RunView>* run) const;
  // A run as those need it who read its history.
  struct Known {
    RunKey key;
    std::string owner;
  };
  // Also of runs that have left the snapshot. `attempt` absent: the newest.
  Result<Known> FindKnown(const std::string& run_id,
                          std::optional<int32_t> attempt,
                          HistoryReader& reader) const;
  // OK and which run that is, or why the caller may not read its history.
  grpc::Status FindReadable(const std::string& run_id,
                            std::optional<int32_t> attempt, const Identity& who,
                            HistoryReader& reader, RunKey* run) const;
  template <typename Request>
  static std::optional<int32_t> AttemptOf(const Request& request) {
    return request.has_attempt() ? std::optional<int32_t>(request.attempt())
                                 : std::nullopt;
  }
  // OK, or why the caller may not see the run.
  grpc::Status CheckReader(std::string_view run_id, std::string_view owner,
                           const Identity& who) const;
  // What he may not: refused, and told to the audit.
  grpc::Status Deny(std::string_view run_id, std::string_view owner,
                    const Caller& caller) const;
  // Tells the audit of who was refused.
  void Audit(const Caller& caller, std::string why,
             std::string_view run_id = "", std::string_view owner = "") const;

  const QueryBackend backend_;
  Callers& callers_;
  Users& users_;
  RpcStats& stats_;
  Places watching_{limits::kWatchers};
  Places exporting_{limits::kExports};

  Mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_QUERY_SERVICE_H_
