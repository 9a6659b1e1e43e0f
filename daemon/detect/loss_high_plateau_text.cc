// What loss_high_plateau says of a run.

#include <cmath>
#include <string>

#include "detect/loss_high_plateau.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr float kClimbs = 1.1f;  // times the middle third; ours

}  // namespace

std::string LossHighPlateau::SayGuessing(Tense tense) const {
  const bool lost = episode_.severity() == Severity::kCritical;
  return Sentence("The loss is ", guessing_.loss(), ", worse than guessing (",
                  untrained_.loss(), "), and was ", guessing_.lowest(),
                  way_.to_end && !guessing_.now()
                      ? Sentence(", and is not back at the end (", newest_, ")")
                      : std::string(),
                  !guessing_.Knew(untrained_.loss())
                      ? ": the learning rate may be too high for it."
                  : !lost ? ": all that it knew is lost, unless it comes back."
                          : Sentence(": the model ", In(tense, "has", "had"),
                                     " lost what it knew."));
}

std::string LossHighPlateau::SayNotLoaded() const {
  return Sentence(
      "After the restart the loss stands at about ", told_.Loss(told_.at),
      " for ", stood_, " records", before_.high ? ", as before it" : "",
      ", and it had come to ", before_.level, " at step ", before_.level_step,
      before_.high
          ? ": no good checkpoint was loaded."
          : " before: the checkpoint was not loaded, or not all of it.");
}

std::string LossHighPlateau::SayLost(Tense tense) const {
  const double first = told_.Loss(told_.first);
  const double best = told_.Loss(told_.best);
  const double level = told_.Loss(told_.at);
  const char* const share = level > first                        ? "all"
                            : level - best >= (first - best) / 2 ? "most"
                                                                 : "much";
  // Of few records the newest third is the level, and no stretch that is high.
  const bool few = records_ < kLeastRecords && way_.to_end;
  const bool climbs = courses_.high.records() > 0 &&
                      courses_.high.first() < courses_.high.middle() &&
                      courses_.high.last() > kClimbs * courses_.high.middle();
  const std::string where =
      few      ? Sentence(In(tense, "is", "was"), " ", newest_)
      : climbs ? Sentence(In(tense, "climbs", "climbed"), " to about ",
                          courses_.high.last(), " in ", stood_, " records")
               : Sentence(In(tense, "stands", "stood"), " at about ", level,
                          " for ", stood_, " records");
  return Sentence(
      "The loss ", where,
      few           ? " at the end: "
      : way_.to_end ? ", to the end: "
                    : ": ",
      best <= (1 - kSomeLearned) * first
          ? Sentence("it had fallen from ", first, " to ", best, ", and ",
                     share, " of that ", In(tense, "is", "was"), " lost.")
          : Sentence("it began at ", first, "."));
}

std::string LossHighPlateau::SayCrept(Tense tense) const {
  if (told_.unit > 0) {
    return Sentence("The loss ", In(tense, "swings", "swung"),
                    " about 0 ever wider: by ", courses_.standing.first(),
                    ", then by ", courses_.standing.last(), ".");
  }
  const double best = told_.Loss(told_.best);
  const double level = told_.Loss(told_.at);
  const double percent = std::round(100 * (level / best - 1));
  return Sentence(
      "The loss ",
      way_.to_end ? Sentence("rose by ", percent, " % and did not come back")
                  : In(tense, "creeps up", "crept up"),
      ": it had come to ", best, ", and ", In(tense, "stands", "stood"),
      " at about ", level, ", ", stood_, " records later.");
}

void LossHighPlateau::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const double level = told_.Loss(told_.at);
  const double best = told_.Loss(told_.best);
  const double first = told_.Loss(told_.first);
  switch (about_) {
    case About::kGuessing:
      finding->SayBoth([&](Tense tense) { return SayGuessing(tense); });
      finding->numbers = {{"loss", guessing_.loss(), ""},
                          {"untrained_loss", untrained_.loss(), ""},
                          {"lowest_loss", guessing_.lowest(), ""}};
      return;
    case About::kNotLoaded:
      finding->sentence = SayNotLoaded();
      finding->numbers = {{"loss", level, ""},
                          {"loss_before_restart", before_.level, ""},
                          {"first", first, ""},
                          {"records", static_cast<double>(stood_), ""}};
      return;
    case About::kCrept:
    case About::kLost:
      finding->SayBoth([&](Tense tense) {
        return about_ == About::kCrept ? SayCrept(tense) : SayLost(tense);
      });
      finding->numbers = {{"loss", level, ""},
                          {"best", best, ""},
                          {"first", first, ""},
                          {"records", static_cast<double>(stood_), ""}};
  }
}

}  // namespace nanwatch
