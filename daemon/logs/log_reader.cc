#include "logs/log_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/whole_words.h"
#include "logs/broken_off.h"
#include "logs/glued_records.h"
#include "logs/in_words.h"
#include "model/step_stretches.h"

namespace nanwatch {
namespace {

// Returns as much of `text` as fits in `most` bytes, whole UTF-8 characters.
std::string_view Beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) {
    --most;
  }
  return text.substr(0, most);
}

// Bytes of a program's last words that are kept, as clients do.
constexpr size_t kMessage = 200;
// Bytes of the name of an evaluation's loss that are kept; ours.
constexpr size_t kNameOfLoss = 40;
// Evaluations that were never finite: no column that holds none yet; ours.
constexpr int64_t kNeverEvaluated = 8;
// Lines behind last words, at most: launchers and other ranks add tracebacks of
// theirs. Behind more the program went on; ours.
constexpr uint64_t kBehindLastWords = 200;

// As ToldSince reads it; empty: there is no such part.
std::string SinceText(int64_t step, const std::string& name) {
  if (name.empty()) return name;
  return std::to_string(std::max<int64_t>(step, 0)) + " " + name;
}

}  // namespace

LogReader::LogReader(const LogFormat* only, const ColumnMap& map,
                     LogRecordSink sink)
    : columns_(map),
      assembler_([this, sink = std::move(sink)](const LogRecord& record) {
        if (assembler_.has_loss_series()) TellSeries();
        sink(record);
      }),
      axis_([this](const LogFact& fact, uint64_t line) {
        if (fact.step) NoteStep(fact);
        assembler_.Take(fact, line);
      }),
      norms_([this](const LogFact& fact, uint64_t line) {
        axis_.Take(fact, line);
      }),
      recogniser_(
          only, map,
          [this](const LogFact& fact, uint64_t line) { Take(fact, line); }),
      joiner_([this](std::string_view line) {
        recogniser_.ReadLine(line);
        if (zeros_.Read(line, recogniser_.lines())) NoteLayers();
      }),
      blocks_([this](std::string_view line) { joiner_.Take(line); }),
      headed_([this](std::string_view line) { blocks_.Take(line); }),
      arrays_(map, [this](std::string_view line) { headed_.Take(line); }) {}

void LogReader::ReadLine(std::string_view line) {
  line = bare_.Of(plain_.Of(line));
  const auto end_of_glued = [&line] {
    return std::min(EndOfGluedBar(line), EndOfGluedRecord(line));
  };
  for (size_t end = end_of_glued(); end < line.size(); end = end_of_glued()) {
    arrays_.Take(line.substr(0, end));
    line.remove_prefix(end);
  }
  arrays_.Take(line);
}

void LogReader::ReadFact(const LogFact& fact, uint64_t record) {
  records_ = std::max(records_, record);
  Take(fact, record);
}

void LogReader::Take(const LogFact& fact, uint64_t line) {
  using Kind = LogFact::Kind;
  switch (fact.kind) {
    case Kind::kSetting:
      return TakeSetting(fact);
    case Kind::kResumed:
      resumed_ = newest_step_ >= 0;
      if (!loss_shown_) run_.settings["begins"] = fact.text;
      return;
    case Kind::kOtherObjective:
      announced_ = true;
      return;
    case Kind::kLostLoss:
      // Above all steps it is a promise.
      if (progress_ > 0) NoteLost(Beginning(fact.text, kNameOfLoss));
      return;
    case Kind::kEvaluated:
      return NoteEvaluation(fact);
    case Kind::kAccuracy:
      return NoteAccuracy(fact);
    case Kind::kScored:
      NoteScore(fact);
      if (std::isfinite(fact.score)) {
        run_.settings.emplace("trains_on", "rewards");
      }
      return;
    default:
      break;
  }
  // Its line may wait for others.
  if (announced_ && fact.says_health()) {
    announced_ = false;
    LogFact moved = fact;
    moved.objective_moves = true;
    return Take(moved, line);
  }
  if (fact.kind == Kind::kProgress) NoteProgress(fact, line);
  assembler_.Learn({.tells_overflows = recogniser_.tells_overflows(),
                    .skips_take_steps = recogniser_.skips_take_steps(),
                    .surely_take_steps = recogniser_.surely_take_steps(),
                    .has_program = recogniser_.program() != nullptr});
  if (fact.kind == Kind::kStopped) return TakeStop(fact, line);
  if (fact.kind == Kind::kBroke) return TakeBroke(fact, line);
  columns_.Note(fact);
  assembler_.NoteWords(fact);
  loss_shown_ |= fact.has(StepField::kLoss);
  if (fact.loss_left_out && !loss_shown_ && fact.has(StepField::kGradNorm)) {
    // Nothing shows that such lines have one; what is wrong the norm says.
    LogFact known = fact;
    known.loss_left_out = false;
    norms_.Take(known, line);
  } else if (LostBefore(fact)) {
    TakeAfterLost(fact, line);
  } else if (fact.has(StepField::kLoss) && mean_.IsNoNews(fact)) {
    TakeWithoutLoss(fact, line);
  } else {
    norms_.Take(fact, line);
  }
}

// What stood in place of a loss is 0; else a line shows the next batch's.
void LogReader::TakeAfterLost(const LogFact& fact, uint64_t line) {
  LogFact lost = fact;
  if (fact[StepField::kLoss] != 0) {
    lost = LogFact();
    lost.rank = fact.rank;
    const bool room = fact.step && *fact.step > newest_step_ + 1;
    if (room && newest_step_ >= 0) lost.step = newest_step_ + 1;
  }
  lost.Set(StepField::kLoss, std::numeric_limits<double>::quiet_NaN());
  lost.applied = false;
  norms_.Take(lost, line);
  if (fact[StepField::kLoss] != 0) norms_.Take(fact, line);
  lost_losses_ = 0;
}

void LogReader::TakeWithoutLoss(const LogFact& fact, uint64_t line) {
  LogFact rest = fact;
  rest.Unset(StepField::kLoss);
  norms_.Take(rest, line);
}

// A line of numbers, before records are made of it.
void LogReader::NoteProgress(const LogFact& fact, uint64_t line) {
  goes_on_ = true;
  progress_ += fact.says_health() ? 1 : 0;
  NoteShown(fact, line);
  const bool resumed = std::exchange(resumed_, false);
  if (broke_ || resumed) {
    run_.settings["resumed_after"] = std::to_string(newest_step_);
  }
  broke_.reset();
  if (fact.has(StepField::kLoss)) {
    NoteTerm(fact);
    NoteKind(fact);
  }
  if (recogniser_.shows_zero_rate()) {
    run_.settings["learning_rates"] = "exact";
  }
  norm_bad_ = fact.is_not_finite(StepField::kGradNorm);
  // One overflow makes a mean of norms infinite; one in each line says more.
  if (fact.means && fact.has(StepField::kGradNorm)) NoteMeanNorm(fact);
  NoteScore(fact);
  NoteLatents(fact);
  if (fact.of_rewards) run_.settings.emplace("trains_on", "rewards");
  // Where epochs have several lines, the first one does not show it.
  if (fact.of_epoch) run_.settings.emplace("records", "epochs");
  if (fact.step_counted && !fact.of_epoch) run_.settings.erase("records");
}

// Of several the last, as of exceptions that others lead to; but the word of
// the process that failed before those of others that end with it.
void LogReader::TakeBroke(const LogFact& fact, uint64_t line) {
  last_words_ = line;
  const BrokenOff end = ReadBrokenOff(fact.text);
  const bool follows = IsFollowing(end);
  if (broke_ && follows) return;
  if (broke_ && !broke_follows_ && broke_->rank != fact.rank) return;
  broke_follows_ = follows;
  broke_ = LogBroke{
      line,
      {end.kind, std::string(end.type), WholeWords(end.message, kMessage)},
      fact.rank};
}

std::optional<LogBroke> LogReader::broke() const {
  return lines() > last_words_ + kBehindLastWords ? std::nullopt : broke_;
}

// All ranks say it, and a traceback says it again.
void LogReader::TakeStop(const LogFact& fact, uint64_t line) {
  last_words_ = line;
  if (!std::exchange(goes_on_, false)) return;
  stopped_ =
      LogStopped{.line = line, .word = {.words = std::string(fact.text)}};
  if (fact.present == 0) return;
  GaveUp& word = stopped_->word;
  word.over =
      fact.has(StepField::kLoss) ? StepField::kLoss : StepField::kGradNorm;
  word.grown = std::isfinite(fact[*word.over]);
  if (word.grown || IsShown(fact)) return;  // lines show it
  // The update after the last that a line shows is the one it stopped at.
  norms_.Flush();
  axis_.Flush();
  LogFact update = fact;
  update.kind = LogFact::Kind::kProgress;
  // The words may count another way than the lines.
  if (update.step && *update.step < newest_step_) update.step.reset();
  if (word.over == StepField::kGradNorm) update.overflow = true;
  assembler_.Take(update, line);
}

// Of the first of losses in a row that are not finite.
void LogReader::NoteTerm(const LogFact& fact) {
  const bool bad = !std::isfinite(fact[StepField::kLoss]);
  const bool first = bad && !loss_bad_;
  loss_bad_ = bad;
  if (!bad) {
    const int64_t step = fact.step.value_or(newest_step_);
    const bool metric = fact.text_of_metric;
    const auto news = term_.Take(
        fact, metric || fact.text.empty() ? lost_term_ : fact.text, step);
    if (news) Put("term_not_finite", *news);
    const auto other = metric_.Take(fact, metric ? fact.text : "", step);
    if (other) Put("metric_not_finite", *other);
  }
  if (first) Put("nonfinite_loss", fact.text);
}

void LogReader::NoteKind(const LogFact& fact) {
  negates_ = fact.of_objective;
  if (other_loss_) return;
  if (const auto kind =
          fact.of_evaluation ? "evaluation" : KindOfLossNamed(fact.before_loss);
      progress_ == 1 && !kind.empty()) {
    other_loss_ = true;
    run_.settings["loss"] = kind;
    return;
  }
  // That of a classifier is one, by whatever name.
  const bool is_one =
      fact.cross_entropy || (!fact.of_objective && fact.of_classes &&
                             !fact.of_adversary && !fact.of_rewards);
  const bool reward = fact.of_objective && fact.of_rewards && fact.guessed;
  other_loss_ = !is_one && !reward;
  Put("loss", is_one                                 ? "cross_entropy"
              : reward                               ? "reward"
              : fact.of_objective && fact.of_classes ? "accuracy"
              : fact.of_objective                    ? "negative"
              : fact.of_adversary                    ? "players"
                                                     : "");
}

void LogReader::NoteLayers() {
  // Before the format is known, lines wait, and with them their steps.
  if (shown_step_ >= 0 || zeros_.lost().empty()) {
    Put("layer_lost_gradient", SinceText(shown_step_, zeros_.lost()));
  }
  Put("layer_without_gradient", SinceText(0, zeros_.never()));
  // Lines may wait until it is clear whose they are.
  layer_waits_ = !zeros_.lost().empty();
}

// The step line above, or that line itself, says since when.
void LogReader::NoteShown(const LogFact& fact, uint64_t line) {
  if (layer_waits_ && line > zeros_.since()) {
    layer_waits_ = false;
    run_.settings["layer_lost_gradient"] =
        SinceText(shown_step_, zeros_.lost());
  }
  shown_step_ = fact.step.value_or(newest_step_);
}

void LogReader::NoteEvaluation(const LogFact& fact) {
  if (progress_ == 0) return;
  const double loss = fact[StepField::kLoss];
  if (newest_step_ < 0) {
    // Beside the first record it may be a column that holds none yet.
    const bool from_first = evaluates_not_ > 0 || progress_ == 1;
    evaluates_not_ =
        from_first && !std::isfinite(loss) ? evaluates_not_ + 1 : 0;
    if (evaluates_not_ > 0 && evaluates_not_ < kNeverEvaluated) return;
  }
  if (fact.lowest > 0) NoteHigh(fact);
  NoteSame(fact);
  // One alone may be of a batch.
  const bool again = !bad_evaluation_.empty();
  if (std::isfinite(loss)) {
    bad_evaluation_.clear();
    Put("evaluation_not_finite", "");
  } else if (again) {
    Put("evaluation_not_finite", bad_evaluation_);
  } else {
    const bool never = evaluates_not_ > 0;  // since the first record
    bad_evaluation_ = std::to_string(never ? 1 : Place())
                          .append(" ")
                          .append(Beginning(fact.text, kNameOfLoss));
  }
}

// Steps as lines show them, or counted.
void LogReader::NoteStep(const LogFact& fact) {
  const int64_t before = std::exchange(newest_step_, *fact.step);
  if (!fact.objective_moves || before < 0 || before > newest_step_) return;
  AddStretch(before, newest_step_, &run_.settings["objective_moves"]);
}

void LogReader::TakeSetting(const LogFact& fact) {
  if (fact.setting == "precision") {
    run_.precision = fact.text;
    if (fact.text == "bf16" || fact.text == "fp32") {
      run_.scaler.kind = ScalingKind::kNone;
    }
  } else if (fact.setting == "clip_norm") {
    if (fact.number > 0) run_.clip_norm = fact.number;
  } else if (fact.setting == "vocabulary") {
    if (fact.number > 1) {
      run_.settings["untrained_loss"] = std::to_string(std::log(fact.number));
    }
  } else {
    // A log's words on its scaler are a hint: configuration of another
    // library may hold instead. It is recognised from what it does.
    run_.settings[std::string(fact.setting)] = std::to_string(fact.number);
  }
}

// Nobody forgets a setting: "" says that it is so no more.
void LogReader::Put(const char* name, std::string_view value) {
  auto& settings = run_.settings;
  if (!value.empty() || settings.count(name) > 0) settings[name] = value;
}

void LogReader::NoteAxis() {
  Put("steps", assembler_.counts_steps() ? "counted" : "");
}

void LogReader::Flush() {
  headed_.Flush();
  blocks_.Flush();
  joiner_.Flush();
  recogniser_.DecideIfLikely();
  norms_.Flush();
  axis_.Flush();
  assembler_.Flush();
  NoteAxis();
}

void LogReader::Finish() {
  arrays_.Finish();
  headed_.Flush();
  blocks_.Flush();
  joiner_.Flush();
  recogniser_.Finish();
  norms_.Flush();
  axis_.Flush();
  assembler_.Flush();
  NoteAxis();
  Put("scores_worst", worst_.Text());
  Put("evaluation_not_finite", bad_evaluation_);
  TellScore("score", score_.row(), true);
  TellScore("evaluation_high", evaluations_, true);
  TellScore("latents_unused", latents_, true);
}

}  // namespace nanwatch
