#include "relay/upstream.h"

#include <grpc/support/log.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <chrono>

#include "rpc/client_secrets.h"

namespace nanwatch {
namespace {

constexpr char kMethod[] = "/nanwatch.v1.IngestService/Ingest";

enum Tag : intptr_t { kStart = 1, kRead, kWrite, kFinish };
void* Pointer(Tag tag) { return reinterpret_cast<void*>(tag); }

ClientSecrets SecretsOf(const RelayOptions& options) {
  return ReadClientSecrets(options.address, [&](const std::string& name) {
    return name == "NANWATCH_CA"           ? options.ca
           : name == "NANWATCH_CERT"       ? options.cert
           : name == "NANWATCH_KEY"        ? options.key
           : name == "NANWATCH_TOKEN_FILE" ? options.token_file
                                           : std::string();
  });
}

std::shared_ptr<grpc::Channel> Connect(const ClientSecrets& secrets) {
  grpc::ChannelArguments arguments;
  // Waits between tries are the relay's business, and nobody else's connection
  // is shared.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      secrets.target,
      secrets.tls
          ? grpc::SslCredentials({secrets.ca, secrets.key, secrets.certificate})
          : grpc::InsecureChannelCredentials(),
      arguments);
}

}  // namespace

struct Upstream::Impl {
  explicit Impl(const RelayOptions& options)
      : secrets(SecretsOf(options)), stub(Connect(secrets)) {
    if (!secrets.token.empty()) {
      context.AddMetadata("authorization", "Bearer " + secrets.token);
    }
    call = stub.PrepareCall(&context, kMethod, &queue);
    call->StartCall(Pointer(kStart));
    // Without what was named nobody would believe it.
    if (!secrets.problem.empty()) context.TryCancel();
  }
  ~Impl() {
    context.TryCancel();
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
    }
  }

  Happened On(Tag tag, bool ok, v1::IngestResponse* response);
  void Finish() {
    if (finishing) return;
    finishing = true;
    call->Finish(&status, Pointer(kFinish));
  }

  const ClientSecrets secrets;
  grpc::GenericStub stub;
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
  grpc::ByteBuffer read;
  grpc::Status status;
  bool finishing = false;
};

Upstream::Happened Upstream::Impl::On(Tag tag, bool ok,
                                      v1::IngestResponse* response) {
  switch (tag) {
    case kStart:
      if (!ok) break;
      call->Read(&read, Pointer(kRead));
      return Happened::kStarted;
    case kRead: {
      if (!ok) break;
      const bool parsed =
          grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::IngestResponse>(
              &read, response)
              .ok();
      read.Clear();
      call->Read(&read, Pointer(kRead));
      return parsed ? Happened::kResponse : Happened::kNothing;
    }
    case kWrite:  // the read says so, too, where it failed
      return ok ? Happened::kWritten : Happened::kNothing;
    case kFinish:
      return Happened::kEnded;
  }
  Finish();
  return Happened::kNothing;
}

Upstream::Upstream(const RelayOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
Upstream::~Upstream() = default;

Upstream::Happened Upstream::Wait(Duration most, v1::IngestResponse* response) {
  const auto until = std::chrono::system_clock::now() + most;
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    if (impl_->queue.AsyncNext(&tag, &ok, until) !=
        grpc::CompletionQueue::GOT_EVENT) {
      return Happened::kNothing;
    }
    const Happened happened = impl_->On(
        static_cast<Tag>(reinterpret_cast<intptr_t>(tag)), ok, response);
    if (happened != Happened::kNothing) return happened;
  }
}

size_t Upstream::Write(const v1::IngestRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  impl_->call->Write(grpc::ByteBuffer(&slice, 1), Pointer(kWrite));
  return slice.size();
}

std::string Upstream::error() const {
  if (!impl_->secrets.problem.empty()) return impl_->secrets.problem;
  const std::string& said = impl_->status.error_message();
  const std::string advice = Advice(impl_->secrets, said);
  if (!advice.empty()) return advice + " (" + said + ")";
  return said.empty() ? "the stream ended" : said;
}

}  // namespace nanwatch
