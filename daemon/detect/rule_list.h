// RuleList: a plain list of rules that live side by side in memory, as one
// trivially copyable value. That value is the checkpoint.
//
// A rule is a class with
//   static const RuleSpec kSpec;
//   Severity OnStep(const StepContext&, Thresholds);   (or OnOp, ...)
//   void Describe(Finding*) const;  // sentence, numbers, opened and last step
//   static constexpr uint32_t kNeeds = ...;  // only where it applies: Brings()
//   Severity OnEnd(Thresholds);  // only where the end says more than a record
//   static constexpr bool kOfOneLoss = true;  // only where it knows the course
//                                             // of a loss that nothing opposes
// and members that are plain values. OnX returns the rule's present opinion:
// holding and clearing are its own. Describe is called only while the opinion
// is not kNone, or once just after it became so.

#ifndef NANWATCH_DETECT_RULE_LIST_H_
#define NANWATCH_DETECT_RULE_LIST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "detect/bench_context.h"
#include "detect/context.h"
#include "detect/layer_context.h"
#include "model/finding.h"
#include "model/rule.h"
#include "model/state_bytes.h"

namespace nanwatch {

// Thresholds and switches for the rules of one list, in list order.
template <size_t N>
struct RuleTable {
  std::array<Thresholds, N> thresholds{};
  std::array<bool, N> enabled{};
};

// Of the other contexts every rule sees every one.
template <typename Context>
constexpr uint32_t Brings(const Context&) {
  return ~0u;
}

template <typename Context>
constexpr LevelKind LevelOf(const Context&) {
  return LevelKind::kKept;
}
inline LevelKind LevelOf(const StepContext& c) { return c.level; }

// Returns what a rule may say: one of a kept level (kOfOneLoss) is silent where
// there is none, but of what is absurd in any loss.
template <typename Rule>
constexpr Severity Allowed(const Rule& rule, Severity opinion, LevelKind kind) {
  if constexpr (requires { Rule::kOfOneLoss; }) {
    if (kind == LevelKind::kKept) return opinion;
    if constexpr (requires { rule.IsAbsurd(); }) {
      if (rule.IsAbsurd()) return opinion;
    }
    return Severity::kNone;
  }
  return opinion;
}

template <typename... Rules>
class RuleList {
 public:
  static constexpr size_t kSize = sizeof...(Rules);
  using Table = RuleTable<kSize>;
  // Returns the place of a rule in the list.
  template <typename Rule>
  static constexpr size_t IndexOf() {
    size_t at = 0;
    (void)((std::is_same_v<Rule, Rules> || (++at, false)) || ...);
    return at;
  }
  static std::array<const RuleSpec*, kSize> Specs() {
    return {&Rules::kSpec...};
  }
  static_assert((std::is_trivially_copyable_v<Rules> && ...),
                "a rule's members are plain values: they are checkpointed");

  // Gives the record to every enabled rule, then calls `changed(index, was)`
  // for each whose opinion is another one than before; severity(index) is the
  // new.
  template <typename Context, typename Changed>
  void On(const Context& context, const Table& table, Changed&& changed) {
    const Opinions before = severity_;
    OnEach(context, Brings(context), table, std::make_index_sequence<kSize>());
    Report(before, changed);
  }

  // Nothing follows any more: what waited for that is judged as it stands.
  // `kind`: as StepContext::level.
  template <typename Changed>
  void OnEnd(const Table& table, LevelKind kind, Changed&& changed) {
    const Opinions before = severity_;
    EndEach(table, kind, std::make_index_sequence<kSize>());
    Report(before, changed);
  }

  Severity severity(size_t index) const { return severity_[index]; }
  bool quiet() const {
    for (const Severity s : severity_) {
      if (s != Severity::kNone) return false;
    }
    return true;
  }
  void Describe(size_t index, Finding* finding) const {
    DescribeEach(index, finding, std::make_index_sequence<kSize>());
  }
  template <typename Rule>
  const Rule& get() const {
    return rules_;
  }

 private:
  using Opinions = std::array<Severity, kSize>;
  // Not a std::tuple: that is never trivially copyable.
  struct Held : Rules... {};
  template <size_t I>
  using RuleAt = std::tuple_element_t<I, std::tuple<Rules...>>;
  template <size_t I>
  RuleAt<I>& At() {
    return rules_;
  }

  template <typename Context, size_t... I>
  void OnEach(const Context& context, uint32_t brings, const Table& table,
              std::index_sequence<I...>) {
    (OnOne<I>(context, brings, table), ...);
  }
  template <size_t I, typename Context>
  void OnOne(const Context& context, [[maybe_unused]] uint32_t brings,
             const Table& table) {
    if constexpr (requires { RuleAt<I>::kNeeds; }) {
      if ((brings & RuleAt<I>::kNeeds) == 0 &&
          severity_[I] == Severity::kNone) {
        return;
      }
    }
    if (!table.enabled[I]) return;
    const Severity now = Call(At<I>(), context, table.thresholds[I]);
    severity_[I] = Allowed(At<I>(), now, LevelOf(context));
  }
  template <size_t... I>
  void EndEach(const Table& table, LevelKind kind, std::index_sequence<I...>) {
    (EndOne<I>(table, kind), ...);
  }
  template <size_t I>
  void EndOne(const Table& table, [[maybe_unused]] LevelKind kind) {
    if constexpr (requires(Thresholds t) { At<I>().OnEnd(t); }) {
      if (table.enabled[I]) {
        const Severity now = At<I>().OnEnd(table.thresholds[I]);
        severity_[I] = Allowed(At<I>(), now, kind);
      }
    }
  }
  template <typename Changed>
  void Report(const Opinions& before, Changed& changed) {
    if (std::memcmp(&before, &severity_, sizeof(before)) == 0) return;
    for (size_t i = 0; i < kSize; ++i) {
      if (severity_[i] != before[i]) changed(i, before[i]);
    }
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const StepContext& c, Thresholds t) {
    return rule.OnStep(c, t);
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const OpContext& c, Thresholds t) {
    return rule.OnOp(c, t);
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const AlignedContext& c, Thresholds t) {
    return rule.OnAligned(c, t);
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const TimeContext& c, Thresholds t) {
    return rule.OnTime(c, t);
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const BenchContext& c, Thresholds t) {
    return rule.OnBench(c, t);
  }
  template <typename Rule>
  static Severity Call(Rule& rule, const LayerContext& c, Thresholds t) {
    return rule.OnLayers(c, t);
  }
  template <size_t... I>
  void DescribeEach(size_t index, Finding* finding,
                    std::index_sequence<I...>) const {
    ((index == I ? DescribeOne<I>(finding) : void()), ...);
  }
  template <size_t I>
  void DescribeOne(Finding* finding) const {
    using Rule = RuleAt<I>;
    finding->rule = Rule::kSpec.id;
    finding->family = Rule::kSpec.family;
    finding->severity = severity_[I];
    finding->sentence_over.clear();
    get<Rule>().Describe(finding);
  }

  Held rules_;
  Opinions severity_{};
};

template <typename... Rules>
struct IsPlain<RuleList<Rules...>> : std::true_type {};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RULE_LIST_H_
