#include "rpc/ingest_service.h"

#include <utility>
#include <vector>

#include "model/limits.h"
#include "rpc/ingest_stream.h"

namespace nanwatch {

IngestStreams::IngestStreams(IngestSink& sink, Clock& clock, RpcStats& stats,
                             Callers& callers, Users& users, std::string daemon,
                             std::string page)
    : sink(sink),
      clock(clock),
      stats(stats),
      callers(callers),
      users(users),
      daemon(std::move(daemon)),
      page(std::move(page)) {}

bool IngestStreams::Add(const std::shared_ptr<StreamPort>& port) {
  MutexLock lock(mutex_);
  if (ports_.size() >= limits::kStreams) return false;
  ports_.insert(port);
  return true;
}

void IngestStreams::Remove(const std::shared_ptr<StreamPort>& port) {
  MutexLock lock(mutex_);
  ports_.erase(port);
}

void IngestStreams::EndAll() {
  std::vector<std::shared_ptr<StreamPort>> ports;
  {
    MutexLock lock(mutex_);
    ports.assign(ports_.begin(), ports_.end());
  }
  for (const auto& port : ports) {
    port->EndWhenWritten({grpc::StatusCode::UNAVAILABLE,
                          "nanwatchd is shutting down; come again"});
  }
}

void IngestStreams::CutWhoDoesNotRead() {
  if (!replies.over()) return;
  std::vector<std::shared_ptr<StreamPort>> ports;
  {
    MutexLock lock(mutex_);
    ports.assign(ports_.begin(), ports_.end());
  }
  std::shared_ptr<StreamPort> slowest;
  size_t most = 0;
  for (const auto& port : ports) {
    const size_t bytes = port->waiting_bytes();
    if (bytes <= most) continue;
    most = bytes;
    slowest = port;
  }
  if (slowest != nullptr) slowest->Cut();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>*
IngestService::Ingest(grpc::CallbackServerContext* context) {
  return new IngestStream(streams_, context);
}

}  // namespace nanwatch
