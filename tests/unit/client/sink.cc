#include "tests/unit/client/sink.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "nanwatch/v1/ingest.grpc.pb.h"

namespace nanwatch_client {

namespace v1 = nanwatch::v1;

TempDir::TempDir() {
  std::string name =
      (std::filesystem::temp_directory_path() / "nanwatch-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) abort();
  path_ = name;
}
TempDir::~TempDir() { std::filesystem::remove_all(path_); }

namespace {

template <typename F>
void WithNumbers(const v1::IngestRequest& message, const F& f) {
  switch (message.kind_case()) {
    case v1::IngestRequest::kOpNames:
      return f(message.op_names().session(), message.op_names().sequence());
    case v1::IngestRequest::kSteps:
      return f(message.steps().session(), message.steps().sequence());
    case v1::IngestRequest::kOps:
      return f(message.ops().session(), message.ops().sequence());
    case v1::IngestRequest::kDropped:
      return f(message.dropped().session(), message.dropped().sequence());
    case v1::IngestRequest::kClose:
      return f(message.close().session(), message.close().sequence());
    default:
      return f(0, 0);
  }
}

}  // namespace

class Sink::Service : public v1::IngestService::Service {
 public:
  explicit Service(Sink* sink) : sink_(*sink) {}
  ~Service() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }
  void Listen(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  grpc::Status Ingest(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::IngestResponse, v1::IngestRequest>* stream)
      override {
    v1::IngestRequest message;
    while (stream->Read(&message)) {
      std::optional<v1::IngestResponse> answer = sink_.Take(message);
      if (answer) stream->Write(*answer);
      std::unique_lock lock(sink_.mutex_);
      if (message.has_open() && sink_.request_) {
        v1::IngestResponse request;
        *request.mutable_request() = *std::exchange(sink_.request_, {});
        stream->Write(request);
      }
      while (!sink_.reads_ && !sink_.stopping_ && !context->IsCancelled()) {
        sink_.changed_.wait_for(lock, std::chrono::milliseconds(5));
      }
    }
    return grpc::Status::OK;
  }

 private:
  Sink& sink_;
  std::unique_ptr<grpc::Server> server_;
};

Sink::Sink(std::string socket_path) : socket_path_(std::move(socket_path)) {}
Sink::~Sink() { Stop(); }

void Sink::Start() {
  stopping_ = false;
  service_ = std::make_unique<Service>(this);
  service_->Listen(address());
}

void Sink::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  service_.reset();
}

void Sink::Forget() {
  std::lock_guard lock(mutex_);
  held_.clear();
  taken_.clear();
}

void Sink::set_refuse(Refuse refuse) {
  std::lock_guard lock(mutex_);
  refuse_ = std::move(refuse);
}
void Sink::set_acks(bool acks) {
  std::lock_guard lock(mutex_);
  acks_ = acks;
}
void Sink::set_reads(bool reads) {
  std::lock_guard lock(mutex_);
  reads_ = reads;
  changed_.notify_all();
}
void Sink::set_moved_to(int32_t attempt) {
  std::lock_guard lock(mutex_);
  moved_to_ = attempt;
}
void Sink::set_request(const v1::Request& request) {
  std::lock_guard lock(mutex_);
  request_ = request;
}

v1::IngestResponse Sink::Open(const v1::OpenSession& open) {
  opens_.push_back(open);
  const Held held = held_[open.session()];
  v1::IngestResponse answer;
  v1::SessionOpened* opened = answer.mutable_opened();
  opened->set_session(open.session());
  opened->set_run_id(open.run().run_id().empty() ? "made-up"
                                                 : open.run().run_id());
  opened->set_attempt(3);
  opened->set_held_sequence(held.sequence);
  opened->set_ops_held(held.ops);
  opened->set_durable(true);
  return answer;
}

std::optional<v1::IngestResponse> Sink::Take(const v1::IngestRequest& message) {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  if (message.has_open()) return Open(message.open());
  uint64_t session = 0;
  uint64_t sequence = 0;
  WithNumbers(message, [&](uint64_t a, uint64_t b) {
    session = a;
    sequence = b;
  });
  Held& held = held_[session];
  v1::IngestResponse answer;
  std::optional<v1::Refusal> refusal =
      refuse_ ? refuse_(message) : std::nullopt;
  if (!refusal && sequence > held.sequence + 1) {
    refusal.emplace();
    refusal->set_code(v1::REFUSAL_CODE_OUT_OF_SEQUENCE);
    refusal->set_expected_sequence(held.sequence + 1);
  }
  if (refusal) {
    refusal->set_session(session);
    refusal->set_sequence(sequence);
    *answer.mutable_refusal() = *refusal;
    if (refusal->code() == v1::REFUSAL_CODE_INVALID) held.sequence = sequence;
    return answer;
  }
  if (sequence == held.sequence + 1) {
    held.sequence = sequence;
    if (message.has_op_names()) held.ops += message.op_names().ops_size();
    taken_.push_back(message);
  }
  if (!acks_) return std::nullopt;
  answer.mutable_ack()->set_session(session);
  answer.mutable_ack()->set_sequence(held.sequence);
  if (moved_to_) answer.mutable_ack()->set_attempt(*moved_to_);
  return answer;
}

bool Sink::WaitFor(const std::function<bool(const Sink&)>& done) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10),
                           [&] { return done(*this); });
}

std::vector<v1::OpenSession> Sink::Opens() const {
  std::lock_guard lock(mutex_);
  return opens_;
}

std::vector<int64_t> Sink::Steps() const {
  std::lock_guard lock(mutex_);
  std::vector<int64_t> steps;
  for (const v1::IngestRequest& message : taken_) {
    int64_t step = 0;
    for (int64_t delta : message.steps().step_deltas()) {
      steps.push_back(step += delta);
    }
  }
  return steps;
}

std::vector<std::string> Sink::OpNames() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const v1::IngestRequest& message : taken_) {
    for (const v1::OpName& op : message.op_names().ops()) {
      names.push_back(op.name());
    }
  }
  return names;
}

v1::Dropped Sink::Dropped() const {
  std::lock_guard lock(mutex_);
  v1::Dropped sum;
  for (const v1::IngestRequest& message : taken_) {
    if (!message.has_dropped()) continue;
    sum.set_steps(sum.steps() + message.dropped().steps());
    sum.set_ops(sum.ops() + message.dropped().ops());
    sum.set_first_step(message.dropped().first_step());
    sum.set_last_step(message.dropped().last_step());
  }
  return sum;
}

}  // namespace nanwatch_client
