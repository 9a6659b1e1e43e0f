// QueryClient: reads a daemon as the `nanwatch` command does. Typed calls with
// a deadline; every error is a sentence for a person.

#ifndef NANWATCH_RPC_QUERY_CLIENT_H_
#define NANWATCH_RPC_QUERY_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "nanwatch/v1/query.pb.h"

namespace grpc {
class Status;
}

namespace nanwatch {

class QueryClient {
 public:
  // `address`: "unix:/path", "host:port" or "tls://host:port", with what
  // client_secrets.h reads. Connects on the first call; a
  // daemon that is not there is that call's error: "no daemon listens at ...:
  // start nanwatchd, or pass --address", or that its socket is forbidden.
  explicit QueryClient(std::string address,
                       Duration deadline = std::chrono::seconds(10));
  ~QueryClient();
  QueryClient(const QueryClient&) = delete;
  QueryClient& operator=(const QueryClient&) = delete;

  Result<v1::ListRunsResponse> ListRuns();
  Result<v1::RunDetail> GetRun(const std::string& run_id,
                               std::optional<int32_t> attempt);
  // Calls `show` for each new state until it returns false or the run ends.
  // No deadline.
  Status WatchRun(const v1::WatchRunRequest& request,
                  const std::function<bool(const v1::RunDetail&)>& show);
  Result<v1::GetStepsResponse> GetSteps(const v1::GetStepsRequest& request);
  Result<v1::GetLayersResponse> GetLayers(const v1::GetLayersRequest& request);
  // Calls `take` for each event, in order. No deadline.
  Status ExportRun(
      const v1::ExportRunRequest& request,
      const std::function<Status(const v1::ExportRunResponse&)>& take);
  // The daemon's answer: what was done, in one sentence.
  Result<std::string> Annotate(const v1::AnnotateRequest& request);
  Result<std::string> SetBenchmark(const v1::SetBenchmarkRequest& request);

  const std::string& address() const { return address_; }

 private:
  class Stub;
  Error Explain(const grpc::Status& status) const;

  const std::string address_;
  const Duration deadline_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_QUERY_CLIENT_H_
