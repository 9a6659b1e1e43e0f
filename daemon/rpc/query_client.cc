#include "rpc/query_client.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "nanwatch/v1/query.grpc.pb.h"
#include "rpc/client_secrets.h"
#include "rpc/socket_access.h"

namespace nanwatch {

class QueryClient::Stub {
 public:
  explicit Stub(const std::string& address)
      : secrets(ReadClientSecrets(address, &Variable)),
        stub(v1::QueryService::NewStub(Connect(secrets))) {}

  // Says who calls; a call that cannot say it is over at once.
  void Sign(grpc::ClientContext* context) const {
    if (!secrets.problem.empty()) return context->TryCancel();
    if (secrets.token.empty()) return;
    context->AddMetadata("authorization", "Bearer " + secrets.token);
  }

  const ClientSecrets secrets;
  const std::unique_ptr<v1::QueryService::Stub> stub;

 private:
  static std::string Variable(const std::string& name) {
    const char* value = getenv(name.c_str());
    return value == nullptr ? "" : value;
  }
  // Why a call failed the command says itself. Who sets GRPC_VERBOSITY wants to
  // read more of it.
  static void SilenceGrpc() {
    if (getenv("GRPC_VERBOSITY") != nullptr) return;
    gpr_set_log_function([](gpr_log_func_args*) {});
  }
  static std::shared_ptr<grpc::Channel> Connect(const ClientSecrets& secrets) {
    SilenceGrpc();
    grpc::ChannelArguments arguments;
    // A run of a hundred thousand ranks is one message.
    arguments.SetMaxReceiveMessageSize(-1);
    // A view waits for a daemon that restarts: gRPC itself would come back to
    // it after up to two minutes.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 500);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
    return grpc::CreateCustomChannel(
        secrets.target,
        secrets.tls ? grpc::SslCredentials(
                          {secrets.ca, secrets.key, secrets.certificate})
                    : grpc::InsecureChannelCredentials(),
        arguments);
  }
};

namespace {

void SetDeadline(Duration deadline, grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + deadline);
}

Error ExplainStatus(const std::string& address, const ClientSecrets& secrets,
                    const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      if (std::string why = WhyForbidden(address); !why.empty()) return {why};
      if (const std::string advice = Advice(secrets, status.error_message());
          !advice.empty()) {
        return {fmt::format("cannot reach a daemon at {}: {} ({})", address,
                            advice, status.error_message())};
      }
      if (address.starts_with("tls://")) {
        return {fmt::format("cannot reach a daemon at {}: {}", address,
                            status.error_message())};
      }
      // So gRPC calls what answers it in HTTP/1.
      if (status.error_message().find("http1.x") != std::string::npos) {
        return {
            fmt::format("{} is the address of a web page: pass the one that "
                        "trainings send to with --address",
                        address)};
      }
      return {
          fmt::format("no daemon listens at {}: start nanwatchd, or pass "
                      "--address",
                      address)};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {
          fmt::format("the daemon at {} did not answer in time: see its "
                      "log, or try again",
                      address)};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {
          fmt::format("what listens at {} is not this version of "
                      "nanwatchd: update it, or pass --address",
                      address)};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {
          fmt::format("the daemon at {} answers as many as it can: try "
                      "again ({})",
                      address, status.error_message())};
    default:
      return {status.error_message().empty()
                  ? fmt::format("the daemon at {} failed (gRPC code {})",
                                address, static_cast<int>(status.error_code()))
                  : status.error_message()};
  }
}

}  // namespace

QueryClient::QueryClient(std::string address, Duration deadline)
    : address_(std::move(address)),
      deadline_(deadline),
      stub_(std::make_unique<Stub>(address_)) {}

QueryClient::~QueryClient() = default;

Error QueryClient::Explain(const grpc::Status& status) const {
  const std::string& problem = stub_->secrets.problem;
  return problem.empty() ? ExplainStatus(address_, stub_->secrets, status)
                         : Error{problem};
}

Result<v1::ListRunsResponse> QueryClient::ListRuns() {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::ListRunsResponse response;
  const grpc::Status status = stub_->stub->ListRuns(&context, {}, &response);
  if (!status.ok()) return Explain(status);
  return response;
}

Result<v1::RunDetail> QueryClient::GetRun(const std::string& run_id,
                                          std::optional<int32_t> attempt) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  if (attempt) request.set_attempt(*attempt);
  v1::GetRunResponse response;
  const grpc::Status status = stub_->stub->GetRun(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return std::move(*response.mutable_run());
}

Status QueryClient::WatchRun(
    const v1::WatchRunRequest& request,
    const std::function<bool(const v1::RunDetail&)>& show) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  const auto reader = stub_->stub->WatchRun(&context, request);
  v1::WatchRunResponse response;
  while (reader->Read(&response)) {
    if (show(response.run())) continue;
    context.TryCancel();
    reader->Finish();
    return OkStatus();
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return Explain(status);
  return OkStatus();
}

Result<v1::GetStepsResponse> QueryClient::GetSteps(
    const v1::GetStepsRequest& request) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::GetStepsResponse response;
  const grpc::Status status =
      stub_->stub->GetSteps(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return response;
}

Result<v1::GetLayersResponse> QueryClient::GetLayers(
    const v1::GetLayersRequest& request) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::GetLayersResponse response;
  const grpc::Status status =
      stub_->stub->GetLayers(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return response;
}

Status QueryClient::ExportRun(
    const v1::ExportRunRequest& request,
    const std::function<Status(const v1::ExportRunResponse&)>& take) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  const auto reader = stub_->stub->ExportRun(&context, request);
  v1::ExportRunResponse response;
  while (reader->Read(&response)) {
    Status taken = take(response);
    if (taken) continue;
    context.TryCancel();
    reader->Finish();
    return taken;
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return Explain(status);
  return OkStatus();
}

Result<std::string> QueryClient::Annotate(const v1::AnnotateRequest& request) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::AnnotateResponse response;
  const grpc::Status status =
      stub_->stub->Annotate(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return response.message();
}

Result<std::string> QueryClient::SetBenchmark(
    const v1::SetBenchmarkRequest& request) {
  grpc::ClientContext context;
  stub_->Sign(&context);
  SetDeadline(deadline_, &context);
  v1::SetBenchmarkResponse response;
  const grpc::Status status =
      stub_->stub->SetBenchmark(&context, request, &response);
  if (!status.ok()) return Explain(status);
  return response.message();
}

}  // namespace nanwatch
