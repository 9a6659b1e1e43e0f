#include "scaler.h"

#include <algorithm>
#include <cmath>

namespace word2vec {

bool AscendTfScaler::Update(bool overflow) {
  constexpr double kFloatMax = 3.4e38;
  if (overflow) {
    good_ = 0;
    if (++bad_ >= kBadUntilDecrease) {
      scale_ = std::max(1.0, scale_ * backoff_);
      bad_ = 0;
    }
  } else if (++good_ >= kGrowthInterval) {
    if (scale_ < kFloatMax / kGrowth) scale_ *= kGrowth;
    good_ = 0;
    bad_ = 0;
  }
  return !overflow;
}

bool PytorchScaler::Update(bool overflow) {
  if (overflow) {
    scale_ *= kBackoff;
    good_ = 0;
  } else if (++good_ == kGrowthInterval) {
    if (std::isfinite(scale_ * kGrowth)) scale_ *= kGrowth;
    good_ = 0;
  }
  return !overflow;
}

std::unique_ptr<LossScaler> MakeScaler(const ScalerChoice& choice) {
  switch (choice.kind) {
    case ScalerChoice::Kind::kAscendTf:
      return std::make_unique<AscendTfScaler>(choice.init, choice.backoff);
    case ScalerChoice::Kind::kPytorch:
      return std::make_unique<PytorchScaler>(choice.init);
    case ScalerChoice::Kind::kFixed:
      break;
  }
  return std::make_unique<FixedScaler>(choice.init, choice.overflow_check);
}

const char* Name(ScalerChoice::Kind kind) {
  switch (kind) {
    case ScalerChoice::Kind::kAscendTf:
      return "ascend_tf";
    case ScalerChoice::Kind::kPytorch:
      return "pytorch";
    case ScalerChoice::Kind::kFixed:
      break;
  }
  return "static";
}

}  // namespace word2vec
