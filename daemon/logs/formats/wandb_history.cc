// W&B's history as it is exported: a panel's CSV, whose columns are named
// "run - metric" with the least and the greatest beside it; the CSV of
// run.history(); and its JSON lines.
//
//  "Step","brave-sun-7 - train/loss","brave-sun-7 - train/loss__MIN",...
//  {"_step": 10, "_timestamp": 1.7e9, "train/loss": 2.31}

#include <string>
#include <string_view>
#include <vector>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/dict_scan.h"
#include "logs/find_word.h"
#include "logs/formats/formats.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

// W&B counts its own calls; a step that the program logged is the better one.
bool IsOwnStep(std::string_view name) {
  return name == "_step" || name == "Step";
}

class WandbReader : public LineReader {
 public:
  explicit WandbReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    refused_ = false;
    if (line.starts_with('{')) {
      ReadObject(line, facts);
    } else if (!TakeHeader(line)) {
      refused_ = columns_.empty();
      if (!refused_) ReadRow(line, facts);
    }
  }
  // What was no header is none with other numbers, either.
  bool said_nothing() const override { return refused_; }
  bool Pass(std::string_view /*line*/) override { return columns_.empty(); }

 private:
  void ReadObject(std::string_view line, FactList* facts) {
    if (line.find("\"_step\"") == std::string_view::npos) return;
    fact_.Begin(0);
    own_step_ = {};
    if (walk_.Read(line, on_value_) == std::string_view::npos) return;
    Tell(own_step_, facts);
  }

  void ReadRow(std::string_view line, FactList* facts) {
    if (!row_.Split(line, ',') || row_.cells().size() != columns_.size()) {
      return;
    }
    fact_.Begin(0);
    for (size_t i = 0; i < columns_.size(); ++i) {
      fact_.Add(columns_[i], row_.cells()[i]);
    }
    Tell(row_.cells()[own_column_], facts);
  }

  void Tell(std::string_view own_step, FactList* facts) {
    if (!fact_.has_step()) fact_.Add(ColumnMeaning::kStep, own_step);
    if (fact_.SaysHealth() && fact_.has_step()) fact_.Tell(facts);
  }

  bool TakeHeader(std::string_view line) {
    const bool panel =
        line.starts_with("\"Step\",") || line.starts_with("Step,");
    if (!panel && !HasWord(line, "_step")) return false;
    if (!row_.Split(line, ',')) return false;
    std::vector<ColumnMeaning> columns;
    size_t own = row_.cells().size();
    bool metrics = false;
    run_.clear();
    for (size_t i = 0; i < row_.cells().size(); ++i) {
      const std::string_view name = row_.cells()[i];
      if (IsOwnStep(name)) own = i;
      metrics = metrics || name.find(" - ") != std::string_view::npos;
      columns.push_back(IsOwnStep(name) ? ColumnMeaning::kNothing
                                        : MeaningOf(name));
    }
    if (own == row_.cells().size() || (panel && !metrics)) return false;
    columns_ = std::move(columns);
    own_column_ = own;
    return true;
  }

  // Of several runs in one panel the first is read.
  ColumnMeaning MeaningOf(std::string_view name) {
    const size_t dash = name.rfind(" - ");
    if (dash == std::string_view::npos) return names_.Of(name);
    if (run_.empty()) run_ = name.substr(0, dash);
    const std::string_view metric = name.substr(dash + 3);
    if (run_ != name.substr(0, dash) || metric.ends_with("__MIN") ||
        metric.ends_with("__MAX")) {
      return ColumnMeaning::kNothing;
    }
    const ColumnMeaning whole = names_.Of(name);
    return whole != ColumnMeaning::kNothing ? whole : names_.Of(metric);
  }

  ColumnNames names_;
  ColumnFact fact_{ScaleText::kExact};
  TableRow row_;
  std::vector<ColumnMeaning> columns_;  // empty: no header yet
  bool refused_ = false;  // the newest line is no header, and none came
  size_t own_column_ = 0;
  std::string run_;
  DictWalk walk_;
  std::string_view own_step_;
  const DictWalk::OnValue on_value_ = [this](std::string_view path,
                                             std::string_view text) {
    if (IsOwnStep(path)) {
      own_step_ = text;
    } else {
      fact_.Add(names_.Of(path), text);
    }
  };
};

constexpr std::string_view kMarks[] = {",", "\"_step\""};

}  // namespace

const LogFormat kWandbHistory = {
    .name = "wandb_history",
    .title = "W&B's history export, CSV or JSON lines",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .make = Fresh<WandbReader>,
};

}  // namespace nanwatch
