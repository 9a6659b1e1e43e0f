#include "client_lib/src/stream.h"

#include <grpc/support/log.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <cstdlib>

namespace nanwatch_client {
namespace {

constexpr char kMethod[] = "/nanwatch.v1.IngestService/Ingest";
// A response is an ack or a sentence; a request names at most 64 ops.
constexpr int kResponseBytes = 1 << 20;

enum Tag : intptr_t { kStart = 1, kRead, kWrite, kFinish };
void* Pointer(Tag tag) { return reinterpret_cast<void*>(tag); }

// gRPC prints to stderr when a daemon is away or speaks oddly; a library that
// never prints must not. Who sets GRPC_VERBOSITY wants to read it.
void SilenceGrpc() {
  static const bool done = [] {
    if (getenv("GRPC_VERBOSITY") == nullptr) {
      gpr_set_log_function([](gpr_log_func_args*) {});
    }
    return true;
  }();
  (void)done;
}

std::shared_ptr<grpc::Channel> MakeChannel(const Credentials& credentials) {
  SilenceGrpc();
  grpc::ChannelArguments arguments;
  // Waits between tries are the sender's business: no memory of the last
  // one's failure.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy of the training's environment is not meant for this.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kResponseBytes);
  const auto protection =
      credentials.tls ? grpc::SslCredentials({credentials.ca, credentials.key,
                                              credentials.certificate})
                      : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel(credentials.target, protection, arguments);
}

}  // namespace

struct Stream::Impl {
  explicit Impl(const Credentials& of)
      : credentials(of), channel(MakeChannel(of)), stub(channel) {
    if (!credentials.token.empty()) {
      context.AddMetadata("authorization", "Bearer " + credentials.token);
    }
    call = stub.PrepareCall(&context, kMethod, &queue);
    call->StartCall(Pointer(kStart));
  }
  ~Impl() {
    context.TryCancel();
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
    }
  }

  Event On(Tag tag, bool ok, nanwatch::v1::IngestResponse* response);
  void Finish() {
    if (finishing) return;
    finishing = true;
    call->Finish(&status, Pointer(kFinish));
  }

  const Credentials credentials;
  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
  grpc::ByteBuffer read;
  grpc::Status status;
  bool finishing = false;
  std::string error;
};

Stream::Event Stream::Impl::On(Tag tag, bool ok,
                               nanwatch::v1::IngestResponse* response) {
  switch (tag) {
    case kStart:
      if (ok) {
        call->Read(&read, Pointer(kRead));
        return Event::kStarted;
      }
      Finish();
      return Event::kNone;
    case kRead: {
      if (!ok) {
        Finish();
        return Event::kNone;
      }
      const grpc::Status parsed =
          grpc::GenericDeserialize<grpc::ProtoBufferReader,
                                   nanwatch::v1::IngestResponse>(&read,
                                                                 response);
      read.Clear();
      call->Read(&read, Pointer(kRead));
      // What a newer daemon may say and we do not understand is left out.
      return parsed.ok() ? Event::kResponse : Event::kNone;
    }
    case kWrite:
      // A failed write is the end of the stream; the read says so, too.
      return ok ? Event::kWritten : Event::kNone;
    case kFinish:
      error = status.error_message();
      if (const std::string advice = Advice(credentials, error);
          !advice.empty()) {
        error = advice + " (" + error + ")";
      }
      return Event::kEnded;
  }
  return Event::kNone;
}

Stream::Stream(const Credentials& credentials)
    : impl_(std::make_unique<Impl>(credentials)) {}
Stream::~Stream() = default;

Stream::Event Stream::Wait(int timeout_ms,
                           nanwatch::v1::IngestResponse* response) {
  const gpr_timespec deadline =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
  for (;;) {
    void* tag = nullptr;
    bool ok = false;
    if (impl_->queue.AsyncNext(&tag, &ok, deadline) !=
        grpc::CompletionQueue::GOT_EVENT) {
      return Event::kNone;
    }
    const Event event = impl_->On(
        static_cast<Tag>(reinterpret_cast<intptr_t>(tag)), ok, response);
    if (event != Event::kNone) return event;
  }
}

void Stream::Write(const std::string& message) {
  const grpc::Slice slice(message);
  impl_->call->Write(grpc::ByteBuffer(&slice, 1), Pointer(kWrite));
}

const std::string& Stream::error() const { return impl_->error; }

}  // namespace nanwatch_client
