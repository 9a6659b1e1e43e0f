#include "rpc/server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/open_files.h"
#include "base/published.h"
#include "grpc/health/v1/health.pb.h"
#include "model/limits.h"
#include "net/tcp_address.h"
#include "net/tcp_listener.h"
#include "rpc/callers.h"
#include "rpc/connections.h"
#include "rpc/ingest_service.h"
#include "rpc/memory_guard.h"
#include "rpc/query_service.h"
#include "rpc/strangers.h"
#include "rpc/tls_port.h"
#include "rpc/unix_listener.h"
#include "rpc/users.h"

namespace nanwatch {
namespace {

// Connections of a kind that are ended at a time where memory ends, those first
// of whom most is unread. Ours.
constexpr size_t kCutAtOnce = 16;
// Resident memory beyond ingest.memory from which on they are ended; a
// sixteenth of it if that is more. Openings are refused before: batches that
// wait to be parsed take as much in good use, too. Ours.
constexpr size_t kLeastSlack = 64 << 20;
// gRPC's own is 2 min: long for who holds a descriptor and says nothing. Ours.
constexpr int kHandshakeMs = 10'000;
// In one go, of a connection. Ours.
constexpr int kReadBytes = 64 << 10;
constexpr int kQueryThreads =
    limits::kCalls + limits::kWatchers + limits::kExports;

// Who may come over TCP is many; the unix socket keeps a quarter for itself.
size_t FilesOfTcp() { return OpenFilesOfStreams() - OpenFilesOfStreams() / 4; }

// Once in a process. Where a stream's last write is not through, gRPC 1.51 has
// a thread poll for it, 10 s at most, and its last user waits for that thread:
// a daemon that was told to end took as long, after one export of three. So
// there is no last user; the process ends with what the library still holds.
void KeepLibrary() {
  static std::once_flag once;
  std::call_once(once, grpc_init);
}

// gRPC's own line, a minute each: why a handshake failed nobody else says.
void TellWhatGrpcSays(gpr_log_func_args* said) {
  static Mutex mutex;
  static LogThrottle throttle(std::chrono::minutes(1));
  int64_t before = 0;
  MutexLock lock(mutex);
  if (!throttle.Allow(SystemClock().Now(), &before)) return;
  LogWarning("gRPC",
             fmt::format("suppressed_before={}: {}", before, said->message));
}

// Once in a process: gRPC's and protobuf's own lines would fill the log at the
// will of whoever sends rubbish; what matters is counted and refused by us.
void QuietLibraries() {
  static std::once_flag once;
  std::call_once(once, [] {
    google::protobuf::SetLogHandler(nullptr);
    gpr_set_log_function(&TellWhatGrpcSays);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // Linked in by this, and found by reflection: gRPC has no description.
    grpc::health::v1::HealthCheckRequest::descriptor();
  });
}

}  // namespace

class RpcServer::Parts {
 public:
  Parts(const RpcOptions& options, IngestSink& sink, QueryBackend backend,
        Clock& clock, RpcStats& stats)
      : callers(options.access, {options.tokens, options.tcp_anonymous}),
        audit(backend.audit),
        users(options.quotas),
        streams(sink, clock, stats, callers, users, backend.daemon,
                backend.page),
        ingest(streams),
        query(std::move(backend), callers, users, stats),
        stats(stats),
        clock(clock),
        quotas(std::make_shared<const UserQuotas>(options.quotas)) {
    streams.audit = audit;
    streams.cut = [this](const std::string& peer) {
      (peer.starts_with("fd:") ? of_users : of_addresses)
          .Cut(peer, this->clock.Passed());
    };
    callers.OnKnown([this](const std::string& from) { strangers.Know(from); });
    callers.OnRefused([this](std::string_view peer, const Identity& who) {
      Refused(peer, callers.Of(who), who.refused);
    });
  }

  Status Listen(const RpcOptions& options, std::vector<std::string>* addresses);
  // What protects the TCP port: tokens, and `tls`.
  Status Protect(const RpcOptions& options, const TcpAddress& address);
  void Refused(std::string_view peer, const Caller& caller,
               const std::string& why);
  void Accept(const std::string& path);
  void Take(const std::string& path, int fd, const Peer& peer);

  // Ends connections of whom more comes than is read. How many.
  size_t CutWhoPresses();
  // Ends those on which much comes and nobody said who he is.
  void CutStrangers();
  // False: whoever is at the other end has connections enough; it is closed.
  bool Admit(Connections* connections, const std::string& holder,
             const Quotas& of_it, int fd);

  Callers callers;
  const AuditSink audit;
  Users users;
  IngestStreams streams;
  IngestService ingest;
  QueryServiceImpl query;
  RpcStats& stats;
  Clock& clock;
  Published<UserQuotas> quotas;
  Connections of_users;
  Connections of_addresses;
  Strangers strangers;
  Mutex mutex;
  LogThrottle refused_callers GUARDED_BY(mutex){std::chrono::minutes(1)};
  LogThrottle cut GUARDED_BY(mutex){std::chrono::minutes(1)};
  std::unique_ptr<UnixListener> listener;
  std::unique_ptr<TcpListener> tcp;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp_door;
  std::shared_ptr<TlsPort> tls;  // null: the port has none
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<MemoryGuard> guard;
};

Status RpcServer::Parts::Listen(const RpcOptions& options,
                                std::vector<std::string>* addresses) {
  grpc::ServerBuilder builder;
  if (!options.socket_path.empty()) {
    auto bound = UnixListener::Listen(options.socket_path, options.socket_mode,
                                      options.socket_group);
    if (!bound) return Error{bound.error()};
    listener = std::move(*bound);
    addresses->push_back("unix:" + options.socket_path);
  }
  if (!options.tcp_address.empty()) {
    const Result<TcpAddress> address = ParseTcpAddress(options.tcp_address);
    if (!address) return Error{address.error()};
    if (Status ready = Protect(options, *address); !ready) return ready;
    auto bound = TcpListener::Listen(*address, FilesOfTcp());
    if (!bound) return Error{bound.error()};
    tcp = std::move(*bound);
    tcp_door = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        tls != nullptr ? tls : grpc::InsecureServerCredentials());
    addresses->push_back(fmt::format("{}{}:{}", tls != nullptr ? "tls://" : "",
                                     address->host, tcp->port()));
  }
  if (options.socket_path.empty() && options.tcp_address.empty()) {
    return Error{
        "there is nowhere to listen: set a socket path or a loopback "
        "address"};
  }
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeMs);
  // gRPC compares sizes only when it has the whole message, too, and ends the
  // stream: those that are a little too large are refused in ingest_stream.cc,
  // and counted.
  builder.SetMaxReceiveMessageSize(limits::kGrpcMessageBytes);
  // 1 MB on the wire may be 1 GB in memory, and nobody sees its size before.
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  // gRPC 1.51 notes an error of 1 KB for each ping that is one too many, until
  // a write is over in which it ends the connection: ten connections that do
  // nothing but ping took 3 GB in 4 s. That each is answered costs nothing.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  // What is read in one go is done in whole, also of who is ended meanwhile: of
  // 4 MB that are resets 13,000 calls.
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytes);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  grpc::ResourceQuota quota("nanwatchd");
  quota.SetMaxThreads(kQueryThreads);
  quota.Resize(limits::kGrpcBytes);
  builder.SetResourceQuota(quota);
  builder.RegisterService(&ingest);
  builder.RegisterService(&query);
  server = builder.BuildAndStart();
  if (server == nullptr) return Error{"gRPC could not be started"};
  server->GetHealthCheckService()->SetServingStatus(true);
  for (const char* service : {v1::IngestService::service_full_name(),
                              v1::QueryService::service_full_name()}) {
    server->GetHealthCheckService()->SetServingStatus(service, true);
  }
  if (listener != nullptr) Accept(options.socket_path);
  if (tcp != nullptr) {
    tcp->Start([this](int fd) {
      const std::string address = AddressOfPeer(fd);
      if (!Admit(&of_addresses, address, quotas.Get()->each, fd)) return;
      strangers.Add(fd);
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
          connection;
      connection.fd = fd;
      tcp_door->HandleNewConnection(&connection);
    });
  }
  return OkStatus();
}

Status RpcServer::Parts::Protect(const RpcOptions& options,
                                 const TcpAddress& address) {
  if (Status read = callers.LoadTokens(); !read) return Error{read.error()};
  if (options.tls.certificate.empty()) {
    if (address.loopback) return OkStatus();
    return Error{
        fmt::format("{} is not a loopback address: set ingest.tls, or listen "
                    "on 127.0.0.1",
                    options.tcp_address)};
  }
  auto made = TlsPort::Make(options.tls, options.tokens.empty());
  if (!made) return Error{made.error()};
  tls = *made;
  return OkStatus();
}

// Whoever is refused may come as often as he likes: one line a minute.
void RpcServer::Parts::Refused(std::string_view peer, const Caller& caller,
                               const std::string& why) {
  stats.peers_refused.fetch_add(1, std::memory_order_relaxed);
  if (audit) {
    AuditEntry entry = EntryOf(AuditKind::kRefusal, caller);
    entry.what = why;
    audit(std::move(entry));
  }
  int64_t before = 0;
  MutexLock lock(mutex);
  if (!refused_callers.Allow(SystemClock().Now(), &before)) return;
  LogWarning("refused a caller",
             fmt::format("peer={} refused_before={}: {}", peer, before, why));
}

void RpcServer::Parts::Accept(const std::string& path) {
  listener->Start(
      [this, path](int fd, const Peer& peer) { Take(path, fd, peer); });
}

void RpcServer::Parts::Take(const std::string& path, int fd, const Peer& peer) {
  // A name service that is slow is slow here, and not at a call.
  const bool listed = callers.MayConnect(peer.uid);
  if (!listed || !MayConnect(peer, listener->owner())) {
    Refused(
        fmt::format("{} uid={} pid={}", path, peer.uid, peer.pid),
        callers.Of({.uid = peer.uid, .from = fmt::format("pid {}", peer.pid)}),
        listed ? "the socket is another user's"
               : "not among access.users and access.groups");
    close(fd);
    return;
  }
  Log(LogLevel::kDebug, "connected",
      fmt::format("socket={} uid={} pid={}", path, peer.uid, peer.pid));
  const std::string name = callers.OfUser(peer.uid).name;
  if (!Admit(&of_users, name, quotas.Get()->Of(name), fd)) return;
  // Not through an acceptor of gRPC's: it hides the descriptor from the calls.
  grpc::AddInsecureChannelFromFd(server.get(), fd);
}

size_t RpcServer::Parts::CutWhoPresses() {
  size_t count = 0;
  std::string who;
  for (Connections* connections : {&of_users, &of_addresses}) {
    for (std::string& holder :
         connections->CutWhoPresses(kCutAtOnce, clock.Passed())) {
      stats.CountLimit("connections");
      ++count;
      who = std::move(holder);
    }
  }
  int64_t before = 0;
  MutexLock lock(mutex);
  if (count > 0 && cut.Allow(SystemClock().Now(), &before)) {
    LogWarning("connections were ended: they take more memory than there is",
               fmt::format("count={} of={} before={}", count, who, before));
  }
  return count;
}

void RpcServer::Parts::CutStrangers() {
  for (const std::string& from : strangers.WhoFlood(clock.Passed())) {
    stats.CountLimit("connections");
    of_addresses.Cut(from, clock.Passed());
    Refused(from, Caller{.from = from},
            "sends much, and has not said who he is: ended");
  }
}

bool RpcServer::Parts::Admit(Connections* connections,
                             const std::string& holder, const Quotas& of_it,
                             int fd) {
  if (connections->Add(holder, fd, of_it.connections, clock.Passed())) {
    return true;
  }
  stats.CountLimit("user_connections");
  Refused(holder, Caller{.name = holder},
          fmt::format("has {} connections open, as much as is allowed "
                      "(quotas.connections), or one of them was just ended, as "
                      "it flooded",
                      of_it.connections));
  close(fd);
  return false;
}

RpcServer::RpcServer() = default;

Result<std::unique_ptr<RpcServer>> RpcServer::Start(const RpcOptions& options,
                                                    IngestSink& sink,
                                                    QueryBackend backend,
                                                    Clock& clock) {
  KeepLibrary();
  QuietLibraries();
  std::unique_ptr<RpcServer> rpc(new RpcServer());
  rpc->parts_ = std::make_unique<Parts>(options, sink, std::move(backend),
                                        clock, rpc->stats_);
  const Status listening = rpc->parts_->Listen(options, &rpc->addresses_);
  if (!listening) return Error{listening.error()};
  rpc->tls_ = rpc->parts_->tls;
  rpc->parts_->guard = std::make_unique<MemoryGuard>(
      options.memory_bytes + std::max(options.memory_bytes / 16, kLeastSlack),
      [parts = rpc->parts_.get()] { return parts->CutWhoPresses(); },
      [parts = rpc->parts_.get()] { parts->CutStrangers(); });
  return rpc;
}

void RpcServer::SetAccess(AccessOptions access) {
  parts_->callers.Set(std::move(access));
}

void RpcServer::SetQuotas(UserQuotas quotas) {
  parts_->users.Set(quotas);
  parts_->quotas.Set(std::make_shared<const UserQuotas>(std::move(quotas)));
}

void RpcServer::AppendSamples(std::vector<SelfSample>* samples) const {
  nanwatch::AppendSamples(stats_, samples);
  if (tls_ != nullptr) tls_->AppendSamples(samples);
}

RpcServer::~RpcServer() { Stop(Duration(0)); }

void RpcServer::StopTaking() {
  if (parts_ == nullptr || parts_->server == nullptr) return;
  parts_->streams.stopping = true;
  parts_->server->GetHealthCheckService()->SetServingStatus(false);
}

void RpcServer::Stop(Duration grace) {
  if (parts_ == nullptr) return;
  StopTaking();
  // No new connections, and the path is free for a successor at once.
  // Stopped before it is gone: who is just taken asks it for its owner.
  if (parts_->listener != nullptr) parts_->listener->Stop();
  parts_->listener.reset();
  parts_->tcp.reset();
  parts_->guard.reset();
  // Who floods is not waited for.
  parts_->CutWhoPresses();
  parts_->query.Stop();
  parts_->streams.EndAll();
  if (parts_->server != nullptr) {
    parts_->server->Shutdown(std::chrono::system_clock::now() + grace);
    parts_->server->Wait();
  }
  parts_.reset();
}

}  // namespace nanwatch
