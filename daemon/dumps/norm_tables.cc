#include "dumps/norm_tables.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "dumps/dump_collector.h"
#include "dumps/dump_place.h"

namespace nanwatch {
namespace {

// Fewer are no table, but lines that look like one.
constexpr size_t kParametersMin = 4;

// The first number in a name is its layer's; nullopt: there is none.
std::optional<int64_t> LayerOf(std::string_view name) {
  const size_t begin = name.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t end = name.find_first_not_of("0123456789", begin);
  return DigitsOf(name.substr(begin, end - begin));
}

// How the numbers of layers go from line to line: more often up, 1, as a model
// lists its parameters; more often down, -1, as a backward pass comes to them;
// 0: the names do not say it.
template <typename Table>
int DirectionOf(const Table& table) {
  int steps = 0;
  std::optional<int64_t> before;
  for (const auto& printed : table) {
    const std::optional<int64_t> layer = LayerOf(printed.name);
    if (layer && before) steps += (*layer > *before) - (*layer < *before);
    before = layer ? layer : before;
  }
  return (steps > 0) - (steps < 0);
}

}  // namespace

Status NormTables::Take(std::string_view line) {
  const std::optional<NormLine> read = ReadNormLine(line);
  if (!read) return OkStatus();
  if (++count_ > kDumpTensors) {
    return Error{fmt::format("it prints more than {} norms", kDumpTensors)};
  }
  OfThing& of = things_[static_cast<size_t>(read->thing)];
  if (!of.names.emplace(read->name).second) {
    ++of.table;
    of.names = {std::string(read->name)};
  }
  of.printed.push_back({std::string(read->name), of.table, read->norm});
  return OkStatus();
}

Result<ComparedRun> NormTables::Finish() {
  const auto has_table = [this](const OfThing& of) {
    std::set<std::string_view> names;
    bool whole = true;  // numbers, as of elements
    for (const Printed& printed : of.printed) {
      names.insert(printed.name);
      whole = whole && printed.norm == std::trunc(printed.norm);
    }
    const bool counts = whole && &of == &things_.back();
    return names.size() >= kParametersMin && !counts;
  };
  const auto of = std::find_if(things_.begin(), things_.end(), has_table);
  if (of == things_.end()) return ComparedRun{};
  const bool gradients = of == things_.begin();
  const int direction = gradients ? DirectionOf(of->printed) : 0;
  if (direction > 0) std::reverse(of->printed.begin(), of->printed.end());
  DumpCollector collector;
  if (direction == 0) collector.SetUnordered();
  collector.SetPrinted();
  for (Printed& printed : of->printed) {
    DumpedTensor dumped;
    dumped.op.name = std::move(printed.name);
    dumped.op.type = gradients ? "Parameter" : "";
    dumped.tensor.step = printed.table;
    dumped.tensor.slot = gradients ? Slot::kGradInput : Slot::kParameter;
    dumped.tensor.elements = 1;  // how many it has is not printed
    dumped.tensor.statistics = TensorStatistics{.norm = printed.norm};
    dumped.tensor.nan = std::isnan(printed.norm) ? 1 : 0;
    dumped.tensor.inf = std::isinf(printed.norm) ? 1 : 0;
    const Status taken = collector.Take(std::move(dumped));
    if (!taken.ok()) return Error{taken.error()};
  }
  return collector.Finish();
}

}  // namespace nanwatch
