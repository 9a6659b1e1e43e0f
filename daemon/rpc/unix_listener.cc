#include "rpc/unix_listener.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/open_files.h"
#include "rpc/account.h"

namespace nanwatch {
namespace {

constexpr int kBacklog = 1024;  // 1,000 ranks may come at once

Error Failed(const std::string& path, std::string_view doing) {
  return Error{fmt::format("cannot {} the socket {}: {}", doing, path,
                           std::strerror(errno))};
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Who has the socket.
enum class Holder { kNobody, kListener, kOther };

Holder HolderOf(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Holder::kOther;
  const sockaddr_un address = AddressOf(path);
  const int rc =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = rc == 0 ? 0 : errno;
  close(fd);
  // A full backlog is somebody who listens, too.
  if (error == 0 || error == EAGAIN) return Holder::kListener;
  // Any other kind of socket says that it is one, or that we may not ask.
  return error == ECONNREFUSED || error == ENOENT ? Holder::kNobody
                                                  : Holder::kOther;
}

// Makes `path` free, or says why it is not.
Status Clear(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return OkStatus();
    return Failed(path, "look at");
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Error{
        fmt::format("{} exists and is not a socket: move it away, or "
                    "choose another path",
                    path)};
  }
  if (found.st_uid != geteuid() && geteuid() != 0) {
    return Error{
        fmt::format("the socket {} belongs to user {}, not to us ({}): "
                    "choose another path",
                    path, found.st_uid, geteuid())};
  }
  switch (HolderOf(path)) {
    case Holder::kNobody:
      break;
    case Holder::kListener:
      return Error{
          fmt::format("another nanwatchd listens at {}: stop it, or "
                      "choose another path",
                      path)};
    case Holder::kOther:
      return Error{
          fmt::format("the socket {} is another program's: choose another "
                      "path",
                      path)};
  }
  if (unlink(path.c_str()) != 0) return Failed(path, "replace");
  return OkStatus();
}

// Who may use the socket may enter its folder, and see nothing of it.
mode_t FolderMode(unsigned socket_mode) {
  return 0700 | ((socket_mode & S_IWGRP) != 0 ? S_IXGRP : 0) |
         ((socket_mode & S_IWOTH) != 0 ? S_IXOTH : 0);
}

Status MakeDirectory(const std::string& path, unsigned socket_mode) {
  const std::string folder = ParentDirectory(path);
  // Only the last part: a path that is mistyped is said.
  if (!IsDirectory(ParentDirectory(folder))) {
    return Error{
        fmt::format("cannot make the directory {} of the socket: {}; "
                    "make it, or choose another path",
                    folder, std::strerror(ENOENT))};
  }
  Status made = MakeFolder(folder, FolderMode(socket_mode));
  if (made) return made;
  return Error{fmt::format("the socket {}: {}", path, made.error())};
}

Result<gid_t> GroupOfSocket(const std::string& name) {
  if (name.empty()) return getegid();
  if (const auto gid = GroupNumber(name)) return *gid;
  return Error{
      fmt::format("there is no group {}: make it (groupadd {}), or "
                  "name another for the socket",
                  name, name)};
}

Status BindAndListen(int fd, const std::string& path, const SocketOwner& owner,
                     bool has_group) {
  const sockaddr_un address = AddressOf(path);
  // The mode before the name exists, so that it is never more open than asked.
  fchmod(fd, owner.mode);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0) {
    return Failed(path, "make");
  }
  if (has_group &&
      chown(path.c_str(), static_cast<uid_t>(-1), owner.gid) != 0) {
    return Failed(path, "give its group to");
  }
  if (chmod(path.c_str(), owner.mode) != 0) return Failed(path, "set modes of");
  if (listen(fd, kBacklog) != 0) return Failed(path, "listen on");
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<UnixListener>> UnixListener::Listen(
    const std::string& path, unsigned mode, const std::string& group) {
  constexpr size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > kLongest) {
    return Error{
        fmt::format("the socket path {} has {} bytes, the system takes "
                    "1 to {}: choose a shorter one",
                    path, path.size(), kLongest)};
  }
  if (Status made = MakeDirectory(path, mode); !made)
    return Error{made.error()};
  if (Status clear = Clear(path); !clear) return Error{clear.error()};
  const Result<gid_t> gid = GroupOfSocket(group);
  if (!gid) return Error{gid.error()};
  const SocketOwner owner{geteuid(), *gid, mode};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failed(path, "open");
  std::unique_ptr<UnixListener> listener(new UnixListener(path, fd, owner));
  if (Status bound = BindAndListen(fd, path, owner, !group.empty()); !bound) {
    return Error{bound.error()};
  }
  auto acceptor = Acceptor::Make(fd, path, OpenFilesOfStreams());
  if (!acceptor) return Error{acceptor.error()};
  listener->acceptor_ = std::move(*acceptor);
  return listener;
}

UnixListener::UnixListener(std::string path, int fd, SocketOwner owner)
    : path_(std::move(path)), fd_(fd), owner_(owner) {}

UnixListener::~UnixListener() {
  Stop();
  // Only our own: another daemon may have replaced it, or bind may have failed.
  sockaddr_un bound{};
  socklen_t bytes = sizeof bound;
  const bool ours =
      getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &bytes) == 0 &&
      path_ == bound.sun_path;
  close(fd_);
  if (ours && HolderOf(path_) == Holder::kNobody) unlink(path_.c_str());
}

void UnixListener::Start(std::function<void(int, const Peer&)> take) {
  acceptor_->Start([take = std::move(take)](int fd) {
    const Result<Peer> peer = ReadPeer(fd);
    if (peer) return take(fd, *peer);
    LogWarning("refused a connection", peer.error());
    close(fd);
  });
}

void UnixListener::Stop() {
  if (acceptor_ != nullptr) acceptor_->Stop();
}

}  // namespace nanwatch
