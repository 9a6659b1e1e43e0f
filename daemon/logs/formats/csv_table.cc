// Logs of no known program: a table with a header, as CSV or tab-separated.
// Empty cells are absent.
//
//  step,train/loss,"loss scale",grad_norm
//  10,2.31,65536,0.71
//
//  Step | Training Loss | reward
//  -- | -- | --
//  1 | -0.283600 | 13.437500
//
//  #  step      rmse_val    rmse_trn         lr
//        0      2.75e+01    2.50e+01    1.0e-03
//
//  epoch     train_loss  valid_loss  time
//  0         0.800000    0.820000    00:42
//
//    Train  #  Epoch     LR    loss
//  ! Train          1  0.005    0.66
//
//  ,train,val
//  0,0.83,0.91
//
//  "Run","metric","step","value"
//  "calm-fox","loss","10","2.31"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/evaluation_news.h"
#include "logs/formats/formats.h"
#include "logs/in_words.h"
#include "logs/scale_by_value.h"
#include "logs/scan.h"
#include "logs/table_header.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

class CsvTableReader : public LineReader {
 public:
  explicit CsvTableReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    refused_ = false;
    if (table_.columns.empty() || line == header_) return TakeHeader(line);
    // Other lines between, another table, a torn row, or the header's second.
    if (!IsRow(WithPoints(line)) ||
        (separator_ == '|' && no_row_ && !row_.HasNumber())) {
      TakeHeader(line);
      return;
    }
    if (separator_ == ' ' && IsProse()) return;
    if (std::exchange(no_row_, false)) FindKinds();
    if (IsOfEvaluation()) {
      AddFact(LogFact::Kind::kUnderstood, 0, facts);
      return;
    }
    FindScale();
    fact_.Begin(0);
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      fact_.Add(table_.columns[i], row_.cells()[i],
                i + 1 == table_.columns.size());
    }
    if (table_.epoch < table_.columns.size()) {
      const std::optional<double> epoch =
          WholeNumber(row_.cells()[table_.epoch]);
      if (epoch) fact_.SetEpoch(*epoch);
    }
    AddMetric();
    AddParts();
    fact_.AddReward(table_.lossless);
    AddEvaluation();
    if (!fact_.SaysHealth()) return;
    const size_t told = facts->size();
    fact_.Tell(facts);
    if (facts->size() > told) NameTerm(&facts->back());
    if (!fact_.fact().of_evaluation) TellEvaluation(facts);
    TellAccuracy(facts);
    if (waits_ > 0) HoldRows(facts);
  }
  // What was no header is none with other numbers, either.
  bool said_nothing() const override { return refused_; }
  bool Pass(std::string_view line) override {
    if (table_.columns.empty()) NoteAbove(line);
    return table_.columns.empty();
  }

 private:
  // "3;2,4039" as "3;2.4039": where semicolons part cells, commas are a
  // number's.
  std::string_view WithPoints(std::string_view line) {
    if (separator_ != ';' || line.find(',') == line.npos) return line;
    pointed_ = line;
    std::replace(pointed_.begin(), pointed_.end(), ',', '.');
    return pointed_;
  }

  // One that lacks cells is a later one: rows of other tables may stand below.
  bool IsRow(std::string_view line) {
    if (!row_.Split(line, separator_)) return false;
    const bool whole = row_.cells().size() == table_.columns.size();
    // A program that learned to print more goes on below its rows of before.
    const bool more = !no_row_ && row_.cells().size() > table_.columns.size();
    if (separator_ != ' ') return whole || (more && row_.AllNumbers());
    if (!whole && !row_.SplitUnder(header_, line)) return false;
    std::vector<double> place = PlaceOfRow();
    if (!whole && place <= place_) return false;
    place_ = std::move(place);
    return true;
  }

  // The whole numbers that the row begins with, as its epoch and its step.
  std::vector<double> PlaceOfRow() const {
    std::vector<double> place;
    for (const std::string_view cell : row_.cells()) {
      const std::optional<double> number = WholeNumber(cell);
      if (!number || *number != std::floor(*number)) break;
      place.push_back(*number);
    }
    return place;
  }

  // As many words as a row has cells, among rows of numbers.
  bool IsProse() {
    std::ptrdiff_t words = 0;
    for (const std::string_view cell : row_.cells()) {
      const bool word = cell.find_first_of("0123456789-.") != 0;
      if ((word || cell.back() == ':') && !WholeNumber(cell)) ++words;
    }
    if (2 * words > std::ssize(row_.cells())) return of_numbers_;
    of_numbers_ = true;
    return false;
  }

  // The column of the first row's first word, which may say what rows are.
  void FindKinds() {
    kinds_ = static_cast<size_t>(
        std::ranges::find_if(row_.cells(),
                             [](std::string_view cell) {
                               return !cell.empty() && IsLetter(cell[0]);
                             }) -
        row_.cells().begin());
    trains_ = false;
  }

  // "! Validation  3  0.5", among rows that say another word in its place.
  bool IsOfEvaluation() {
    if (kinds_ >= table_.columns.size()) return false;
    const std::string_view kind = row_.cells()[kinds_];
    const bool evaluation =
        kind.find(' ') == kind.npos && !WholeNumber(kind) && IsEvaluation(kind);
    trains_ |= !evaluation;
    return evaluation && trains_;
  }

  // A text's table shows a few results; that of a log goes on. What rises may
  // be an accuracy, where nothing says that it is a loss.
  void HoldRows(FactList* facts) {
    held_.insert(held_.end(), facts->begin(), facts->end());
    facts->clear();
    if (held_.size() < waits_) return;
    const auto loss = [](const LogFact& fact) {
      return fact[StepField::kLoss];
    };
    waits_ = 0;
    if (!table_.of_sets || loss(held_.back()) < kFell * loss(held_.front())) {
      std::swap(*facts, held_);
    } else {
      table_.columns.assign(table_.columns.size(), ColumnMeaning::kNothing);
    }
  }

  // An evaluation's loss, where the log shows no other: a column of the
  // training's may be empty.
  void AddEvaluation() {
    if (table_.evaluation >= table_.columns.size() || names_.mapped()) return;
    const auto loss = WholeNumber(row_.cells()[table_.evaluation]);
    if (loss) fact_.AddEvaluation(*loss);
  }

  // Takes the row's number, if its name is that of the first loss or reward.
  void AddMetric() {
    if (table_.metric >= table_.columns.size()) return;
    const std::string_view name = row_.cells()[table_.metric];
    const ColumnMeaning meaning = names_.Of(name);
    const bool judged = IsLoss(meaning) || meaning == ColumnMeaning::kReward;
    if (metric_.empty() && judged) metric_ = name;
    if (name == metric_) fact_.Add(meaning, row_.cells()[table_.value]);
  }

  // Of the first column of an evaluation's losses. One that was never finite
  // holds none: so tables write what is missing.
  void TellEvaluation(FactList* facts) {
    if (table_.evaluation >= table_.columns.size()) return;
    const std::optional<double> loss =
        WholeNumber(row_.cells()[table_.evaluation]);
    evaluates_ |= loss && std::isfinite(*loss);
    if (loss && evaluates_) {
      evaluations_.Take(*loss, table_.evaluation_name, 0, facts);
    }
  }

  // Of the first column of an evaluation's accuracies, in shares or percent.
  void TellAccuracy(FactList* facts) {
    if (table_.accuracy >= table_.columns.size()) return;
    const std::optional<double> told =
        WholeNumber(row_.cells()[table_.accuracy]);
    if (!told || !(*told >= 0) || *told > kPercent) return;
    AddFact(LogFact::Kind::kAccuracy, 0, facts).score =
        *told > 1 ? *told / kPercent : *told;
  }

  // Among columns of no known meaning.
  void FindScale() {
    for (const auto& [column, name] : table_.scales) {
      if (!scale_.Is(name, row_.cells()[column])) continue;
      table_.columns[column] = ColumnMeaning::kLossScale;
      table_.scales.clear();
      return;
    }
  }

  // The first term that is not finite, of a loss that is.
  void NameTerm(LogFact* fact) {
    if (!fact->has(StepField::kLoss) || !fact->text.empty()) return;
    if (!std::isfinite((*fact)[StepField::kLoss])) return;
    for (const auto& [column, name] : table_.terms) {
      const std::optional<double> term = WholeNumber(row_.cells()[column]);
      if (!term || std::isfinite(*term)) continue;
      fact->text = name;
      return;
    }
  }

  void AddParts() {
    const bool whole =
        fact_.fact().has(StepField::kLoss) && !fact_.fact().cross_entropy;
    if (!table_.adds_up || whole) return;
    double sum = 0;
    for (const auto& [part, name] : table_.terms) {
      const std::optional<double> loss = WholeNumber(row_.cells()[part]);
      if (!loss) return;
      sum += *loss;
    }
    fact_.AddNumber(ColumnMeaning::kLoss, sum);
  }

  // Names of the row's columns, between bars, with the words of the line above,
  // "Mini-batch" over "Loss". Empty: there are none.
  std::vector<std::string> NamesUnderAbove() const {
    TableRow above;
    const bool split = above.Split(above_, SeparatorOf(above_));
    const auto& cells = row_.cells();
    if (!split || above.cells().size() != cells.size()) return {};
    std::vector<std::string> names(above.cells().begin(), above.cells().end());
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty() && !cells[i].empty()) names[i] += ' ';
      names[i] += cells[i];
    }
    return names;
  }

  // "#  step  loss", as NumPy writes it.
  static std::string_view WithoutHash(std::string_view line) {
    return line.substr(line.starts_with('#') ? 1 : 0);
  }

  void NoteAbove(std::string_view line) { above_ = WithoutHash(line); }

  void TakeHeader(std::string_view line) {
    line = WithoutHash(line);
    const char separator = SeparatorOf(line);
    if (!row_.Split(line, separator) || row_.cells().size() < 2) return;
    std::vector<std::string> under;
    if (separator == '|') under = NamesUnderAbove();
    above_ = line;
    refused_ = table_.columns.empty();
    std::vector<std::string_view> names = row_.cells();
    if (!under.empty()) names.assign(under.begin(), under.end());
    const bool index = separator != '|' && separator != ' ';
    auto table = ReadTableHeader(names, index, &names_);
    if (!table) return;
    refused_ = false;
    table_ = std::move(*table);
    if (table_.of_policy) fact_.NoteRewardsApart();
    scale_ = {};
    evaluations_ = {};
    evaluates_ = false;
    separator_ = separator;
    header_ = line;
    no_row_ = true;
    place_.clear();
    waits_ = line.starts_with('|') ? kRowsOfText : table_.of_sets ? kAlike : 0;
    held_.clear();
    metric_.clear();
  }

  // Rows of a table with bars around it, as in Markdown, that are no log yet;
  // ours.
  static constexpr size_t kRowsOfText = 12;
  static constexpr size_t kAlike = 5;    // rows that show what they are; ours
  static constexpr double kFell = 0.75;  // a loss by the last of these; ours
  static constexpr double kPercent = 100;

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kRounded};
  TableRow row_;
  TableHeader table_;  // without columns: no header yet
  ScaleByValue scale_;
  std::string metric_;                     // that rows are of; empty: none yet
  size_t kinds_ = std::string_view::npos;  // a column of words, or npos
  bool trains_ = false;                    // one was no evaluation's
  EvaluationNews evaluations_;
  bool evaluates_ = false;  // one was finite
  std::string above_;       // the line before that is no row
  bool refused_ = false;    // the newest line is no header, and none came
  std::string header_;
  std::string pointed_;        // the row, its numbers with points
  bool no_row_ = false;        // behind the header so far
  std::vector<double> place_;  // of the newest row (PlaceOfRow)
  bool of_numbers_ = false;    // rows are, for the most part
  size_t waits_ = 0;           // for so many rows; 0: for none
  FactList held_;              // of the first rows
  char separator_ = ',';
};

constexpr std::string_view kMarks[] = {",", "\t", ";", "| ", "  "};

}  // namespace

const LogFormat kCsvTable = {
    .name = "csv",
    .title =
        "any program: a table with a header, its columns separated by "
        "commas, tabs, semicolons, bars or blanks",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .make = Fresh<CsvTableReader>,
};

}  // namespace nanwatch
