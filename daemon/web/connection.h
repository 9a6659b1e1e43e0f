// Connection: bytes to and from one client, in plain text or over TLS. Each
// wait ends by its deadline, or when the server stops.

#ifndef NANWATCH_WEB_CONNECTION_H_
#define NANWATCH_WEB_CONNECTION_H_

#include <openssl/ssl.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "web/deadline.h"

namespace nanwatch {

class Connection {
 public:
  // `fd` does not block, and is this one's. `stop` is readable when no wait is
  // worth it any more.
  Connection(int fd, int stop) : fd_(fd), stop_(stop) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Speaks TLS from here on. An error says why not; empty: the client went
  // without a word.
  Status Encrypt(std::shared_ptr<SSL_CTX> context, Deadline end);
  // Of the client's certificate, as NameOfClient().
  std::optional<std::string> certificate_name() const;

  int fd() const { return fd_; }

  // Bytes read; 0: the client sends no more; -1: the deadline, or a failure.
  ssize_t Read(char* to, size_t size, Deadline end);
  // False: the client did not take all of it.
  bool Write(std::string_view bytes, Deadline end);
  // Ends what is sent, and reads what comes until the client hangs up: closed
  // at once, what it has sent unread would make the kernel throw our reply
  // away.
  void Finish(Deadline end);

 private:
  // One try of TLS again, or the end: `rc` is what it returned.
  bool MayTryAgain(int rc, Deadline end);
  bool Wait(short events, Deadline end) const;

  const int fd_;
  const int stop_;
  std::shared_ptr<SSL_CTX> context_;
  SSL* tls_ = nullptr;  // null: plain text
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_CONNECTION_H_
