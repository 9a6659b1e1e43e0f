#include "logs/layer_norms.h"

#include <string>

#include "logs/layer_pairs.h"
#include "logs/names_before.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNameMax = 128;

// "h.0.attn.grad_norm", "grad norm h.0.attn", "gradients/norm/fc1": a layer's,
// not that of all, nor a limit of it.
bool NamesNormOfLayer(std::string_view text) {
  text = TrimQuotes(text);
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < kNameMax &&
         (IsNameCharacter(text[begin - 1]) || text[begin - 1] == ' ')) {
    --begin;
  }
  const std::string_view name = TrimBlanks(text.substr(begin));
  if (name.find('.') == name.npos && name.find('/') == name.npos) return false;
  const std::string letters = LettersOf(name);
  static constexpr std::string_view kNorms[] = {"gradnorm", "gradientnorm",
                                                "gradientsnorm"};
  static constexpr std::string_view kOthers[] = {"max",    "clip", "total",
                                                 "global", "mean", "threshold"};
  return HasOneOf(letters, kNorms) && !HasOneOf(letters, kOthers);
}

}  // namespace

bool LayerNorms::Look(std::string_view before, std::string_view behind) {
  if (!NamesNormOfLayer(before)) return false;
  const std::optional<double> norm = ValueAt(behind);
  if (!norm) return false;
  ++layers_;
  squares_ += *norm * *norm;
  return true;
}

}  // namespace nanwatch
