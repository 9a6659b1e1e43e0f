#include "detect/program.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include "model/setting_numbers.h"

namespace nanwatch {
namespace {

bool Is(const RunDescription& run, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    return run.framework.find(name) != std::string::npos;
  });
}

// Of the loss of guessing: nets of ours and nanoGPT begin at 0.99 to 1.06 of
// it.
constexpr float kLeastFirst = 0.97f;  // ours
constexpr float kMostFirst = 1.2f;    // ours

constexpr int64_t kMany = 100;  // steps; ours
// Of an accuracy of guessing, from it: classes are not all as frequent; ours.
constexpr float kNear = 0.2f;
constexpr float kNearFew = 0.05f;  // the same of less than ten classes; ours
// Of guessing among the classes of well-known data (MNIST and CIFAR-10,
// CIFAR-100, ImageNet).
constexpr float kClasses[] = {10, 100, 1000};
constexpr float kLucky = 1.3f;       // times its accuracy; ours
constexpr float kMostRight = 0.5f;   // an accuracy that is learned; ours
constexpr float kMostBelow = 0.99f;  // times its cost; ours
constexpr float kMostAbove = 0.2f;   // nats: the rate is too high; ours

// Returns a setting that is a number; 0: it is none.
template <typename T>
T NumberOf(const RunDescription& run, const char* name) {
  T number = 0;
  SettingNumbers(run, name).Next(&number);
  return number;
}

// The same of one that is positive.
float SettingOf(const RunDescription& run, const char* name) {
  const auto value = NumberOf<float>(run, name);
  return std::isfinite(value) && value > 0 ? value : 0;
}

// The run has that setting, in these words.
bool Says(const RunDescription& run, const char* name, std::string_view words) {
  const auto told = run.settings.find(name);
  return told != run.settings.end() && told->second == words;
}

}  // namespace

bool AccuracyIsOfGuessing(const RunDescription& run, float cost) {
  if (cost <= 0) return false;
  const float classes = std::round(std::exp(cost));
  const float times = SettingOf(run, "accuracy") * classes;
  const float near = classes < kClasses[0] ? kNearFew : kNear;
  const auto is_near = [times, near](float one) {
    return std::fabs(times - one) <= near * one;
  };
  return is_near(1) || is_near(100);
}

float CostByEvaluations(const RunDescription& run, float loss) {
  const float highest = SettingOf(run, "evaluation_accuracy");
  if (highest <= 0) return 0;
  for (const float classes : kClasses) {
    const float cost = std::log(classes);
    const bool guesses = highest * classes <= kLucky &&
                         loss >= kMostBelow * cost && loss <= cost + kMostAbove;
    if (guesses) return cost;
  }
  return 0;
}

bool ShowsEvaluations(const RunDescription& run) {
  return Says(run, "loss", "evaluation");
}

bool MayStandFromStart(const RunDescription& run) {
  return Says(run, "begins", "trained") || Says(run, "begins", "resumed") ||
         Says(run, "loss", "denoising");
}

int64_t CountOf(const RunDescription& run, const char* name) {
  return NumberOf<int64_t>(run, name);
}

bool IsWide(const RunDescription& run, double number) {
  return number >= 0x1p64 && run.precision != "fp64";
}

bool TellsMeans(const RunDescription& run) {
  return Is(run, {"megatron", "neox", "mindspeed"});
}

bool TellsEpochs(const RunDescription& run) {
  return Says(run, "records", "epochs");
}

bool TellsMeansOfMany(const RunDescription& run, int64_t steps) {
  if (TellsEpochs(run)) return true;
  return steps >= kMany && (TellsMeans(run) || Is(run, {"keras"}));
}

bool TrainsLanguage(const RunDescription& run) {
  return TellsMeans(run) ||
         Is(run, {"torchtitan", "lingua", "litgpt", "nanogpt", "llm_c"});
}

bool NamesLoss(const RunDescription& run) {
  const auto told = run.settings.find("loss");
  return told != run.settings.end() && !told->second.empty();
}

bool IsCrossEntropy(const RunDescription& run) {
  if (!NamesLoss(run)) return TrainsLanguage(run);
  return Says(run, "loss", "cross_entropy");
}

bool IsOfScore(const RunDescription& run) {
  return Says(run, "loss", "accuracy") || Says(run, "loss", "reward");
}

bool IsMostlyRight(const RunDescription& run) {
  return SettingOf(run, "accuracy") > kMostRight;
}

bool LacksAccuracy(const RunDescription& run) {
  return Says(run, "loss", "accuracy") && IsMostlyRight(run);
}

bool IsContrastive(const RunDescription& run) {
  return Says(run, "loss", "contrastive");
}

bool FollowsRewards(const RunDescription& run) {
  return Says(run, "trains_on", "rewards") ||
         Is(run, {"stable_baselines3", "rsl_rl"});
}

bool HasOneAim(const RunDescription& run) {
  return Says(run, "losses", "of_one_aim");
}

double LeastUsualScale(const RunDescription& run) {
  // It begins at 1, doubles what is lower each 100 batches, and warns from here
  // on ("Grad scale is small").
  constexpr double kOfIcefall = 0.01;  // icefall's train.py
  return Is(run, {"icefall"}) ? kOfIcefall : 1;
}

float UntrainedLoss(const RunDescription& run, float guessing) {
  const float told = SettingOf(run, "untrained_loss");
  if (told > 0) return told;
  return TrainsLanguage(run) ? guessing : 0;
}

bool ObjectiveMoved(const RunDescription& run, int64_t from, int64_t to) {
  const auto told = run.settings.find("objective_moves");
  if (told == run.settings.end()) return false;
  const char* at = told->second.data();
  const char* const end = at + told->second.size();
  while (at < end) {
    int64_t first = 0;
    int64_t last = 0;
    const auto one = std::from_chars(at, end, first);
    if (one.ec != std::errc() || one.ptr == end) return false;
    const auto two = std::from_chars(one.ptr + 1, end, last);
    if (two.ec != std::errc()) return false;
    if (first <= to && last >= from) return true;
    at = two.ptr + 1;
  }
  return false;
}

bool ResumedAfter(const RunDescription& run, int64_t from, int64_t before) {
  SettingNumbers told(run, "resumed_after");
  int64_t step = 0;
  told.Next(&step);
  return told.whole() && step >= from && step < before;
}

bool CountsSteps(const RunDescription& run) {
  return Says(run, "steps", "counted");
}

bool TellsRatesExactly(const RunDescription& run) {
  return Says(run, "learning_rates", "exact");
}

float LossOfClasses(const RunDescription& run, float first) {
  const float classes = SettingOf(run, "last_layer");
  if (classes < 2) return 0;
  const float guess = std::log(classes);
  return first >= kLeastFirst * guess && first <= kMostFirst * guess ? guess
                                                                     : 0;
}

}  // namespace nanwatch
