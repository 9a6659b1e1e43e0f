#include "rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/impl/codegen/client_unary_call.h>

#include "nanwatch/v1/ingest.grpc.pb.h"
#include "nanwatch/v1/query.grpc.pb.h"
#include "rpc/query_client.h"
#include "tests/unit/rpc/fake_daemon.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A unary call by name, with bytes: health and reflection have no headers here.
grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel,
                  const std::string& method, const std::string& bytes,
                  std::string* answer) {
  const grpc::internal::RpcMethod rpc(method.c_str(),
                                      grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext context;
  const grpc::Slice slice(bytes);
  grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
          channel.get(), rpc, &context, request, &response);
  std::vector<grpc::Slice> slices;
  if (status.ok() && response.Dump(&slices).ok()) {
    for (const grpc::Slice& one : slices) {
      answer->append(reinterpret_cast<const char*>(one.begin()), one.size());
    }
  }
  return status;
}

// HealthCheckRequest{service = 1}, HealthCheckResponse{status = 1}.
std::string Health(FakeDaemon& daemon, const std::string& service) {
  std::string request;
  if (!service.empty()) {
    request =
        "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
  }
  std::string answer;
  const grpc::Status status =
      Call(daemon.Connect(), "/grpc.health.v1.Health/Check", request, &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return answer;
}

TEST(ServerTest, SaysThatItServes) {
  FakeDaemon daemon;
  daemon.Start();
  const std::string serving("\x08\x01");
  EXPECT_EQ(Health(daemon, ""), serving);
  EXPECT_EQ(Health(daemon, "nanwatch.v1.IngestService"), serving);
  EXPECT_EQ(Health(daemon, "nanwatch.v1.QueryService"), serving);
  daemon.server->StopTaking();
  EXPECT_EQ(Health(daemon, ""), "\x08\x02");
}

// One question of reflection, and the bytes of its answer.
std::string Reflect(FakeDaemon& daemon, const std::string& question) {
  const grpc::internal::RpcMethod rpc(
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      grpc::internal::RpcMethod::BIDI_STREAMING);
  const auto channel = daemon.Connect();
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>
      stream(grpc::internal::ClientReaderWriterFactory<
             grpc::ByteBuffer, grpc::ByteBuffer>::Create(channel.get(), rpc,
                                                         &context));
  const grpc::Slice asked(question);
  EXPECT_TRUE(stream->Write(grpc::ByteBuffer(&asked, 1)));
  grpc::ByteBuffer response;
  EXPECT_TRUE(stream->Read(&response));
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(response.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& one : slices) {
    text.append(reinterpret_cast<const char*>(one.begin()), one.size());
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  return text;
}

TEST(ServerTest, ListsItsServices) {
  FakeDaemon daemon;
  daemon.Start();
  const std::string text = Reflect(daemon, "\x3a\x01*");  // list_services: "*"
  EXPECT_THAT(text, HasSubstr("nanwatch.v1.IngestService"));
  EXPECT_THAT(text, HasSubstr("nanwatch.v1.QueryService"));
  EXPECT_THAT(text, HasSubstr("grpc.health.v1.Health"));
}

// As grpcurl asks before it calls: file_containing_symbol.
TEST(ServerTest, DescribesEachService) {
  FakeDaemon daemon;
  daemon.Start();
  for (const auto& [service, request] :
       {std::pair<std::string, std::string>{"nanwatch.v1.QueryService",
                                            "ListRunsRequest"},
        {"grpc.health.v1.Health", "HealthCheckRequest"}}) {
    const std::string question =
        "\x22" + std::string(1, static_cast<char>(service.size())) + service;
    EXPECT_THAT(Reflect(daemon, question), HasSubstr(request)) << service;
  }
}

TEST(ServerTest, ListensOnLoopbackWhenAsked) {
  FakeDaemon daemon;
  daemon.options_.tcp_address = "127.0.0.1:0";
  daemon.options_.tcp_anonymous = true;
  daemon.Start();
  EXPECT_THAT(daemon.server->addresses(),
              ElementsAre(daemon.address(), StartsWith("127.0.0.1:")));
  QueryClient client(daemon.server->addresses()[1]);
  EXPECT_TRUE(client.ListRuns().ok());

  FakeDaemon second;
  second.options_.tcp_address = daemon.server->addresses()[1];
  second.options_.tcp_anonymous = true;
  const auto started = RpcServer::Start(second.options_, second.sink,
                                        second.backend, second.clock);
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error(), HasSubstr("cannot listen on 127.0.0.1:"));
  EXPECT_THAT(started.error(), HasSubstr("choose another port"));
}

TEST(ServerTest, RefusesASecondDaemonOnItsSocket) {
  FakeDaemon daemon;
  daemon.Start();
  const auto second = RpcServer::Start(daemon.options_, daemon.sink,
                                       daemon.backend, daemon.clock);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error(), HasSubstr("another nanwatchd listens"));
  QueryClient client(daemon.address());
  EXPECT_TRUE(client.ListRuns().ok());
}

TEST(ServerTest, NeedsSomewhereToListen) {
  FakeDaemon daemon;
  daemon.options_.socket_path.clear();
  const auto started = RpcServer::Start(daemon.options_, daemon.sink,
                                        daemon.backend, daemon.clock);
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error(), HasSubstr("nowhere to listen"));
}

TEST(ServerTest, ReportsWhatItCounts) {
  FakeDaemon daemon;
  daemon.Start();
  std::vector<SelfSample> samples;
  daemon.server->AppendSamples(&samples);
  std::vector<std::string> names;
  for (const SelfSample& sample : samples) names.emplace_back(sample.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"nanwatch_ingest_streams",
                                            "nanwatch_ingest_messages_total",
                                            "nanwatch_limit_hits_total"}));
}

}  // namespace
}  // namespace nanwatch
