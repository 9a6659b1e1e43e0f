// Words that say what a line speaks of (in_words.h).

#include <array>
#include <cstdint>

#include "logs/in_words.h"
#include "logs/one_of.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// "train/val loss 1.91/1.76": the first number is the training's.
bool IsBehindTraining(std::string_view before, std::string_view behind) {
  return behind.starts_with(' ') && before.ends_with("rain/");
}

}  // namespace

bool IsEvaluation(std::string_view prose) {
  static constexpr std::string_view kWords[] = {
      "va",         "val",     "vali",       "vald",       "valid",
      "validation", "eval",    "evaluation", "evaluating", "validating",
      "test",       "testing", "dev"};
  constexpr size_t kLeast = 2;
  constexpr size_t kMost = 10;
  enum Kind : uint8_t { kNone, kLetter, kInitial };
  static constexpr auto kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz")) {
      kinds[static_cast<uint8_t>(c)] = kLetter;
    }
    for (const std::string_view word : kWords) {
      kinds[static_cast<uint8_t>(word[0])] = kInitial;
    }
    for (uint8_t c = 'A'; c <= 'Z'; ++c) kinds[c] = kinds[c | 0x20u];
    return kinds;
  }();
  const char* const end = prose.data() + prose.size();
  for (const char* at = prose.data(); at != end; ++at) {
    const Kind kind = kKinds[static_cast<uint8_t>(*at)];
    if (kind == kNone) continue;
    const char* const begin = at;
    while (at + 1 != end && kKinds[static_cast<uint8_t>(at[1])] != kNone) ++at;
    const size_t size = static_cast<size_t>(at + 1 - begin);
    if (kind != kInitial || size < kLeast || size > kMost) continue;
    if (!IsOneOf(LowerCase({begin, size}), kWords)) continue;
    const std::string_view before(prose.data(), begin);
    if (!IsBehindTraining(before, std::string_view(at + 1, end))) return true;
  }
  return false;
}

bool IsRestOfEpoch(std::string_view line) {
  Scan scan(line);
  if (!scan.To("Epoch[")) return false;
  return scan.Integer() && scan.Skip("] Train-");
}

namespace {

// Words that are glued, the first of which is no evaluation's: "cpu_test",
// "mi-test", "a.trainers".
bool NamesRun(std::string_view title) {
  const size_t glue = title.find_first_of("_.-");
  return glue != title.npos && title.find(' ') == title.npos &&
         !IsEvaluation(title.substr(0, glue));
}

}  // namespace

std::string_view LastTitle(std::string_view prose) {
  constexpr std::string_view kLevels[] = {
      "DEBUG:", "INFO:", "WARNING:", "ERROR:"};
  constexpr std::string_view kEnd = ": ";
  for (const std::string_view level : kLevels) {
    if (!prose.starts_with(level)) continue;
    const size_t end = prose.find(':', level.size());
    if (end == prose.npos) return prose;
    if (NamesRun(prose.substr(level.size(), end - level.size()))) {
      prose.remove_prefix(end + 1);
    }
    break;
  }
  while (prose.starts_with(' ')) prose.remove_prefix(1);
  while (prose.ends_with(kEnd)) {
    const size_t end = prose.find(kEnd);
    const bool last = end + kEnd.size() == prose.size();
    if (last || !NamesRun(prose.substr(0, end))) break;
    prose.remove_prefix(end + kEnd.size());
  }
  return prose;
}

bool SpeaksOfEpisodes(std::string_view line) {
  static constexpr std::string_view kWords[] = {
      "pisode", "PISODE", "env_step", "eturn", "eward", " ep ", " ep=", " ep:"};
  return HasOneOf(line, kWords) || line.starts_with("ep ") ||
         line.starts_with("ep=") || line.starts_with("ep:");
}

bool IsSettings(std::string_view line) {
  constexpr std::string_view kNames[] = {"Namespace(", "Config(", "Args(",
                                         "Arguments(", "Output(", "Params("};
  return HasOneOf(line, kNames);
}

bool NamesTime(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "time", "times", "duration", "elapsed", "walltime", "runtime"};
  return IsOneOf(word, kWords) || NamesUnitOfTime(word);
}

bool NamesUnitOfTime(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "sec",  "secs", "second", "seconds", "ms",
      "msec", "min",  "mins",   "minutes", "hours"};
  return IsOneOf(word, kWords);
}

bool NamesScore(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "auc",       "auroc",  "f1",   "fscore", "iou",  "miou", "map",
      "precision", "recall", "bleu", "rouge",  "psnr", "ssim", "dice"};
  return IsOneOf(word, kWords) || word.ends_with("acc") ||
         word.ends_with("accuracy");
}

std::string_view KindOfLossNamed(std::string_view before) {
  static constexpr std::string_view kContrast[] = {
      "ontrast", "infonce", "info_nce", "InfoNCE", "moco",
      "MoCo",    "simclr",  "SimCLR",   "nce="};
  // sd-scripts, latent diffusion, and people's own.
  static constexpr std::string_view kNoise[] = {
      "avr_loss", "loss_simple", "eps_loss", "enois", "iffusion"};
  const auto named = [before](std::string_view word) {
    return before.find(word) != before.npos;
  };
  if (std::ranges::any_of(kContrast, named)) return "contrastive";
  return std::ranges::any_of(kNoise, named) ? "denoising" : "";
}

bool SaysBestFollows(std::string_view line) {
  return line.ends_with(':') && (line.find("est iteration") != line.npos ||
                                 line.find("est round") != line.npos);
}

}  // namespace nanwatch
