#include "tests/generate/trouble.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "tests/generate/healthy.h"
#include "tests/generate/random.h"
#include "tests/generate/training.h"

namespace nanwatch::generate {
namespace {

// A story with its healthy part, of `ranks` equal ranks.
struct Scene {
  Scene(uint64_t seed, Kind kind, Scaling scaling, int length)
      : random(seed * 7919 + 5), moments(length) {
    plan = PlanOf(kind, 20000, &random);
    plan.scaling = scaling;
    // Scales that a training of some thousand steps has found already.
    plan.scaler.init = std::exp2(std::floor(std::log2(plan.edge)) - 2);
    plan.scaler.hysteresis = 1;
    onset = 300 + static_cast<int>(random.Below(400));
    story.setup.scaling = scaling;
    story.setup.precision = scaling == Scaling::kNone ? "bf16" : "fp16";
    if (scaling == Scaling::kDynamic) story.setup.scaler = "pytorch";
  }

  // `knobs`: before each update from the onset on. `edit`: each moment from
  // then on, with the number of moments since.
  using Knobs = std::function<void(int since, Training* training)>;
  using Edit = std::function<void(int since, Moment* moment)>;
  Story Tell(uint64_t seed, const Knobs& knobs, const Edit& edit) {
    story.setup.growth_interval = plan.scaler.interval;
    Training training(plan, seed + 1000);
    // Late in a training: the decay is over.
    training.Resume(3000 + static_cast<int64_t>(random.Below(3000)));
    for (int i = 0; i < onset + moments; ++i) {
      const int since = i - onset;
      if (since >= 0 && knobs) knobs(since, &training);
      Moment moment;
      moment.seconds = seconds * std::exp(0.1 * random.Normal());
      const Update update = training.Next();
      for (int rank = 0; rank < story.setup.ranks; ++rank) {
        moment.updates.push_back(update);
        Update& of = moment.updates.back();
        of.rank = rank;
        if (digests) of.digest = 1000 + static_cast<uint64_t>(update.step);
        if (!underflow) of.underflow_fraction.reset();
      }
      if (healthy) healthy(i, &moment);
      if (since >= 0 && edit) edit(since, &moment);
      story.moments.push_back(std::move(moment));
    }
    story.onset = static_cast<size_t>(onset);
    story.look_at =
        std::min(story.moments.size() - 1,
                 static_cast<size_t>(onset + (look < 0 ? moments : look)));
    return std::move(story);
  }

  Random random;
  Story story;
  Plan plan;
  int onset = 0;
  int moments;  // from the onset on
  int look =
      -1;  // moments after the onset the diagnosis is read; -1: at the end
  double seconds = 2;
  bool digests = false;
  bool underflow = false;  // counted and reported
  Edit healthy;            // each moment; its number in place of `since`
};

Kind AnyKind(uint64_t seed) { return static_cast<Kind>(seed % kKinds); }

// The scaler is declared as PyTorch's and has started far too high.
Story StartupCalibration(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 300);
  s.onset = 0;
  s.plan.scaler.init *= std::exp2(std::min(std::round(effect), 40.0) + 2);
  s.story.setup.init_scale = s.plan.scaler.init;
  s.story.harmless = true;
  return s.Tell(seed, {}, {});
}

// All gradients grow, and the scaler finds a lower scale for them.
Story RangeOverflow(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 400);
  s.underflow = seed % 2 == 0;
  // Never so large that no scale above 1 is left.
  const double most = std::log(s.plan.scaler.init) - 1.4;
  const double more = std::min(effect * NormTexture().measured.q999, most);
  return s.Tell(seed, [more](int, Training* t) { t->norm_more = more; }, {});
}

// An op on a buffer that is stored with padding overflows there, and nowhere
// else, at every update.
Story HarmlessPadding(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kStatic, 200);
  s.story.harmless = true;
  s.story.setup.saturation = true;
  s.story.setup.overflow_check = false;
  s.story.setup.framework = "ascend_tf";
  const auto padding = static_cast<int64_t>(std::round(effect));
  s.story.setup.ops = {{"logits", "MatMul"},
                       {"loss/Log", "Log", false, 1000, 1000 + padding},
                       {"loss/Sum", "ReduceSum", false, 1}};
  return s.Tell(seed, {}, [padding](int, Moment* m) {
    for (Update& a : m->updates) {
      a.overflow = true;
      a.skipped = false;
    }
    const auto bad = static_cast<uint64_t>(padding);
    m->statuses = {{.op = 0},
                   {.op = 1, .tensor = Tensor::kInput, .elements = 1000 + bad},
                   {.op = 1,
                    .elements = 1000 + bad,
                    .saturated = bad,
                    .device_flag = true},
                   {.op = 1, .elements = 1000},
                   {.op = 2, .elements = 1}};
  });
}

// A gradient that is infinite at every scale.
Story ScaleIndependentOp(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 120);
  s.story.setup.ops = {{"head", "Linear"}, {"norm", "Custom"}};
  const auto bad = static_cast<uint64_t>(std::round(effect));
  s.healthy = [](int, Moment* m) {
    m->statuses = {
        {.op = 0}, {.op = 1}, {.op = 1, .tensor = Tensor::kGradOutput}};
  };
  return s.Tell(
      seed, [](int, Training* t) { t->overflow_always = true; },
      [bad](int, Moment* m) { m->statuses[2].inf = bad; });
}

// The largest elements alone grow; the scale that they need loses the others.
Story Collapse(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 400);
  s.underflow = true;
  const double more = std::min(effect * NormTexture().measured.q999, 300.0);
  return s.Tell(seed, [more](int, Training* t) { t->elements_more = more; },
                {});
}

// The loss is NaN at so many updates in a row.
Story NanFromForward(uint64_t seed, double effect) {
  const Scaling scaling = seed % 2 == 0 ? Scaling::kDynamic : Scaling::kNone;
  Scene s(seed, AnyKind(seed), scaling, 160);
  const int lasts = static_cast<int>(std::round(effect));
  s.look = lasts + 3;
  const bool ops = seed % 4 < 2;
  if (ops) {
    s.story.setup.ops = {{"embed", "Embedding"}, {"attention", "Softmax"}};
    s.healthy = [](int, Moment* m) {
      m->statuses = {{.op = 0}, {.op = 1, .tensor = Tensor::kInput}, {.op = 1}};
    };
  }
  return s.Tell(
      seed, [lasts](int since, Training* t) { t->loss_nan = since < lasts; },
      [lasts, ops](int since, Moment* m) {
        if (ops && since < lasts) m->statuses[2].nan = 3;
      });
}

// The gradients are NaN at so many updates in a row, of which the loss of the
// first is finite; where the program leaves such updates out, that of all.
Story NanFromBackward(uint64_t seed, double effect) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Scene s(seed, AnyKind(seed), Scaling::kNone, 160);
  s.plan.has_norm = true;
  const int lasts = static_cast<int>(std::round(effect));
  const bool left_out = seed % 2 == 0;
  s.look = lasts + 3;
  const bool ops = seed % 4 < 2;
  if (ops) {
    s.story.setup.ops = {{"head.bias", "Parameter"}};
    s.healthy = [](int, Moment* m) {
      m->statuses = {{.op = 0, .tensor = Tensor::kGradOutput}};
    };
  }
  return s.Tell(seed, {}, [=](int since, Moment* m) {
    if (since >= lasts) return;
    for (Update& a : m->updates) {
      a.overflow = true;
      a.skipped = left_out;
      a.grad_norm = kNan;
      if (!left_out && since > 0) a.loss = kNan;
    }
    if (ops) m->statuses[0].nan = 3;
  });
}

// Loss, gradient norm or both rise and stay there.
Story Divergence(uint64_t seed, double effect) {
  const Kind kind = AnyKind(seed / 3);
  Scene s(seed, kind, Scaling::kNone, 300);
  s.plan.has_norm = true;
  const bool loss = seed % 3 != 1;
  const bool norm = seed % 3 != 0;
  const double loss_more = effect * LossTexture(kind).measured.q999;
  const double norm_more = effect * NormTexture().measured.q999;
  const int rise = static_cast<int>(s.random.Below(40));
  s.look = rise + 40;
  return s.Tell(seed,
                [=](int since, Training* t) {
                  const double share = std::min(
                      1.0, (since + 1.0) / static_cast<double>(rise + 1));
                  if (loss) t->loss_more = share * loss_more;
                  if (norm) t->norm_more = share * norm_more;
                },
                {});
}

// One batch has a loss and gradients that no other has; in fp16 they overflow.
Story OutlierBatch(uint64_t seed, double effect) {
  const Kind kind = AnyKind(seed / 2);
  Scene s(seed, kind, seed % 2 == 0 ? Scaling::kNone : Scaling::kDynamic, 60);
  s.plan.has_norm = true;
  s.look = 5;
  // An update that was applied is warned of until the next step shows that it
  // did nothing.
  s.story.harmless = s.story.setup.scaling == Scaling::kDynamic;
  const double loss_more = effect * LossTexture(kind).measured.q999;
  const double norm_more = effect * NormTexture().measured.q999;
  return s.Tell(seed,
                [=](int since, Training* t) {
                  t->loss_more = since == 0 ? loss_more : 0;
                  t->norm_more = since == 0 ? norm_more : 0;
                },
                {});
}

// One of four ranks goes its own way at so many steps.
Story RankDisagreement(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 130);
  s.story.setup.ranks = 4;
  s.digests = true;
  const int lasts = static_cast<int>(std::round(effect));
  s.look = lasts + 3;
  const int odd = static_cast<int>(s.random.Below(4));
  return s.Tell(seed, {}, [=](int since, Moment* m) {
    if (since >= lasts) return;
    Update& a = m->updates[static_cast<size_t>(odd)];
    if (seed % 3 == 0) {
      *a.scale /= 2;
    } else if (seed % 3 == 1) {
      a.overflow = a.skipped = !*a.skipped;
    } else {
      a.digest = 7;
    }
  });
}

// Somebody sets the scale: up by so many octaves, of which a scaler makes one.
Story ScalerMisuse(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kDynamic, 60);
  s.plan.edge = 65536 * 1024.0;
  s.plan.scaler.init = 1024;
  s.plan.scaler.interval = 2000;
  const double octaves =
      std::min(std::round(effect), 14.0 + static_cast<double>(seed % 3));
  return s.Tell(
      seed,
      [octaves](int since, Training* t) {
        if (since != 0) return;
        t->scaler().set_scale(t->scaler().scale() * std::exp2(octaves));
      },
      {});
}

// Nothing comes any more for so many times the longest healthy pause.
Story Silence(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kNone, 30);
  s.story.setup.ranks = seed % 2 == 0 ? 1 : 2;
  const double pause = 600 * effect;
  s.look = 0;
  return s.Tell(seed, {}, [pause](int since, Moment* m) {
    if (since == 0) m->seconds += pause;
  });
}

// Weights that stop changing, for so many times the updates that
// accumulation may take.
Story Unexplained(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kNone, 700);
  const int lasts = static_cast<int>(std::min(64 * effect, 690.0));
  s.look = lasts - 1;
  Random random(seed);
  s.healthy = [random](int, Moment* m) mutable {
    for (Update& a : m->updates) {
      a.update_norm = *a.learning_rate * 100 * std::exp(0.1 * random.Normal());
    }
  };
  return s.Tell(seed, {}, [lasts](int since, Moment* m) {
    if (since < lasts) m->updates[0].update_norm = 0;
  });
}

// A fixed scale that loses more and more of the gradients.
Story Underflow(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kStatic, 300);
  Random random(seed);
  // AdaLoss holds 0.1 % to be harmless; with the noise of gradient norms.
  const double width = NormTexture().noise.width;
  const double usual = 0.001 * std::exp(3.09 * width);
  s.healthy = [random, width](int, Moment* m) mutable {
    m->updates[0].underflow_fraction =
        0.001 * std::exp(width * random.Normal());
  };
  return s.Tell(
      seed, {}, [usual, effect, width, random](int, Moment* m) mutable {
        m->updates[0].underflow_fraction = std::min(
            1.0, effect * usual * std::exp(0.2 * width * random.Normal()));
      });
}

// The gradients of 20 layers. What keeps all but 1 in 1000 of a layer above
// 2^-24 when the largest of all is doubled twice is missed by `bits` in every
// fifth layer.
std::vector<Status> Layers(double bits, Random* random) {
  constexpr float kDeviation = 2.5f;
  constexpr float kLargest = 16384;
  std::vector<Status> layers;
  for (int op = 0; op < 20; ++op) {
    const double lowest = -24 - 2 + 3.09 * kDeviation;
    const double middle =
        (op % 5 == 0 ? lowest - bits : 0.0) + 0.2 * random->Normal();
    Status& layer = layers.emplace_back();
    layer.op = op;
    layer.tensor = Tensor::kGradOutput;
    layer.abs_max = op == 1 ? kLargest : 64;
    layer.log2_mean = static_cast<float>(middle);
    layer.log2_std = kDeviation;
  }
  return layers;
}

// Layers drift apart until no scale fits all, by so many bits.
Story NoSingleScale(uint64_t seed, double effect) {
  Scene s(seed, Kind::kMaskedWords, Scaling::kStatic, 120);
  for (int op = 0; op < 20; ++op) {
    s.story.setup.ops.push_back({"layer." + std::to_string(op), "Linear"});
  }
  const double bits = std::min(effect, 60.0);
  Random random(seed);
  s.healthy = [random](int, Moment* m) mutable {
    m->statuses = Layers(-6, &random);
  };
  return s.Tell(seed, {}, [random, bits](int, Moment* m) mutable {
    m->statuses = Layers(bits, &random);
  });
}

// An FP8 tensor jumps to and fro by so many octaves; its scale follows one
// step behind.
Story Fp8Scaling(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kNone, 80);
  s.story.setup.precision = "fp8";
  s.story.setup.ops = {{"fc1", "Linear", true, 100000}};
  Random random(seed);
  const double octaves = std::min(effect, 60.0);
  const int lasts = 3 + static_cast<int>(seed % 3);
  float scale_inv = 4.0f / 448;
  const int onset = s.onset;
  s.healthy = [=](int i, Moment* m) mutable {
    const bool high = i >= onset && (i - onset) / lasts % 2 == 1;
    // Normal values; the largest of them is some 4.5 deviations away.
    const double deviation = 4 / 4.5 * (high ? std::exp2(octaves) : 1);
    const double amax = 4.5 * deviation * std::exp2(0.15 * random.Normal());
    const double share =
        std::erfc(448 * scale_inv / deviation / std::sqrt(2.0));
    Status tensor;
    tensor.tensor = Tensor::kInput;
    tensor.elements = 100000;
    tensor.saturated = static_cast<uint64_t>(100000 * share);
    tensor.abs_max = 448;
    tensor.fp8_amax = static_cast<float>(amax);
    tensor.fp8_scale_inv = scale_inv;
    m->statuses = {tensor};
    scale_inv = static_cast<float>(amax / 448);
  };
  return s.Tell(seed, {}, {});
}

// One of sixteen devices spoils the gradient norm of its rank again and again.
Story SilentCorruption(uint64_t seed, double effect) {
  Scene s(seed, AnyKind(seed), Scaling::kNone, 24);
  s.plan.has_norm = true;
  s.story.setup.ranks = 16;
  s.seconds = 100;
  s.onset = 70 + static_cast<int>(s.random.Below(30));
  s.look = 20;
  const size_t odd = s.random.Below(16);
  Random random(seed);
  const double more =
      std::exp(std::min(effect * NormTexture().measured.q999, 60.0));
  s.healthy = [random](int, Moment* m) mutable {
    // Each rank's own norm, before the reduction.
    for (Update& a : m->updates)
      *a.grad_norm *= std::exp(0.1 * random.Normal());
  };
  return s.Tell(seed, {}, [odd, more](int since, Moment* m) {
    if (since % 4 == 0) *m->updates[odd].grad_norm *= more;
  });
}

constexpr TroubleKind kKindsOfTrouble[] = {
    {"startup_calibration", "octaves too high (1)", false, StartupCalibration},
    {"range_overflow", "ln of gradient norm (1.28)", false, RangeOverflow},
    {"harmless_padding", "padded elements (1)", false, HarmlessPadding},
    {"scale_independent_op", "infinite elements (1)", true, ScaleIndependentOp},
    {"collapse_with_underflow", "ln of largest gradient (1.28)", true,
     Collapse},
    {"nan_from_forward", "updates with NaN (1)", true, NanFromForward},
    {"nan_from_backward", "updates with NaN (1)", true, NanFromBackward},
    {"divergence", "ln of loss (0.62, 1.30, 0.33) or norm (1.28)", false,
     Divergence},
    {"outlier_batch", "ln of loss (0.62, 1.30, 0.33) and norm (1.28)", false,
     OutlierBatch},
    {"rank_disagreement", "steps (1)", false, RankDisagreement},
    {"scaler_misuse", "octaves at once (1)", false, ScalerMisuse},
    {"silence", "pause (600 s)", false, Silence},
    {"unexplained", "updates without a change (64)", false, Unexplained},
    {"underflow", "share of elements lost (0.28 %)", false, Underflow},
    {"no_single_scale", "bits apart (1)", false, NoSingleScale},
    {"fp8_scaling", "octaves to and fro (1)", false, Fp8Scaling},
    {"silent_corruption", "ln of one rank's norm (1.28)", false,
     SilentCorruption},
};

}  // namespace

std::span<const TroubleKind> TroubleKinds() { return kKindsOfTrouble; }

}  // namespace nanwatch::generate
