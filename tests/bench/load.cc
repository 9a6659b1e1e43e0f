// load: sends ready-made batches over raw gRPC streams as fast as the other
// side acknowledges them, to nanwatchd or to the raw sink alike, and prints
// what it took. It keeps at most `window` batches unacknowledged, so that
// neither side refuses.

#include <grpcpp/grpcpp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nanwatch/v1/ingest.grpc.pb.h"

namespace {

namespace v1 = nanwatch::v1;

struct Options {
  std::string address;
  std::string kind = "steps";  // steps, ops, none
  int64_t batches = 10000;     // of each connection
  int rows = 100;
  int connections = 1;
  int sessions = 1;  // of each connection
  int window = 256;
  int hold_ms = 0;  // stay connected for so long before the close
  bool print_ready = false;
};

uint64_t SessionOf(const Options& o, int connection, int session) {
  return 1 + static_cast<uint64_t>(connection) * o.sessions + session +
         (static_cast<uint64_t>(getpid()) << 32);
}

int64_t UnixMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

v1::IngestRequest Opening(const Options& o, int connection, int session) {
  v1::IngestRequest request;
  v1::OpenSession* open = request.mutable_open();
  open->set_session(SessionOf(o, connection, session));
  open->set_client("bench");
  open->set_client_time_us(UnixMicros());
  v1::RunInfo* run = open->mutable_run();
  run->set_run_id("bench-" + std::to_string(getpid()));
  run->set_world_size(o.connections * o.sessions);
  run->set_framework("pytorch");
  run->set_precision("fp16");
  run->set_overflow_mode(v1::OVERFLOW_MODE_INF_NAN);
  run->mutable_scaler()->set_kind(v1::SCALING_KIND_DYNAMIC);
  run->mutable_scaler()->set_name("pytorch");
  open->mutable_rank()->set_rank(connection * o.sessions + session);
  open->mutable_rank()->set_host("bench");
  return request;
}

void FillSteps(const Options& o, v1::StepBatch* batch) {
  const int bytes = (o.rows + 7) / 8;
  for (int i = 0; i < o.rows; ++i) {
    batch->add_step_deltas(i == 0 ? 0 : 1);
    batch->add_time_us_deltas(i == 0 ? UnixMicros() : 1000);
    batch->mutable_loss()->add_values(2.0 + 0.001 * (i % 13));
    batch->mutable_loss_scale()->add_values(65536);
    batch->mutable_grad_norm()->add_values(1.0 + 0.01 * (i % 11));
    batch->mutable_learning_rate()->add_values(1e-3);
  }
  batch->mutable_overflow()->set_values(std::string(bytes, '\0'));
}

// Ops 0 .. rows-1, healthy, with counts and the largest magnitude.
void FillOps(const Options& o, v1::OpBatch* batch) {
  batch->add_step_rows(o.rows);
  batch->add_step_deltas(0);
  batch->add_time_us_deltas(UnixMicros());
  batch->add_slots(v1::SLOT_OUTPUT);
  batch->mutable_elements();
  for (int i = 0; i < o.rows; ++i) {
    batch->add_op_deltas(i == 0 ? 0 : 1);
    batch->mutable_zero()->add_counts(i % 5);
    batch->mutable_abs_max()->add_values(1.5f + 0.001f * (i % 17));
  }
  batch->mutable_nan();
  batch->mutable_pos_inf();
  batch->mutable_neg_inf();
  batch->mutable_saturated();
  batch->mutable_subnormal();
}

v1::IngestRequest Names(const Options& o, uint64_t session) {
  v1::IngestRequest request;
  v1::OpNames* names = request.mutable_op_names();
  names->set_session(session);
  names->set_sequence(1);
  for (int i = 0; i < o.rows; ++i) {
    v1::OpName* op = names->add_ops();
    op->set_name("layers." + std::to_string(i) + ".linear");
    op->set_type("Linear");
    op->set_dtype(v1::DTYPE_FP16);
    op->add_logical_shape(1024);
    op->add_logical_shape(1024);
    op->set_order(i);
  }
  return request;
}

// One stream on a channel of its own, and the thread that reads its answers.
class Connection {
 public:
  Connection(const Options& o, int number) : o_(o), number_(number) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::IngestService::NewStub(grpc::CreateCustomChannel(
        o.address, grpc::InsecureChannelCredentials(), arguments));
    stream_ = stub_->Ingest(&context_);
    reader_ = std::thread([this] { Read(); });
  }

  ~Connection() {
    stream_->WritesDone();
    reader_.join();
    stream_->Finish();
  }

  void Open() {
    for (int s = 0; s < o_.sessions; ++s) {
      stream_->Write(Opening(o_, number_, s));
    }
    Await([this] { return opened_ == o_.sessions; });
    next_.assign(o_.sessions, 1);
    if (o_.kind == "ops") {
      for (int s = 0; s < o_.sessions; ++s) {
        stream_->Write(Names(o_, SessionOf(o_, number_, s)));
        next_[s] = 2;
        ++sent_;
      }
    }
  }

  void Send() {
    if (o_.kind == "none") return;
    v1::IngestRequest request;
    if (o_.kind == "steps") FillSteps(o_, request.mutable_steps());
    if (o_.kind == "ops") FillOps(o_, request.mutable_ops());
    for (int64_t b = 0; b < o_.batches; ++b) {
      const int s = static_cast<int>(b % o_.sessions);
      const int64_t round = b / o_.sessions;
      Stamp(&request, s, round);
      if (b % 16 == 0) {
        Await([this] { return sent_ - acked_ < uint64_t(o_.window); });
      }
      stream_->Write(request);
      ++sent_;
    }
  }

  void Close() {
    for (int s = 0; s < o_.sessions; ++s) {
      v1::IngestRequest request;
      request.mutable_close()->set_session(SessionOf(o_, number_, s));
      request.mutable_close()->set_sequence(next_[s]++);
      stream_->Write(request);
      ++sent_;
    }
    Await([this] { return acked_ >= sent_; });
  }

 private:
  void Stamp(v1::IngestRequest* request, int s, int64_t round) {
    if (o_.kind == "steps") {
      v1::StepBatch* batch = request->mutable_steps();
      batch->set_session(SessionOf(o_, number_, s));
      batch->set_sequence(next_[s]++);
      batch->set_sent_time_us(UnixMicros());
      batch->set_step_deltas(0, round * o_.rows);
      batch->set_time_us_deltas(0, UnixMicros() - 1000 * o_.rows);
    } else {
      v1::OpBatch* batch = request->mutable_ops();
      batch->set_session(SessionOf(o_, number_, s));
      batch->set_sequence(next_[s]++);
      batch->set_sent_time_us(UnixMicros());
      batch->set_step_deltas(0, round);
      batch->set_time_us_deltas(0, UnixMicros());
    }
  }

  template <typename Condition>
  void Await(Condition&& condition) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return over_ || condition(); });
    if (over_) {
      std::fprintf(stderr, "load: the stream ended: %s\n", error_.c_str());
      std::_Exit(1);
    }
  }

  void Read() {
    v1::IngestResponse response;
    std::vector<uint64_t> acked(o_.sessions, 0);
    const uint64_t first = SessionOf(o_, number_, 0);
    while (stream_->Read(&response)) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (response.has_opened()) {
        ++opened_;
      } else if (response.has_ack()) {
        uint64_t& mark = acked[response.ack().session() - first];
        acked_ += response.ack().sequence() - mark;
        mark = response.ack().sequence();
      } else if (response.has_refusal()) {
        error_ = response.refusal().message();
        over_ = true;
      }
      changed_.notify_all();
    }
  }

  const Options& o_;
  const int number_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::IngestRequest, v1::IngestResponse>>
      stream_;
  std::thread reader_;
  std::vector<uint64_t> next_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int opened_ = 0;
  std::atomic<uint64_t> sent_{0};
  uint64_t acked_ = 0;
  bool over_ = false;
  std::string error_;
};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Run(const Options& o) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (int c = 0; c < o.connections; ++c) {
    connections.push_back(std::make_unique<Connection>(o, c));
  }
  for (auto& connection : connections) connection->Open();
  const auto begun = std::chrono::steady_clock::now();
  if (o.connections <= 8) {
    std::vector<std::thread> threads;
    for (auto& connection : connections) {
      threads.emplace_back([&connection] { connection->Send(); });
    }
    for (auto& thread : threads) thread.join();
  } else {
    for (auto& connection : connections) connection->Send();
  }
  if (o.print_ready) {
    std::puts("ready");
    std::fflush(stdout);
  }
  if (o.hold_ms > 0) usleep(static_cast<useconds_t>(o.hold_ms) * 1000);
  for (auto& connection : connections) connection->Close();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun)
          .count();
  const double records = o.kind == "none" ? 0
                                          : static_cast<double>(o.batches) *
                                                o.rows * o.connections;
  std::printf("{\"records\": %.0f, \"wall_s\": %.6f, \"cpu_s\": %.6f}\n",
              records, wall, CpuSeconds());
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Sends ready-made batches as fast as they are acknowledged.");
  app.add_option("--address", o.address)->required();
  app.add_option("--kind", o.kind)
      ->check(CLI::IsMember({"steps", "ops", "none"}));
  app.add_option("--batches", o.batches);
  app.add_option("--rows", o.rows);
  app.add_option("--connections", o.connections);
  app.add_option("--sessions", o.sessions);
  app.add_option("--window", o.window);
  app.add_option("--hold-ms", o.hold_ms);
  app.add_flag("--ready", o.print_ready);
  CLI11_PARSE(app, argc, argv);
  Run(o);
  return 0;
}
