// nanwatch.hpp: nanwatch.h for C++17, header-only. Nothing here throws, and
// what nanwatch.h says of threads, fork and ownership holds.
//
//   nanwatch::RunOptions options;
//   options.job = "word2vec";
//   nanwatch::Run run(options);
//   run.Push(nanwatch::Step(i).Loss(loss).Overflow(false));
//
// Structs of C are public bases, so fields without a setter here can be set.

#ifndef NANWATCH_HPP_
#define NANWATCH_HPP_

#include <nanwatch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nanwatch {

struct RunOptions : nanwatch_run_options {
  RunOptions() noexcept { nanwatch_run_options_init(this); }
  RunOptions& Rank(int32_t value) noexcept {
    rank = value;
    present |= NANWATCH_RUN_RANK;
    return *this;
  }
  RunOptions& WorldSize(int32_t value) noexcept {
    world_size = value;
    present |= NANWATCH_RUN_WORLD_SIZE;
    return *this;
  }
  RunOptions& Attempt(int32_t value) noexcept {
    attempt = value;
    present |= NANWATCH_RUN_ATTEMPT;
    return *this;
  }
  RunOptions& ClipNorm(double value) noexcept {
    clip_norm = value;
    present |= NANWATCH_RUN_CLIP_NORM;
    return *this;
  }
  RunOptions& Seed(int64_t value) noexcept {
    seed = value;
    present |= NANWATCH_RUN_SEED;
    return *this;
  }
  RunOptions& OverflowCheck(bool value) noexcept {
    scaler.overflow_check = value;
    scaler.present |= NANWATCH_SCALER_OVERFLOW_CHECK;
    return *this;
  }
  RunOptions& InitScale(double value) noexcept {
    scaler.init_scale = value;
    scaler.present |= NANWATCH_SCALER_INIT_SCALE;
    return *this;
  }
};

struct Step : nanwatch_step {
  explicit Step(int64_t number) noexcept { nanwatch_step_init(this, number); }
  Step& Loss(double v) noexcept { return Set(NANWATCH_STEP_LOSS, loss, v); }
  Step& LossScale(double v) noexcept {
    return Set(NANWATCH_STEP_LOSS_SCALE, loss_scale, v);
  }
  Step& GradNorm(double v) noexcept {
    return Set(NANWATCH_STEP_GRAD_NORM, grad_norm, v);
  }
  Step& AppliedGradNorm(double v) noexcept {
    return Set(NANWATCH_STEP_APPLIED_GRAD_NORM, applied_grad_norm, v);
  }
  Step& UpdateNorm(double v) noexcept {
    return Set(NANWATCH_STEP_UPDATE_NORM, update_norm, v);
  }
  Step& ParamNorm(double v) noexcept {
    return Set(NANWATCH_STEP_PARAM_NORM, param_norm, v);
  }
  Step& LearningRate(double v) noexcept {
    return Set(NANWATCH_STEP_LEARNING_RATE, learning_rate, v);
  }
  Step& ZeroFraction(double v) noexcept {
    return Set(NANWATCH_STEP_ZERO_FRACTION, zero_fraction, v);
  }
  Step& UnderflowFraction(double v) noexcept {
    return Set(NANWATCH_STEP_UNDERFLOW_FRACTION, underflow_fraction, v);
  }
  Step& ConsumedSamples(double v) noexcept {
    return Set(NANWATCH_STEP_CONSUMED_SAMPLES, consumed_samples, v);
  }
  Step& Overflow(bool v) noexcept {
    return Set(NANWATCH_STEP_OVERFLOW, overflow, static_cast<uint8_t>(v));
  }
  Step& Skipped(bool v) noexcept {
    return Set(NANWATCH_STEP_SKIPPED, skipped, static_cast<uint8_t>(v));
  }
  Step& ReplicaDigest(uint64_t v) noexcept {
    return Set(NANWATCH_STEP_REPLICA_DIGEST, replica_digest, v);
  }
  // `words` has 1 or 8 words.
  Step& FloatStatus(const int32_t* words, int count) noexcept {
    float_status_words = static_cast<uint8_t>(count);
    memcpy(float_status, words, static_cast<size_t>(count) * sizeof *words);
    present |= NANWATCH_STEP_FLOAT_STATUS;
    return *this;
  }
  // `scales` must live until the step is pushed.
  Step& LayerScales(const std::vector<nanwatch_layer_scale>& scales) noexcept {
    layer_scales = scales.data();
    layer_scales_count = scales.size();
    return *this;
  }

 private:
  template <typename T>
  Step& Set(uint32_t bit, T& field, T value) noexcept {
    field = value;
    present |= bit;
    return *this;
  }
};

// What is said once of an op; owns its strings and shapes.
struct Op {
  std::string name;
  std::string type;
  std::string data_format;
  nanwatch_dtype dtype = NANWATCH_DTYPE_UNKNOWN;
  std::vector<int64_t> logical_shape;
  std::vector<int64_t> storage_shape;  // empty: as logical_shape
  int32_t order = -1;
};

struct OpStatus : nanwatch_op_status {
  OpStatus(int64_t at_step, int32_t of_op, nanwatch_slot at_slot) noexcept {
    nanwatch_op_status_init(this, at_step, of_op, at_slot);
  }
  // False: unknown dtype.
  bool Observe(const void* data, size_t n, nanwatch_dtype dtype,
               unsigned what = NANWATCH_OBSERVE_COUNTS |
                               NANWATCH_OBSERVE_RMS) noexcept {
    return nanwatch_observe(data, n, dtype, what, this) != 0;
  }
  OpStatus& DeviceFlag(uint32_t word) noexcept {
    device_flag = word;
    present |= NANWATCH_OP_DEVICE_FLAG;
    return *this;
  }
};

// One session of one rank; closes it at the end of its life.
class Run {
 public:
  static constexpr int kCloseMs = 2000;

  explicit Run(const nanwatch_run_options& options) noexcept
      : session_(nanwatch_open(&options)) {}
  ~Run() { nanwatch_close(session_, kCloseMs); }
  Run(Run&& other) noexcept
      : session_(std::exchange(other.session_, nullptr)) {}
  Run& operator=(Run&& other) noexcept {
    std::swap(session_, other.session_);
    return *this;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void Push(const nanwatch_step& step) noexcept {
    nanwatch_push_step(session_, &step);
  }
  void Push(const nanwatch_op_status& status) noexcept {
    nanwatch_push_op(session_, &status);
  }
  int32_t Register(const Op& op) noexcept {
    nanwatch_op c;
    nanwatch_op_init(&c, op.name.c_str());
    c.type = op.type.c_str();
    c.data_format = op.data_format.c_str();
    c.dtype = op.dtype;
    c.logical_shape = op.logical_shape.data();
    c.logical_dims = op.logical_shape.size();
    c.storage_shape = op.storage_shape.data();
    c.storage_dims = op.storage_shape.size();
    c.order = op.order;
    return nanwatch_op_register(session_, &c);
  }
  int32_t RegisterOptimizer(const char* name) noexcept {
    return nanwatch_optimizer_register(session_, name);
  }
  std::optional<nanwatch_request> Poll() noexcept {
    nanwatch_request request;
    nanwatch_request_init(&request);
    if (nanwatch_poll(session_, &request) == 0) return std::nullopt;
    return request;
  }
  bool Flush(int timeout_ms) noexcept {
    return nanwatch_flush(session_, timeout_ms) != 0;
  }
  // Ends the session now; what follows does nothing. False: not all was acked.
  bool Close(int timeout_ms) noexcept {
    return nanwatch_close(std::exchange(session_, nullptr), timeout_ms) != 0;
  }
  nanwatch_stats Stats() const noexcept {
    nanwatch_stats stats;
    nanwatch_stats_init(&stats);
    nanwatch_get_stats(session_, &stats);
    return stats;
  }
  nanwatch_session* get() const noexcept { return session_; }

 private:
  nanwatch_session* session_;
};

}  // namespace nanwatch

#endif  // NANWATCH_HPP_
