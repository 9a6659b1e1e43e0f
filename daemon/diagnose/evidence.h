// RunEvidence: what was measured of a run, as a diagnosis needs it. The engine
// fills it from records; the detectors' state is not looked into.

#ifndef NANWATCH_DIAGNOSE_EVIDENCE_H_
#define NANWATCH_DIAGNOSE_EVIDENCE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/diagnosis.h"
#include "model/op.h"
#include "model/rank.h"
#include "model/snapshot.h"
#include "model/step.h"

namespace nanwatch {

// Updates that went well, and those that were lost or spoilt. In neither:
// nothing was said, a scaler searched for its first scale, or a loss was not
// finite before.
struct OpOutcomes {
  static constexpr uint64_t kSeveral = 3;  // harmed; fewer may be chance; ours

  uint64_t fine = 0;
  uint64_t harmed = 0;

  // True when there are more than `times` fine ones for each harmed one.
  bool AreFine(uint64_t times) const { return fine > times * harmed; }
  // True when several were harmed, and they are a larger share.
  bool AreWorseThan(const OpOutcomes& other) const {
    if (harmed < kSeveral) return false;
    return other.harmed < kSeveral || fine * other.harmed < other.fine * harmed;
  }
};

// One op that was ever bad (a bad element, or its device flag set), over all
// ranks. Updated once a bad status, and for clean ones while it is listed.
struct OpEvidence {
  OpName op;
  Slot slot = Slot::kOutput;
  int32_t rank = -1;  // of the first bad status
  int64_t first_bad_step = 0;
  int64_t last_bad_step = 0;
  int64_t last_beyond_step = -1;  // newest with Inf or saturated; -1: none
  // The first whose update is not known to have been left out; -1: none.
  int64_t first_kept_step = -1;
  uint64_t kept_nan = 0;            // the most of a status of that step
  int64_t first_bad_order = -1;     // execution order at first_bad_step, or -1
  bool first_inputs_clean = false;  // inputs collected and clean then
  bool first_inputs_bad = false;
  uint64_t bad_statuses = 0;
  uint64_t clean_statuses = 0;  // after the first bad one
  // Step records of one rank, the one that has most with a bad status of this
  // op: how many these are, ...
  uint64_t bad_updates = 0;
  // ... and how many since its first, but for overflows at which no op was
  // looked at: clients look at some steps only.
  uint64_t updates = 0;
  // What records with a bad status say became of their updates.
  OpOutcomes outcomes;  // of all ranks
  // Of the rank that fares worst among those with several harmed ones; else
  // none.
  OpOutcomes outcomes_of_worst;
  OpOutcomes newest_of_worst;  // the same of a rank's newest 64
  uint64_t fine_steps = 0;     // at which some rank's went well
  uint64_t nan = 0;            // largest counts in one status
  uint64_t inf = 0;
  uint64_t saturated = 0;
  uint64_t bad_elements_max = 0;  // bad elements of one status, all kinds
  uint64_t padding = 0;           // PaddingElements(op)
  // Statuses that covered exactly the logical region (elements == logical). In
  // saturation mode only those that counted saturated elements: without that
  // count, a clean status says nothing.
  uint64_t logical_statuses = 0;
  uint64_t logical_bad = 0;  // of those, with a bad element
  // Statuses with the device flag set and no bad element at all.
  uint64_t flag_only = 0;
  // Loss scale while bad; absent: no scale in the records.
  std::optional<double> scale_min;
  std::optional<double> scale_max;
};

// Losses of one rank that stood far above their level at a single record, and
// neither they nor its gradients did at the next.
struct OutlierBatches {
  enum class Gradients : uint8_t { kNotTold, kUsual, kFarOut, kOverflowed };
  // Those before are believed, see MayHave; ours.
  static constexpr int kKept = 16;

  int32_t rank = -1;
  uint64_t count = 0;
  uint64_t overflows = 0;  // of those
  int64_t first_step = -1;
  std::array<int64_t, kKept> steps;  // the newest comes first; -1: none
  // Of one that the next record decides, and taken for one until then, as where
  // a sample comes again in each epoch; -1: none.
  int64_t pending_step = -1;
  // The newest at which the loss, or the norm, stood out otherwise, by as much
  // as their rules warn of; -1: none did.
  int64_t other_loss_step = -1;
  // And those before it: of some an outlier of another rank is the reason.
  std::array<int64_t, 4> other_norm_steps;
  // Of the first.
  double loss = 0;
  double usual = 0;  // of the loss, then
  Gradients gradients = Gradients::kNotTold;
  bool skipped = false;  // its update was left out
  bool applied = false;  // it was not; neither: not known
  bool wild = false;     // some were so far out that no data are

  OutlierBatches() {
    steps.fill(-1);
    other_norm_steps.fill(-1);
  }

  bool Has(int64_t step) const {
    return step == first_step || step == pending_step ||
           std::find(steps.begin(), steps.end(), step) != steps.end();
  }

  // True when `step` is one of those, or may be one that is forgotten by now.
  bool MayHave(int64_t step) const {
    return Has(step) || (step > first_step && step < steps.back());
  }
};

// A loss that rose from record to record until it was not finite: it was not
// born there, it left the range of numbers. Or one that leapt shortly before.
struct LossRise {
  int64_t from_step = 0;  // of the last record before it rose
  double from = 0;        // of that; where it leapt, the highest before
  double to = 0;     // the last that was finite; where it leapt, the highest
  int64_t step = 0;  // of the first record that rose
  bool leapt = false;
};

// Losses that are the same to the last digit, the newest ones.
struct FrozenLoss {
  double loss = 0;
  int64_t since = 0;  // step
};

struct RunEvidence {
  // Of the optimizer that fares worst, of all ranks: its name (empty: it is the
  // only one) and its updates. What became of an update may not be known:
  // neither applied nor skipped then.
  std::string optimizer;
  uint64_t updates = 0;
  uint64_t updates_before = 0;  // in earlier attempts of the run
  // Most steps have no record: a log that shows one in ten. How many updates
  // there were, and overflowed, nobody knows then.
  bool steps_between = false;
  // Steps were counted and not told: a record may stand for many updates.
  bool steps_counted = false;
  bool of_epochs = false;  // a record stands for an epoch
  uint64_t overflows = 0;
  uint64_t skipped = 0;
  uint64_t applied = 0;
  uint64_t applied_last_50 = 0;
  uint64_t skipped_last_50 = 0;
  uint64_t overflows_last_50 = 0;
  uint64_t updates_last_50 = 0;  // how many of the 50 there are
  uint64_t overflow_streak = 0;  // newest updates, all overflowed; 50 at most
  // Overflowed and applied all the same.
  uint64_t applied_overflows = 0;
  uint64_t applied_overflows_last_50 = 0;
  int64_t first_overflow_step = -1;
  int64_t last_overflow_step = -1;
  int64_t first_step = INT64_MIN;  // of a record; not known
  int64_t last_step = 0;
  // The newest losses of few rise far above the others; absent: they do not.
  std::optional<LossRise> unsettled;
  // The newest losses stand above their level; absent: they do not.
  std::optional<LossRise> stands_out;
  // The loss follows rewards; optimizers follow losses against each other.
  bool follows_rewards = false;
  bool rivals = false;
  bool sums = false;  // a loss is the sum of all those before
  // Loss and gradients of all ranks.
  uint64_t loss_finite = 0;
  uint64_t loss_nonfinite = 0;
  int64_t first_nonfinite_loss_step = -1;
  int64_t last_nonfinite_loss_step = -1;
  // The first whose update is not known to have been left out.
  int64_t first_kept_nonfinite_loss_step = -1;
  int32_t nonfinite_loss_rank = -1;  // of the first; the lowest of those
  // The first of its records in a row, just before the first of those that were
  // kept, whose gradient norm is NaN and whose loss is finite; -1: there are
  // none, or they were left out.
  int64_t nan_norm_before_loss = -1;
  std::optional<LossRise> rise;      // before the first; absent: it did not
  std::optional<FrozenLoss> frozen;  // absent: it moves
  std::string nonfinite_loss_place;  // its host and device; empty: not known
  // An optimizer of a rank each, those with the most first: of the 64 that have
  // most, and of ranks of which something is found.
  std::vector<OutlierBatches> outliers;
  uint64_t grad_norm_finite = 0;
  uint64_t grad_norm_nonfinite = 0;
  uint64_t grad_norm_nan = 0;  // of those
  uint64_t grad_norm_finite_while_overflow = 0;
  uint64_t loss_finite_while_overflow = 0;
  std::optional<double> zero_fraction;       // newest
  std::optional<double> underflow_fraction;  // newest
  // Scale of the optimizer that fares worst, of those that report one.
  std::optional<double> scale_first;
  std::optional<double> scale_max;
  std::optional<double> scale_worked;  // highest of a good update
  std::optional<double> scale_min;
  std::optional<double> scale_now;
  double floor = 0;                // of the scaler; 0: none
  std::string scaler;              // catalog name; empty: unknown
  bool scaler_recognised = false;  // not declared
  bool scaler_dynamic = false;
  bool in_grace = false;
  // First step record without overflow; -1: none yet. Start-up calibration is
  // what came before it.
  int64_t first_good_step = -1;
  std::optional<int64_t> updates_to_floor;
  // Which scales suit the layers; null: not known, or nothing found speaks of
  // them.
  std::shared_ptr<const LayerRangesView> layer_ranges;
  uint64_t impossible_transitions = 0;
  uint64_t good_steps = 0;
  int64_t growth_interval = 0;
  // Ops that were ever bad, first cause first (step, order), at most 64.
  std::vector<OpEvidence> ops;
  // Forward statuses (input, output) of other ops were collected and clean in
  // the newest step with a bad op.
  bool downstream_clean = false;
  bool ops_collected = false;  // any op status at all
  uint64_t ranks_lost = 0;
  uint64_t dropped_steps = 0;
  // The rank that a finding suspects of corrupting data, and its host and
  // device; -1 and empty: none, not known.
  int32_t suspect_rank = -1;
  std::string suspect_place;
  int32_t world_size = 1;
  // Sentence of the worst incident that fired, of warning or worse; empty: none
  // did. Its cause, the rule that it is named after, and the steps from which
  // and to which it was found; -1: it is found still.
  std::string earlier;
  std::string earlier_over;  // the same once it is over; empty: no other
  std::optional<Cause> earlier_cause;
  RuleId earlier_rule = RuleId::kNone;
  int64_t earlier_from = 0;
  int64_t earlier_to = -1;
};

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_EVIDENCE_H_
