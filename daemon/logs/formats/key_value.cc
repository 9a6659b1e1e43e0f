// Logs of no known program: names and numbers in any punctuation.
//
//  [12:01:07] step: 10, loss: 1.2, loss scale: 65536.0 | grad norm: 0.7
//  Step 10 | loss=tensor(1.2, device='cuda:0') lr=[1e-4]
//  Train Epoch: 1 [640/60000 (1%)] Loss: 2.3
//  step 10: train loss 1.2, val loss 1.3
//  Epoche: 7; Iteration: 1200; Loss: 0,2342; LearningRate: 0,001

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/boxed_record.h"
#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/column_value.h"
#include "logs/decimal_commas.h"
#include "logs/find_word.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/layer_norms.h"
#include "logs/layer_pairs.h"
#include "logs/line_place.h"
#include "logs/lone_evaluations.h"
#include "logs/lone_losses.h"
#include "logs/loss_beside_evaluation.h"
#include "logs/loss_parts.h"
#include "logs/loss_series.h"
#include "logs/named_number.h"
#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/norm_lines.h"
#include "logs/player_losses.h"
#include "logs/scan.h"
#include "logs/usual_line.h"

namespace nanwatch {
namespace {

class KeyValueReader : public LineReader {
  using Usual = UsualLine<ColumnMeaning>;

 public:
  explicit KeyValueReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    line = WithDecimalPoints(line, &pointed_);
    const bool row = line.starts_with('|') || IsTopOfBox(line);
    if (!row || box_.Begins(line)) ReadBox(facts);
    if (row && box_.Take(line)) return;
    ReadOne(line, facts);
  }
  bool said_nothing() const override { return silent_ && NothingWaits(); }
  bool Pass(std::string_view /*line*/) override { return NothingWaits(); }

  // Its names stand where they stood.
  bool ReadUsual(std::string_view line, FactList* facts) override {
    if (!usual_.known() || place_.may_be_apart()) return false;
    line = WithDecimalPoints(line, &pointed_);
    const std::optional<BarPlace> bar = place_.BarOf(line);
    if (!usual_.Match(line, bar ? &*bar : nullptr)) return false;
    fact_.Begin(0);
    loss_at_ = 0;
    usual_.ForEachValue(
        [this, line](const Usual::Placed& value) { AddAt(value, line); });
    if (!fact_.SaysHealth()) return true;
    place_.AddUsual(line, bar, &fact_);
    if (fact_.LooksLikeStep()) {
      Tell(line, facts);
    } else {
      AddNormAlone(facts);
    }
    return true;
  }
  void ForgetUsual() override { usual_.Forget(); }

 private:
  // For the next line, of those before.
  bool NothingWaits() const { return box_.empty() && !summary_; }

  // The line is known, and says nothing.
  static void Understand(FactList* facts) {
    AddFact(LogFact::Kind::kUnderstood, 0, facts);
  }

  void ReadBox(FactList* facts) {
    // Facts point into it until the next line.
    if (!(boxed_ = box_.TakeRecord()).empty()) ReadOne(boxed_, facts);
  }

  void ReadOne(std::string_view line, FactList* facts) {
    silent_ = false;
    // A summary of numbers that were told before, if at all.
    if (line.starts_with("wandb:")) return;
    if (std::exchange(summary_, SaysBestFollows(line)))
      return Understand(facts);
    const std::optional<BarPlace> bar = place_.BarOf(line);
    values_.clear();
    parts_.Begin();
    players_.Begin(line);
    layers_.Begin();
    evaluations_.Begin();
    loss_at_ = 0;
    // Of bars a log has very many, and their clocks hold no names.
    const bool clocks = bar && !names_.mapped();
    std::optional<size_t> name;  // where the first one begins
    const BarPlace drawn = bar.value_or(BarPlace());
    AddPairs(line, 0, clocks ? drawn.begin : line.size(), &name);
    const size_t begin = name.value_or(clocks ? drawn.begin : 0);
    if (IsEvaluation(LastTitle(line.substr(0, begin)))) {
      if (!evaluations_.Loss(line)) return;
      fact_.Begin(0);  // all of the line is the evaluation's
      values_.clear();
      parts_.Begin();
    }
    if (clocks) {
      const bool first = !name;
      AddPairs(line, drawn.end, line.size(), &name);
      if (first && name &&
          IsEvaluation(line.substr(drawn.end, *name - drawn.end))) {
        return;
      }
    }
    if (!name) fact_.Begin(0);
    bool summed = !names_.mapped() && players_.AddTo(&fact_);
    const bool in_words = !summed && AddLossBesideTerms(line, &summed);
    const bool alone = !in_words && !summed && AddPartAlone();
    if (!in_words && !summed) summed = AddParts() || alone;
    const bool punctuated = !in_words && (name || summed) && fact_.SaysHealth();
    if (!punctuated && !in_words &&
        (names_.mapped() ? !AddMapped(names_.map(), line, &fact_)
                         : !AddLossInWords(line, &summed))) {
      if ((names_.mapped() || !AddSkip(line, &fact_)) &&
          (!name || !fact_.AddReward()) && !AddEvaluation(line)) {
        return ReadOther(line, name.has_value(), facts);
      }
      summed = true;
    }
    summed |= AddLayers(line);
    const bool named_step = place_.Add(line, bar, &fact_);
    const size_t first = facts->size();
    if (place_.is_apart()) return evaluations_.Tell(fact_.fact(), facts);
    if (place_.bare().rose()) alone_.Tell(place_.bare().before_pairs(), facts);
    if (!fact_.has_step() && fact_.steps_seen() && IsRestOfEpoch(line))
      return Understand(facts);
    const bool placed = !alone || fact_.has_step() || fact_.has_epoch();
    const bool step =
        names_.mapped() ? fact_.SaysHealth() : placed && fact_.LooksLikeStep();
    if (step && !names_.mapped() && IsSettings(line)) return;
    // Of a line above, which its epoch does not make a step's.
    if (step && whole_seen_ && AddNormAlone(facts)) return;
    if (step) {
      const bool loss = fact_.fact().has(StepField::kLoss);
      punctuated_ |= punctuated && loss;
      whole_seen_ |= loss && !summed;
      words_ = 0;
      Tell(line, facts);
      evaluations_.Hold(first, facts);
      words_ = 0;
      // The number of an epoch may stand anywhere.
      if (punctuated && (named_step || bar) && !names_.mapped() && !summed &&
          line.find("poch") == line.npos) {
        usual_.Note(line, bar, values_);
      }
    } else if (!AddNormAlone(facts) && (name || SaysLossIsNaN(line))) {
      HoldAlone(line, name, facts);
    }
  }

  // A line without a loss; `named`: a name in it means something.
  void ReadOther(std::string_view line, bool named, FactList* facts) {
    if (fact_.TellScore(facts)) return;
    if (parts_.alone() || in_prose_) Understand(facts);
    const bool placed = place_.Look(line);
    if (const auto norm = layers_.norm()) return AddNorm(*norm, facts);
    if (const auto norm = GradNormInWords(line)) AddNorm(norm->value, facts);
    silent_ = !named && !placed && !names_.mapped() && !DependsOnValues(line);
  }

  // A scale is known by its value, and so is the rate beside a step, "[6860,
  // 9.99e-05]".
  static bool DependsOnValues(std::string_view line) {
    return HasWord(line, "cal") || HasWord(line, "CAL") || line.ends_with(']');
  }

  // Of a line without a loss and a step.
  bool AddNormAlone(FactList* facts) const {
    const LogFact& fact = fact_.fact();
    const bool alone = fact.has(StepField::kGradNorm) &&
                       !fact.has(StepField::kLoss) && !fact_.has_step();
    if (alone) AddNorm(fact[StepField::kGradNorm], facts);
    return alone;
  }

  void Tell(std::string_view line, FactList* facts) {
    const size_t told = facts->size();
    if (loss_at_ > 0 && place_.IsOfEvaluation(CountWords(line), fact_))
      return evaluations_.Tell(fact_.fact(), facts);
    if (parts_.of_policy() && !fact_.fact().of_adversary) fact_.NoteRewards();
    fact_.Tell(facts);
    if (facts->size() != told + 1 || loss_at_ == 0) return;
    NameLoss(line, &facts->back());
    if (!beside_.Repeats(words_, line.substr(loss_at_))) return;
    facts->pop_back();
    Understand(facts);
  }

  uint32_t CountWords(std::string_view line) {
    if (words_ == 0) words_ = NumberOfWords(line.substr(0, loss_at_));
    return words_;
  }

  void NameLoss(std::string_view line, LogFact* fact) {
    fact->before_loss = line.substr(0, loss_at_);
    fact->words = CountWords(line);
  }

  void AddAt(const Usual::Placed& value, std::string_view line) {
    const bool is_loss = IsLoss(value.meaning) &&
                         value.meaning != ColumnMeaning::kCrossEntropy &&
                         value.meaning != ColumnMeaning::kPerplexity &&
                         value.meaning != ColumnMeaning::kObjective;
    if (is_loss && loss_at_ == 0) loss_at_ = value.at;
    AddValue(value.meaning, line.substr(value.at), &fact_);
  }

  // Gathers the names before a sign, and their values, from `from` to `end`.
  // `*first`: where the first of the line begins, if there is none yet.
  void AddPairs(std::string_view line, size_t from, size_t end,
                std::optional<size_t>* first) {
    const std::string_view part = line.substr(0, end);
    size_t within = 0;  // where losses in a dict of their own end
    for (size_t value = from;;) {
      const size_t begin = names_.mapped() ? value : BehindNumber(part, value);
      const size_t at = NextSign(part, begin);
      if (at >= end) return;
      value = at + 1;
      const std::string_view before = part.substr(begin, at - begin);
      const Ending name = names_.Find(before, line.substr(at + 1));
      if (within == 0) within = WithinLosses(line, at);
      if (at < within && parts_.Take(before, line.substr(at + 1))) {
        loss_at_ = at + 1;
      } else if (players_.Look(line, at)) {
        continue;
      } else if (name.size == 0) {
        if (parts_.Look(before, line.substr(at + 1))) loss_at_ = at + 1;
        layers_.Look(before, line.substr(at + 1));
      } else {
        if (!*first) {
          *first = at - name.size;
          fact_.Begin(0);
        }
        if (name.evaluation) {
          evaluations_.Note(at + 1);
        } else {
          const bool score = name.meaning == ColumnMeaning::kWeakReward;
          if (score && SpeaksOfEpisodes(line)) fact_.NoteEpisodes();
          const bool may_be = name.meaning == ColumnMeaning::kCrossEntropy;
          if (may_be) parts_.Look(before, line.substr(at + 1));
          values_.push_back({name.meaning, at + 1});
          AddAt(values_.back(), line);
        }
      }
    }
  }

  // The sum of what a loss is made of, where nothing else is the line's.
  bool AddParts() {
    const std::optional<double> sum = parts_.sum();
    const bool whole =
        fact_.fact().has(StepField::kLoss) && !fact_.fact().cross_entropy;
    const bool wanted = sum && !names_.mapped() && !whole;
    if (wanted) fact_.AddNumber(ColumnMeaning::kLoss, *sum);
    return wanted;
  }

  // The norm of all layers of a line that shows a loss, too.
  bool AddLayers(std::string_view line) {
    const bool wanted = !names_.mapped() &&
                        fact_.fact().has(StepField::kLoss) &&
                        !fact_.fact().has(StepField::kGradNorm);
    if (!wanted) return false;
    const std::optional<double> norm =
        layers_.norm() ? layers_.norm() : NormOfPairs(line);
    if (norm) fact_.AddNumber(ColumnMeaning::kGradNorm, *norm);
    return norm.has_value();
  }

  // The only loss that the log shows, by whatever name: "elbo_loss=2.31".
  bool AddPartAlone() {
    const std::optional<double> part =
        whole_seen_ ? parts_.alone_and_lost() : parts_.alone();
    if (names_.mapped() || fact_.fact().has(StepField::kLoss)) return false;
    if (part) fact_.AddNumber(ColumnMeaning::kLoss, *part);
    return part.has_value();
  }

  // An evaluation's loss, where the log shows no other.
  bool AddEvaluation(std::string_view line) {
    if (names_.mapped()) return false;
    const auto loss = evaluations_.Loss(line);
    if (!loss || !fact_.AddEvaluation(*loss)) return false;
    loss_at_ = evaluations_.Take();
    return true;
  }

  // Where the log's losses have signs before them, the rest is prose, but for
  // "Loss is NaN" in place of one.
  bool AddLossInWords(std::string_view line, bool* summed) {
    const std::optional<NamedLoss> loss = LossInWords(line);
    in_prose_ = loss && punctuated_ && !SaysLossIsNaN(line);
    if (!loss || in_prose_ || (loss->parts && whole_seen_)) return false;
    *summed = loss->parts;
    loss_at_ = loss->at;
    if (loss->of_policy) fact_.NoteRewards();
    fact_.DropTerm();
    fact_.AddNumber(loss->rival           ? ColumnMeaning::kAdversaryLoss
                    : loss->weak          ? ColumnMeaning::kWeakMeasure
                    : loss->cross_entropy ? ColumnMeaning::kCrossEntropy
                                          : ColumnMeaning::kLoss,
                    loss->value);
    if (loss->rival) {
      fact_.AddNumber(ColumnMeaning::kAdversaryLoss, *loss->rival);
    }
    AddBesideLoss(line, &fact_);
    return true;
  }

  // "loss 2.31 kl_loss: nan": what has a sign is a term of what has none.
  bool AddLossBesideTerms(std::string_view line, bool* summed) {
    const bool terms = fact_.IsOfTerm() ||
                       (parts_.alone() && !fact_.fact().has(StepField::kLoss));
    return terms && !names_.mapped() && AddLossInWords(line, summed);
  }

  // `name`: where the first one begins; none: it says "loss 2.3", where it is
  // not read.
  void HoldAlone(std::string_view line, std::optional<size_t> name,
                 FactList* facts) {
    const std::string_view before = line.substr(0, name.value_or(0));
    const bool begins = std::none_of(before.begin(), before.end(), IsLower);
    const std::optional<int64_t> number = place_.bare().doubtful();
    const bool guessed = fact_.fact().guessed;
    // Of a guess only the number decides.
    if (guessed ? !number : !begins) return;
    if (fact_.steps_seen() || !fact_.KeepsLoss()) return;
    LogFact fact = fact_.fact();
    fact.guessed |= !name;
    words_ = 0;
    if (loss_at_ > 0) NameLoss(line, &fact);
    words_ = 0;
    if (guessed) return alone_.HoldGuess(fact, *number);
    alone_.Hold(fact, number, facts);
  }

  NamesBefore names_;
  BoxedRecord box_;
  std::string boxed_;    // the newest that was read
  std::string pointed_;  // the newest line, where its numbers had commas
  Usual usual_;
  uint32_t words_ = 0;  // before its loss; 0: they are not counted yet
  LossParts parts_;
  PlayerLosses players_;
  LayerNorms layers_;
  std::vector<Usual::Placed> values_;  // of the line
  ColumnFact fact_{ScaleText::kRounded};
  size_t loss_at_ = 0;    // of the line's loss, or a part; 0: none
  bool silent_ = false;   // the newest line says nothing, whatever its numbers
  bool summary_ = false;  // the line before says that one of the best follows
  bool whole_seen_ = false;  // a step's loss that is no sum of parts was told
  bool punctuated_ = false;  // a step's loss with a sign was told
  bool in_prose_ = false;    // the line's has none, which others had
  LoneLosses alone_;
  LossBesideEvaluation beside_;
  LoneEvaluations evaluations_;
  LinePlace place_;
};

constexpr std::string_view kMarks[] = {"=",    ":",     "oss ", "OSS ", "poch",
                                       "POCH", "oss] ", "| ",   "----", "norm ",
                                       "tep ", "ost ",  "Eval "};

}  // namespace

const LogFormat kKeyValue = {
    .name = "key_value",
    .title = "any program: step=10 loss=1.2 or step: 10, loss: 1.2",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .make = Fresh<KeyValueReader>,
};

}  // namespace nanwatch
