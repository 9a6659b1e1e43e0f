#include "net/acceptor.h"

#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/open_files.h"

namespace nanwatch {
namespace {

constexpr int kOutOfDescriptorsWaitMs = 100;

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::Make(int socket, std::string name,
                                                 size_t files) {
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    return Error{fmt::format("cannot accept connections at {}: {}", name,
                             std::strerror(errno))};
  }
  return std::unique_ptr<Acceptor>(
      new Acceptor(socket, wake, std::move(name), files));
}

Acceptor::Acceptor(int socket, int wake, std::string name, size_t files)
    : socket_(socket), wake_(wake), name_(std::move(name)), files_(files) {}

Acceptor::~Acceptor() {
  Stop();
  close(wake_);
}

void Acceptor::Start(std::function<void(int)> take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Loop(); });
}

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // An eventfd that is full is as awake as one can be.
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof one);
  thread_.join();
}

void Acceptor::Loop() {
  pollfd waits[2] = {{wake_, POLLIN, 0}, {socket_, POLLIN, 0}};
  while (true) {
    poll(waits, 2, -1);
    if (waits[0].revents != 0) return;
    if (!AcceptOne()) poll(waits, 1, kOutOfDescriptorsWaitMs);
  }
}

bool Acceptor::AcceptOne() {
  const int fd =
      accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
  if (static_cast<size_t>(fd) < files_) {
    take_(fd);
    return true;
  }
  close(fd);
  int64_t suppressed = 0;
  if (few_files_.Allow(SystemClock().Now(), &suppressed)) {
    LogWarning(
        "a connection was refused: too few files may be open; raise "
        "LimitNOFILE or `ulimit -n`",
        fmt::format("socket={} files={} refused_before={}", name_,
                    OpenFilesMost(), suppressed));
  }
  return false;
}

}  // namespace nanwatch
