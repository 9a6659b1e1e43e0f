// RpcServer: the gRPC side of the daemon: ingest, query, health and reflection
// on a unix socket and, when asked for, on a loopback address.

#ifndef NANWATCH_RPC_SERVER_H_
#define NANWATCH_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/ingest_port.h"
#include "rpc/options.h"
#include "rpc/query_backend.h"
#include "rpc/stats.h"

namespace nanwatch {

class TlsPort;

class RpcServer {
 public:
  // Listens when it returns. An error names the address, what is in the way and
  // what to do. `sink` and `clock` must outlive the server.
  static Result<std::unique_ptr<RpcServer>> Start(const RpcOptions& options,
                                                  IngestSink& sink,
                                                  QueryBackend backend,
                                                  Clock& clock);
  // Stop(0), if it was not called.
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // "unix:/run/nanwatch/ingest.sock", "127.0.0.1:9766" with the real port.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Holds for calls from now on, and for messages on streams that are open.
  void SetAccess(AccessOptions access);

  // Holds from now on, for who is there, too.
  void SetQuotas(UserQuotas quotas);

  // From here on what clients send is refused as "shutting down"; acks of what
  // was taken still go out.
  void StopTaking();
  // Ends every stream once its answers are written; those that are not done
  // after `grace` are cut. Each stream's ended arrival is offered before this
  // returns.
  void Stop(Duration grace);

  const RpcStats& stats() const { return stats_; }
  // Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;
  // One that was met elsewhere. Any thread.
  void CountLimit(std::string_view limit) { stats_.CountLimit(limit); }

 private:
  class Parts;
  RpcServer();

  RpcStats stats_;
  std::vector<std::string> addresses_;
  std::shared_ptr<TlsPort> tls_;  // null: the TCP port has none
  std::unique_ptr<Parts> parts_;  // null: stopped
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_SERVER_H_
