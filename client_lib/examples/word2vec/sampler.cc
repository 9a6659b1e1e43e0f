#include "sampler.h"

#include <cmath>

namespace word2vec {
namespace {

constexpr double kSubsample = 1e-3;
constexpr size_t kNegativeDraws = 1 << 20;

}  // namespace

Sampler::Sampler(const Vocabulary& vocabulary, const Extent& extent,
                 uint64_t seed)
    : extent_(extent), random_(seed) {
  const double words = static_cast<double>(vocabulary.text().size());
  for (int32_t id : vocabulary.text()) {
    const double share = static_cast<double>(vocabulary.count(id)) / words;
    const double keep = std::sqrt(kSubsample / share) + kSubsample / share;
    if (random_.Fraction() < keep) text_.push_back(id);
  }
  double total = 0;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    total += std::pow(vocabulary.count(static_cast<int32_t>(id)), 0.75);
  }
  double sum = 0;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    sum += std::pow(vocabulary.count(static_cast<int32_t>(id)), 0.75);
    const size_t end = static_cast<size_t>(sum / total * kNegativeDraws);
    while (negatives_.size() < end) {
      negatives_.push_back(static_cast<int32_t>(id));
    }
  }
  batch_.centre.resize(extent.pairs);
  batch_.targets.resize(extent.pairs * extent.targets);
  batch_.distance = Tensor({static_cast<int64_t>(extent.pairs)});
}

int64_t Sampler::pairs_per_epoch() const {
  return static_cast<int64_t>(text_.size()) * (kWindow + 1);
}

Batch& Sampler::Next() {
  const uint32_t inner = static_cast<uint32_t>(text_.size()) - 2 * kWindow;
  for (size_t p = 0; p < extent_.pairs; ++p) {
    const uint32_t centre = kWindow + random_.Below(inner);
    const uint32_t distance = 1 + random_.Below(kWindow);
    const bool before = random_.Below(2) == 0;
    batch_.centre[p] = text_[centre];
    batch_.distance.data[p] = static_cast<Half>(static_cast<float>(distance));
    int32_t* targets = &batch_.targets[p * extent_.targets];
    targets[0] = text_[before ? centre - distance : centre + distance];
    for (size_t t = 1; t < extent_.targets; ++t) {
      do {
        targets[t] =
            negatives_[random_.Below(static_cast<uint32_t>(negatives_.size()))];
      } while (targets[t] == targets[0]);
    }
  }
  return batch_;
}

}  // namespace word2vec
