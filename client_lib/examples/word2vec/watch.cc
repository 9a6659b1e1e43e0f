#include "watch.h"

#include "ops/ops.h"

namespace word2vec {
namespace {

constexpr unsigned kObserve =
    NANWATCH_OBSERVE_COUNTS | NANWATCH_OBSERVE_RMS | NANWATCH_OBSERVE_RANGE;

void Declare(const ScalerChoice& choice, nanwatch_scaler* scaler) {
  using Kind = ScalerChoice::Kind;
  const bool fixed = choice.kind == Kind::kFixed;
  scaler->kind = fixed ? NANWATCH_SCALING_STATIC : NANWATCH_SCALING_DYNAMIC;
  scaler->name = Name(choice.kind);
  scaler->init_scale = choice.init;
  scaler->overflow_check = fixed ? choice.overflow_check : 1;
  scaler->present = NANWATCH_SCALER_INIT_SCALE | NANWATCH_SCALER_OVERFLOW_CHECK;
  if (fixed) return;
  const bool ascend = choice.kind == Kind::kAscendTf;
  scaler->growth_factor = 2;
  scaler->backoff_factor = ascend ? choice.backoff : PytorchScaler::kBackoff;
  scaler->growth_interval =
      ascend ? AscendTfScaler::kGrowthInterval : PytorchScaler::kGrowthInterval;
  scaler->hysteresis = ascend ? AscendTfScaler::kBadUntilDecrease : 1;
  scaler->present |=
      NANWATCH_SCALER_GROWTH_FACTOR | NANWATCH_SCALER_BACKOFF_FACTOR |
      NANWATCH_SCALER_GROWTH_INTERVAL | NANWATCH_SCALER_HYSTERESIS;
  if (ascend) {
    scaler->min_scale = 1;
    scaler->present |= NANWATCH_SCALER_MIN_SCALE;
  }
}

nanwatch::Run Open(const Options& options) {
  const bool saturation = options.scenario.mode == OverflowMode::kSaturation;
  const bool pytorch =
      options.scenario.scaler.kind == ScalerChoice::Kind::kPytorch;
  nanwatch::RunOptions run;
  run.job = options.job.c_str();
  if (!options.run.empty()) run.run_id = options.run.c_str();
  if (!options.address.empty()) run.address = options.address.c_str();
  run.framework = pytorch ? "pytorch" : "ascend_tf";
  run.precision = "fp16";
  run.overflow_mode = saturation ? NANWATCH_OVERFLOW_MODE_SATURATION
                                 : NANWATCH_OVERFLOW_MODE_INF_NAN;
  run.device = saturation ? "Ascend 910A (emulated)" : "CPU";
  run.Seed(static_cast<int64_t>(options.seed));
  Declare(options.scenario.scaler, &run.scaler);
  const nanwatch_setting settings[] = {
      {"scenario", options.scenario.name.c_str()}};
  run.settings = settings;
  run.settings_count = 1;
  return nanwatch::Run(run);
}

}  // namespace

Watch::Watch(const Options& options) : run_(Open(options)) {}

void Watch::BeginStep(int64_t step) {
  step_ = step;
  observed_.clear();
  gradient_elements_ = gradient_zeros_ = 0;
  while (const auto request = run_.Poll()) {
    if (request->kind == NANWATCH_REQUEST_STOP) stop_reason_ = request->reason;
    if (request->kind == NANWATCH_REQUEST_COLLECT_OPS) {
      // All ops are told at every step already; it is enough to say so.
      request_ = request->id;
      request_end_ = step + request->steps;
    }
  }
  if (step >= request_end_) request_ = 0;
}

int32_t Watch::Index(const Op& op, const Tensor& output) {
  const auto order = static_cast<size_t>(op.order);
  if (index_.size() <= order) index_.resize(order + 1, -1);
  if (index_[order] < 0) {
    index_[order] =
        run_.Register({op.name, op.type, op.data_format, NANWATCH_FP16,
                       output.logical, output.storage, op.order});
  }
  return index_[order];
}

const nanwatch::OpStatus& Watch::Observed(const Tensor& tensor) {
  const auto [it, fresh] =
      observed_.try_emplace(&tensor, step_, -1, NANWATCH_SLOT_OUTPUT);
  if (fresh) {
    it->second.Observe(tensor.data.data(), tensor.size(), NANWATCH_FP16,
                       kObserve);
    it->second.elements = tensor.size();
    it->second.present |= NANWATCH_OP_ELEMENTS;
  }
  return it->second;
}

void Watch::Push(const nanwatch::OpStatus& observed, int32_t op,
                 nanwatch_slot slot, std::optional<bool> device_flag) {
  nanwatch::OpStatus status = observed;
  status.op = op;
  status.slot = slot;
  status.request_id = request_;
  if (device_flag) status.DeviceFlag(*device_flag ? 1 : 0);
  run_.Push(status);
}

void Watch::OnOp(const Op& op, std::initializer_list<const Tensor*> inputs,
                 const Tensor& output, bool overflow) {
  const int32_t index = Index(op, output);
  for (const Tensor* input : inputs) {
    Push(Observed(*input), index,
         op.gradient ? NANWATCH_SLOT_GRAD_OUTPUT : NANWATCH_SLOT_INPUT,
         std::nullopt);
  }
  const nanwatch::OpStatus& status = Observed(output);
  Push(status, index,
       op.gradient ? NANWATCH_SLOT_GRAD_INPUT : NANWATCH_SLOT_OUTPUT, overflow);
  if (op.gradient) {
    gradient_elements_ += status.elements;
    gradient_zeros_ += status.zero;
  }
  if (output.padded()) PushLogicalRegion(output, index);
}

// What of a padded output the model means: clean here, and the trouble is in
// the padding alone.
void Watch::PushLogicalRegion(const Tensor& output, int32_t op) {
  logical_.resize(static_cast<size_t>(Elements(output.logical)));
  TransDataFromNz(output.data.data(), static_cast<size_t>(output.logical[0]),
                  static_cast<size_t>(output.logical[1]), logical_.data());
  nanwatch::OpStatus status(step_, op, NANWATCH_SLOT_OUTPUT);
  status.Observe(logical_.data(), logical_.size(), NANWATCH_FP16, kObserve);
  status.elements = logical_.size();
  status.present |= NANWATCH_OP_ELEMENTS;
  Push(status, op, NANWATCH_SLOT_OUTPUT, std::nullopt);
}

void Watch::EndStep(const StepOutcome& outcome) {
  nanwatch::Step step(outcome.step);
  step.Loss(outcome.loss)
      .LossScale(outcome.scale)
      .GradNorm(outcome.gradient_norm)
      .LearningRate(outcome.learning_rate)
      .ConsumedSamples(static_cast<double>(outcome.samples))
      .Overflow(outcome.overflow)
      .Skipped(!outcome.applied);
  if (gradient_elements_ > 0) {
    step.ZeroFraction(static_cast<double>(gradient_zeros_) /
                      static_cast<double>(gradient_elements_));
  }
  if (outcome.float_status) step.FloatStatus(outcome.float_status->data(), 8);
  step.request_id = request_;
  run_.Push(step);
}

std::optional<std::string> Watch::StopReason() { return stop_reason_; }

std::string Watch::Close() {
  // Nobody there since the beginning: no use to wait long. On a busy machine a
  // short training may be over before its daemon was reached, or had time.
  constexpr int kReachMs = 500;
  constexpr int kFlushMs = 3 * nanwatch::Run::kCloseMs;
  bool flushed = run_.Flush(kReachMs);
  const nanwatch_stats so_far = run_.Stats();
  const bool reached = flushed || so_far.acked > 0 || so_far.connected != 0;
  if (reached && !flushed) flushed = run_.Flush(kFlushMs);
  const nanwatch_stats stats = run_.Stats();
  run_.Close(reached ? nanwatch::Run::kCloseMs : 0);
  if (flushed && stats.dropped == 0) {
    return "nanwatchd has all " + std::to_string(stats.pushed) +
           " records of run " + stats.run_id + ".";
  }
  if (stats.acked == 0) {
    return std::string("nanwatchd was not reached") +
           (stats.error[0] != 0 ? std::string(": ") + stats.error : ".");
  }
  return "nanwatchd has " + std::to_string(stats.acked) + " of " +
         std::to_string(stats.pushed) + " records of run " + stats.run_id +
         "; " + std::to_string(stats.dropped) + " were dropped.";
}

}  // namespace word2vec
