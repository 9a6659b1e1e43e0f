// DeepSpeed-Chat's PPO: a line a batch of prompts, with the losses of two
// models, each with an optimizer and a loss scaler of its own. DeepSpeed tells
// of their overflows beside it.
//
//  epoch: 0|step: 8|ppo_ep: 1|act_loss: 0.0109|cri_loss: 0.0201|unsuper_loss: 0
//  Epoch: 0 | Step: 8 | PPO Epoch: 1 | Actor Loss: 0.0109 | Critic Loss: 0.0201
//  | Unsupervised Loss: 0.0
//  average reward score: 1.26

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "logs/epoch_steps.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

struct Words {
  std::string_view epoch, step, actor, critic;
};
constexpr Words kOld = {"epoch: ", "|step: ", "act_loss: ", "cri_loss: "};
constexpr Words kNew = {
    "Epoch: ", " | Step: ", "Actor Loss: ", "Critic Loss: "};
constexpr std::string_view kScore = "verage reward score: ";
constexpr std::string_view kAccumulation = "gradient_accumulation_steps";

// The optimizers in the order in which they step.
constexpr int32_t kActor = 0;
constexpr int32_t kCritic = 1;

class DeepSpeedChatReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (const Words& words : {kOld, kNew}) {
      // Each begins at an epoch that is not "PPO Epoch: ".
      Scan scan(line);
      while (scan.To(words.epoch)) {
        ReadMessage(line.substr(scan.at()), scan.at(), words, facts);
      }
    }
    Scan score(line);
    if (score.To(kScore)) score_ = score.Number().value_or(kNoScore);
    Scan option(line);
    if (option.To(kAccumulation)) ReadAccumulation(option.rest());
  }

 private:
  // Behind the word for the epoch.
  void ReadMessage(std::string_view text, size_t at, const Words& words,
                   FactList* facts) {
    Scan scan(text);
    const std::optional<int64_t> epoch = ReadCount(&scan);
    if (!epoch || !scan.Skip(words.step)) return;
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step) return;
    // Up to the next message, if one is glued to it.
    const std::string_view rest =
        scan.rest().substr(0, scan.rest().find(words.step));
    const auto actor = NumberBehind(rest, words.actor);
    const auto critic = NumberBehind(rest, words.critic);
    if (!actor || !critic) return;
    const int64_t batch = epochs_.Step(*epoch, *step + 1);
    // The optimizers step once in so many batches.
    if (batch % accumulated_ != 0) return;
    // The one with the higher number first: so the actor's is one of several
    // from its first line on.
    Add(batch / accumulated_, kCritic, critic->value, at, facts);
    Add(batch / accumulated_, kActor, actor->value, at, facts);
    // Its own is printed behind it.
    facts->back().score = std::exchange(score_, kNoScore);
  }

  static void Add(int64_t step, int32_t optimizer, double loss, size_t at,
                  FactList* facts) {
    LogFact& fact = AddFact(LogFact::Kind::kProgress, at, facts);
    fact.step = step;
    fact.scaler = optimizer;
    fact.Set(StepField::kLoss, loss);
  }

  // "gradient_accumulation_steps .. 8" of DeepSpeed's dump of its settings.
  void ReadAccumulation(std::string_view text) {
    Scan scan(text.substr(std::min(text.find_first_not_of(" ."), text.size())));
    const std::optional<int64_t> count = ReadCount(&scan);
    if (count && *count > 0) accumulated_ = *count;
  }

  static constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

  EpochSteps epochs_;
  int64_t accumulated_ = 1;
  double score_ = kNoScore;  // of the batch before
};

constexpr std::string_view kMarks[] = {"|act_loss: ", "| Actor Loss: ", kScore,
                                       kAccumulation};

}  // namespace

const LogFormat kDeepSpeedChat = {
    .name = "deepspeed_chat",
    .title = "DeepSpeed-Chat's PPO, actor and critic",
    .marks = kMarks,
    .make = Fresh<DeepSpeedChatReader>,
};

}  // namespace nanwatch
