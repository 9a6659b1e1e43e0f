#include "web/server.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/open_files.h"
#include "model/limits.h"
#include "model/quotas.h"
#include "net/local_user.h"
#include "net/peer_address.h"
#include "net/tcp_listener.h"
#include "web/annotation_request.h"
#include "web/connection.h"
#include "web/event_feed.h"
#include "web/gate.h"
#include "web/http.h"
#include "web/line_up.h"
#include "web/request_head.h"
#include "web/site.h"
#include "web/tls_door.h"
#include "web/turns.h"

namespace nanwatch {
namespace {

// Served beyond those that are answered: clients that dawdle over a request or
// a reply keep nobody else waiting. A thread each, 60 KB.
constexpr int kDawdlers = 128;
// Connections that wait for a thread.
constexpr int kWaiting = 24;
// Pages that hear of changes at once, a thread each; more of them ask now and
// then. They take nothing from the others: there are as many threads more.
constexpr int kListeners = 32;
// How often a listener's thread looks for a change.
constexpr auto kLook = std::chrono::milliseconds(250);
// Scrapes answered at once, whatever pages ask for.
constexpr int kScrapes = 2;
// Requests of a user that are served or wait, a thread each, of 166. Beyond:
// refused ("user_queries").
constexpr size_t kRequestsOfUser = 64;
// Of a reply; a client that takes longer than so many timeouts is cut off.
constexpr int kTimeoutsPerReply = 15;
// For a client to take the end of a reply, and hang up.
constexpr std::chrono::seconds kGoodbye(1);

std::string MachineName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// What a connection meets: it holds on to it until it ends.
struct Guard {
  WebProtection protection;
  std::unique_ptr<TlsDoor> door;  // null: plain text
};

// How many connections there may be: a thread each, and those that wait.
size_t Places(const WebOptions& options) {
  return OpenFilesOfHttp(options.threads + kScrapes + kDawdlers + kListeners +
                         kWaiting);
}

class HttpServer : public WebServer {
 public:
  HttpServer(const WebOptions& options, WebBackend backend)
      : audit_(backend.audit),
        queries_of_(backend.queries_of),
        count_limit_(backend.count_limit),
        snapshot_(backend.snapshot),
        now_(backend.now),
        gate_(backend.caller_of),
        site_(WithCertificate(std::move(backend)),
              WithMachineName(options.allowed_hosts)),
        answering_(options.threads, kRequestsOfUser),
        scraping_(kScrapes, kRequestsOfUser),
        listening_(kListeners, kListeners),
        reading_(limits::kHttpBodies, limits::kHttpBodies),
        request_time_(options.timeout_seconds),
        reply_time_(kTimeoutsPerReply * options.timeout_seconds),
        line_(std::max<size_t>(1, Places(options) / 8),
              Places(options) - Places(options) / 4) {}
  ~HttpServer() override {
    Stop();
    if (stop_ >= 0) close(stop_);
  }

  Status Listen(const WebOptions& options) {
    stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_ < 0) {
      return Error{std::string("HTTP cannot begin: ") + std::strerror(errno)};
    }
    if (const Status taken = SetProtection(options.protection); !taken) {
      return Error{"HTTP cannot begin (web.config_file): " + taken.error()};
    }
    const Result<TcpAddress> address = ParseTcpAddress(options.listen);
    if (!address) return Error{"web.listen: " + address.error()};
    auto listener = TcpListener::Listen(*address, SIZE_MAX);
    if (!listener) {
      return Error{"HTTP " + listener.error() +
                   ": web.listen (port 0: any free one)"};
    }
    listener_ = std::move(*listener);
    listener_->WaitForFirstByte(options.timeout_seconds);
    address_ = address->host + ":" + std::to_string(port());
    const size_t places = Places(options);
    for (size_t i = 0; i < places - places / 8; ++i) {
      workers_.emplace_back([this] { Work(); });
    }
    listener_->Start([this](int fd) {
      if (!line_.Add({fd, PeerAddress(fd)})) close(fd);
    });
    return OkStatus();
  }

  Status SetProtection(const WebProtection& protection) override {
    auto guard = std::make_shared<Guard>();
    guard->protection = protection;
    if (protection.encrypts()) {
      auto door = TlsDoor::Make(protection);
      if (!door) return Error{door.error()};
      guard->door = std::move(*door);
    }
    MutexLock lock(mutex_);
    guard_ = std::move(guard);
    return OkStatus();
  }

  int port() const override { return listener_->port(); }
  std::string address() const override { return address_; }

  void Stop() override {
    if (listener_ == nullptr) return;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    stopped_.notify_all();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(stop_, &one, sizeof one);
    for (const Accepted& left : line_.Close()) close(left.fd);
    listener_.reset();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

 private:
  static std::vector<std::string> WithMachineName(
      std::vector<std::string> names) {
    names.push_back(MachineName());
    return names;
  }

  WebBackend WithCertificate(WebBackend backend) {
    backend.self_samples = [this, others = std::move(backend.self_samples)] {
      std::vector<SelfSample> samples = others();
      const std::shared_ptr<const Guard> guard = CurrentGuard();
      if (guard->door != nullptr) guard->door->AppendSamples(&samples);
      return samples;
    };
    return backend;
  }

  void Work() {
    while (const std::optional<Accepted> accepted = line_.Take()) {
      Serve(*accepted);
      line_.Leave(accepted->host);
    }
  }

  void Serve(const Accepted& accepted) {
    const std::shared_ptr<const Guard> guard = CurrentGuard();
    Connection connection(accepted.fd, stop_);
    const Deadline end = In(request_time_);
    if (guard->door != nullptr) {
      const Status encrypted = connection.Encrypt(guard->door->Context(), end);
      if (!encrypted) {
        TellNoHandshake(accepted.host, encrypted.error());
        return connection.Finish(end);
      }
    }
    HttpRequest request;
    request.remote = accepted.host;
    request.certificate_name = connection.certificate_name();
    HttpReply reply;
    if (!Ask(*guard, connection, end, &request, &reply)) return;
    if (reply.status == 401 || reply.status == 403 || reply.status == 429) {
      Audit(request, request.method + " " + request.path + ": " + reply.reason);
    }
    if (reply.events && request.method == "GET") {
      SendEvents(guard, connection, AskerOf(request), std::move(reply));
    } else {
      std::string bytes = HeaderBlock(reply, guard->protection.headers);
      if (request.method != "HEAD") bytes += reply.body;
      connection.Write(bytes, In(reply_time_));
    }
    connection.Finish(In(kGoodbye));
  }

  // False: nobody asked anything.
  bool Ask(const Guard& guard, Connection& connection, Deadline end,
           HttpRequest* request, HttpReply* reply) {
    std::string bytes;
    size_t head = std::string::npos;
    while ((head = EndOfHead(bytes)) == std::string::npos) {
      if (bytes.size() >= kHeadBytes) {
        *reply = ErrorReply(431, "The head of the request is too long.", "",
                            "Send one of at most 16 KiB.");
        return true;
      }
      char more[4096];
      const ssize_t got = connection.Read(more, sizeof more, end);
      if (got > 0) {
        bytes.append(more, static_cast<size_t>(got));
        continue;
      }
      *reply = ErrorReply(408, "The head of the request did not come in time.",
                          "", "Send it whole.");
      return !bytes.empty() && MillisecondsTo(end) == 0;
    }
    const Result<RequestHead> parsed =
        ParseRequestHead(std::string_view(bytes).substr(0, head));
    if (!parsed) {
      *reply = ErrorReply(400, parsed.error(), "head of the request",
                          "Send what HTTP/1.1 asks for.");
      return true;
    }
    TakeOver(*parsed, request);
    // Before the body is read.
    if (auto refused = gate_.Check(guard.protection, request)) {
      site_.Count(*refused);
      *reply = std::move(*refused);
      return true;
    }
    bytes.erase(0, head);
    if (request->method == "POST" && !request->caller) {
      const std::optional<uid_t> user = LocalUser(connection.fd());
      if (user) request->local_number = "uid " + std::to_string(*user);
    }
    const Asker asker = AskerOf(*request);
    if (request->method == "POST" &&
        !ReadBody(connection, *parsed, std::move(bytes), asker, request)) {
      *reply = ErrorReply(503, "Too many requests with a body are being read.",
                          "", "Try again.");
      return true;
    }
    *reply = Answer(*request, asker);
    return true;
  }

  // False: so many others send one that this one is not read. What is not the
  // page's own is refused by its head: its body is not read either.
  bool ReadBody(Connection& connection, const RequestHead& head,
                std::string begun, const Asker& asker, HttpRequest* request) {
    // What is longer, or chunked, is none of the page's.
    const bool ours = !request->purpose.empty() && head.length &&
                      *head.length > 0 && *head.length <= kAnnotationBytes;
    if (!ours) return true;
    const Turns::Turn turn = reading_.Try(asker);
    if (!turn) return false;
    // One packet: who takes longer than a head may take is cut off.
    const Deadline end = In(request_time_);
    const auto size = static_cast<size_t>(*head.length);
    std::string body = std::move(begun);
    char bytes[1024];
    while (body.size() < size) {
      const ssize_t got = connection.Read(bytes, sizeof bytes, end);
      if (got <= 0) break;
      body.append(bytes, static_cast<size_t>(got));
    }
    if (body.size() >= size) request->body = body.substr(0, size);
    return true;
  }

  // Who is not asked who he is counts by his host.
  Asker AskerOf(const HttpRequest& request) const {
    const std::string user = request.caller ? request.caller->name : "";
    return {
        user.empty() ? "Who calls from " + request.remote : QuotaHolder(user),
        queries_of_ ? queries_of_(user) : kNoQuotas.queries};
  }

  HttpReply Answer(const HttpRequest& request, const Asker& asker) {
    // Costs nothing, and is asked where everything else waits.
    if (request.path == "/-/healthy") return site_.Answer(request);
    Turns& turns = request.path == "/metrics" ? scraping_ : answering_;
    if (const Turns::Turn turn = turns.Wait(asker)) {
      return site_.Answer(request);
    }
    if (count_limit_) count_limit_("user_queries");
    HttpReply refused =
        ErrorReply(429, asker.name + " has too many requests here already.",
                   "quotas.queries", "Wait for the answers of some.");
    site_.Count(refused);
    return refused;
  }

  // Until the page goes, or the server, or who may come in is another matter:
  // the page comes again.
  void SendEvents(const std::shared_ptr<const Guard>& guard,
                  Connection& connection, const Asker& asker, HttpReply reply) {
    const HttpHeaders& added = guard->protection.headers;
    const Turns::Turn turn = listening_.Try(asker);
    if (!turn) {
      reply = ErrorReply(503, "All places for listeners are taken.", "events",
                         "Ask for what is shown every few seconds instead.");
      connection.Write(HeaderBlock(reply, added) + reply.body, In(reply_time_));
      return;
    }
    EventFeed feed(std::move(*reply.events));
    bool heard = connection.Write(HeaderBlock(reply, added), In(reply_time_));
    while (heard && CurrentGuard() == guard) {
      const std::string text = feed.Next(snapshot_(), now_());
      if (!text.empty()) heard = connection.Write(text, In(reply_time_));
      std::unique_lock<std::mutex> lock(mutex_.native());
      if (stopped_.wait_for(lock, kLook, [this] { return stopping_.load(); })) {
        break;
      }
    }
  }

  // What was not let be done.
  void Audit(const HttpRequest& request, std::string what) const {
    if (!audit_) return;
    AuditEntry entry;
    entry.kind = AuditKind::kRefusal;
    entry.who = request.caller ? request.caller->name : request.tried;
    entry.from = request.remote;
    entry.what = std::move(what);
    audit_(std::move(entry));
  }

  std::shared_ptr<const Guard> CurrentGuard() {
    MutexLock lock(mutex_);
    return guard_;
  }

  // Whoever comes without TLS, or without a certificate that is good, may come
  // as often as he likes: one line a minute.
  void TellNoHandshake(const std::string& host, const std::string& why) {
    if (why.empty()) return;
    HttpRequest nothing;
    nothing.remote = host;
    Audit(nothing, "TLS: " + why);
    int64_t before = 0;
    MutexLock lock(mutex_);
    if (!handshakes_.Allow(SystemClock().Now(), &before)) return;
    LogWarning("HTTP: a handshake of TLS failed",
               "peer=" + host + " failed_before=" + std::to_string(before) +
                   ": " + why);
  }

  const AuditSink audit_;
  const std::function<size_t(const std::string& user)> queries_of_;
  const std::function<void(std::string_view limit)> count_limit_;
  const std::function<std::shared_ptr<const Snapshot>()> snapshot_;
  const std::function<Time()> now_;
  Gate gate_;
  Site site_;
  Turns answering_;
  Turns scraping_;
  Turns listening_;
  Turns reading_;
  const std::chrono::seconds request_time_;
  const std::chrono::seconds reply_time_;
  LineUp line_;
  int stop_ = -1;  // an eventfd
  std::unique_ptr<TcpListener> listener_;
  std::string address_;
  std::vector<std::thread> workers_;
  std::atomic<bool> stopping_{false};
  std::condition_variable stopped_;
  Mutex mutex_;
  std::shared_ptr<const Guard> guard_ GUARDED_BY(mutex_);
  LogThrottle handshakes_ GUARDED_BY(mutex_){std::chrono::minutes(1)};
};

}  // namespace

Result<std::unique_ptr<WebServer>> WebServer::Start(const WebOptions& options,
                                                    WebBackend backend) {
  auto server = std::make_unique<HttpServer>(options, std::move(backend));
  const Status listening = server->Listen(options);
  if (!listening.ok()) return Error{listening.error()};
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace nanwatch
