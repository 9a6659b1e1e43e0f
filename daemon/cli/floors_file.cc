#include "cli/floors_file.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "cli/style.h"

namespace nanwatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kMark = "nanwatch_floors";
// 15,000 tensors a step, of three steps, at 120 bytes, four times.
constexpr uint64_t kMostBytes = 32 << 20;

std::optional<Slot> SlotNamed(const std::string& name) {
  for (int i = 0; i < kSlots; ++i) {
    const Slot slot = static_cast<Slot>(i);
    if (Name(slot) == name) return slot;
  }
  return std::nullopt;
}

Json StepJson(int64_t step, const StepFloors& floors) {
  Json json{{"step", step}, {"loss", floors.loss}, {"tensors", Json::array()}};
  for (const auto& [name, distance] : floors.tensors) {
    const auto& [op, type, slot, place] = name;
    json["tensors"].push_back({{"op", op},
                               {"type", type},
                               {"slot", Name(slot)},
                               {"place", place},
                               {"distance", distance}});
  }
  return json;
}

// What is of another type throws; a number that no distance is counts as
// broken, too.
bool ReadStep(const Json& json, Floors* floors) {
  const auto distance = [](const Json& of) {
    const double value = of.get<double>();
    return std::isfinite(value) && value >= 0 ? value : -1;
  };
  StepFloors& step = floors->steps[json.at("step").get<int64_t>()];
  step.loss = distance(json.at("loss"));
  bool fine = step.loss >= 0;
  for (const Json& tensor : json.at("tensors")) {
    const auto slot = SlotNamed(tensor.at("slot").get<std::string>());
    const double value = distance(tensor.at("distance"));
    if (!slot || value < 0) return false;
    step.tensors[{tensor.at("op").get<std::string>(),
                  tensor.at("type").get<std::string>(), *slot,
                  tensor.at("place").get<uint32_t>()}] = value;
  }
  return fine;
}

}  // namespace

Status WriteFloors(const std::string& path, const Floors& floors,
                   int64_t repeats) {
  Json json{{kMark, kVersion}, {"repeats", repeats}, {"steps", Json::array()}};
  for (const auto& [step, of_step] : floors.steps) {
    json["steps"].push_back(StepJson(step, of_step));
  }
  std::ofstream file(path);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) return Error{fmt::format("{}: cannot be written", Clean(path))};
  return OkStatus();
}

Result<Floors> ReadFloors(const std::string& path) {
  const std::string name = Clean(path);
  const auto broken = [&name](const char* why) {
    return Error{fmt::format(
        "{}: {}; `nanwatch repeat --floors FILE -- CMD` writes such a file",
        name, why)};
  };
  if (!FileExists(path)) return broken("there is no such file");
  if (FileBytes(path) > kMostBytes) return broken("it is too large");
  const Json json = Json::parse(ReadHead(path, kMostBytes), nullptr, false);
  Floors floors;
  try {
    if (json.at(kMark).get<int>() != kVersion) {
      return broken("it is of another version");
    }
    for (const Json& step : json.at("steps")) {
      if (!ReadStep(step, &floors)) return broken("a distance is none");
    }
  } catch (const Json::exception&) {
    return broken("it holds no floors");
  }
  return floors;
}

}  // namespace nanwatch
