#include "dumps/inspect_line.h"

#include <utility>

#include "dumps/dump_place.h"
#include "dumps/number_text.h"

namespace nanwatch {
namespace {

// It prints "%.4f".
constexpr double kRoundedBy = 5e-5;

struct Statistic {
  std::string_view name;
  std::optional<double> TensorStatistics::*number;
};
constexpr Statistic kStatistics[] = {{"max", &TensorStatistics::max},
                                     {"min", &TensorStatistics::min},
                                     {"mean", &TensorStatistics::mean},
                                     {"l2_norm", &TensorStatistics::norm}};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

}  // namespace

std::optional<InspectLine> ReadInspectLine(std::string_view line) {
  const size_t mark = line.find(kInspectMark);
  std::string_view name = Trimmed(line.substr(0, mark));
  if (const size_t level = name.find(" - "); level != std::string_view::npos) {
    name = Trimmed(name.substr(level + 3));
  }
  std::string_view rest = line.substr(mark + kInspectMark.size());
  const size_t end = rest.find_first_of(" \t");
  constexpr std::string_view kValue = "value=";
  const size_t value = rest.find(kValue);
  if (end == std::string_view::npos || value == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<int64_t> step = DigitsOf(rest.substr(0, end));
  const std::optional<double> number =
      NumberIn(Trimmed(rest.substr(value + kValue.size())));
  if (!step || !number || name.empty()) return std::nullopt;
  InspectLine read{.step = *step, .value = *number};
  for (const Statistic& statistic : kStatistics) {
    const size_t bytes = statistic.name.size() + 1;
    if (name.size() <= bytes || !name.ends_with(statistic.name) ||
        name[name.size() - bytes] != '_') {
      continue;
    }
    read.tensor = name.substr(0, name.size() - bytes);
    read.statistic = statistic.name;
    return read;
  }
  read.tensor = name;
  return read;
}

std::optional<DumpedTensor> InspectTensors::Take(const InspectLine& line) {
  std::optional<DumpedTensor> done;
  if (open_ && (open_->op.name != line.tensor ||
                open_->tensor.step != line.step || line.statistic.empty())) {
    done = Finish();
  }
  if (!open_) {
    open_.emplace();
    open_->op.name = line.tensor;
    // Its layers compute in bf16 or FP8; the file does not say in which.
    open_->op.dtype = Dtype::kBf16;
    open_->tensor.step = line.step;
    open_->tensor.statistics = TensorStatistics{.rounded_by = kRoundedBy};
  }
  TensorStatistics& statistics = *open_->tensor.statistics;
  if (line.statistic.empty()) {
    // A number of another kind stands for itself.
    open_->tensor.elements = 1;
    statistics.min = statistics.max = line.value;
    return done;
  }
  for (const Statistic& statistic : kStatistics) {
    if (statistic.name == line.statistic) {
      statistics.*statistic.number = line.value;
    }
  }
  return done;
}

std::optional<DumpedTensor> InspectTensors::Finish() {
  if (open_) CountSpecials(&open_->tensor);
  return std::exchange(open_, std::nullopt);
}

}  // namespace nanwatch
