#include "web/server.h"

#include <civetweb.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <future>
#include <semaphore>
#include <utility>

#include "base/mutex.h"
#include "base/open_files.h"
#include "model/limits.h"
#include "web/annotation_request.h"
#include "web/event_feed.h"
#include "web/http.h"
#include "web/site.h"

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
// Of a reply; a client that takes longer than so many timeouts is cut off.
constexpr int kTimeoutsPerReply = 15;
constexpr size_t kWriteBytes = 64 << 10;

std::string Header(const mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

std::string MachineName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Connects and hangs up: a thread that waits for connections looks up.
void Knock(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) !=
      0) {
    return;
  }
  const int type = found->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int socket_fd = socket(found->ai_family, type, 0);
  if (socket_fd >= 0) {
    (void)connect(socket_fd, found->ai_addr, found->ai_addrlen);
    close(socket_fd);
  }
  freeaddrinfo(found);
}

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" ||
         address.starts_with("::ffff:127.");
}

class Turn {
 public:
  explicit Turn(std::counting_semaphore<>& turns) : turns_(turns) {
    turns_.acquire();
  }
  ~Turn() { turns_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::counting_semaphore<>& turns_;
};

class CivetServer : public WebServer {
 public:
  CivetServer(const WebOptions& options, WebBackend backend)
      : snapshot_(backend.snapshot),
        now_(backend.now),
        site_(std::move(backend), WithMachineName(options.allowed_hosts)),
        answering_(options.threads),
        scraping_(kScrapes),
        listening_(kListeners),
        reading_(limits::kHttpBodies),
        request_time_(options.timeout_seconds),
        reply_time_(kTimeoutsPerReply * options.timeout_seconds) {}
  ~CivetServer() override { Stop(); }

  Status Listen(const WebOptions& options) {
    mg_init_library(0);
    // A connection each, and those that wait for a thread.
    const size_t files = OpenFilesOfHttp(options.threads + kScrapes +
                                         kDawdlers + kListeners + kWaiting);
    const std::string threads = std::to_string(files - files / 8);
    const std::string waiting = std::to_string(std::max<size_t>(1, files / 8));
    const std::string timeout = std::to_string(options.timeout_seconds * 1000);
    const char* settings[] = {"listening_ports",
                              options.listen.c_str(),
                              "num_threads",
                              threads.c_str(),
                              "connection_queue",
                              waiting.c_str(),
                              "request_timeout_ms",
                              timeout.c_str(),
                              "enable_keep_alive",
                              "no",
                              "decode_url",
                              "no",
                              nullptr};
    mg_callbacks callbacks{};
    callbacks.begin_request = OnRequest;
    callbacks.log_message = OnLog;
    context_ = mg_start(&callbacks, this, settings);
    if (context_ == nullptr) {
      mg_exit_library();
      return Error{"HTTP cannot listen on " + options.listen + ": " +
                   Complaint() + " (port 0: any free one)."};
    }
    mg_server_port ports[4]{};
    mg_get_server_ports(context_, 4, ports);
    port_ = ports[0].port;
    const size_t colon = options.listen.rfind(':');
    host_ = colon == std::string::npos || colon == 0
                ? "0.0.0.0"
                : options.listen.substr(0, colon);
    address_ = host_ + ":" + std::to_string(port_);
    if (host_.front() == '[') host_ = host_.substr(1, host_.size() - 2);
    return OkStatus();
  }

  int port() const override { return port_; }
  std::string address() const override { return address_; }

  void Stop() override {
    if (context_ == nullptr) return;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    stopped_.notify_all();
    // civetweb looks at its stop flag every 2 s, or when somebody knocks.
    const auto stopped = std::async(std::launch::async, mg_stop, context_);
    while (stopped.wait_for(std::chrono::milliseconds(5)) !=
           std::future_status::ready) {
      Knock(host_, port_);
    }
    mg_exit_library();
    context_ = nullptr;
  }

 private:
  static std::vector<std::string> WithMachineName(
      std::vector<std::string> names) {
    names.push_back(MachineName());
    return names;
  }

  static int OnRequest(mg_connection* connection) {
    const mg_request_info* info = mg_get_request_info(connection);
    auto* server = static_cast<CivetServer*>(info->user_data);
    HttpRequest request;
    request.method = info->request_method;
    request.path = info->local_uri_raw == nullptr ? "*" : info->local_uri_raw;
    request.query = info->query_string == nullptr ? "" : info->query_string;
    request.host = Header(connection, "Host");
    request.accept = Header(connection, "Accept");
    request.accept_encoding = Header(connection, "Accept-Encoding");
    request.if_none_match = Header(connection, "If-None-Match");
    request.cache_control = Header(connection, "Cache-Control");
    if (request.method == "POST" &&
        !server->ReadPost(connection, *info, &request)) {
      const HttpReply full =
          ErrorReply(503, "Too many requests with a body are being read.", "",
                     "Try again.");
      const std::string bytes = HeaderBlock(full) + full.body;
      Write(connection, bytes, server->reply_time_);
      return full.status;
    }
    request.from_loopback = IsLoopback(info->remote_addr);
    HttpReply reply = server->Answer(request);
    if (reply.events && request.method == "GET") {
      return server->SendEvents(connection, std::move(reply));
    }
    std::string bytes = HeaderBlock(reply);
    if (request.method != "HEAD") bytes += reply.body;
    Write(connection, bytes, server->reply_time_);
    return reply.status;
  }

  // False: so many others send one that this one is not read. What is not the
  // page's own is refused by its head: its body is not read either.
  bool ReadPost(mg_connection* connection, const mg_request_info& info,
                HttpRequest* request) {
    request->origin = Header(connection, "Origin");
    request->content_type = Header(connection, "Content-Type");
    request->fetch_site = Header(connection, "Sec-Fetch-Site");
    request->purpose = Header(connection, "X-Nanwatch");
    // What is longer, or chunked, is none of the page's.
    const bool ours =
        !request->purpose.empty() && info.content_length > 0 &&
        info.content_length <= static_cast<long long>(kAnnotationBytes);
    if (!ours) return true;
    if (!reading_.try_acquire()) return false;
    // One packet: who takes longer than a head may take is cut off.
    const auto end = std::chrono::steady_clock::now() + request_time_;
    const auto size = static_cast<size_t>(info.content_length);
    char bytes[1024];
    while (request->body.size() < size &&
           std::chrono::steady_clock::now() < end) {
      const int got = mg_read(connection, bytes, sizeof bytes);
      if (got <= 0) break;
      request->body.append(bytes, static_cast<size_t>(got));
    }
    reading_.release();
    if (request->body.size() < size) request->body.clear();
    return true;
  }

  HttpReply Answer(const HttpRequest& request) {
    const Turn turn(request.path == "/metrics" ? scraping_ : answering_);
    return site_.Answer(request);
  }

  // Holds one of the listeners' threads until the page goes, or the server.
  int SendEvents(mg_connection* connection, HttpReply reply) {
    if (!listening_.try_acquire()) {
      reply = ErrorReply(503, "All places for listeners are taken.", "events",
                         "Ask for what is shown every few seconds instead.");
      Write(connection, HeaderBlock(reply) + reply.body, reply_time_);
      return reply.status;
    }
    EventFeed feed(std::move(*reply.events));
    bool heard = Write(connection, HeaderBlock(reply), reply_time_);
    while (heard) {
      const std::string text = feed.Next(snapshot_(), now_());
      if (!text.empty()) heard = Write(connection, text, reply_time_);
      std::unique_lock<std::mutex> lock(mutex_.native());
      if (stopped_.wait_for(lock, kLook, [this] { return stopping_.load(); })) {
        break;
      }
    }
    listening_.release();
    return 200;
  }

  // civetweb's own timeout is of a pause, not of the whole.
  // False: the client did not take all of it.
  static bool Write(mg_connection* connection, const std::string& bytes,
                    std::chrono::seconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    size_t at = 0;
    while (at < bytes.size() && std::chrono::steady_clock::now() < end) {
      const size_t size = std::min(kWriteBytes, bytes.size() - at);
      const int written = mg_write(connection, bytes.data() + at, size);
      if (written <= 0 || static_cast<size_t>(written) != size) return false;
      at += size;
    }
    return at == bytes.size();
  }

  // civetweb says only here why it did not start.
  static int OnLog(const mg_connection* connection, const char* message) {
    auto* server =
        static_cast<CivetServer*>(mg_get_user_data(mg_get_context(connection)));
    if (server != nullptr) {
      MutexLock lock(server->mutex_);
      if (server->complaint_.size() < 1024) {
        server->complaint_ += server->complaint_.empty() ? "" : "; ";
        server->complaint_ += message;
      }
    }
    return 1;  // not to a file or standard error
  }

  std::string Complaint() {
    MutexLock lock(mutex_);
    const std::string in_use = std::strerror(EADDRINUSE);
    if (complaint_.find(in_use) != std::string::npos) {
      return in_use +
             ". Stop the program that uses the address, or set web.listen to "
             "another one";
    }
    // What civetweb says of an address that it cannot read.
    if (complaint_.find("Expecting list of") != std::string::npos) {
      return "no IP address of this machine. Set web.listen to one and a port";
    }
    return (complaint_.empty() ? "civetweb did not start" : complaint_) +
           ". Set web.listen to an address of this machine and a free port";
  }

  const std::function<std::shared_ptr<const Snapshot>()> snapshot_;
  const std::function<Time()> now_;
  Site site_;
  std::counting_semaphore<> answering_;
  std::counting_semaphore<> scraping_;
  std::counting_semaphore<> listening_;
  std::counting_semaphore<> reading_;
  const std::chrono::seconds request_time_;
  const std::chrono::seconds reply_time_;
  mg_context* context_ = nullptr;
  int port_ = 0;
  std::string host_;
  std::string address_;
  std::atomic<bool> stopping_{false};
  std::condition_variable stopped_;
  Mutex mutex_;
  std::string complaint_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<WebServer>> WebServer::Start(const WebOptions& options,
                                                    WebBackend backend) {
  auto server = std::make_unique<CivetServer>(options, std::move(backend));
  const Status listening = server->Listen(options);
  if (!listening.ok()) return Error{listening.error()};
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace nanwatch
