#include "tests/unit/net/http_stub.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace nanwatch {
namespace {

// Waits in short turns, so that the end of a test is not waited for.
bool Readable(int fd, const std::atomic<bool>& stop) {
  while (!stop) {
    pollfd poll_fd{fd, POLLIN, 0};
    if (poll(&poll_fd, 1, 10) > 0) return true;
  }
  return false;
}

size_t ContentLength(const std::string& head) {
  const size_t at = head.find("Content-Length: ");
  return at == std::string::npos
             ? 0
             : std::strtoul(head.c_str() + at + 16, nullptr, 10);
}

int ListenTcp(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  *port = ntohs(address.sin_port);
  return fd;
}

int ListenUnix(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

}  // namespace

HttpStub::HttpStub(std::string unix_path) : unix_path_(std::move(unix_path)) {
  listener_ = unix_path_.empty() ? ListenTcp(&port_) : ListenUnix(unix_path_);
  CHECK(listen(listener_, 16) == 0);
  thread_ = std::thread([this] { Serve(); });
}

HttpStub::~HttpStub() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

std::string HttpStub::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void HttpStub::AnswerNext(int status, std::string headers, std::string body) {
  MutexLock lock(mutex_);
  answers_.push_back({status, std::move(headers), std::move(body)});
}

std::vector<HttpStub::Seen> HttpStub::seen() {
  MutexLock lock(mutex_);
  return seen_;
}

void HttpStub::Forget() {
  MutexLock lock(mutex_);
  seen_.clear();
}

HttpStub::Answer HttpStub::NextAnswer() {
  MutexLock lock(mutex_);
  if (answers_.empty()) return {200, "", "{}"};
  Answer answer = answers_.front();
  answers_.pop_front();
  return answer;
}

void HttpStub::Serve() {
  while (Readable(listener_, stop_)) {
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    ServeOne(connection);
    close(connection);
  }
}

void HttpStub::ServeOne(int connection) {
  std::string text;
  size_t head_end = std::string::npos;
  while (head_end == std::string::npos ||
         text.size() < head_end + 4 + ContentLength(text.substr(0, head_end))) {
    char buffer[4096];
    if (!Readable(connection, stop_)) return;
    const ssize_t n = read(connection, buffer, sizeof(buffer));
    if (n <= 0) return;
    text.append(buffer, static_cast<size_t>(n));
    head_end = text.find("\r\n\r\n");
  }
  Seen seen;
  seen.headers = text.substr(0, head_end);
  seen.body = text.substr(head_end + 4);
  const size_t path = text.find(' ') + 1;
  seen.path = text.substr(path, text.find(' ', path) - path);
  const Answer answer = NextAnswer();
  {
    MutexLock lock(mutex_);
    seen_.push_back(std::move(seen));
  }
  if (answer.status == 0) {
    Readable(connection, stop_);  // until the client hangs up
    return;
  }
  const std::string reply =
      "HTTP/1.1 " + std::to_string(answer.status) +
      " Said\r\nConnection: close\r\n" + answer.headers +
      "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" +
      answer.body;
  (void)!send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace nanwatch
