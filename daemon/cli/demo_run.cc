#include "cli/demo_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nanwatch {
namespace {

// Where what goes wrong begins, of some 600 steps.
constexpr int64_t kBegin = 400;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
// Megatron-LM's defaults but for the first scale and the floor, which a small
// training has lower (megatron/training/arguments.py).
constexpr double kInitScale = 65536;
constexpr double kMinScale = 1;
constexpr double kFactor = 2;
constexpr int64_t kGrowthInterval = 1000;
constexpr int kCloseMs = 2000;
// A batch of 1000 rows and 6 columns in blocks of 16 x 16, as an NPU stores it.
constexpr std::array<int64_t, 2> kBatchRows = {1000, 6};
constexpr std::array<int64_t, 4> kBatchBlocks = {1, 63, 16, 16};
constexpr uint64_t kMeant = 1000 * 6;
constexpr uint64_t kStored = 63 * 16 * 16;
constexpr float kLargest = 7.5;

void Declare(nanwatch_scaler* scaler, bool ascend) {
  scaler->kind = NANWATCH_SCALING_DYNAMIC;
  scaler->name = ascend ? "ascend_tf" : "megatron";
  scaler->init_scale = kInitScale;
  scaler->growth_factor = kFactor;
  scaler->backoff_factor = 1 / kFactor;
  scaler->growth_interval = kGrowthInterval;
  scaler->hysteresis = 1;
  scaler->min_scale = kMinScale;
  scaler->present = NANWATCH_SCALER_INIT_SCALE | NANWATCH_SCALER_GROWTH_FACTOR |
                    NANWATCH_SCALER_BACKOFF_FACTOR |
                    NANWATCH_SCALER_GROWTH_INTERVAL |
                    NANWATCH_SCALER_HYSTERESIS | NANWATCH_SCALER_MIN_SCALE;
}

nanwatch_session* Open(DemoKind kind, const std::string& address) {
  const std::string name(DemoRun::Name(kind));
  const bool ascend = kind == DemoKind::kPadding;
  nanwatch_run_options options;
  nanwatch_run_options_init(&options);
  options.job = "demo";
  options.run_id = name.c_str();
  options.address = address.c_str();
  options.framework = ascend ? "ascend_tf" : "megatron";
  options.precision = "fp16";
  options.overflow_mode = NANWATCH_OVERFLOW_MODE_INF_NAN;
  options.world_size = 1;
  options.present = NANWATCH_RUN_RANK | NANWATCH_RUN_WORLD_SIZE;
  Declare(&options.scaler, ascend);
  return nanwatch_open(&options);
}

}  // namespace

DemoRun::DemoRun(DemoKind kind, const std::string& address)
    : kind_(kind),
      session_(Open(kind, address)),
      scale_(kInitScale),
      random_(static_cast<uint64_t>(kind) + 1) {
  if (kind == DemoKind::kPadding) {
    op_ = Register("loss/Log", "Log", "FRACTAL_NZ", true);
  }
  if (kind == DemoKind::kNan) {
    op_ = Register("layers.3.attention.softmax", "Softmax", "ND", false);
  }
}

void DemoRun::Closer::operator()(nanwatch_session* session) const {
  nanwatch_close(session, kCloseMs);
}

int32_t DemoRun::Register(const char* name, const char* type,
                          const char* format, bool padded) {
  nanwatch_op op;
  nanwatch_op_init(&op, name);
  op.type = type;
  op.data_format = format;
  op.dtype = NANWATCH_FP16;
  op.logical_shape = kBatchRows.data();
  op.logical_dims = kBatchRows.size();
  if (padded) {
    op.storage_shape = kBatchBlocks.data();
    op.storage_dims = kBatchBlocks.size();
  }
  op.order = 0;
  return nanwatch_op_register(session_.get(), &op);
}

std::string_view DemoRun::Name(DemoKind kind) {
  switch (kind) {
    case DemoKind::kHealthy:
      return "demo-healthy";
    case DemoKind::kCollapse:
      return "demo-collapse";
    case DemoKind::kPadding:
      return "demo-padding";
    case DemoKind::kNan:
      return "demo-nan";
    case DemoKind::kDivergence:
      return "demo-divergence";
  }
  return "";
}

std::string_view DemoRun::About(DemoKind kind) {
  switch (kind) {
    case DemoKind::kHealthy:
      return "nothing is wrong";
    case DemoKind::kCollapse:
      return "every update overflows, and the loss scale falls";
    case DemoKind::kPadding:
      return "an op overflows in its padding alone: harmless, and it costs "
             "every update";
    case DemoKind::kNan:
      return "one op makes a NaN, and the loss follows";
    case DemoKind::kDivergence:
      return "the learning rate is too high";
  }
  return "";
}

double DemoRun::Noise() {
  double sum = 0;
  for (int i = 0; i < 12; ++i) {
    // Knuth's MMIX.
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    sum += static_cast<double>(random_ >> 11) * 0x1p-53;
  }
  return sum - 6;
}

bool DemoRun::Overflows() const {
  switch (kind_) {
    case DemoKind::kPadding:
      return true;
    case DemoKind::kCollapse:
    case DemoKind::kNan:
      return step_ >= kBegin;
    default:
      return false;
  }
}

double DemoRun::Loss() const {
  // While no update is applied the loss stays where it was.
  const bool stuck = kind_ == DemoKind::kCollapse;
  const auto step =
      static_cast<double>(stuck ? std::min(step_, kBegin) : step_);
  if (kind_ == DemoKind::kPadding) return 2.7;  // nothing is learned
  if (kind_ == DemoKind::kNan && step_ >= kBegin) return kNan;
  const double learned = 1.2 + 2.3 * std::exp(-step / 150);
  if (kind_ == DemoKind::kDivergence && step_ >= kBegin) {
    return learned * std::exp(SinceBegin() / 30);
  }
  return learned;
}

void DemoRun::TellOp(Time time, uint64_t elements, uint64_t nan, uint64_t inf) {
  nanwatch_op_status status;
  nanwatch_op_status_init(&status, step_, op_, NANWATCH_SLOT_OUTPUT);
  status.time_us = ToMicros(time);
  status.elements = elements;
  status.nan = nan;
  status.neg_inf = inf;
  status.abs_max = kLargest;
  status.present = NANWATCH_OP_ELEMENTS | NANWATCH_OP_NAN |
                   NANWATCH_OP_POS_INF | NANWATCH_OP_NEG_INF |
                   NANWATCH_OP_ABS_MAX;
  nanwatch_push_op(session_.get(), &status);
}

void DemoRun::TellOps(Time time) {
  if (kind_ == DemoKind::kPadding) {
    TellOp(time, kStored, 0, kStored - kMeant);  // a logarithm of 0
    TellOp(time, kMeant, 0, 0);                  // what the model means
  }
  if (kind_ == DemoKind::kNan) {
    TellOp(time, kMeant, step_ >= kBegin ? kMeant / kBatchRows[0] : 0, 0);
  }
}

void DemoRun::MoveScale(bool overflow) {
  clean_ = overflow ? 0 : clean_ + 1;
  if (overflow) scale_ = std::max(kMinScale, scale_ / kFactor);
  if (clean_ == kGrowthInterval) {
    scale_ *= kFactor;
    clean_ = 0;
  }
}

double DemoRun::GradientNorm() {
  if (Overflows()) return kInf;
  const double usual = 0.8 + 0.05 * Noise();
  if (kind_ != DemoKind::kDivergence || step_ < kBegin) return usual;
  return usual * std::exp(SinceBegin() / 20);
}

// The steps since the trouble began; it stops growing after a while.
double DemoRun::SinceBegin() const {
  return static_cast<double>(std::min<int64_t>(step_ - kBegin, 120));
}

void DemoRun::Tell(Time time) {
  TellOps(time);
  nanwatch_step step;
  nanwatch_step_init(&step, step_);
  step.time_us = ToMicros(time);
  step.loss = Loss() + 0.02 * Noise();
  step.loss_scale = scale_;
  step.grad_norm = GradientNorm();
  step.learning_rate = 3e-4;
  step.overflow = Overflows();
  step.skipped = step.overflow;
  step.present = NANWATCH_STEP_LOSS | NANWATCH_STEP_LOSS_SCALE |
                 NANWATCH_STEP_GRAD_NORM | NANWATCH_STEP_LEARNING_RATE |
                 NANWATCH_STEP_OVERFLOW | NANWATCH_STEP_SKIPPED;
  nanwatch_push_step(session_.get(), &step);
  MoveScale(step.overflow != 0);
  ++step_;
}

}  // namespace nanwatch
