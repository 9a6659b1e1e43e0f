#include "wire/run_opened_codec.h"

#include <algorithm>
#include <optional>

#include "model/limits.h"
#include "wire/benchmark_codec.h"
#include "wire/run_codec.h"

namespace nanwatch {
namespace {

void WriteTrouble(const PastTrouble& from, v1::StoredPastTrouble* to) {
  to->set_id(from.id);
  to->set_attempt(from.attempt);
  to->set_last_step(from.last_step);
  to->set_rule(NumberOf(from.rule));
  to->set_family(static_cast<uint32_t>(from.family));
  to->set_op(from.op);
  to->set_optimizer(from.optimizer);
  to->set_opened_step(from.opened_step);
  to->set_worst(static_cast<uint32_t>(from.worst));
  to->set_reopened(from.reopened);
}

void WriteLoss(const LossReached& from, v1::StoredLossReached* to) {
  to->set_first(from.first);
  to->set_best(from.best);
  to->set_level(from.level);
  to->set_noise(from.noise);
  to->set_records(from.records);
  to->set_last_step(from.last_step);
  to->set_level_step(from.level_step);
  to->set_high(from.high);
}

LossReached LossOf(const v1::StoredLossReached& from) {
  return {.first = from.first(),
          .best = from.best(),
          .level = from.level(),
          .noise = from.noise(),
          .records = from.records(),
          .level_step = from.level_step(),
          .last_step = from.last_step(),
          .high = from.high()};
}

void WriteBatches(const FirstBatches& from, v1::StoredFirstBatches* to) {
  for (const FirstBatches::Batch& batch : from.batches) {
    to->add_steps(batch.step);
    to->add_digests(batch.digest);
  }
  to->set_newest(from.newest);
  to->set_period(from.period);
}

FirstBatches BatchesOf(const v1::StoredFirstBatches& from) {
  FirstBatches to{.newest = from.newest(), .period = from.period()};
  const int n = std::min({from.steps_size(), from.digests_size(),
                          static_cast<int>(FirstBatches::kMost)});
  for (int i = 0; i < n; ++i) {
    to.batches.push_back({from.steps(i), from.digests(i)});
  }
  return to;
}

Verdict ReadTroubles(const v1::StoredRunOpened& from, RunOpened* to) {
  if (from.troubles_before_size() > limits::kIncidentsPerRun) {
    return Complaint{"more incidents of attempts before than one can have", ""};
  }
  for (const v1::StoredPastTrouble& trouble : from.troubles_before()) {
    if (trouble.family() > static_cast<uint32_t>(Last(Family())) ||
        trouble.worst() > static_cast<uint32_t>(Severity::kCritical)) {
      return Complaint{"an incident of an attempt before that cannot be", ""};
    }
    to->troubles_before.push_back(
        {.id = trouble.id(),
         .attempt = trouble.attempt(),
         .last_step = trouble.last_step(),
         .rule = RuleIdOf(trouble.rule()),
         .family = static_cast<Family>(trouble.family()),
         .op = trouble.op(),
         .optimizer = trouble.optimizer(),
         .opened_step = trouble.opened_step(),
         .worst = static_cast<Severity>(trouble.worst()),
         .reopened = trouble.reopened()});
  }
  return std::nullopt;
}

}  // namespace

void WriteRunOpened(const RunOpened& from, v1::StoredRunOpened* to) {
  WriteRun(from.description, to->mutable_run());
  to->set_reason(from.reason);
  if (from.good_scale_before) {
    to->set_good_scale_before(*from.good_scale_before);
  }
  if (from.loss_before) WriteLoss(*from.loss_before, to->mutable_loss_before());
  if (from.batches_before) {
    WriteBatches(*from.batches_before, to->mutable_batches_before());
  }
  to->set_attempts_before(from.updates_before);
  for (const PastTrouble& trouble : from.troubles_before) {
    WriteTrouble(trouble, to->add_troubles_before());
  }
  if (from.benchmark != nullptr) {
    WriteBenchmark(*from.benchmark, to->mutable_benchmark());
  }
}

Verdict ReadRunOpened(const v1::StoredRunOpened& from, RunOpened* to) {
  to->reason = from.reason();
  if (from.has_good_scale_before()) {
    to->good_scale_before = from.good_scale_before();
  }
  if (from.has_loss_before()) to->loss_before = LossOf(from.loss_before());
  if (from.has_batches_before()) {
    to->batches_before = BatchesOf(from.batches_before());
  }
  to->updates_before = from.attempts_before();
  if (Verdict wrong = ReadTroubles(from, to)) return wrong;
  if (Verdict wrong = ReadBenchmark(from.benchmark(), &to->benchmark)) {
    return wrong;
  }
  return ReadRun(from.run(), &to->description);
}

}  // namespace nanwatch
