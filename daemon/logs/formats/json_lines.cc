// Logs of no known program: one JSON object a line.
//
//  {"step": 10, "train": {"loss": 2.31, "grad_norm": NaN}, "scale": "65536"}
//  node7: 2026-03-01 12:01:07 INFO {"step": 10, "loss": 2.31}

#include <algorithm>
#include <optional>
#include <string_view>

#include "logs/column_fact.h"
#include "logs/column_names.h"
#include "logs/dict_scan.h"
#include "logs/formats/formats.h"
#include "logs/layer_norms.h"
#include "logs/rank_prefix.h"
#include "logs/scale_by_value.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// {"split": "valid", "loss": ...} is not of the training.
bool IsEvaluation(std::string_view path, std::string_view text) {
  const bool part = path == "split" || path == "mode" || path == "phase" ||
                    path == "stage" || path == "subset";
  return part && (text.starts_with("val") || text.starts_with("eval") ||
                  text.starts_with("test") || text.starts_with("dev"));
}

class JsonLinesReader : public LineReader {
 public:
  explicit JsonLinesReader(const ColumnMap& map) : names_(map) {}

  void Read(std::string_view line, FactList* facts) override {
    size_t at = BehindTaskNumber(line);
    // Behind a logger's words, or a launcher's, an object that shows its step.
    const bool behind = at < line.size() && line[at] != '{';
    if (behind) at = std::min(line.find("{\"", at), line.size());
    while (at < line.size() && line[at] == '{') {
      fact_.Begin(at);
      evaluation_ = false;
      layers_.Begin();
      const size_t size = walk_.Read(line.substr(at), on_value_);
      if (size == std::string_view::npos) return;
      AddLayers();
      const bool step =
          names_.mapped() ? fact_.SaysHealth() : fact_.LooksLikeStep();
      const bool wanted = (step || fact_.AddReward()) && !evaluation_ &&
                          (!behind || fact_.has_step());
      if (wanted) fact_.Tell(facts);
      at = line.find_first_not_of(" \t,", at + size);
    }
  }

 private:
  void Take(std::string_view path, std::string_view text) {
    const ColumnMeaning meaning = names_.Of(path);
    if (meaning != ColumnMeaning::kNothing) {
      fact_.Add(meaning, text);
    } else if (layers_.Look(path, text)) {
      return;
    } else if (IsEvaluation(path, text)) {
      evaluation_ = true;
    } else if (IsEpochColumn(path)) {
      const std::optional<double> epoch = WholeNumber(text);
      if (epoch) fact_.SetEpoch(*epoch);
    } else if (!names_.mapped() && ScaleByValue::MayBe(path) &&
               scale_.Is(path, text)) {
      fact_.Add(ColumnMeaning::kLossScale, text);
    }
  }

  // The norm of all layers, where the object shows theirs alone.
  void AddLayers() {
    const std::optional<double> norm = layers_.norm();
    if (norm && !names_.mapped() && !fact_.fact().has(StepField::kGradNorm)) {
      fact_.AddNumber(ColumnMeaning::kGradNorm, *norm);
    }
  }

  ColumnNames names_;
  ScaleByValue scale_;
  LayerNorms layers_;
  ColumnFact fact_{ScaleText::kExact};
  DictWalk walk_;
  bool evaluation_ = false;
  const DictWalk::OnValue on_value_ = [this](std::string_view path,
                                             std::string_view text) {
    Take(path, text);
  };
};

constexpr std::string_view kMarks[] = {"{\"", "{ \""};

}  // namespace

const LogFormat kJsonLines = {
    .name = "json_lines",
    .title = "any program: a JSON object a line",
    .part = LogFormat::Part::kGeneric,
    .marks = kMarks,
    .make = Fresh<JsonLinesReader>,
};

}  // namespace nanwatch
