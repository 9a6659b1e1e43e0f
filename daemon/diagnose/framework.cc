#include "diagnose/framework.h"

#include <algorithm>
#include <cctype>

namespace nanwatch {
namespace {

constexpr Framework kFrameworks[] = {
    {"pytorch", "", false},
    {"megatron", "pytorch", false},
    {"deepspeed", "pytorch", false},
    {"apex", "pytorch", false},
    {"fairseq", "pytorch", false},
    {"hf_trainer", "pytorch", true},
    {"lightning", "pytorch", true},
    {"nemo", "pytorch", false},
    {"mmcv", "pytorch", true},
    {"mmengine", "pytorch", true},
    {"colossalai", "pytorch", false},
    {"guided_diffusion", "pytorch", false},
    {"torch_npu", "pytorch", true},
    {"mindspore", "", false},
    {"mindformers", "mindspore", true},
    {"mindyolo", "mindspore", true},
    {"ascend_tf", "", false},
    {"paddle", "", false},
    {"keras", "", false},
    {"jax", "", false},
};

// What is found in a program's name, and the framework that its advice is of.
struct Part {
  std::string_view text;
  std::string_view framework;
  bool whole_word = false;  // short ones are found in other words too
};
constexpr Part kParts[] = {
    {"ascend_tf", "ascend_tf"},
    {"npu_bridge", "ascend_tf"},
    {"tf_npu", "ascend_tf"},
    {"megatron", "megatron"},
    {"mindspeed", "megatron"},
    {"gpt-neox", "megatron"},
    {"deepspeed", "deepspeed"},
    {"fairseq", "fairseq"},
    {"metaseq", "fairseq"},
    {"mindformers", "mindformers"},
    {"mindyolo", "mindyolo"},
    {"mindspore", "mindspore"},
    {"paddle", "paddle"},
    {"hf_trainer", "hf_trainer"},
    {"transformers", "hf_trainer"},
    {"accelerate", "hf_trainer"},
    {"llama_factory", "hf_trainer"},
    {"axolotl", "hf_trainer"},
    {"trl", "hf_trainer", true},
    {"lightning", "lightning"},
    {"nemo", "nemo", true},
    {"mmcv", "mmcv"},
    {"mmengine", "mmengine"},
    {"colossal", "colossalai"},
    {"internlm", "colossalai"},
    {"guided_diffusion", "guided_diffusion"},
    {"torch_npu", "torch_npu"},
    {"apex", "apex", true},
    {"fp16_optimizer", "apex"},
    {"nvidia_bert", "apex"},
    {"tacotron2", "apex"},
    {"keras", "keras"},
    {"tensorflow", "keras"},
    {"jax", "jax", true},
    {"jmp", "jax", true},
    {"flax", "jax", true},
    {"torch", "pytorch"},
    {"fsdp", "pytorch"},
    {"gnmt", "pytorch", true},
    {"maskrcnn", "pytorch"},
    {"detectron", "pytorch"},
    {"ultralytics", "pytorch"},
    {"insightface", "pytorch"},
    {"metric_logger", "pytorch"},
    {"mae_beit", "pytorch"},
    {"nanogpt", "pytorch"},
    {"litgpt", "pytorch"},
    {"timm", "pytorch", true},
    {"verl", "pytorch", true},
    {"wenet", "pytorch"},
    {"word_language_model", "pytorch"},
    {"yolact", "pytorch"},
    {"espnet", "pytorch"},
    {"automodel", "pytorch"},
    {"coqui", "pytorch"},
    {"funasr", "pytorch"},
    {"icefall", "pytorch"},
    {"nnunet", "pytorch"},
    {"stable_baselines3", "pytorch"},
    {"rsl_rl", "pytorch"},
    {"yolox", "pytorch"},
    {"mindocr", "mindspore"},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool Holds(std::string_view text, const Part& part) {
  const auto letter = [&](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
  };
  for (size_t at = text.find(part.text); at != std::string_view::npos;
       at = text.find(part.text, at + 1)) {
    const bool inside =
        (at > 0 && letter(at - 1)) || letter(at + part.text.size());
    if (!part.whole_word || !inside) return true;
  }
  return false;
}

std::string Recognise(std::string_view text) {
  const std::string lower = Lower(text);
  std::vector<std::string_view> found;
  for (const Part& part : kParts) {
    if (Holds(lower, part) &&
        std::find(found.begin(), found.end(), part.framework) == found.end()) {
      found.push_back(part.framework);
    }
  }
  std::string joined;
  for (const std::string_view name : found) {
    // What another is built on says nothing more.
    const bool base =
        std::any_of(found.begin(), found.end(), [&](std::string_view other) {
          return FindFramework(other)->base == name;
        });
    if (base) continue;
    if (!joined.empty()) joined += '+';
    joined += name;
  }
  return joined;
}

}  // namespace

const Framework* FindFramework(std::string_view name) {
  for (const Framework& framework : kFrameworks) {
    if (framework.name == name) return &framework;
  }
  return nullptr;
}

std::string FrameworkOf(const RunDescription& run,
                        const RunEvidence& evidence) {
  for (const std::string& said :
       {run.framework, run.scaler.name, evidence.scaler}) {
    std::string found = Recognise(said);
    if (!found.empty()) return found;
  }
  return "";
}

std::vector<std::string_view> NamesIn(std::string_view frameworks) {
  std::vector<std::string_view> names;
  while (!frameworks.empty()) {
    const size_t end = std::min(frameworks.find('+'), frameworks.size());
    names.push_back(frameworks.substr(0, end));
    frameworks.remove_prefix(std::min(end + 1, frameworks.size()));
  }
  return names;
}

}  // namespace nanwatch
