// RuleList: a plain list of rules that live side by side in memory, as one
// trivially copyable value. That value is the checkpoint.
//
// A rule is a class with
//   static const RuleSpec kSpec;
//   Severity OnStep(const StepContext&, Thresholds);   (or OnOp, ...)
//   void Describe(Finding*) const;  // sentence, numbers, opened and last step
//   static constexpr uint32_t kNeeds = ...;  // only where it applies: Brings()
//   bool Waits() const;  // beside kNeeds: it counts what brings none of it
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
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
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
  std::bitset<N> enabled{};
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

  // Gives the record to every enabled rule that it may concern, then calls
  // `changed(index)` for each whose opinion is another one than before;
  // severity(index) is the new.
  template <typename Context, typename Changed>
  void On(const Context& context, const Table& table, Changed&& changed) {
    const uint64_t called =
        (awake_ | Heard(Brings(context))) & table.enabled.to_ullong();
    Report(OnEach(context, called, table, std::make_index_sequence<kSize>()),
           changed);
  }

  // Nothing follows any more: what waited for that is judged as it stands.
  // `kind`: as StepContext::level.
  template <typename Changed>
  void OnEnd(const Table& table, LevelKind kind, Changed&& changed) {
    Report(EndEach(table, kind, std::make_index_sequence<kSize>()), changed);
  }

  // Thresholds or switches are other ones: the next record concerns those that
  // may wait.
  void Rouse() { awake_ |= ThatWait(); }

  Severity severity(size_t index) const { return severity_[index]; }
  bool quiet() const {
    return std::all_of(severity_.begin(), severity_.end(),
                       [](Severity s) { return s == Severity::kNone; });
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

  // A bit for each rule, by its place.
  static_assert(kSize <= 64);
  static constexpr uint64_t All() { return ~uint64_t{0} >> (64 - kSize); }
  static constexpr uint64_t Bit(size_t index) { return uint64_t{1} << index; }
  template <typename Rule>
  static constexpr uint32_t NeedsOf() {
    if constexpr (requires { Rule::kNeeds; }) return Rule::kNeeds;
    return 0;
  }
  template <typename Rule>
  static constexpr bool kWaits = requires(const Rule& r) {
    r.Waits();
  };
  static constexpr uint64_t ThatWait() {
    return ((kWaits<Rules> ? Bit(IndexOf<Rules>()) : 0) | ...);
  }
  // The rules that every record concerns, and those that each bit does.
  static constexpr uint64_t Always() {
    return ((NeedsOf<Rules>() == 0 ? Bit(IndexOf<Rules>()) : 0) | ...);
  }
  static constexpr std::array<uint64_t, 32> kConcerned = [] {
    std::array<uint64_t, 32> rules{};
    for (int bit = 0; bit < 32; ++bit) {
      rules[bit] =
          ((NeedsOf<Rules>() >> bit & 1 ? Bit(IndexOf<Rules>()) : 0) | ...);
    }
    return rules;
  }();
  static uint64_t Heard(uint32_t brings) {
    if constexpr (Always() == All()) return All();
    uint64_t rules = Always();
    for (brings &= (NeedsOf<Rules>() | ...); brings != 0;
         brings &= brings - 1) {
      rules |= kConcerned[std::countr_zero(brings)];
    }
    return rules;
  }

  // Returns the rules whose opinion is another one now, as EndEach does.
  template <typename Context, size_t... I>
  uint64_t OnEach(const Context& context, uint64_t called, const Table& table,
                  std::index_sequence<I...>) {
    uint64_t news = 0;
    (((called & Bit(I)) != 0 ? void(news |= OnOne<I>(context, table)) : void()),
     ...);
    return news;
  }
  template <size_t I, typename Context>
  uint64_t OnOne(const Context& context, const Table& table) {
    const Severity now = Call(At<I>(), context, table.thresholds[I]);
    return Take<I>(now, LevelOf(context));
  }
  template <size_t... I>
  uint64_t EndEach(const Table& table, LevelKind kind,
                   std::index_sequence<I...>) {
    uint64_t news = 0;
    ((news |= EndOne<I>(table, kind)), ...);
    return news;
  }
  template <size_t I>
  uint64_t EndOne(const Table& table, LevelKind kind) {
    if constexpr (requires(Thresholds t) { At<I>().OnEnd(t); }) {
      if (table.enabled[I]) {
        return Take<I>(At<I>().OnEnd(table.thresholds[I]), kind);
      }
    }
    return 0;
  }
  // Takes what the rule says. Returns its bit where that is news.
  template <size_t I>
  uint64_t Take(Severity opinion, LevelKind kind) {
    const Severity now = Allowed(At<I>(), opinion, kind);
    const bool news = now != severity_[I];
    severity_[I] = now;
    if (kWaits<RuleAt<I>> || news) {
      bool awake = now != Severity::kNone;
      if constexpr (kWaits<RuleAt<I>>) awake |= At<I>().Waits();
      awake_ = awake ? awake_ | Bit(I) : awake_ & ~Bit(I);
    }
    return news ? Bit(I) : 0;
  }
  template <typename Changed>
  void Report(uint64_t news, Changed& changed) {
    for (; news != 0; news &= news - 1) changed(std::countr_zero(news));
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
  uint64_t awake_ = ThatWait();  // rules with an opinion, or that wait for one
};

template <typename... Rules>
struct IsPlain<RuleList<Rules...>> : std::true_type {};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RULE_LIST_H_
