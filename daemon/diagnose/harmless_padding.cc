// Harmless padding or masked overflow: an op overflows in elements that nobody
// reads. The flagship is word2vec on Ascend: a Log over a buffer that
// FRACTAL_NZ pads with zeros.

#include <spdlog/fmt/fmt.h>

#include "diagnose/cause_form.h"
#include "diagnose/op_facts.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

// True when updates are skipped for this overflow: harmless to the values, not
// to the training.
bool SkipsUpdates(const Case& c) {
  return c.run.scaler.overflow_check.value_or(true) &&
         c.evidence.skipped_last_50 > 0;
}

// Returns its real outputs, the loss and the gradients, as far as they are
// known.
std::string WhatIsFinite(const RunEvidence& e, const OpEvidence& op) {
  const bool outputs = op.logical_statuses > 0 || e.downstream_clean;
  const bool gradients = e.grad_norm_finite > 0 && e.grad_norm_nonfinite == 0;
  if (outputs && gradients) {
    return "Its real outputs and the gradients are finite";
  }
  if (outputs) return "Its real outputs are finite";
  return "The loss is finite";
}

// Returns what hurts, if anything does: a person who is called for it reads no
// further.
std::string Lead(const RunEvidence& e) {
  if (e.skipped_last_50 == 0 || e.skipped_last_50 < e.updates_last_50) {
    return "";
  }
  return fmt::format(
      "No update{} is applied any more, so nothing is learned: {} of the last "
      "{} were skipped because of padding, whose values do not matter. ",
      OfOptimizer(e), e.skipped_last_50, e.updates_last_50);
}

std::string SentenceOf(const Facts& f, const OpEvidence& op) {
  const std::string lead = SkipsUpdates(f) ? Lead(f.evidence) : "";
  std::string sentence = fmt::format(
      "{}{} overflows {}{}. {}: only its padding is bad.", lead, InWords(op.op),
      WhenBad(op),
      f.IsBadAtEveryScale(op) ? ", so lowering the scale cannot help" : "",
      WhatIsFinite(f.evidence, op));
  const std::string updates = UpdatesInWords(f.evidence);
  if (SkipsUpdates(f) && lead.empty() && !updates.empty()) {
    sentence += " " + updates + ".";
  }
  return sentence;
}

bool BeginsAtTheOp(const Facts& f, PaddingFacts::Kind kind, Match* match) {
  if (f.padding.kind != kind) return false;
  match->op = f.padding.op;
  match->verdict.origin = OriginOf(*match->op);
  match->verdict.step = match->op->first_bad_step;
  return true;
}

}  // namespace

bool WhenPaddingCounted(const Facts& f, const Matches&, Match* match) {
  if (!BeginsAtTheOp(f, PaddingFacts::Kind::kEstablished, match)) return false;
  CauseVerdict& verdict = match->verdict;
  verdict.grade = EvidenceGrade::kEstablished;
  verdict.ops = f.padding.names;
  // Where another op is bad too, the overflow of a step may be its.
  if (!f.padding.others) {
    verdict.rules |= kScaleTrouble;
    if (SkipsUpdates(f)) verdict.uncapped = kScaleTrouble;
  }
  return true;
}

void SayPaddingCounted(const Facts& f, Match* match) {
  const OpEvidence& op = *match->op;
  match->Say(SentenceOf(f, op));
  match->verdict.evidence = f.padding.judgement.evidence;
}

// True for infinities or NaN that never arrive anywhere: a mask, perhaps.
bool WhenMask(const Facts& f, const Matches&, Match* match) {
  if (!BeginsAtTheOp(f, PaddingFacts::Kind::kMasked, match)) return false;
  match->verdict.grade = EvidenceGrade::kSupported;
  for (const OpEvidence& op : f.evidence.ops) {
    if (IsAbsorbed(f, op)) match->verdict.ops.push_back(op.op.name);
  }
  return true;
}

void SayMask(const Facts& f, Match* match) {
  const OpEvidence& op = *match->op;
  const char* const finite = f.evidence.loss_nonfinite > 0 ? "losses were long"
                             : f.evidence.downstream_clean
                                 ? "what follows it and the loss are"
                                 : "the loss is";
  const char* const bad = op.nan == 0   ? "infinite"
                          : op.inf == 0 ? "NaN"
                                        : "infinite or NaN";
  match->Say(fmt::format(
      "{} has up to {} {} elements {}, but {} finite and no update is lost: it "
      "seems to be masked.",
      InWords(op.op), op.bad_elements_max, bad, WhenBad(op), finite));
}

bool WhenPaddingPossible(const Facts& f, const Matches&, Match* match) {
  if (!BeginsAtTheOp(f, PaddingFacts::Kind::kPossible, match)) return false;
  match->verdict.grade = f.padding.judgement.grade;
  match->verdict.ops = {match->op->op.name};
  return true;
}

void SayPaddingPossible(const Facts& f, Match* match) {
  const OpEvidence& op = *match->op;
  match->verdict.evidence = f.padding.judgement.evidence;
  match->Say(fmt::format(
      "{} overflows {}. Its shape {} is stored as {}, so this may "
      "be harmless padding. Its elements without the padding were not "
      "counted, so it is not sure.",
      InWords(op.op), WhenBad(op), InWords(op.op.logical_shape),
      InWords(op.op.storage_shape)));
}

}  // namespace nanwatch
