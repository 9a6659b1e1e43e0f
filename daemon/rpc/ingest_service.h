// IngestService: the streams on which clients speak. Reads, counts against the
// quota, has wire/ parse, and offers the result to the sink; the sink answers
// through each stream's ReplyPort.

#ifndef NANWATCH_RPC_INGEST_SERVICE_H_
#define NANWATCH_RPC_INGEST_SERVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/audit.h"
#include "nanwatch/v1/ingest.grpc.pb.h"
#include "rpc/callers.h"
#include "rpc/empty_streams.h"
#include "rpc/ingest_port.h"
#include "rpc/reply_budget.h"
#include "rpc/stats.h"
#include "rpc/stream_port.h"
#include "rpc/users.h"
#include "wire/op_shapes.h"

namespace nanwatch {

// What the streams share.
class IngestStreams {
 public:
  // All must outlive this.
  IngestStreams(IngestSink& sink, Clock& clock, RpcStats& stats,
                Callers& callers, Users& users, std::string daemon,
                std::string page);

  IngestSink& sink;
  Clock& clock;
  RpcStats& stats;
  Callers& callers;
  Users& users;
  const std::string daemon;  // name and version, said in the handshake
  // Where a person sees the runs, said before the first answer; empty: nowhere.
  const std::string page;
  ShapeBudget shapes;   // of all sessions on all streams
  ReplyBudget replies;  // of all streams
  EmptyStreams empty;
  // Ends the connection of a peer, "fd:12" or an address, whose call is not
  // over.
  std::function<void(const std::string& peer)> cut = [](const auto&) {};
  AuditSink audit;  // hears of who was refused; not set: nobody does
  std::atomic<bool> stopping{false};
  // Streams that are not read for a while; their alarms may outlive this.
  const std::shared_ptr<std::atomic<int64_t>> paused =
      std::make_shared<std::atomic<int64_t>>(0);

  // False: there are limits::kStreams of them.
  bool Add(const std::shared_ptr<StreamPort>& port);
  void Remove(const std::shared_ptr<StreamPort>& port);
  // Every stream ends once its answers are written.
  void EndAll();
  // Where answers that wait are over their budget: cuts the stream that most of
  // them wait for.
  void CutWhoDoesNotRead();

 private:
  Mutex mutex_;
  std::unordered_set<std::shared_ptr<StreamPort>> ports_ GUARDED_BY(mutex_);
};

// Raw: bytes that are not a message are refused with a sentence here, where
// gRPC would end the stream without one.
class IngestService : public v1::IngestService::WithRawCallbackMethod_Ingest<
                          v1::IngestService::Service> {
 public:
  // `streams` must outlive this.
  explicit IngestService(IngestStreams& streams) : streams_(streams) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Ingest(
      grpc::CallbackServerContext* context) override;

 private:
  IngestStreams& streams_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_INGEST_SERVICE_H_
