// nanwatch-word2vec: a real training with the numeric trouble of an Ascend NPU,
// watched by nanwatch. README.md says what is real and what is emulated.

#include <cstdio>
#include <string>

#include "options.h"
#include "text.h"
#include "trainer.h"
#include "verdict.h"
#include "vocabulary.h"
#include "watch.h"

namespace word2vec {
namespace {

enum ExitStatus {
  kAsExpected = 0,
  kUnexpected = 1,
  kNotStarted = 2,
  kStopped = 3
};

bool CpuConvertsHalf() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
#else
  return true;
#endif
}

int NotStarted(const std::string& sentence) {
  std::fprintf(stderr, "nanwatch-word2vec: %s\n", sentence.c_str());
  return kNotStarted;
}

int Train(const Options& options) {
  const Text text = ReadText(options.text);
  if (!text.error.empty()) return NotStarted(text.error);
  const Vocabulary vocabulary(text.words);
  if (!options.quiet) {
    std::printf(
        "Training word2vec on %zu words of text, %zu different ones, "
        "scenario %s, %lld steps.\n",
        vocabulary.text().size(), vocabulary.size(),
        options.scenario.name.c_str(),
        static_cast<long long>(options.scenario.steps));
    std::fflush(stdout);
  }
  Watch watch(options);
  Trainer trainer(options, vocabulary, &watch);
  const TrainingOutcome outcome = trainer.Run();
  const std::string conversation = watch.Close();
  if (outcome.stop_reason) {
    std::printf("Stopped after %lld steps, as asked: %s. %s\n",
                static_cast<long long>(outcome.steps),
                outcome.stop_reason->c_str(), conversation.c_str());
    return kStopped;
  }
  const Verdict verdict = Judge(options.scenario, outcome, vocabulary,
                                trainer.vectors(), !options.text.empty());
  std::printf("%s\n", verdict.sentences.c_str());
  std::printf("%s\n", conversation.c_str());
  return verdict.as_expected ? kAsExpected : kUnexpected;
}

int Main(int argc, char** argv) {
  Options options;
  std::string error;
  if (!ParseOptions(argc, argv, &options, &error)) return NotStarted(error);
  if (options.help) {
    std::fputs(kUsage, stdout);
    return kAsExpected;
  }
  if (!CpuConvertsHalf()) {
    return NotStarted(
        "This CPU has no half-precision conversions (AVX2 and F16C), which the "
        "example is compiled for; run it on a newer one.");
  }
  return Train(options);
}

}  // namespace
}  // namespace word2vec

int main(int argc, char** argv) { return word2vec::Main(argc, argv); }
