// HttpStub: a tiny HTTP server on a port of its own, or on a unix socket. It
// answers what the test says and remembers what it was told.

#ifndef NANWATCH_TESTS_UNIT_NET_HTTP_STUB_H_
#define NANWATCH_TESTS_UNIT_NET_HTTP_STUB_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nanwatch {

class HttpStub {
 public:
  struct Seen {
    std::string path;
    std::string headers;  // the whole head, request line included
    std::string body;
  };

  // Port 0 of loopback; or `unix_path`.
  explicit HttpStub(std::string unix_path = "");
  ~HttpStub();
  HttpStub(const HttpStub&) = delete;
  HttpStub& operator=(const HttpStub&) = delete;

  std::string url() const;
  int port() const { return port_; }
  // The next answer; once these are used up, 200. Status 0: takes the request
  // and never answers.
  void AnswerNext(int status, std::string headers = "",
                  std::string body = "{}");
  std::vector<Seen> seen();
  void Forget();

 private:
  struct Answer {
    int status;
    std::string headers;
    std::string body;
  };
  void Serve();
  void ServeOne(int connection);
  Answer NextAnswer();

  const std::string unix_path_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};

  Mutex mutex_;
  std::deque<Answer> answers_ GUARDED_BY(mutex_);
  std::vector<Seen> seen_ GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_NET_HTTP_STUB_H_
