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
#include "logs/loss_parts.h"
#include "logs/scale_by_value.h"
#include "logs/scan.h"
#include "logs/table_row.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

bool IsBatch(std::string_view name) {
  return name == "Batch" || name == "batch" || name == "batch_idx" ||
         name == "Batch/It" || name == "Batch/Iter";
}

class CsvTableReader : public LineReader {
 public:
  explicit CsvTableReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    refused_ = false;
    if (columns_.empty() || line == header_) return TakeHeader(line);
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
    for (size_t i = 0; i < columns_.size(); ++i) {
      fact_.Add(columns_[i], row_.cells()[i], i + 1 == columns_.size());
    }
    if (epoch_ < columns_.size()) {
      const std::optional<double> epoch = WholeNumber(row_.cells()[epoch_]);
      if (epoch) fact_.SetEpoch(*epoch);
    }
    AddParts();
    fact_.AddReward();
    if (alone_) {
      const auto loss = WholeNumber(row_.cells()[evaluation_]);
      if (loss) fact_.AddEvaluation(*loss);
    }
    if (!fact_.SaysHealth()) return;
    const size_t told = facts->size();
    fact_.Tell(facts);
    if (facts->size() > told) NameTerm(&facts->back());
    if (!alone_) TellEvaluation(facts);
    TellAccuracy(facts);
    if (in_text_) HoldRows(facts);
  }
  // What was no header is none with other numbers, either.
  bool said_nothing() const override { return refused_; }
  bool Pass(std::string_view line) override {
    if (columns_.empty()) NoteAbove(line);
    return columns_.empty();
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
    const bool whole = row_.cells().size() == columns_.size();
    // A program that learned to print more goes on below its rows of before.
    const bool more = !no_row_ && row_.cells().size() > columns_.size();
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
    if (kinds_ >= columns_.size()) return false;
    const std::string_view kind = row_.cells()[kinds_];
    const bool evaluation =
        kind.find(' ') == kind.npos && !WholeNumber(kind) && IsEvaluation(kind);
    trains_ |= !evaluation;
    return evaluation && trains_;
  }

  // A text's table shows a few results; that of a log goes on.
  void HoldRows(FactList* facts) {
    held_.insert(held_.end(), facts->begin(), facts->end());
    facts->clear();
    if (held_.size() < kRowsOfText) return;
    std::swap(*facts, held_);
    in_text_ = false;
  }

  // Returns the first column of an evaluation's losses; npos: there is none.
  static size_t FindEvaluation(const std::vector<std::string_view>& names) {
    for (size_t i = 0; i < names.size(); ++i) {
      const bool known = UsualMeaning(names[i]) != ColumnMeaning::kNothing;
      if (!known && EvaluationMeaning(names[i]) != ColumnMeaning::kNothing) {
        return i;
      }
    }
    return std::string_view::npos;
  }

  // Of the first column of an evaluation's losses. One that was never finite
  // holds none: so tables write what is missing.
  void TellEvaluation(FactList* facts) {
    if (evaluation_ >= columns_.size()) return;
    const std::optional<double> loss = WholeNumber(row_.cells()[evaluation_]);
    evaluates_ |= loss && std::isfinite(*loss);
    if (loss && evaluates_) {
      evaluations_.Take(*loss, evaluation_name_, 0, facts);
    }
  }

  // Of the first column of an evaluation's accuracies, in shares or percent.
  void TellAccuracy(FactList* facts) {
    if (accuracy_ >= columns_.size()) return;
    const std::optional<double> told = WholeNumber(row_.cells()[accuracy_]);
    if (!told || !(*told >= 0) || *told > kPercent) return;
    AddFact(LogFact::Kind::kAccuracy, 0, facts).score =
        *told > 1 ? *told / kPercent : *told;
  }

  // Among columns of no known meaning.
  void FindScale() {
    for (const auto& [column, name] : scales_) {
      if (!scale_.Is(name, row_.cells()[column])) continue;
      columns_[column] = ColumnMeaning::kLossScale;
      scales_.clear();
      return;
    }
  }

  // The first term that is not finite, of a loss that is.
  void NameTerm(LogFact* fact) {
    if (!fact->has(StepField::kLoss) || !fact->text.empty()) return;
    if (!std::isfinite((*fact)[StepField::kLoss])) return;
    for (const auto& [column, name] : terms_) {
      const std::optional<double> term = WholeNumber(row_.cells()[column]);
      if (!term || std::isfinite(*term)) continue;
      fact->text = name;
      return;
    }
  }

  void AddParts() {
    const bool whole =
        fact_.fact().has(StepField::kLoss) && !fact_.fact().cross_entropy;
    if (!adds_up_ || whole) return;
    double sum = 0;
    for (const auto& [part, name] : terms_) {
      const std::optional<double> loss = WholeNumber(row_.cells()[part]);
      if (!loss) return;
      sum += *loss;
    }
    fact_.AddNumber(
        of_rival_ ? ColumnMeaning::kAdversaryLoss : ColumnMeaning::kLoss, sum);
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
    refused_ = columns_.empty();
    std::vector<std::string_view> names = row_.cells();
    if (!under.empty()) names.assign(under.begin(), under.end());
    std::vector<ColumnMeaning> columns;
    std::vector<std::pair<size_t, std::string>> parts;
    int known = 0;
    size_t epoch = std::string_view::npos;
    size_t evaluation = std::string_view::npos;
    for (const std::string_view cell : names) {
      if (WholeNumber(cell)) return;
      ColumnMeaning meaning = names_.Of(cell);
      if (meaning == ColumnMeaning::kNothing) meaning = ForeignMeaning(cell);
      columns.push_back(meaning);
      const bool term = meaning == ColumnMeaning::kNothing ||
                        meaning == ColumnMeaning::kCrossEntropy;
      if (term && IsPartOfLoss(cell)) {
        parts.emplace_back(columns.size() - 1, cell);
        if (IsOfPolicy(cell)) fact_.NoteRewardsApart();
      }
      const bool evaluates = (cell.ends_with("oss") || cell.ends_with("mse")) &&
                             IsEvaluation(cell);
      if (evaluates && evaluation == cell.npos) evaluation = columns.size() - 1;
      if (meaning != ColumnMeaning::kNothing) {
        ++known;
      } else if (IsEpochColumn(cell)) {
        epoch = columns.size() - 1;
      }
    }
    std::vector<std::pair<size_t, std::string>> scales;
    for (size_t i = 0; i < columns.size() && !names_.mapped(); ++i) {
      const bool unknown = columns[i] == ColumnMeaning::kNothing;
      if (unknown && ScaleByValue::MayBe(names[i])) {
        scales.emplace_back(i, names[i]);
      }
    }
    // Steps of an epoch, where no others are: "Batch/It".
    const bool stepped = std::find(columns.begin(), columns.end(),
                                   ColumnMeaning::kStep) != columns.end();
    for (size_t i = 0; i < columns.size() && !stepped; ++i) {
      const bool batch = epoch < columns.size() && IsBatch(names[i]);
      if (batch) columns[i] = ColumnMeaning::kStep;
    }
    // One stands for the loss where no other does: "td_loss".
    const bool whole = std::any_of(columns.begin(), columns.end(), IsAnyLoss);
    const bool adds_up = parts.size() > 1 || (parts.size() == 1 && !whole);
    bool alone = !whole && !adds_up && !names_.mapped();
    if (alone && evaluation == std::string_view::npos) {
      evaluation = FindEvaluation(names);
    }
    alone &= evaluation < columns.size();
    if (alone || adds_up) known += parts.size() > 1 ? 2 : 1;
    // An epoch is a name as good as others.
    if (epoch < columns.size() && known > 0) ++known;
    if (known < (names_.mapped() ? 1 : 2)) return;
    refused_ = false;
    columns_ = std::move(columns);
    terms_ = std::move(parts);
    adds_up_ = adds_up;
    of_rival_ = std::ranges::any_of(
        terms_, [](const auto& term) { return IsOfRival(term.second); });
    scales_ = std::move(scales);
    scale_ = {};
    epoch_ = epoch;
    evaluation_ = evaluation;
    alone_ = alone;
    if (evaluation < names.size()) evaluation_name_ = names[evaluation];
    evaluations_ = {};
    evaluates_ = false;
    accuracy_ = static_cast<size_t>(
        std::ranges::find_if(names, IsEvaluatedAccuracy) - names.begin());
    separator_ = separator;
    header_ = line;
    no_row_ = true;
    place_.clear();
    in_text_ = line.starts_with('|');
    held_.clear();
  }

  // Rows of a table with bars around it that are no log yet; ours.
  static constexpr size_t kRowsOfText = 12;
  static constexpr double kPercent = 100;

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kRounded};
  TableRow row_;
  std::vector<ColumnMeaning> columns_;  // empty: no header yet
  // Losses that are parts of one, by their columns.
  std::vector<std::pair<size_t, std::string>> terms_;
  bool adds_up_ = false;   // their sum is the row's loss
  bool of_rival_ = false;  // one of them is (IsOfRival)
  std::vector<std::pair<size_t, std::string>> scales_;  // that may be one
  ScaleByValue scale_;
  size_t epoch_ = std::string_view::npos;       // its column; npos: none
  size_t evaluation_ = std::string_view::npos;  // column of its loss, or npos
  std::string evaluation_name_;
  size_t accuracy_ = std::string_view::npos;  // an evaluation's column
  bool alone_ = false;                        // no other column is a loss
  size_t kinds_ = std::string_view::npos;     // a column of words, or npos
  bool trains_ = false;                       // one was no evaluation's
  EvaluationNews evaluations_;
  bool evaluates_ = false;  // one was finite
  std::string above_;       // the line before that is no row
  bool refused_ = false;    // the newest line is no header, and none came
  std::string header_;
  std::string pointed_;        // the row, its numbers with points
  bool no_row_ = false;        // behind the header so far
  std::vector<double> place_;  // of the newest row (PlaceOfRow)
  bool of_numbers_ = false;    // rows are, for the most part
  bool in_text_ = false;       // bars stand around the table, as in Markdown
  FactList held_;              // of its first rows
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
