#include "detect/data_from_start.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec DataFromStart::kSpec = {
    RuleId::kDataFromStart,
    "data_from_start",
    Family::kBenchmark,
    "A restart takes its data from the start, not from where the attempt "
    "before it stood.",
    "Rank 0's first 4 batches of an attempt are those that the run began with, "
    "to the bit, though its steps go on, and the attempt before it had other "
    "data at these steps. For information where that attempt ended there, so "
    "that an epoch may have ended, too; and where the run had come through its "
    "data before, so that an epoch begins anew in its midst.",
    "The attempt ends.",
    {},
    "It reads digests of batches, which clients collect at level \"compare\". "
    "Silent where all batches are one, and where an epoch ended at that step."};

Severity DataFromStart::OnTime(const TimeContext& c, Thresholds) {
  if (c.data_again == nullptr) return Severity::kNone;
  again_ = *c.data_again;
  return again_.how == DataAgain::How::kAnew ? Severity::kWarning
                                             : Severity::kInfo;
}

void DataFromStart::Describe(Finding* finding) const {
  finding->opened_step = finding->last_step = again_.step;
  finding->subject.rank = 0;
  finding->sentence = Sentence(
      "The data begin from the start at this restart: the batches of steps ",
      again_.step, " to ", again_.last, " are those of steps ", again_.run_step,
      " to ", again_.run_last,
      again_.how == DataAgain::How::kNotSure ? ", unless an epoch ended there."
                                             : ".");
  if (again_.how == DataAgain::How::kInEpoch) {
    finding->sentence +=
        " The run had come through its data before: an epoch begins anew in "
        "its midst.";
  }
  finding->numbers = {{"first_step", static_cast<double>(again_.run_step), ""}};
}

}  // namespace nanwatch
