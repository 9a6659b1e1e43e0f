// How loss_spike says what it found.

#include <string>

#include "detect/loss_spike.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr int32_t kTurns = 3;  // rises alike that came back; ours

}  // namespace

std::string LossSpike::SayStuck(Tense tense) const {
  if (kind_.stuck == 0 || held_ > 0) return "";
  return Sentence(" It ", In(tense, "has", "had"), " learned little since: it ",
                  In(tense, "stands", "stood"), " at about ", kind_.stuck, ".");
}

void LossSpike::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (falls_) {
    finding->sentence =
        Sentence("The loss rose from ", fall_.from(), " to ", fall_.to(),
                 " while overflows came in ", fall_.falls(),
                 " records, and the loss scale never grew.");
    finding->numbers = {{"loss", fall_.to(), ""},
                        {"lowest", fall_.from(), ""},
                        {"overflows", static_cast<double>(fall_.falls()), ""}};
    return;
  }
  const bool is_high = held_ > 0;
  const bool is_wild = IsOftenWild() && told_.IsWild();
  finding->SayBoth([&](Tense tense) {
    const bool is = is_high && tense == Tense::kPresent;
    const std::string rose =
        Sentence("The loss rose from ", told_.usual, " to ", told_.peak,
                 told_.anew ? ", where it began," : "");
    if (told_.broken >= 0) {
      return Sentence(rose, is ? " and is" : " and was",
                      " not finite from step ", told_.broken, " on.");
    }
    return Sentence(rose, is ? " and is high for " : " and was high for ",
                    told_.records, told_.records == 1 ? " record" : " records",
                    to_end_ ? ", to the end." : ".",
                    told_.anew && !told_.settles
                        ? " Lost weights or checkpoints look so."
                        : "",
                    kind_.first_alone
                        ? " The first record stands alone below it: it may be "
                          "a mean, or a sum, over less."
                        : "",
                    is_wild ? " Some came so far before, each alone: samples "
                              "of the data are wrong."
                            : "",
                    SayStuck(tense));
  });
  finding->numbers = {
      {"loss", told_.loss, ""},
      {"peak", told_.peak, ""},
      {"usual", told_.usual, ""},
      {"nats", told_.nats, "nats"},
      {"records", static_cast<double>(told_.records), "records"}};
  if (told_.anew) finding->numbers.push_back({"anew", 1, ""});
  if (told_.settles) finding->numbers.push_back({"settles", 1, ""});
  if (kind_.stuck != 0) finding->numbers.push_back({"stands", kind_.stuck, ""});
  const double returns = kind_.returns;
  if (kind_.first_alone) finding->numbers.push_back({"first_alone", 1, ""});
  const auto every = static_cast<double>(kind_.every);
  if (every > 0) finding->numbers.push_back({"every", every, "records"});
  if (returns >= kTurns || every > 0) {
    finding->numbers.push_back({"returns", returns, ""});
  }
}

}  // namespace nanwatch
