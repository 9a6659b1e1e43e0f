#include "compare/precheck.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace nanwatch {
namespace {

// Half of fp16's smallest number: what is below becomes 0.
constexpr double kFp16Half = 0x1p-25;
// PyTorch draws a seed of 53 bits where nobody sets one
// (c10/core/GeneratorImpl.cpp); people's have 32 at most.
constexpr double kSeeds = 0x1p32;
// Above it a gradient of 1 is no number in fp16 any more: 65504.
constexpr double kFp16Largest = 65504;

class Judge {
 public:
  explicit Judge(const RunDescription& run) : run_(run) {}

  std::vector<Remark> All() {
    JudgeScaler();
    JudgeUpdates();
    JudgeOverflowMode();
    JudgeFormats();
    JudgeDeterminism();
    std::stable_sort(
        remarks_.begin(), remarks_.end(),
        [](const Remark& x, const Remark& y) { return x.weight < y.weight; });
    return std::move(remarks_);
  }

 private:
  // Empty: it was not read, or is not set.
  std::string_view Get(const std::string& key) const {
    const auto at = run_.settings.find(key);
    return at == run_.settings.end() ? std::string_view() : at->second;
  }
  bool Is(const std::string& key, std::string_view value) const {
    return Get(key) == value;
  }
  std::optional<double> NumberOf(const std::string& key) const {
    const std::string_view text = Get(key);
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || last != end) return {};
    return value;
  }

  void Wrong(const char* key, const char* what, const char* advice) {
    remarks_.push_back({RemarkWeight::kWrong, key, what, advice});
  }
  void May(const char* key, const char* what, const char* advice) {
    remarks_.push_back({RemarkWeight::kMay, key, what, advice});
  }

  bool on_npu() const { return !Get("torch_npu").empty(); }
  bool on_gpu() const { return !Get("cuda").empty(); }

  void JudgeScaler() {
    const ScalerDeclaration& scaler = run_.scaler;
    const bool scales = scaler.kind != ScalingKind::kUnknown &&
                        scaler.kind != ScalingKind::kNone;
    const bool half = run_.precision.starts_with("fp16");
    if (half && !scales) {
      Wrong("scaler",
            "The training computes in fp16 and no loss scale was given: small "
            "gradients become 0.",
            "Use a GradScaler and give it to the hook, or compute in bf16.");
    }
    if (scales && Get("weights_dtype") == "bf16") {
      May("scaler",
          "The weights are bf16 and a loss is scaled: bf16 has the range of "
          "fp32 and needs no scale.",
          "Leave the scaler out.");
    }
    if (scaler.overflow_check == false) {
      Wrong("scaler.overflow_check",
            "Updates that overflow are applied all the same.",
            "Switch the scaler's overflow check on.");
    }
    if (scaler.kind == ScalingKind::kStatic &&
        scaler.init_scale.value_or(1) > kFp16Largest) {
      May("scaler.init_scale",
          "The loss scale is fixed and larger than fp16's largest number.",
          "Take a smaller one, or a scaler that moves it.");
    }
  }

  void JudgeUpdates() {
    const std::string_view dtype = Get("optimizer.dtype");
    if (dtype.starts_with("fp16")) {
      Wrong("optimizer.dtype",
            "The optimizer updates fp16 weights: what is less than 1/2048 of a "
            "weight is lost.",
            "Keep weights in fp32 and compute under autocast, or keep copies "
            "in fp32.");
      const std::optional<double> eps = NumberOf("optimizer.eps");
      if (eps && *eps < kFp16Half) {
        Wrong("optimizer.eps",
              "The optimizer's epsilon is 0 in fp16: a gradient of 0 makes "
              "NaN.",
              "Take 1e-4, or keep weights in fp32.");
      }
    } else if (dtype.starts_with("bf16")) {
      May("optimizer.dtype",
          "The optimizer updates bf16 weights: what is less than 1/256 of a "
          "weight is lost.",
          "Keep weights in fp32, or copies of them, or round at random.");
    }
  }

  void JudgeOverflowMode() {
    if (run_.overflow_mode == OverflowMode::kSaturation) {
      Wrong("overflow_mode",
            "The device saturates: an overflow becomes the largest number and "
            "NaN becomes 0, so the loss stays finite.",
            "Set INF_NAN_MODE_ENABLE=1 (MindSpore: "
            "MS_ASCEND_CHECK_OVERFLOW_MODE=INFNAN_MODE) where the chip has it; "
            "else look at the float status.");
    } else if (on_npu() && run_.overflow_mode == OverflowMode::kUnknown) {
      May("overflow_mode",
          "INF_NAN_MODE_ENABLE is not set: the chip decides whether an "
          "overflow "
          "is infinite.",
          "Set INF_NAN_MODE_ENABLE=1.");
    }
  }

  void JudgeFormats() {
    if (Get("weights_dtype").find(',') != std::string_view::npos) {
      May("weights_dtype", "The weights have several formats.",
          "See that the benchmark's have the same.");
    }
    if (!on_gpu()) return;
    const bool matmul = Is("matmul.allow_tf32", "True") ||
                        Is("matmul_precision", "high") ||
                        Is("matmul_precision", "medium");
    if (matmul) {
      May("matmul_precision",
          "Products of fp32 matrices are computed in TF32, with 10 bits.",
          "Set torch.set_float32_matmul_precision(\"highest\") to compare.");
    }
    if (Is("cudnn.allow_tf32", "True")) {
      May("cudnn.allow_tf32",
          "Convolutions of fp32 are computed in TF32, with 10 bits.",
          "Set torch.backends.cudnn.allow_tf32 = False to compare.");
    }
  }

  void JudgeDeterminism() {
    const std::optional<double> seed = NumberOf("initial_seed");
    if (!run_.seed && seed && *seed >= kSeeds) {
      May("initial_seed", "Nobody set a seed before the hook was put on.",
          "Call torch.manual_seed before the model is made.");
    }
    if (Is("deterministic_algorithms", "off")) {
      May("deterministic_algorithms",
          "Kernels may add up in another order at each run.",
          "Set torch.use_deterministic_algorithms(True), or measure it: "
          "nanwatch repeat.");
    }
    const bool several = run_.world_size > 1;
    if (on_gpu()) {
      if (Is("cudnn.benchmark", "True")) {
        May("cudnn.benchmark", "cuDNN may take another kernel at each run.",
            "Set torch.backends.cudnn.benchmark = False.");
      }
      if (Get("env.CUBLAS_WORKSPACE_CONFIG").empty()) {
        May("env.CUBLAS_WORKSPACE_CONFIG",
            "cuBLAS may add up in another order where streams are several.",
            "Set CUBLAS_WORKSPACE_CONFIG=:4096:8.");
      }
      if (several && Get("env.NCCL_ALGO").empty()) {
        May("env.NCCL_ALGO",
            "NCCL chooses how it reduces, and so the order of sums.",
            "Set NCCL_ALGO=Ring, or what the benchmark had.");
      }
    }
    if (on_npu() && !Is("env.HCCL_DETERMINISTIC", "true") && several) {
      May("env.HCCL_DETERMINISTIC",
          "HCCL may reduce in another order at each run.",
          "Set HCCL_DETERMINISTIC=true.");
    }
    if (!Get("transformer_engine").empty() &&
        !Is("env.NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0")) {
      May("env.NVTE_ALLOW_NONDETERMINISTIC_ALGO",
          "Transformer Engine may take kernels that are not deterministic.",
          "Set NVTE_ALLOW_NONDETERMINISTIC_ALGO=0.");
    }
  }

  const RunDescription& run_;
  std::vector<Remark> remarks_;
};

}  // namespace

std::vector<Remark> JudgeSettings(const RunDescription& run) {
  return Judge(run).All();
}

}  // namespace nanwatch
