// What rpc/callers.h rests on, of the gRPC that is linked: the peer of a call
// is the descriptor that was handed on, and its number is nobody else's until
// the call is over. Every wait has an end.

#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "nanwatch/v1/query.grpc.pb.h"
#include "rpc/callers.h"
#include "rpc/unix_listener.h"
#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

constexpr auto kLong = std::chrono::seconds(10);
constexpr auto kLook = std::chrono::milliseconds(2);

// False: it did not come true in kLong.
template <typename Condition>
bool Comes(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  // What gRPC does tells nobody: it is looked for.
  std::mutex mutex;
  std::condition_variable nobody;
  std::unique_lock lock(mutex);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    nobody.wait_for(lock, kLook);
  }
  return true;
}

// Of the user, as the daemon asks.
std::string NumberOf(const std::string& peer) {
  Callers callers({});
  return callers.Of(callers.Identify(peer, "", std::nullopt)).number;
}

// Which open file a descriptor is; 0: none.
ino_t FileOf(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 ? found.st_ino : 0;
}

// Answers GetRun with the peer of the call; "hold" waits until it is let go,
// or kLong.
class PeerService final : public v1::QueryService::Service {
 public:
  grpc::Status GetRun(grpc::ServerContext* context,
                      const v1::GetRunRequest* request,
                      v1::GetRunResponse* response) override {
    response->mutable_run()->mutable_summary()->set_run_id(context->peer());
    if (request->run_id() != "hold") return grpc::Status::OK;
    std::unique_lock lock(mutex_);
    held_ = context;
    changed_.wait_for(lock, kLong, [this] { return held_ == nullptr; });
    held_ = nullptr;
    ++over_;
    return grpc::Status::OK;
  }

  bool holds() {
    std::lock_guard lock(mutex_);
    return held_ != nullptr;
  }
  // True once gRPC knows that the caller of the held call has gone.
  bool caller_gone() {
    std::lock_guard lock(mutex_);
    return held_ != nullptr && held_->IsCancelled();
  }
  std::string held_peer() {
    std::lock_guard lock(mutex_);
    return held_ == nullptr ? std::string() : held_->peer();
  }
  void LetGo() {
    {
      std::lock_guard lock(mutex_);
      held_ = nullptr;
    }
    changed_.notify_all();
  }
  int over() {
    std::lock_guard lock(mutex_);
    return over_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::ServerContext* held_ = nullptr;
  int over_ = 0;
};

class DescriptorPeerTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    auto listener = UnixListener::Listen(path_, 0600, "");
    ASSERT_TRUE(listener.ok()) << listener.error();
    listener_ = std::move(*listener);
    listener_->Start([this](int fd, const Peer&) {
      {
        std::lock_guard lock(mutex_);
        accepted_.push_back(fd);
      }
      // As RpcServer does it.
      grpc::AddInsecureChannelFromFd(server_.get(), fd);
    });
  }
  void TearDown() override {
    service_.LetGo();
    listener_.reset();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() +
                      std::chrono::seconds(1));
    server_->Wait();
  }

  std::unique_ptr<v1::QueryService::Stub> Connect() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return v1::QueryService::NewStub(grpc::CreateCustomChannel(
        "unix:" + path_, grpc::InsecureChannelCredentials(), arguments));
  }
  static grpc::Status Ask(v1::QueryService::Stub* stub,
                          grpc::ClientContext* context, const std::string& what,
                          std::string* peer) {
    context->set_deadline(std::chrono::system_clock::now() + kLong);
    v1::GetRunRequest request;
    request.set_run_id(what);
    v1::GetRunResponse response;
    const grpc::Status status = stub->GetRun(context, request, &response);
    *peer = response.run().summary().run_id();
    return status;
  }
  std::vector<int> accepted() {
    std::lock_guard lock(mutex_);
    return accepted_;
  }

  TempDir dir_;
  const std::string path_ = dir_ / "sock";
  PeerService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<UnixListener> listener_;
  std::mutex mutex_;
  std::vector<int> accepted_;
};

TEST_F(DescriptorPeerTest, ThePeerOfACallIsTheDescriptorThatWasHandedOn) {
  std::vector<std::unique_ptr<v1::QueryService::Stub>> stubs;
  for (size_t i = 0; i < 3; ++i) {
    stubs.push_back(Connect());
    std::string peer;
    grpc::ClientContext context;
    const grpc::Status status = Ask(stubs.back().get(), &context, "x", &peer);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(accepted().size(), i + 1);
    EXPECT_EQ(peer, "fd:" + std::to_string(accepted()[i]));
    EXPECT_EQ(NumberOf(peer), "uid " + std::to_string(geteuid()));
  }
}

TEST_F(DescriptorPeerTest, ItsNumberIsNobodyElsesUntilTheCallIsOver) {
  auto stub = Connect();
  auto context = std::make_unique<grpc::ClientContext>();
  std::string none;
  std::thread caller([&] { Ask(stub.get(), context.get(), "hold", &none); });
  const bool held = Comes([this] { return service_.holds(); });
  const int fd = held ? accepted().at(0) : -1;
  const ino_t file = FileOf(fd);
  context->TryCancel();
  caller.join();
  // Both hold the connection; now it is closed.
  context.reset();
  stub.reset();
  ASSERT_TRUE(held);
  ASSERT_NE(file, 0u);
  ASSERT_TRUE(Comes([this] { return service_.caller_gone(); }));
  ASSERT_TRUE(Comes([fd] {
    pollfd end{fd, 0, 0};
    return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
  })) << "the caller's end is closed";
  // The system gives the lowest number that is free.
  std::vector<std::unique_ptr<v1::QueryService::Stub>> others;
  std::set<std::string> peers;
  for (int i = 0; i < 20; ++i) {
    others.push_back(Connect());
    std::string peer;
    grpc::ClientContext another;
    ASSERT_TRUE(Ask(others.back().get(), &another, "x", &peer).ok());
    peers.insert(peer);
  }
  EXPECT_EQ(peers.size(), 20u);
  EXPECT_FALSE(peers.contains("fd:" + std::to_string(fd)));
  EXPECT_EQ(FileOf(fd), file) << "another's, in a call that is not over";
  EXPECT_EQ(service_.held_peer(), "fd:" + std::to_string(fd));
  EXPECT_EQ(NumberOf(service_.held_peer()), "uid " + std::to_string(geteuid()));
  // What is held is let go: a test that could not fail would see no change.
  service_.LetGo();
  EXPECT_TRUE(Comes([&] { return FileOf(fd) != file; }));
  EXPECT_EQ(service_.over(), 1);
}

}  // namespace
}  // namespace nanwatch
