#include "cli/check_log.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "cli/log_input.h"
#include "cli/style.h"
#include "logs/line_splitter.h"
#include "logs/tensorboard.h"
#include "logs/turned_value.h"

namespace nanwatch {
namespace {

// Of the lines that are looked at for a hint, where nothing could be judged.
constexpr uint64_t kHintLines = 100000;
// The same, of which each name is looked at.
constexpr uint64_t kTurnedLines = 20000;

std::string_view KindOfFile(std::string_view head) {
  using std::string_view_literals::operator""sv;
  if (head.starts_with("PK\3\4"sv)) return "a zip archive or a checkpoint";
  if (head.starts_with("SQLite format 3"sv)) {
    return "a database; `nanwatch replay` reads nanwatch's own";
  }
  if (head.starts_with("\x7f"
                       "ELF"sv)) {
    return "a program";
  }
  if (head.find('\0') != std::string_view::npos) return "a binary file";
  return "";
}

// The bytes of a log to its judge: lines, or TensorBoard's records, as its
// first bytes tell.
class Intake {
 public:
  Intake(const CheckOptions& options, CheckedLog* log)
      : options_(options), log_(log) {}

  void Feed(std::string_view bytes) {
    if (judge_ == nullptr) {
      head_ += bytes;
      if (head_.size() < RecordFile::kHeadSize) return;
      Begin();
      return;
    }
    Pass(bytes);
  }

  void Finish() {
    if (judge_ == nullptr) Begin();
    if (board_ != nullptr) {
      board_->Finish();
      log_->damaged_records = board_->damaged();
    } else {
      splitter_->Finish();
      log_->cut_lines = splitter_->cut_lines();
    }
    log_->verdict = judge_->Finish();
    log_->certainty = board_ != nullptr
                          ? "recognised for sure"
                          : Certainty(judge_->reader().recogniser());
    if (judge_->reader().counts_steps()) {
      log_->certainty += "; steps counted, not printed";
    }
    if (judge_->reader().negates()) {
      log_->certainty +=
          "; its objective rises: the loss is the negative of it";
    }
    CallLoss();
    log_->nothing = WhyNoVerdict();
    log_->map_note = MapNote();
  }

 private:
  void Begin() {
    const bool board = TensorBoardReader::Recognise(head_);
    LogJudge::Options judged;
    judged.run_id = log_->path == "-" ? "standard input" : log_->path;
    judged.file = log_->path;
    judged.format = board ? FindLogFormat("tensorboard") : options_.format;
    judged.columns = options_.columns;
    judged.rules = options_.rules;
    judged.benchmark = options_.benchmark;
    judged.on_event = options_.on_event;
    judged.on_record = [this](const LogRecord& r) { log_->picture.Add(r); };
    judge_ = std::make_unique<LogJudge>(std::move(judged));
    if (board) {
      board_ = std::make_unique<TensorBoardReader>(
          options_.columns, [this](const LogFact& fact, uint64_t record) {
            judge_->ReadFact(fact, record);
          });
    } else {
      splitter_ = std::make_unique<LineSplitter>(
          [this](std::string_view line) { TakeLine(line); });
    }
    kind_ = KindOfFile(std::string_view(head_).substr(0, 4096));
    Pass(head_);
  }

  void Pass(std::string_view bytes) {
    if (board_ != nullptr) {
      board_->Feed(bytes);
    } else {
      splitter_->Feed(bytes);
    }
  }

  void TakeLine(std::string_view line) {
    judge_->ReadLine(line);
    const Recogniser& recogniser = judge_->reader().recogniser();
    if (recogniser.decided() || recogniser.lines() > kHintLines) return;
    if (recogniser.lines() <= kTurnedLines) turned_.Look(line);
    const bool hint = line.find("loss") != std::string_view::npos ||
                      line.find("Loss") != std::string_view::npos ||
                      line.find("LOSS") != std::string_view::npos;
    if (hint && hints_++ == 0) {
      first_hint_ = recogniser.lines();
      hint_text_ = line.substr(0, 200);
    }
  }

  static std::string Certainty(const Recogniser& recogniser) {
    const LogCoverage coverage = recogniser.coverage();
    const std::string lines =
        coverage.unread == 0
            ? "read all " + Counted(coverage.step_lines, "step line")
            : Counted(coverage.unread, "step line") + " not read";
    switch (recogniser.certainty()) {
      case Recogniser::Certainty::kNone:
        if (recogniser.Emitter().empty()) return "nothing was recognised";
        return "lines of a library; the program is not known";
      case Recogniser::Certainty::kTold:
        return "as told";
      case Recogniser::Certainty::kSure:
        return "recognised for sure, " + lines;
      case Recogniser::Certainty::kLikely:
        return "probably, " + lines;
      case Recogniser::Certainty::kGuess:
        return "no known program; numbers are known by their names, " + lines;
    }
    return "";
  }

  // Calls the picture's numbers what the log does.
  void CallLoss() {
    const auto& settings = judge_->reader().run().settings;
    const auto loss = settings.find("loss");
    if (loss == settings.end()) return;
    if (loss->second == "reward") log_->picture.CallLoss("Reward", true);
    if (loss->second == "negative") log_->picture.CallLoss("Objective", true);
    if (loss->second == "evaluation") {
      log_->picture.CallLoss("Loss of the evaluation", false);
    }
  }

  // A known program's reader asks for no names.
  std::string MapNote() const {
    const LogFormat* const program = judge_->reader().recogniser().program();
    const bool ignored = !options_.columns.columns.empty() &&
                         board_ == nullptr && program != nullptr &&
                         program->part != LogFormat::Part::kGeneric;
    if (!ignored) return "";
    return fmt::format(
        "--map changes nothing: the format {} knows its numbers. Leave "
        "--format out, or name a general one (key_value, csv, json_lines).",
        program->name);
  }

  // Empty: there is one. Also where it would be a verdict on something else
  // than the training: a column that the user named is not there and what it is
  // for went unseen, or nothing but a library's own lines was read.
  std::string WhyNoVerdict() const {
    const LogVerdict& verdict = log_->verdict;
    const LogReader& reader = judge_->reader();
    std::string names;
    for (const std::string& pair : reader.MissingColumns()) {
      names += (names.empty() ? "" : ", ") + pair;
    }
    if (!names.empty() && verdict.lines > 0 && kind_.empty()) {
      return fmt::format("--map {}: no step line of {} has such a number.",
                         names, Counted(verdict.lines, "line"));
    }
    if (verdict.records == 0) return WhyNothing();
    if (reader.has_step_lines() || verdict.worst >= Severity::kWarning) {
      return "";
    }
    // Overflows of a known program are something to tell, though nothing shows
    // what came between them; a library's may be of anything.
    if (reader.recogniser().certainty() != Recogniser::Certainty::kNone &&
        verdict.attempts.back()->totals.overflows > 0) {
      return "";
    }
    return fmt::format(
        "too little to judge: no loss and no step was read, only a loss "
        "scaler's lines ({}, {}); it finds its scale by a few overflows. "
        "`--map` names columns.",
        verdict.emitter, Counted(verdict.records, "update"));
  }

  std::string WhyNothing() const {
    const LogVerdict& verdict = log_->verdict;
    if (verdict.lines == 0 && kind_.empty()) return "it is empty.";
    if (board_ != nullptr) {
      return fmt::format(
          "no scalar of {} records is a loss, a loss scale or a gradient norm "
          "by its tag; --map loss=TAG names it.",
          Grouped(board_->records()));
    }
    if (!kind_.empty()) return fmt::format("it looks like {}.", kind_);
    std::string why = fmt::format(
        "no loss, scale or gradient norm is known by its name in {} "
        "line{}",
        Grouped(verdict.lines), verdict.lines == 1 ? "" : "s");
    if (!verdict.emitter.empty()) {
      return fmt::format("{}, though it looks like {}'s.", why,
                         verdict.emitter);
    }
    if (judge_->reader().has_bare_numbers()) {
      return fmt::format(
          "{}: its lines are numbers alone. Their name may stand above them, "
          "or be the file's: loss.txt, reward.txt.",
          why);
    }
    if (turned_.line() > 0) {
      return fmt::format(
          "{}; but `{}` turned from a number into one that is not finite (line "
          "{}). If it is a loss, `--map loss={}` judges it.",
          why, turned_.name(), turned_.line(), turned_.name());
    }
    if (const auto grown = turned_.grown(); !grown.name.empty()) {
      return fmt::format(
          "{}; but `{}` has grown from {:.4g} to {:.4g}. If it is a loss, "
          "`--map loss={}` judges it.",
          why, grown.name, grown.from, grown.to, grown.name);
    }
    if (hints_ == 0) return why + "; the word loss is not in it.";
    return fmt::format(
        "{}; {} of them {} the word loss, the first is line {}: \"{}\". "
        "`--list-formats` lists the programs known, `--map` names columns.",
        why, Grouped(hints_), hints_ == 1 ? "holds" : "hold",
        Grouped(first_hint_), hint_text_);
  }

  const CheckOptions& options_;
  CheckedLog* const log_;
  std::string head_;  // the first bytes, until they tell what this is
  std::string_view kind_;
  std::unique_ptr<LogJudge> judge_;
  std::unique_ptr<LineSplitter> splitter_;
  std::unique_ptr<TensorBoardReader> board_;
  TurnedValue turned_;
  uint64_t hints_ = 0;
  uint64_t first_hint_ = 0;
  std::string hint_text_;
};

}  // namespace

CheckedLog CheckLog(const std::string& path, const CheckOptions& options) {
  CheckedLog log;
  log.path = path;
  Intake intake(options, &log);
  const Status read =
      ReadLogBytes(path, [&](std::string_view bytes) { intake.Feed(bytes); });
  intake.Finish();
  if (!log.verdict.refused.empty()) {
    log.error = path + ": not all of it was judged: " + log.verdict.refused;
    log.verdict.cut = log.error;
  }
  if (!read.ok()) {
    log.error = read.error();
    log.verdict.cut = log.error;
    // What was never read is not empty.
    if (log.verdict.lines == 0) log.nothing = "nothing of it could be read.";
  }
  return log;
}

}  // namespace nanwatch
