// Logs of no known program whose lines are alike: what their numbers mean is
// found from the words about them, wherever those stand.
//
//  05:52:17 [net] upd    300 | obj  63.11658 |
//  Training loss at update 40 is 2.3053, gradient norm is 0.4731.
//  3: 2.383760, 2.349665 avg loss, 0.001000 rate, 192 images
//  Schritt     15   Verlust 5,6906   Dauer 0,16 s
//  1711437197.459,20,1.4779675

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "logs/column_fact.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/loss_series.h"
#include "logs/number_roles.h"
#include "logs/number_row.h"

namespace nanwatch {
namespace {

constexpr size_t kAlike = 5;    // lines with the same words that show it; ours
constexpr size_t kKept = 64;    // lines of a kind that names nothing; ours
constexpr int kMeasures = 16;   // lines in a row: they are the log's own; ours
constexpr size_t kKinds = 128;  // of lines that are known at once; ours

// Numbers beside the loss that are known by their names.
constexpr ColumnMeaning kBeside[] = {
    ColumnMeaning::kGradNorm,     ColumnMeaning::kWeakNorm,
    ColumnMeaning::kLearningRate, ColumnMeaning::kReward,
    ColumnMeaning::kAccuracy,     ColumnMeaning::kScore,
    ColumnMeaning::kExplained,    ColumnMeaning::kErrorRate,
    ColumnMeaning::kDivergence,   ColumnMeaning::kKnob,
};

class AlikeLinesReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (!row_.Read(line)) {
      summary_ = SaysBestFollows(line);
      const std::vector<ColumnMeaning> header = ReadHeader(line);
      if (!header.empty()) {
        header_ = header;
        gapped_ = ReadGappedHeader(line);
      }
      return;
    }
    // "best iteration is:" and a line of before.
    if (std::exchange(summary_, false)) return;
    Kind& kind = KindOf(row_.words());
    line_ = line;
    if (kind.roles) {
      if (!kind.roles->has_loss() && LookForNews(&kind)) {
        for (const RowValues& numbers : std::exchange(kind.waiting, {})) {
          Tell(*kind.roles, numbers, facts);
        }
      } else {
        Tell(*kind.roles, row_.numbers(), facts);
      }
      return;
    }
    if (kind.waiting.empty()) kind.first = lines_;
    kind.waiting.push_back(row_.numbers());
    if (kind.waiting.size() < kAlike) return;
    const bool gapped = gapped_.size() == row_.numbers().size();
    kind.roles =
        NumberRoles::Of(row_, {kind.waiting.begin(), kind.waiting.end()},
                        gapped ? gapped_ : header_);
    if (!kind.roles->has_loss()) return;
    std::deque<RowValues> waiting = std::exchange(kind.waiting, {});
    // Lines of another kind came between, and are told: these would go back.
    if (kind.first < told_) waiting.erase(waiting.begin(), waiting.end() - 1);
    for (const RowValues& numbers : waiting) Tell(*kind.roles, numbers, facts);
  }

 private:
  // Lines with the same words.
  struct Kind {
    uint64_t first = 0;  // number of the first that waits
    // Until their numbers' meanings are known; then the newest, where these
    // are no loss.
    std::deque<RowValues> waiting;
    std::optional<NumberRoles> roles;
  };

  // Of each line a new one may be.
  Kind& KindOf(uint64_t words) {
    auto found = std::ranges::find(words_, words);
    if (found == words_.end() && kinds_.size() < kKinds) {
      kinds_.emplace_back();
      seen_.push_back(0);
      words_.push_back(words);
      found = words_.end() - 1;
    } else if (found == words_.end()) {
      found =
          words_.begin() + (std::ranges::min_element(seen_) - seen_.begin());
      *found = words;
      kinds_[static_cast<size_t>(found - words_.begin())] = {};
    }
    const auto at = static_cast<size_t>(found - words_.begin());
    seen_[at] = ++lines_;
    return kinds_[at];
  }

  // Of lines whose numbers nobody names: where one that was printed with a
  // point is not finite in this line and the one before, it is news by itself.
  bool LookForNews(Kind* kind) const {
    std::deque<RowValues>& lines = kind->waiting;
    RowValues newest;
    if (lines.size() == kKept) {
      newest = std::move(lines.front());
      lines.pop_front();
    }
    newest = row_.numbers();
    lines.push_back(std::move(newest));
    const RowValues& before = lines[lines.size() - 2];
    for (size_t i = 0; i < row_.numbers().size(); ++i) {
      const bool bad = !std::isfinite(lines.back()[i].value) &&
                       !std::isfinite(before[i].value);
      if (!bad || !WasReal(lines, i) || IsEvaluation(line_)) continue;
      kind->roles->loss = i;
      return true;
    }
    return false;
  }

  // Of those that were kept every line before the newest, in which it is not
  // finite, shows a number with a point.
  static bool WasReal(const std::deque<RowValues>& lines, size_t i) {
    const auto real =
        std::count_if(lines.begin(), lines.end(), [i](const RowValues& line) {
          const RowNumber& number = line[i];
          return std::isfinite(number.value) && !number.whole &&
                 !number.share && !number.unit;
        });
    const auto last = std::find_if(
        lines.rbegin(), lines.rend(),
        [i](const RowValues& line) { return std::isfinite(line[i].value); });
    return real > 2 && real + (last - lines.rbegin()) >= std::ssize(lines);
  }

  // The sum of what each player's loss is made of.
  void AddPlayers(const NumberRoles& roles, const RowValues& numbers) {
    for (const std::vector<size_t>& player : roles.players) {
      if (player.empty()) continue;
      double sum = 0;
      for (const size_t i : player) sum += numbers[i].value;
      fact_.AddNumber(ColumnMeaning::kAdversaryLoss, sum);
    }
  }

  void Tell(const NumberRoles& roles, const RowValues& numbers,
            FactList* facts) {
    named_ |= roles.named;
    if (!roles.has_loss() || roles.named != named_) return;
    // What an epoch's lines came to is no step behind them, nor what a fold's
    // did: "RMSE: 4.2".
    const bool step = roles.step != NumberRoles::kNone && !roles.sums_up;
    measures_ = step || roles.named ? 0 : std::min(measures_ + 1, kMeasures);
    const bool few = measures_ > 0 && measures_ < kMeasures;
    if (!step && within_ && (roles.sums_up || few)) return;
    within_ |= step;
    if (roles.apart) {
      // The last one first: so the first is one of several from its first
      // line on.
      for (auto part = roles.parts.rbegin(); part != roles.parts.rend();
           ++part) {
        TellLoss(roles, numbers, *part, numbers[*part].value, facts);
      }
      return;
    }
    if (roles.of_players()) {
      return TellLoss(roles, numbers, roles.loss, 0, facts);
    }
    double loss = numbers[roles.loss].value - roles.top;
    for (const size_t part : roles.parts) {
      if (part != roles.loss) loss += numbers[part].value;
    }
    TellLoss(roles, numbers, roles.loss, loss, facts);
  }

  // How a scale was printed, and what its zero stands for, only the newest line
  // still shows.
  void AddScale(const RowValues& numbers, size_t i) {
    const RowNumber& scale = numbers[i];
    if (&numbers == &row_.numbers()) {
      const std::string_view text =
          line_.substr(scale.begin, scale.end - scale.begin);
      fact_.AddScale(text, scale.value, false);
    } else if (scale.value > 0) {
      fact_.AddNumber(ColumnMeaning::kLossScale, scale.value);
    }
  }

  // `loss`: that of the number `at`, of which only the first of a line has the
  // others beside it.
  void TellLoss(const NumberRoles& roles, const RowValues& numbers, size_t at,
                double loss, FactList* facts) {
    const ColumnMeaning what = roles.meanings[at];
    // An accuracy of no samples is NaN, as the mean return of no episode that
    // ended: it says nothing of the training, unless all that come are.
    if (std::isnan(loss) && what == ColumnMeaning::kAccuracy) return;
    const bool missed = std::isnan(loss) && what == ColumnMeaning::kReward;
    missed_ = missed ? missed_ + 1 : 0;
    if (missed && missed_ < ColumnFact::kMissed) return;
    fact_.Begin(0);
    if (roles.step != NumberRoles::kNone) {
      fact_.AddNumber(ColumnMeaning::kStep, numbers[roles.step].value);
    }
    if (roles.whole != NumberRoles::kNone) {
      fact_.SetWhole(static_cast<int64_t>(numbers[roles.whole].value));
    }
    if (roles.epoch != NumberRoles::kNone) {
      fact_.SetEpoch(numbers[roles.epoch].value);
    }
    if (roles.of_players()) {
      AddPlayers(roles, numbers);
    } else {
      fact_.AddNumber(
          roles.rises ? ColumnMeaning::kObjective : ColumnMeaning::kLoss, loss);
    }
    for (size_t i = 0; i < numbers.size() && at == roles.loss; ++i) {
      const ColumnMeaning meaning = roles.meanings[i];
      const bool known =
          std::ranges::find(kBeside, meaning) != std::end(kBeside);
      if (known) fact_.AddNumber(meaning, numbers[i].value);
      if (meaning == ColumnMeaning::kLossScale) AddScale(numbers, i);
    }
    const size_t told = facts->size();
    fact_.Tell(facts);
    if (facts->size() == told) return;
    told_ = lines_;
    if (roles.of_players()) return;  // one or two were told
    LogFact& fact = facts->back();
    fact.guessed = !roles.named;
    fact.before_loss = line_.substr(0, row_.numbers()[at].begin);
    if (roles.apart) {
      fact.scaler = static_cast<int32_t>(
          std::find(roles.parts.begin(), roles.parts.end(), at) -
          roles.parts.begin());
    }
    fact.words = roles.apart ? NumberOfWords(fact.before_loss)
                             : static_cast<uint32_t>(row_.words()) | 1;
  }

  NumberRow row_;
  std::string_view line_;
  ColumnFact fact_{ScaleText::kRounded};
  std::vector<ColumnMeaning> header_;
  std::vector<ColumnMeaning> gapped_;  // the same, its names of several words
  std::vector<Kind> kinds_;
  std::vector<uint64_t> words_;  // of each kind
  std::vector<uint64_t> seen_;   // number of the newest line of each
  uint64_t lines_ = 0;
  uint64_t told_ = 0;     // number of the newest line that was told
  int missed_ = 0;        // returns in a row that are NaN
  bool summary_ = false;  // the line before says that one of the best follows
  bool named_ = false;    // lines of some kind name a loss
  bool within_ = false;   // lines of some kind show steps of epochs
  int measures_ = 0;      // lines in a row that name nothing else, and no step
};

}  // namespace

const LogFormat kAlikeLines = {
    .name = "alike_lines",
    .title = "any program: lines alike, with a loss among their words",
    .part = LogFormat::Part::kGeneric,
    .last_resort = true,
    .make = Fresh<AlikeLinesReader>,
};

}  // namespace nanwatch
