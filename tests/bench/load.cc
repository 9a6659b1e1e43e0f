// load: sends ready-made batches over raw gRPC streams as fast as the other
// side acknowledges them, to nanwatchd or to the raw sink alike, and prints
// what it took. It keeps at most `window` batches unacknowledged, so that
// neither side refuses.

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/sync_stream.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
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
  bool fp32 = false;  // numbers of steps are of fp32, as most of a training are
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
  // No load is as long: a scale that stands still is as it should be.
  run->mutable_scaler()->set_growth_interval(int64_t{1} << 40);
  open->mutable_rank()->set_rank(connection * o.sessions + session);
  open->mutable_rank()->set_host("bench");
  return request;
}

// Numbers as a training has them: noise, so that nothing compresses or is
// predicted better than in earnest.
class Noise {
 public:
  double Next() { return even_(random_); }

 private:
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> even_{-1, 1};
};

// All of a batch but what `Head` says. A training learns in its first kFalling
// batches: its loss falls from 8 to 2, and stays there.
constexpr int kFalling = 4;
void FillSteps(const Options& o, int round, Noise* noise,
               v1::StepBatch* batch) {
  const auto number = [&o](double value) {
    return o.fp32 ? static_cast<float>(value) : value;
  };
  for (int i = 0; i < o.rows; ++i) {
    const double done = (round + double(i) / o.rows) / kFalling;
    const double level = 8 - 6 * std::min(done, 1.0);
    if (i > 0) {
      batch->add_step_deltas(1);
      batch->add_time_us_deltas(900 + static_cast<int>(100 * noise->Next()));
    }
    batch->mutable_loss()->add_values(
        number(level * (1 + 0.05 * noise->Next())));
    batch->mutable_loss_scale()->add_values(65536);
    batch->mutable_grad_norm()->add_values(number(1 + 0.2 * noise->Next()));
    batch->mutable_learning_rate()->add_values(number(1e-3));
  }
  batch->mutable_overflow()->set_values(std::string((o.rows + 7) / 8, '\0'));
}

// Ops 0 .. rows-1, healthy, with counts and the largest magnitude.
void FillOps(int rows, Noise* noise, v1::OpBatch* batch) {
  batch->add_step_rows(rows);
  batch->add_slots(v1::SLOT_OUTPUT);
  batch->mutable_elements();
  for (int i = 0; i < rows; ++i) {
    batch->add_op_deltas(i == 0 ? 0 : 1);
    batch->mutable_zero()->add_counts(
        static_cast<uint64_t>(50 + 50 * noise->Next()));
    batch->mutable_abs_max()->add_values(
        static_cast<float>(1.5 + 0.1 * noise->Next()));
  }
  batch->mutable_nan();
  batch->mutable_pos_inf();
  batch->mutable_neg_inf();
  batch->mutable_saturated();
  batch->mutable_subnormal();
}

// Ready-made batches in their bytes, kMany for each of a session's first rounds
// and for all others. On the wire a message is a head, made for each, and one
// of these behind it: protobuf merges the two, and this side spends next to
// nothing of the cores that it shares with the daemon.
class Bodies {
 public:
  explicit Bodies(const Options& o) {
    Noise noise;
    for (int at = 0; at < (kFalling + 1) * kMany; ++at) {
      v1::IngestRequest request;
      if (o.kind == "steps") {
        FillSteps(o, at / kMany, &noise, request.mutable_steps());
      }
      if (o.kind == "ops") FillOps(o.rows, &noise, request.mutable_ops());
      bodies_.emplace_back(request.SerializeAsString());
    }
  }

  // Returns that of the connection's batch, which is its session's in `round`.
  const grpc::Slice& Of(int64_t batch, int64_t round) const {
    const int64_t like = std::min<int64_t>(round, kFalling);
    return bodies_[like * kMany + batch % kMany];
  }

 private:
  static constexpr int kMany = 64;

  std::vector<grpc::Slice> bodies_;
};

grpc::ByteBuffer BytesOf(const v1::IngestRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
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

// What differs from batch to batch, ahead of its body.
template <typename Batch>
void Stamp(const Options& o, uint64_t session, uint64_t sequence, int64_t step,
           Batch* batch) {
  batch->set_session(session);
  batch->set_sequence(sequence);
  batch->set_sent_time_us(UnixMicros());
  batch->add_step_deltas(step);
  batch->add_time_us_deltas(UnixMicros() - 1000 * o.rows);
}

// One stream on a channel of its own, and the thread that reads its answers.
class Connection {
 public:
  using Stream = grpc::ClientReaderWriter<grpc::ByteBuffer, v1::IngestResponse>;

  Connection(const Options& o, const Bodies& bodies, int number)
      : o_(o), bodies_(bodies), number_(number) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(
        o.address, grpc::InsecureChannelCredentials(), arguments);
    // What a generated stub does, but for bytes.
    stream_.reset(
        grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer,
                                                  v1::IngestResponse>::
            Create(channel_.get(),
                   grpc::internal::RpcMethod(
                       "/nanwatch.v1.IngestService/Ingest",
                       grpc::internal::RpcMethod::BIDI_STREAMING),
                   &context_));
    reader_ = std::thread([this] { Read(); });
  }

  ~Connection() {
    stream_->WritesDone();
    reader_.join();
    stream_->Finish();
  }

  void Open() {
    for (int s = 0; s < o_.sessions; ++s) {
      stream_->Write(BytesOf(Opening(o_, number_, s)));
    }
    Await([this] { return opened_ == o_.sessions; });
    next_.assign(o_.sessions, 1);
    if (o_.kind == "ops") {
      for (int s = 0; s < o_.sessions; ++s) {
        stream_->Write(BytesOf(Names(o_, SessionOf(o_, number_, s))));
        next_[s] = 2;
        ++sent_;
      }
    }
  }

  void Send() {
    if (o_.kind == "none") return;
    for (int64_t b = 0; b < o_.batches; ++b) {
      if (b % 16 == 0) {
        Await([this] { return sent_ - acked_ < uint64_t(o_.window); });
      }
      const grpc::Slice parts[] = {Head(b), bodies_.Of(b, b / o_.sessions)};
      stream_->Write(grpc::ByteBuffer(parts, 2));
      ++sent_;
    }
  }

  void Close() {
    for (int s = 0; s < o_.sessions; ++s) {
      v1::IngestRequest request;
      request.mutable_close()->set_session(SessionOf(o_, number_, s));
      request.mutable_close()->set_sequence(next_[s]++);
      stream_->Write(BytesOf(request));
      ++sent_;
    }
    Await([this] { return acked_ >= sent_; });
  }

 private:
  grpc::Slice Head(int64_t batch) {
    const int s = static_cast<int>(batch % o_.sessions);
    const int64_t round = batch / o_.sessions;
    const uint64_t session = SessionOf(o_, number_, s);
    v1::IngestRequest head;
    if (o_.kind == "steps") {
      Stamp(o_, session, next_[s]++, round * o_.rows, head.mutable_steps());
    } else {
      Stamp(o_, session, next_[s]++, round, head.mutable_ops());
    }
    return grpc::Slice(head.SerializeAsString());
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
  const Bodies& bodies_;
  const int number_;
  grpc::ClientContext context_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stream> stream_;
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
  const Bodies bodies(o);
  std::vector<std::unique_ptr<Connection>> connections;
  for (int c = 0; c < o.connections; ++c) {
    connections.push_back(std::make_unique<Connection>(o, bodies, c));
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
  app.add_flag("--fp32", o.fp32);
  CLI11_PARSE(app, argc, argv);
  Run(o);
  return 0;
}
