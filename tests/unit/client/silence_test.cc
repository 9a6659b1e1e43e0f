// Daemons that are missing, or there and silent.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <nanwatch.hpp>
#include <string>
#include <thread>

#include "tests/unit/client/sink.h"

namespace nanwatch_client {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

// Runs `f` and returns how long it took.
template <typename F>
milliseconds Timed(const F& f) {
  const auto start = steady_clock::now();
  f();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
}

// Listens, and the kernel accepts for it, as with a daemon under SIGSTOP.
class DeafSocket {
 public:
  explicit DeafSocket(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(listen(fd_, 16), 0);
  }
  ~DeafSocket() { close(fd_); }

 private:
  int fd_ = -1;
};

class SilenceTest : public testing::Test {
 protected:
  nanwatch::RunOptions Options() {
    nanwatch::RunOptions options;
    options.address = address_.c_str();
    options.run_id = "run-1";
    return options;
  }

  TempDir dir_;
  std::string path_ = dir_.Path("ingest.sock");
  std::string address_ = "unix:" + path_;
};

TEST_F(SilenceTest, AMissingDaemonIsNotWaitedForAtTheEnd) {
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  EXPECT_FALSE(run.Flush(50));
  bool acked = true;
  EXPECT_LT(Timed([&] { acked = run.Close(10'000); }), milliseconds(3000));
  EXPECT_FALSE(acked);
}

TEST_F(SilenceTest, ADeafDaemonDoesNotHoldTheEnd) {
  const DeafSocket deaf(path_);
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  EXPECT_FALSE(run.Flush(100));
  EXPECT_LT(Timed([&] { run.Close(200); }), milliseconds(1000));
}

// Long before the connection is given up.
TEST_F(SilenceTest, ADaemonThatHangsIsToldWhileItIsWaitedFor) {
  const DeafSocket deaf(path_);
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  for (int i = 0; i < 1000 && run.Stats().error[0] == '\0'; ++i) run.Flush(10);
  EXPECT_THAT(run.Stats().error, HasSubstr("has not answered for"));
}

TEST_F(SilenceTest, ADaemonThatHangsAfterTheHandshakeIsTold) {
  Sink sink(path_);
  sink.set_acks(false);
  sink.Start();
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  for (int i = 0; i < 1000 && run.Stats().error[0] == '\0'; ++i) run.Flush(10);
  EXPECT_THAT(run.Stats().error, HasSubstr("has not answered for"));
  EXPECT_EQ(run.Stats().connected, 1);
}

TEST_F(SilenceTest, ADaemonThatStopsReadingHoldsNeitherPushNorEnd) {
  Sink sink(path_);
  sink.set_reads(false);
  sink.Start();
  nanwatch::RunOptions options = Options();
  options.unacked_bytes = 1 << 20;
  nanwatch::Run run(options);
  ASSERT_TRUE(sink.WaitFor([](const Sink& s) { return s.opens() == 1; }));
  // Far more than the windows of the transport, the outbox and the ring hold.
  const auto pushing = Timed([&] {
    for (int i = 0; i < 400'000; ++i) {
      run.Push(nanwatch::Step(i).Loss(i).GradNorm(i).LossScale(i));
    }
  });
  EXPECT_LT(pushing, milliseconds(5000));
  EXPECT_LT(Timed([&] { run.Close(200); }), milliseconds(1500));
}

TEST_F(SilenceTest, ADaemonThatNeverAcknowledgesHoldsNoEnd) {
  Sink sink(path_);
  sink.set_acks(false);
  sink.Start();
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  ASSERT_TRUE(sink.WaitFor([](const Sink& s) { return !s.taken().empty(); }));
  bool acked = true;
  EXPECT_LT(Timed([&] { acked = run.Close(200); }), milliseconds(1000));
  EXPECT_FALSE(acked);
}

TEST_F(SilenceTest, AnAddressThatIsNoneIsReported) {
  nanwatch::RunOptions options = Options();
  options.address = "no such host at all:0:0";
  nanwatch::Run run(options);
  run.Push(nanwatch::Step(1).Loss(1));
  for (int i = 0; i < 500 && run.Stats().error[0] == '\0'; ++i) run.Flush(10);
  EXPECT_THAT(run.Stats().error, HasSubstr("no such host at all"));
}

TEST_F(SilenceTest, PushesOfTwoThreadsBreakNothing) {
  nanwatch::Run run(Options());
  const auto push = [&run] {
    for (int i = 0; i < 20'000; ++i) run.Push(nanwatch::Step(i).Loss(i));
  };
  std::thread other(push);
  push();
  other.join();
  EXPECT_EQ(run.Stats().pushed, 40'000u);
}

}  // namespace
}  // namespace nanwatch_client
