#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <sstream>

#include "tests/golden/scenario.h"
#include "tests/golden/set_field.h"

namespace nanwatch {
namespace {

// Words are parted by blanks; "quoted words" are one.
Line Split(int number, const std::string& text) {
  Line line{.number = number, .text = text};
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    if (text[at] == '#') break;
    std::string word;
    bool quoted = false;
    for (; at < text.size(); ++at) {
      if (text[at] == '"') {
        quoted = !quoted;
      } else if ((text[at] == ' ' || text[at] == '\t') && !quoted) {
        break;
      } else {
        word += text[at];
      }
    }
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      line.words.push_back(word);
    } else {
      line.options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return line;
}

double Number(const std::string& text) {
  if (text == "nan") return NAN;
  if (text == "inf") return INFINITY;
  return std::strtod(text.c_str(), nullptr);
}

Duration Seconds(const std::string& text) {
  char* unit = nullptr;
  const double value = std::strtod(text.c_str(), &unit);
  const double scale = *unit == 'm'   ? (unit[1] == 's' ? 1e-3 : 60)
                       : *unit == 'h' ? 3600
                                      : 1;
  return Duration(static_cast<int64_t>(value * scale * 1e6));
}

std::vector<int64_t> Shape(const std::string& text) {
  std::vector<int64_t> shape;
  std::istringstream in(text);
  for (std::string dim; std::getline(in, dim, 'x');) {
    shape.push_back(std::stoll(dim));
  }
  return shape;
}

// "V", "VxN", "V/FxN", "V*FxN", "V+DxN": see README.md.
void Expand(const std::string& token, std::vector<double>* values) {
  const size_t times = token.rfind('x');
  const std::string head = token.substr(0, times);
  const int n =
      times == std::string::npos ? 1 : std::atoi(token.c_str() + times + 1);
  size_t by = head.find_first_of("/*+");
  // Not the sign of an exponent.
  if (by != std::string::npos && head[by] == '+' && by > 0 &&
      head[by - 1] == 'e') {
    by = std::string::npos;
  }
  double value = Number(head.substr(0, by));
  for (int i = 0; i < n; ++i) {
    if (by != std::string::npos) {
      const double factor = Number(head.substr(by + 1));
      value = head[by] == '/'   ? value / factor
              : head[by] == '*' ? value * factor
                                : value + factor;
    }
    values->push_back(value);
  }
}

// The values of these words from `first` on; "[V ... V]xN" is what stands
// within N times over.
void ExpandAll(const Line& line, size_t first, std::vector<double>* values) {
  size_t open = 0;  // values before the group
  for (size_t i = first; i < line.words.size(); ++i) {
    std::string word = line.words[i];
    if (word.front() == '[') {
      open = values->size();
      word.erase(0, 1);
    }
    const size_t end = word.find(']');
    Expand(word.substr(0, end), values);
    if (end == std::string::npos) continue;
    const std::vector<double> group(values->begin() + open, values->end());
    const int n = std::atoi(word.c_str() + end + std::strlen("]x"));
    for (int more = 1; more < n; ++more) {
      values->insert(values->end(), group.begin(), group.end());
    }
  }
}

std::vector<int> Ranks(const std::string& word, int ranks) {
  if (word != "*") return {std::atoi(word.c_str())};
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  return all;
}

bool SetDtype(const std::string& name, OpName* op) {
  for (int d = 0; d <= static_cast<int>(Dtype::kFp8E5M2); ++d) {
    if (Name(static_cast<Dtype>(d)) != name) continue;
    op->dtype = static_cast<Dtype>(d);
    return true;
  }
  return false;
}

bool SetStat(const std::string& name, float value, OpCell* cell) {
  for (int s = 0; s < kOpStats; ++s) {
    if (Name(static_cast<OpStat>(s)) != name) continue;
    cell->more[s] = value;
    return true;
  }
  return false;
}

// "w{0..2} x{0..2}": the row for each number. One without braces is itself.
std::vector<std::string> Numbered(const std::string& row) {
  static const std::regex kBraces(R"(\{(\d+)\.\.(\d+)\})");
  std::smatch range;
  if (!std::regex_search(row, range, kBraces)) return {row};
  std::vector<std::string> rows;
  for (int i = std::stoi(range[1]); i <= std::stoi(range[2]); ++i) {
    rows.push_back(std::regex_replace(row, kBraces, std::to_string(i)));
  }
  return rows;
}

class Parser {
 public:
  Result<Scenario> Parse(std::string_view text) {
    std::istringstream in{std::string(text)};
    int number = 0;
    for (std::string row; std::getline(in, row);) {
      ++number;
      for (const std::string& one : Numbered(row)) {
        const Line line = Split(number, one);
        if (line.words.empty()) continue;
        if (std::string error = Take(line); !error.empty()) {
          return Error{"line " + std::to_string(number) + " \"" + one +
                       "\": " + error};
        }
      }
    }
    Fill();
    return std::move(scenario_);
  }

 private:
  std::string Take(const Line& line) {
    const std::string& what = line.words[0];
    if (what == "run") return TakeRun(line);
    if (scenario_.run_id.empty()) return "the first line says `run NAME`";
    if (what == "op") return TakeOp(line);
    if (what == "rank") return TakeRank(line);
    if (what == "at" || what == "expect") return TakeMoment(line);
    return "a line begins with run, op, rank, at or expect";
  }

  std::string TakeRun(const Line& line) {
    if (line.words.size() != 2) return "say `run NAME key=value ...`";
    scenario_.run_id = line.words[1];
    RunDescription& run = scenario_.run;
    ScalerDeclaration& scaler = run.scaler;
    for (const auto& [key, value] : line.options) {
      if (key == "ranks") {
        scenario_.ranks = run.world_size = std::atoi(value.c_str());
      } else if (key == "every") {
        scenario_.every = Seconds(value);
      } else if (key == "framework") {
        run.framework = value;
      } else if (key == "precision") {
        run.precision = value;
      } else if (key == "mode") {
        run.overflow_mode = value == "saturation" ? OverflowMode::kSaturation
                                                  : OverflowMode::kInfNan;
      } else if (key == "scaler") {
        scaler.kind = value == "static"      ? ScalingKind::kStatic
                      : value == "none"      ? ScalingKind::kNone
                      : value == "layerwise" ? ScalingKind::kLayerwise
                                             : ScalingKind::kDynamic;
        if (scaler.kind == ScalingKind::kDynamic) scaler.name = value;
      } else if (key == "init") {
        scaler.init_scale = Number(value);
      } else if (key == "max") {
        scaler.max_scale = Number(value);
      } else if (key == "interval") {
        scaler.growth_interval = std::stoll(value);
      } else if (key == "check") {
        scaler.overflow_check = value == "on";
      } else {
        return "unknown option " + key;
      }
    }
    tracks_.resize(scenario_.ranks);
    layers_.resize(scenario_.ranks);
    return "";
  }

  std::string TakeOp(const Line& line) {
    if (line.words.size() != 2) return "say `op NAME key=value ...`";
    OpName op;
    op.name = line.words[1];
    op.dtype = Dtype::kFp16;
    op.order = static_cast<int32_t>(scenario_.ops.size());
    for (const auto& [key, value] : line.options) {
      if (key == "type") {
        op.type = value;
      } else if (key == "format") {
        op.data_format = value;
      } else if (key == "logical") {
        op.logical_shape = Shape(value);
      } else if (key == "storage") {
        op.storage_shape = Shape(value);
      } else if (key == "dtype") {
        if (!SetDtype(value, &op)) return "unknown dtype " + value;
      } else {
        return "unknown option " + key;
      }
    }
    scenario_.ops.push_back(std::move(op));
    return "";
  }

  std::string TakeRank(const Line& line) {
    if (line.words.size() < 4) return "say `rank N FIELD VALUE ...`";
    const std::vector<int> ranks = Ranks(line.words[1], scenario_.ranks);
    if (ranks.back() >= scenario_.ranks) return "there is no such rank";
    if (line.words[2] == "op") return TakeOpTrack(line, ranks);
    if (line.words[2] == "layer") return TakeLayer(line, ranks);
    Row probe;
    if (!SetField(line.words[2], 0, &probe)) {
      return "unknown field " + line.words[2];
    }
    for (const int rank : ranks) {
      ExpandAll(line, 3, &tracks_[rank][line.words[2]]);
    }
    return "";
  }

  // rank N layer NAME VALUES
  std::string TakeLayer(const Line& line, const std::vector<int>& ranks) {
    const std::string& name = line.words[3];
    if (line.words.size() < 5) return "say `rank N layer OP VALUE ...`";
    if (std::none_of(scenario_.ops.begin(), scenario_.ops.end(),
                     [&](const OpName& o) { return o.name == name; })) {
      return "there is no op " + name;
    }
    for (const int rank : ranks) {
      ExpandAll(line, 4, &layers_[rank][name]);
    }
    return "";
  }

  // rank N op NAME SLOT FROM..TO counts
  std::string TakeOpTrack(const Line& line, const std::vector<int>& ranks) {
    if (line.words.size() < 6) return "say `rank N op NAME SLOT FROM..TO`";
    OpTrack track{.ranks = ranks};
    const auto op =
        std::find_if(scenario_.ops.begin(), scenario_.ops.end(),
                     [&](const OpName& o) { return o.name == line.words[3]; });
    if (op == scenario_.ops.end()) return "there is no op " + line.words[3];
    track.cell.op = static_cast<uint32_t>(op - scenario_.ops.begin());
    const uint64_t storage = Elements(op->storage_shape);
    track.cell.elements = storage > 0 ? storage : Elements(op->logical_shape);
    bool slot_found = false;
    for (int slot = 0; slot < kSlots; ++slot) {
      if (Name(static_cast<Slot>(slot)) != line.words[4]) continue;
      track.cell.slot = static_cast<Slot>(slot);
      slot_found = true;
    }
    if (!slot_found) return "unknown slot " + line.words[4];
    const size_t dots = line.words[5].find("..");
    track.from = std::stoll(line.words[5]);
    track.to = dots == std::string::npos
                   ? track.from
                   : std::stoll(line.words[5].substr(dots + 2));
    for (size_t i = 6; i < line.words.size(); ++i) {
      if (line.words[i] == "flag") {
        track.cell.flag = true;
      } else if (line.words[i] == "logical") {
        track.cell.elements = Elements(op->logical_shape);
      } else {
        return "unknown word " + line.words[i];
      }
    }
    for (const auto& [key, value] : line.options) {
      if (key == "nan") {
        track.cell.nan = std::stoull(value);
      } else if (key == "inf") {
        track.cell.inf = std::stoull(value);
      } else if (key == "neg_inf") {
        track.cell.neg_inf = std::stoull(value);
      } else if (key == "saturated") {
        track.cell.saturated = std::stoull(value);
      } else if (key == "abs_max") {
        track.cell.abs_max = static_cast<float>(Number(value));
      } else if (key == "zero") {
        track.cell.zero = std::stoull(value);
      } else if (!SetStat(key, static_cast<float>(Number(value)),
                          &track.cell)) {
        return "unknown option " + key;
      }
    }
    scenario_.op_tracks.push_back(std::move(track));
    return "";
  }

  std::string TakeMoment(const Line& line) {
    const bool expect = line.words[0] == "expect";
    const size_t at = expect ? 2 : 1;
    if (line.words.size() < at + 2 || (expect && line.words[1] != "at")) {
      return "say `at TIME what` or `expect at TIME what`";
    }
    scenario_.moments.push_back({Seconds(line.words[at]), expect, line});
    Line& kept = scenario_.moments.back().line;
    kept.words.erase(kept.words.begin(),
                     kept.words.begin() + static_cast<int>(at) + 1);
    return "";
  }

  // Steps count from 1; a track that is shorter than others goes on with its
  // last value.
  void Fill() {
    for (size_t rank = 0; rank < tracks_.size(); ++rank) {
      const auto& tracks = tracks_[rank];
      size_t steps = 0;
      for (const auto& [op, values] : layers_[rank]) {
        steps = std::max(steps, values.size());
      }
      for (const auto& [field, values] : tracks) {
        steps = std::max(steps, values.size());
      }
      std::vector<Row>& rows = scenario_.rows.emplace_back();
      for (size_t i = 0; i < steps; ++i) {
        Row row{.step = static_cast<int64_t>(i + 1)};
        for (const auto& [field, values] : tracks) {
          SetField(field, values[std::min(i, values.size() - 1)], &row);
        }
        for (uint32_t op = 0; op < scenario_.ops.size(); ++op) {
          const auto layer = layers_[rank].find(scenario_.ops[op].name);
          if (layer == layers_[rank].end()) continue;
          const std::vector<double>& values = layer->second;
          row.layers.emplace_back(op, values[std::min(i, values.size() - 1)]);
        }
        rows.push_back(row);
      }
    }
  }

  Scenario scenario_;
  std::vector<std::map<std::string, std::vector<double>>> tracks_;
  std::vector<std::map<std::string, std::vector<double>>> layers_;  // by op
};

}  // namespace

Result<Scenario> ParseScenario(std::string_view text) {
  return Parser().Parse(text);
}

}  // namespace nanwatch
