#include "rpc/unix_listener.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <future>

#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& path, const std::string& group = "") {
  const auto listener = UnixListener::Listen(path, 0660, group);
  return listener.ok() ? "" : listener.error();
}

int Connect(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

TEST(UnixListenerTest, AcceptsAndSaysWhoComes) {
  const TempDir dir;
  const std::string path = dir / "made/ingest.sock";
  auto listener = UnixListener::Listen(path, 0640, "");
  ASSERT_TRUE(listener.ok()) << listener.error();
  struct stat found {};
  ASSERT_EQ(lstat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
  std::promise<Peer> came;
  (*listener)->Start([&](int fd, const Peer& peer) {
    came.set_value(peer);
    close(fd);
  });
  const int fd = Connect(path);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(came.get_future().get().pid, getpid());
  close(fd);
  (*listener)->Stop();
  listener->reset();
  EXPECT_NE(lstat(path.c_str(), &found), 0);
}

TEST(UnixListenerTest, ReplacesASocketThatNobodyListensOn) {
  const TempDir dir;
  const std::string path = dir / "s";
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  EXPECT_EQ(ErrorOf(path), "");
}

TEST(UnixListenerTest, LeavesALiveOneAlone) {
  const TempDir dir;
  const std::string path = dir / "s";
  const auto first = UnixListener::Listen(path, 0660, "");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(ErrorOf(path), "another nanwatchd listens at " + path +
                               ": stop it, or choose another path");
  EXPECT_GE(Connect(path), 0);
}

TEST(UnixListenerTest, LeavesASocketOfAnotherKindAlone) {
  const TempDir dir;
  for (const int kind : {SOCK_SEQPACKET, SOCK_DGRAM}) {
    const std::string path = dir / std::to_string(kind);
    const int other = socket(AF_UNIX, kind, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(bind(other, reinterpret_cast<const sockaddr*>(&address),
                   sizeof address),
              0);
    if (kind == SOCK_SEQPACKET) {
      ASSERT_EQ(listen(other, 1), 0);
    }
    EXPECT_THAT(ErrorOf(path), HasSubstr("is another program's"));
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
    close(other);
  }
}

TEST(UnixListenerTest, LeavesWhatIsNotASocketAlone) {
  const TempDir dir;
  const std::string path = dir / "file";
  std::ofstream(path) << "precious";
  EXPECT_THAT(ErrorOf(path), HasSubstr("exists and is not a socket"));
  std::string left;
  std::ifstream(path) >> left;
  EXPECT_EQ(left, "precious");
}

TEST(UnixListenerTest, SaysHowLongAPathMayBe) {
  const TempDir dir;
  EXPECT_THAT(ErrorOf(dir / std::string(108, 'x')),
              HasSubstr("the system takes 1 to 107"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("has 0 bytes"));
}

TEST(UnixListenerTest, NamesAGroupThatIsNot) {
  const TempDir dir;
  EXPECT_THAT(ErrorOf(dir / "s", "no-such-group-of-ours"),
              HasSubstr("there is no group no-such-group-of-ours"));
}

TEST(UnixListenerTest, NamesADirectoryThatCannotBe) {
  EXPECT_THAT(ErrorOf("/proc/nanwatch/s"),
              HasSubstr("cannot make the directory /proc/nanwatch"));
}

}  // namespace
}  // namespace nanwatch
