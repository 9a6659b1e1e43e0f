#include "verdict.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "neighbours.h"

namespace word2vec {
namespace {

// Words of the King James Bible, and words one of which must be among the
// eight nearest.
struct Probe {
  const char* word;
  std::vector<std::string> expected;
};
const Probe kProbes[] = {
    {"king",
     {"kings", "queen", "prince", "princes", "reigned", "throne", "ahab",
      "hezekiah", "jehoshaphat", "zedekiah", "ahasuerus", "nebuchadnezzar",
      "nebuchadrezzar", "jeroboam", "babylon", "assyria"}},
    {"bread",
     {"eat", "unleavened", "wine", "meat", "drink", "loaves", "leaven",
      "wafers", "cakes", "hungry"}},
    {"water",
     {"waters", "drink", "well", "wells", "rivers", "river", "bathe", "wash",
      "drank", "pour"}},
    {"sword",
     {"famine", "slain", "pestilence", "spear", "slay", "edge", "bow",
      "smote"}},
};
constexpr size_t kNear = 8;
// The last loss is at most so much of the first.
constexpr double kLearned = 0.85;

std::string Format(const char* format, double a, double b) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, a, b);
  return buffer;
}

// Adds a line a probe; false if too few neighbours make sense.
bool ProbesMakeSense(const Vocabulary& vocabulary, const Table& vectors,
                     std::string* sentences) {
  size_t sensible = 0;
  for (const Probe& probe : kProbes) {
    const auto near = Neighbours(vocabulary, vectors, probe.word, kNear);
    *sentences += std::string("Near \"") + probe.word + "\":";
    for (const std::string& word : near) *sentences += " " + word;
    *sentences += ".\n";
    sensible += std::any_of(near.begin(), near.end(), [&](const auto& word) {
      return std::count(probe.expected.begin(), probe.expected.end(), word) > 0;
    });
  }
  return sensible + 1 >= std::size(kProbes);
}

}  // namespace

Verdict Judge(const Scenario& scenario, const TrainingOutcome& outcome,
              const Vocabulary& vocabulary, const Table& vectors,
              bool text_given) {
  Verdict verdict;
  const std::string counts =
      std::to_string(outcome.applied) + " of " + std::to_string(outcome.steps) +
      " updates were applied, " + std::to_string(outcome.overflows) +
      " steps overflowed; ";
  const std::string scale =
      outcome.scale == scenario.scaler.init
          ? Format(", the loss scale is still %.6g.", outcome.scale, 0)
          : Format(", the loss scale from %.6g to %.6g.", scenario.scaler.init,
                   outcome.scale);
  const std::string losses = Format("the loss went from %.3f to %.3f",
                                    outcome.first_loss, outcome.last_loss) +
                             scale;
  const bool learned = outcome.last_loss < kLearned * outcome.first_loss;
  if (!scenario.should_learn) {
    verdict.as_expected = outcome.applied == 0 && !learned;
    verdict.sentences =
        counts + losses +
        (verdict.as_expected ? " Nothing was learned, as this scenario shows."
                             : " This scenario should learn nothing.");
    return verdict;
  }
  const bool sensible =
      scenario.name != "cure" || text_given ||
      ProbesMakeSense(vocabulary, vectors, &verdict.sentences);
  verdict.as_expected = learned && sensible;
  verdict.sentences += counts + losses;
  if (scenario.poisoned_step >= 0) {
    verdict.sentences += " The poisoned batch was that of step " +
                         std::to_string(scenario.poisoned_step) + ".";
  }
  if (!learned) verdict.sentences += " That is not enough: it did not learn.";
  if (!sensible) verdict.sentences += " The neighbours make no sense.";
  if (verdict.as_expected) verdict.sentences += " It learned.";
  return verdict;
}

}  // namespace word2vec
