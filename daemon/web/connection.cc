#include "web/connection.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "web/tls_door.h"

namespace nanwatch {
namespace {

// A record of TLS; more of it in one go is not faster.
constexpr size_t kWriteBytes = 16 << 10;
// What a client sends after its request is thrown away, so much of it. Ours.
constexpr size_t kThrownAway = 1 << 20;
// To who speaks plain text to a port of TLS.
constexpr std::string_view kSpeaksPlain =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 52\r\nConnection: close\r\n\r\n"
    "This port speaks HTTPS: use https:// in the address.";

}  // namespace

Connection::~Connection() {
  SSL_free(tls_);
  close(fd_);
}

bool Connection::Wait(short events, Deadline end) const {
  pollfd waits[2] = {{fd_, events, 0}, {stop_, POLLIN, 0}};
  while (true) {
    const int ready = poll(waits, 2, MillisecondsTo(end));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && waits[0].revents != 0;
  }
}

bool Connection::MayTryAgain(int rc, Deadline end) {
  switch (SSL_get_error(tls_, rc)) {
    case SSL_ERROR_WANT_READ:
      return Wait(POLLIN, end);
    case SSL_ERROR_WANT_WRITE:
      return Wait(POLLOUT, end);
    default:
      return false;
  }
}

Status Connection::Encrypt(std::shared_ptr<SSL_CTX> context, Deadline end) {
  context_ = std::move(context);
  tls_ = SSL_new(context_.get());
  if (tls_ == nullptr || SSL_set_fd(tls_, fd_) != 1) {
    return Error{"there is no memory for TLS"};
  }
  int rc = 0;
  do {
    ERR_clear_error();
    rc = SSL_accept(tls_);
  } while (rc != 1 && MayTryAgain(rc, end));
  if (rc == 1) return OkStatus();
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  SSL_free(std::exchange(tls_, nullptr));
  if (ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST) {
    Write(kSpeaksPlain, end);
    return Error{"the client speaks plain HTTP"};
  }
  if (code == 0) return Error{""};
  const char* reason = ERR_reason_error_string(code);
  return Error{reason == nullptr ? "the handshake failed" : reason};
}

std::optional<std::string> Connection::certificate_name() const {
  return tls_ == nullptr ? std::nullopt : NameOfClient(tls_);
}

ssize_t Connection::Read(char* to, size_t size, Deadline end) {
  while (true) {
    if (tls_ != nullptr) {
      ERR_clear_error();
      const int rc = SSL_read(tls_, to, static_cast<int>(size));
      if (rc > 0) return rc;
      if (SSL_get_error(tls_, rc) == SSL_ERROR_ZERO_RETURN) return 0;
      if (!MayTryAgain(rc, end)) return -1;
      continue;
    }
    const ssize_t got = recv(fd_, to, size, 0);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !Wait(POLLIN, end)) return -1;
  }
}

bool Connection::Write(std::string_view bytes, Deadline end) {
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kWriteBytes);
    ssize_t taken = 0;
    if (tls_ != nullptr) {
      ERR_clear_error();
      const int rc = SSL_write(tls_, bytes.data(), static_cast<int>(size));
      if (rc <= 0 && !MayTryAgain(rc, end)) return false;
      taken = std::max(rc, 0);
    } else {
      taken = send(fd_, bytes.data(), size, MSG_NOSIGNAL);
      if (taken < 0 && errno != EINTR &&
          (errno != EAGAIN || !Wait(POLLOUT, end))) {
        return false;
      }
      taken = std::max<ssize_t>(taken, 0);
    }
    bytes.remove_prefix(static_cast<size_t>(taken));
    // A client that takes a byte now and then is no faster than one that waits.
    if (MillisecondsTo(end) == 0 && !bytes.empty()) return false;
  }
  return true;
}

void Connection::Finish(Deadline end) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    SSL_shutdown(tls_);
  }
  shutdown(fd_, SHUT_WR);
  std::array<char, 4096> bytes{};
  size_t thrown = 0;
  while (thrown < kThrownAway && Wait(POLLIN, end)) {
    const ssize_t got = recv(fd_, bytes.data(), bytes.size(), 0);
    if (got <= 0) return;
    thrown += static_cast<size_t>(got);
  }
}

}  // namespace nanwatch
