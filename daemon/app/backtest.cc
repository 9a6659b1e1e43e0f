#include "app/backtest.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <variant>

#include "detect/all_rules.h"

namespace nanwatch {
namespace {

// What is set in `set`, else the rule's default.
RuleSettings SettingsOf(const RulesInForce& set, const RuleSpec& rule) {
  RuleSettings settings;
  const auto found = set.rules.find(std::string(rule.name));
  if (found != set.rules.end()) settings = found->second;
  for (size_t i = settings.thresholds.size(); i < rule.thresholds.size(); ++i) {
    settings.thresholds.push_back(rule.thresholds[i].value);
  }
  return settings;
}

std::vector<ThresholdChange> ChangesOf(const RulesInForce& before,
                                       const RulesInForce& after) {
  std::vector<ThresholdChange> changes;
  for (const RuleSpec* rule : AllRules()) {
    const RuleSettings old = SettingsOf(before, *rule);
    const RuleSettings now = SettingsOf(after, *rule);
    const std::string name(rule->name);
    if (old.enabled != now.enabled) {
      changes.push_back(
          {name, "enabled", old.enabled ? 1.0 : 0.0, now.enabled ? 1.0 : 0.0});
    }
    for (size_t i = 0; i < rule->thresholds.size(); ++i) {
      if (old.thresholds[i] == now.thresholds[i]) continue;
      changes.push_back({name, std::string(rule->thresholds[i].name),
                         old.thresholds[i], now.thresholds[i]});
    }
  }
  return changes;
}

bool InVain(const StepRecord& record) {
  if (record.is(StepFlag::kSkipped)) return true;
  // An overflow may be applied all the same.
  if (record.is(StepFlag::kOverflow) && !record.is_not(StepFlag::kSkipped)) {
    return true;
  }
  return record.has(StepField::kLoss) &&
         !std::isfinite(record[StepField::kLoss]);
}

int64_t NewestStep(const Incident& incident) {
  int64_t step = incident.opened_step;
  for (const Finding& finding : incident.findings) {
    step = std::max(step, finding.last_step);
  }
  return step;
}

}  // namespace

Backtest::Backtest(RulesInForce rules)
    : rules_(std::move(rules)), recorded_(DefaultRules()) {
  // Until the recording says what held.
  RulesLoaded tried;
  tried.rules = rules_;
  after_.engine.Apply(Time{}, {.body = std::move(tried)}, &after_.effects);
}

void Backtest::Judge::Apply(Time now, const Event& event) {
  engine.Apply(now, event, &effects);
  for (Notice& notice : effects.notices) {
    const auto [at, first] =
        told.try_emplace(std::pair(notice.run, notice.incident.id));
    if (first) at->second.step = NewestStep(notice.incident);
    at->second.findings = std::move(notice.incident.findings);
  }
  effects.Clear();
}

std::shared_ptr<const Snapshot> Backtest::Judge::End() {
  return engine.engine().Publish(Time{}, 0, Snapshot());
}

std::vector<ToldIncident> Backtest::Judge::Told(const Snapshot& end) const {
  std::map<std::string, std::vector<std::shared_ptr<const RunView>>> runs;
  for (size_t slot = 0; slot < end.runs.size(); ++slot) {
    const auto view = end.runs.at(slot);
    if (view != nullptr) runs[view->key.run_id].push_back(view);
  }
  std::vector<ToldIncident> all;
  for (const auto& [run_id, attempts] : runs) {
    for (const auto& view : EachTroubleOnce(attempts)) {
      for (const Incident& incident : view->incidents) {
        const auto at = told.find(std::pair(view->key, incident.id));
        if (at == told.end()) continue;
        all.push_back({view->key, incident, at->second.step});
        all.back().incident.findings = at->second.findings;
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.run, a.incident.opened_step) <
           std::tie(b.run, b.incident.opened_step);
  });
  return all;
}

void Backtest::Count(const Event& event, const StepColumns& columns) {
  outcome_.steps += columns.rows();
  Progress& progress = progress_[event.run];
  if (event.rank > progress.rank) return;
  if (event.rank < progress.rank) progress = {.rank = event.rank};
  StepReader reader(columns);
  StepRecord record;
  while (reader.Next(&record)) {
    ++progress.updates;
    if (!InVain(record)) {
      progress.in_vain = 0;
    } else if (progress.in_vain++ == 0) {
      progress.since = record.step;
    }
  }
}

void Backtest::Take(Time now, const Event& event) {
  if (std::holds_alternative<RunCheckpoint>(event.body)) return;
  ++outcome_.events;
  before_.Apply(now, event);
  if (const auto* loaded = std::get_if<RulesLoaded>(&event.body)) {
    recorded_ = loaded->rules;
    Event tried = event;
    std::get<RulesLoaded>(tried.body).rules = rules_;
    after_.Apply(now, tried);
    return;
  }
  after_.Apply(now, event);
  if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    Count(event, steps->columns);
  }
}

BacktestOutcome Backtest::Finish() {
  const auto before = before_.End();
  for (const auto& [key, progress] : progress_) {
    BacktestedRun& run = outcome_.runs.emplace_back();
    run.key = key;
    const auto view = before->Find(key.run_id, key.attempt);
    run.judged_to_its_end = view != nullptr && view->records_ended.has_value();
    run.updates = progress.updates;
    if (progress.in_vain >= kLostUpdates) run.lost_from = progress.since;
  }
  outcome_.before = before_.Told(*before);
  outcome_.after = after_.Told(*after_.End());
  outcome_.changes = ChangesOf(recorded_, rules_);
  return std::move(outcome_);
}

}  // namespace nanwatch
