#include "logs/layer_norms.h"

#include <algorithm>
#include <string>

#include "logs/names_before.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kNameMax = 128;

// "h.0.attn.grad_norm", "grad norm h.0.attn", "gradients/norm/fc1": a layer's,
// not that of all, nor a limit of it.
bool NamesNormOfLayer(std::string_view text) {
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '"' || text.back() == '\'')) {
    text.remove_suffix(1);
  }
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < kNameMax &&
         (IsNameCharacter(text[begin - 1]) || text[begin - 1] == ' ')) {
    --begin;
  }
  const std::string_view name = TrimBlanks(text.substr(begin));
  if (name.find('.') == name.npos && name.find('/') == name.npos) return false;
  std::string letters;
  for (const char c : name) {
    if (IsLetter(c)) letters += static_cast<char>(c | 0x20);
  }
  const bool norm = letters.find("gradnorm") != letters.npos ||
                    letters.find("gradientnorm") != letters.npos ||
                    letters.find("gradientsnorm") != letters.npos;
  constexpr std::string_view kOthers[] = {"max",    "clip", "total",
                                          "global", "mean", "threshold"};
  return norm && std::none_of(std::begin(kOthers), std::end(kOthers),
                              [&](std::string_view other) {
                                return letters.find(other) != letters.npos;
                              });
}

}  // namespace

bool LayerNorms::Look(std::string_view before, std::string_view behind) {
  if (!NamesNormOfLayer(before)) return false;
  behind.remove_prefix(
      std::min(behind.find_first_not_of(" '\"[("), behind.size()));
  const std::optional<double> norm = Scan(InsideCall(behind)).Number();
  if (!norm) return false;
  ++layers_;
  squares_ += *norm * *norm;
  return true;
}

}  // namespace nanwatch
