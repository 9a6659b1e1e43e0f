#include "alert/mutes.h"

#include <algorithm>

#include "model/limits.h"

namespace nanwatch {
namespace {

bool Lasts(Time now, Time until) { return until == Time{} || now < until; }

}  // namespace

void Mutes::Take(const Annotation& annotation) {
  if (annotation.kind != Annotation::Kind::kMute &&
      annotation.kind != Annotation::Kind::kUnmute) {
    return;
  }
  // A new mute takes the place of an old one for the same.
  std::erase_if(mutes_, [&](const Mute& mute) {
    return mute.incident == annotation.incident &&
           (mute.rule == annotation.rule ||
            (annotation.kind == Annotation::Kind::kUnmute &&
             annotation.rule == RuleId::kNone));
  });
  if (annotation.kind == Annotation::Kind::kUnmute) return;
  if (mutes_.size() >= limits::kMutesPerRun) mutes_.erase(mutes_.begin());
  mutes_.push_back({annotation.incident, annotation.rule, annotation.until});
}

bool Mutes::CoverRule(Time now, RuleId rule) const {
  return std::any_of(mutes_.begin(), mutes_.end(), [&](const Mute& mute) {
    return mute.incident == 0 && mute.rule == rule && Lasts(now, mute.until);
  });
}

bool Mutes::Cover(Time now, const Incident& incident) const {
  if (mutes_.empty()) return false;
  for (const Mute& mute : mutes_) {
    if (!Lasts(now, mute.until)) continue;
    if (mute.incident == incident.id) return true;
    if (mute.incident == 0 && mute.rule == RuleId::kNone) return true;
  }
  return !incident.findings.empty() &&
         std::all_of(incident.findings.begin(), incident.findings.end(),
                     [&](const Finding& finding) {
                       return CoverRule(now, finding.rule);
                     });
}

std::optional<Time> Mutes::NextEnd(Time now) const {
  std::optional<Time> next;
  for (const Mute& mute : mutes_) {
    if (mute.until > now && (!next || mute.until < *next)) next = mute.until;
  }
  return next;
}

}  // namespace nanwatch
