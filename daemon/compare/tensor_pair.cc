#include "compare/tensor_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "compare/sketch_distance.h"

namespace nanwatch {
namespace {

// A gradient's distance is of this share at least of what the gradients of its
// step have an element: one that is 0 but for roundings (of a key's bias in
// attention) differs altogether between healthy runs.
constexpr double kLeastShare = 1e-3;
// In lower formats that of a bias before a batch norm comes to 1.5 halves of a
// last bit of the others, measured. Norms that a log prints rise by more than
// twice from the last layer to the first.
constexpr double kLeastShareLower = 0.5;

// What wrappers put before a module's own path.
constexpr std::string_view kWrappers[] = {
    "module.", "_orig_mod.", "_fsdp_wrapped_module.",
    "_checkpoint_wrapped_module.", "_forward_module."};

std::string PlainName(std::string name) {
  for (const std::string_view wrapper : kWrappers) {
    for (size_t at = name.find(wrapper); at != std::string::npos;
         at = name.find(wrapper, at)) {
      if (at == 0 || name[at - 1] == '.') {
        name.erase(at, wrapper.size());
      } else {
        ++at;
      }
    }
  }
  return name;
}

Phase PhaseOf(const OpName& op, Slot slot) {
  if (slot == Slot::kParameter) return Phase::kWeights;
  if (slot == Slot::kOptimizerState) return Phase::kUpdate;
  if (op.type == "Batch") return Phase::kBatch;
  if (op.type == "Parameter") return Phase::kGradients;
  return IsOfGradient(slot) ? Phase::kBackward : Phase::kForward;
}

// Returns 0 where it is not known.
double KnownNorm(const ComparedTensor& tensor) {
  if (tensor.sketch) return NormOf(*tensor.sketch);
  if (!tensor.statistics) return 0;
  const double norm = MostNorm(*tensor.statistics, tensor.elements).value_or(0);
  return std::isfinite(norm) ? norm : 0;
}

double NormAnElement(const ComparedTensor& tensor) {
  return KnownNorm(tensor) /
         std::sqrt(static_cast<double>(std::max<uint64_t>(tensor.elements, 1)));
}

// Of `a`'s tensors of one phase, an element; 0: of none it is known.
double MedianNorm(const std::vector<TensorPair>& pairs, Phase phase) {
  std::vector<double> norms;
  for (const TensorPair& pair : pairs) {
    if (pair.phase != phase) continue;
    const double norm = NormAnElement(*pair.a);
    if (norm > 0 || pair.a->sketch) norms.push_back(norm);
  }
  if (norms.empty()) return 0;
  const auto middle = norms.begin() + static_cast<ptrdiff_t>(norms.size() / 2);
  std::nth_element(norms.begin(), middle, norms.end());
  return *middle;
}

// Returns the norm of the difference, or of statistics the least that it can
// be; nullopt: not known.
std::optional<double> DifferenceOf(const TensorPair& pair) {
  const ComparedTensor &a = *pair.a, &b = *pair.b;
  if (pair.by_statistics) {
    return LeastDifference(*a.statistics, *b.statistics, a.elements);
  }
  if (!a.sketch || !b.sketch) return std::nullopt;
  return DistanceOf(*a.sketch, *b.sketch);
}

double LeastNorm(const PairedStep& step, const TensorPair& pair,
                 double an_element) {
  if (pair.phase != Phase::kBackward && pair.phase != Phase::kGradients) {
    return 0;
  }
  const bool lower = pair.phase == Phase::kGradients && step.epsilon > kFp32 &&
                     !pair.by_statistics;
  return (lower ? kLeastShareLower : kLeastShare) * an_element *
         std::sqrt(static_cast<double>(pair.a->elements));
}

// Measures how far the two lie apart, as a share of a's norm or of `least`.
void Measure(double least, TensorPair* pair) {
  if (pair->equal) {
    pair->distance = 0;
    return;
  }
  if (pair->other_shape) return;
  const ComparedTensor &a = *pair->a, &b = *pair->b;
  pair->other_specials =
      IsOfOneAlone(a.nan, b.nan) || IsOfOneAlone(a.inf, b.inf);
  if (a.nan != b.nan || a.inf != b.inf) return;
  const std::optional<double> apart = DifferenceOf(*pair);
  if (!apart) return;
  const double norm = std::max(KnownNorm(a), least);
  // What differs in bits lies apart, by less than 16 floats can say.
  pair->distance = std::max(norm > 0 ? *apart / norm : (*apart > 0), 1e-12);
}

}  // namespace

std::vector<TensorName> NamesOf(const ComparedRun& run,
                                std::span<const ComparedTensor> tensors) {
  std::map<std::tuple<std::string, std::string, Slot>, uint32_t> places;
  std::vector<TensorName> names;
  for (const ComparedTensor& tensor : tensors) {
    const OpName& op = run.ops[tensor.op];
    const std::string name = PlainName(op.name);
    const uint32_t place = places[{name, op.type, tensor.slot}]++;
    names.emplace_back(name, op.type, tensor.slot, place);
  }
  return names;
}

std::optional<bool> HaveEqualValues(const ComparedTensor& a,
                                    const ComparedTensor& b) {
  if (a.digest && b.digest) return *a.digest == *b.digest;
  if (!a.statistics || !b.statistics) return std::nullopt;
  return AreEqual(*a.statistics, *b.statistics);
}

bool IsOfOneAlone(const std::optional<uint64_t>& a,
                  const std::optional<uint64_t>& b) {
  return a && b && (*a == 0) != (*b == 0);
}

double EpsilonOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp64:
      return 0x1p-53;
    case Dtype::kFp16:
      return 0x1p-11;
    case Dtype::kBf16:
      return 0x1p-8;
    case Dtype::kFp8E4M3:
      return 0x1p-4;
    case Dtype::kFp8E5M2:
      return 0x1p-3;
    case Dtype::kFp32:
    case Dtype::kUnknown:
      break;
  }
  return 0x1p-24;
}

double EpsilonOf(const ComparedRun& run) {
  const std::string& said = run.description.precision;
  for (const Dtype dtype : {Dtype::kFp8E5M2, Dtype::kBf16, Dtype::kFp16}) {
    if (said.starts_with(Name(dtype).substr(0, 3))) return EpsilonOf(dtype);
  }
  return EpsilonOf(run.printed ? Dtype::kBf16 : Dtype::kFp32);
}

PairedStep PairTensors(const ComparedRun& a,
                       std::span<const ComparedTensor> of_a,
                       const ComparedRun& b,
                       std::span<const ComparedTensor> of_b) {
  PairedStep paired;
  paired.step = of_a.empty() ? 0 : of_a.front().step;
  paired.ordered = a.ordered && b.ordered;
  paired.epsilon = std::max(EpsilonOf(a), EpsilonOf(b));
  std::map<TensorName, const ComparedTensor*> by_name;
  const std::vector<TensorName> names_b = NamesOf(b, of_b);
  for (size_t i = 0; i < of_b.size(); ++i) by_name[names_b[i]] = &of_b[i];
  const std::vector<TensorName> names_a = NamesOf(a, of_a);
  for (size_t i = 0; i < of_a.size(); ++i) {
    const auto at = by_name.find(names_a[i]);
    if (at == by_name.end()) {
      ++paired.only_a;
      continue;
    }
    const std::optional<bool> equal = HaveEqualValues(of_a[i], *at->second);
    if (!equal) {
      ++paired.incomparable;
      by_name.erase(at);
      continue;
    }
    TensorPair& pair = paired.pairs.emplace_back();
    pair.name = names_a[i];
    pair.a = &of_a[i];
    pair.b = at->second;
    pair.by_statistics = !pair.a->digest || !pair.b->digest;
    pair.op = &a.ops[pair.a->op];
    const OpName& other = b.ops[pair.b->op];
    pair.phase = PhaseOf(*pair.op, pair.a->slot);
    pair.epsilon = std::max(EpsilonOf(pair.op->dtype), EpsilonOf(other.dtype));
    pair.other_shape = pair.op->logical_shape != other.logical_shape;
    pair.equal = !pair.other_shape && pair.op->dtype == other.dtype && *equal;
    if (pair.phase == Phase::kForward) {
      paired.epsilon = std::max(paired.epsilon, pair.epsilon);
    }
    by_name.erase(at);
  }
  paired.only_b = by_name.size();
  std::stable_sort(paired.pairs.begin(), paired.pairs.end(),
                   [](const TensorPair& x, const TensorPair& y) {
                     return x.phase < y.phase;
                   });
  std::array<double, kPhases> usual{};
  for (int phase = 0; phase < kPhases; ++phase) {
    usual[phase] = MedianNorm(paired.pairs, static_cast<Phase>(phase));
  }
  for (TensorPair& pair : paired.pairs) {
    Measure(LeastNorm(paired, pair, usual[static_cast<int>(pair.phase)]),
            &pair);
  }
  return paired;
}

}  // namespace nanwatch
