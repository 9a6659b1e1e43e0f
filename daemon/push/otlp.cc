#include "push/otlp.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "push/otlp_request.h"
#include "rpc/client_secrets.h"

namespace nanwatch {
namespace {

using Answer = SinkReply::Verdict;

constexpr char kMetricsCall[] =
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
constexpr char kLogs[] =
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
// As OpenTelemetry's exporters (OTEL_EXPORTER_OTLP_TIMEOUT).
constexpr auto kExportTimeout = std::chrono::seconds(10);
// Log records that a collector does not take are tried again so often. Ours.
constexpr Duration kLogsAgain = std::chrono::seconds(5);

// OTLP's list of what may be tried again. Who is not let in, or calls the wrong
// place, has said nothing of what is sent: it waits for whoever mends the
// settings.
Answer VerdictOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return Answer::kTaken;
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::UNIMPLEMENTED:
      return Answer::kLater;
    default:
      return Answer::kRefused;
  }
}

std::optional<Duration> RetryAfter(const grpc::Status& status) {
  push::v1::ErrorDetails details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& detail : details.details()) {
    push::v1::RetryInfo info;
    if (!detail.type_url().ends_with("google.rpc.RetryInfo") ||
        !info.ParseFromString(detail.value())) {
      continue;
    }
    // At most an hour, as Retry-After over HTTP.
    const int64_t seconds =
        std::clamp<int64_t>(info.retry_delay().seconds(), 0, 3600);
    return std::chrono::seconds(seconds) +
           std::chrono::microseconds(info.retry_delay().nanos() / 1000);
  }
  return std::nullopt;
}

class Otlp : public Sink {
 public:
  Otlp(const PushOptions& options, const std::string& version,
       IncidentQueue& incidents)
      : options_(options.otlp),
        sender_{version, options.labels},
        incidents_(incidents) {}

  std::string_view name() const override { return "otlp"; }
  std::string address() const override { return options_.address; }

  SinkReply Send(std::span<const Moment> moments) override {
    return Export(kMetricsCall, MetricsRequestOf(moments, sender_));
  }

  bool Works(Time /*now*/) override { return true; }  // nothing is kFailed

  void Tend(Time now) override {
    std::deque<Notice> fresh = incidents_.Take();
    std::move(fresh.begin(), fresh.end(), std::back_inserter(waiting_));
    for (; waiting_.size() > IncidentQueue::kMost; waiting_.pop_front()) {
      incidents_.Lose(1);
    }
    if (waiting_.empty() || now < logs_not_before_) return;
    const SinkReply reply =
        Export(kLogs, LogsRequestOf(waiting_, sender_, now));
    if (reply.verdict == Answer::kLater) {
      logs_not_before_ = now + reply.retry_after.value_or(kLogsAgain);
      return;
    }
    if (reply.verdict == Answer::kRefused) incidents_.Lose(waiting_.size());
    waiting_.clear();
  }

  void Cancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }

 private:
  // A channel for each connection, so that secrets are read anew with it.
  void Connect() {
    secrets_ = ReadClientSecrets(options_.address, [&](const auto& name) {
      return name == "NANWATCH_CA"           ? options_.ca
             : name == "NANWATCH_CERT"       ? options_.cert
             : name == "NANWATCH_KEY"        ? options_.key
             : name == "NANWATCH_TOKEN_FILE" ? options_.token_file
                                             : std::string();
    });
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
        secrets_.target,
        secrets_.tls ? grpc::SslCredentials(
                           {secrets_.ca, secrets_.key, secrets_.certificate})
                     : grpc::InsecureChannelCredentials(),
        arguments));
  }

  SinkReply Export(const char* method,
                   const google::protobuf::Message& request) {
    if (stub_ == nullptr) Connect();
    SinkReply said;
    said.why = secrets_.problem;
    grpc::Status status;
    push::v1::ExportResponse response;
    if (said.why.empty()) {
      status = Call(method, request, &response);
      said.verdict = VerdictOf(status);
      said.retry_after = RetryAfter(status);
      said.rejected =
          static_cast<uint64_t>(response.partial_success().rejected());
      const std::string advice = Advice(secrets_, status.error_message());
      said.why =
          fmt::format("code={} {} {}", static_cast<int>(status.error_code()),
                      status.error_message(), advice);
    }
    if (said.verdict == Answer::kLater) stub_.reset();
    return said;
  }

  grpc::Status Call(const char* method,
                    const google::protobuf::Message& request,
                    push::v1::ExportResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kExportTimeout);
    if (!secrets_.token.empty()) {
      context.AddMetadata("authorization", "Bearer " + secrets_.token);
    }
    {
      MutexLock lock(mutex_);
      if (cancelled_) return {grpc::StatusCode::CANCELLED, "cancelled"};
      context_ = &context;
    }
    const grpc::Slice slice(request.SerializeAsString());
    const grpc::ByteBuffer bytes(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::Status status;
    grpc::CompletionQueue queue;
    const auto call = stub_->PrepareUnaryCall(&context, method, bytes, &queue);
    call->StartCall();
    call->Finish(&answer, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    {
      MutexLock lock(mutex_);
      context_ = nullptr;
    }
    if (!status.ok()) return status;
    return grpc::GenericDeserialize<grpc::ProtoBufferReader,
                                    push::v1::ExportResponse>(&answer,
                                                              response);
  }

  const OtlpOptions options_;
  const OtlpSender sender_;
  IncidentQueue& incidents_;
  ClientSecrets secrets_;
  std::unique_ptr<grpc::GenericStub> stub_;  // null: not connected
  std::deque<Notice> waiting_;               // for logs
  Time logs_not_before_{};
  Mutex mutex_;
  bool cancelled_ GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace

std::unique_ptr<Sink> NewOtlp(const PushOptions& options,
                              const std::string& version,
                              IncidentQueue& incidents) {
  return std::make_unique<Otlp>(options, version, incidents);
}

}  // namespace nanwatch
