#include "app/comparison_json.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/comparison_words.h"
#include "json/value.h"

namespace nanwatch {
namespace {

template <typename T>
void Put(const char* key, const std::optional<T>& value, Json* json) {
  if (value) (*json)[key] = *value;
}

constexpr const char* kPhaseNames[kPhases] = {
    "weights", "batch", "forward", "backward", "gradients", "update"};
constexpr const char* kWeightNames[] = {"changes_results", "may_change",
                                        "does_not"};

Json DivergenceJson(const Divergence& d) {
  Json json;
  json["class"] = Name(d.kind);
  json["step"] = d.step;
  json["op"] = d.op;
  if (!d.type.empty()) {
    json["type"] = d.type;
    json["slot"] = Name(d.slot);
  }
  if (!d.type.empty() || d.dtype != Dtype::kUnknown) {
    json["dtype"] = Name(d.dtype);
  }
  json["phase"] = kPhaseNames[static_cast<int>(d.phase)];
  json["other_shape"] = d.other_shape;
  json["by_statistics"] = d.by_statistics;
  Put("distance", d.distance, &json);
  if (d.value_a) json["value_a"] = JsonNumber(*d.value_a);
  if (d.value_b) json["value_b"] = JsonNumber(*d.value_b);
  Put("nan_a", d.nan_a, &json);
  Put("nan_b", d.nan_b, &json);
  Put("inf_a", d.inf_a, &json);
  Put("inf_b", d.inf_b, &json);
  json["usual_at_most"] = d.floor;
  json["equal_before"] = d.equal_before;
  json["within_before"] = d.within_before;
  if (d.beyond > 0) json["beyond"] = d.beyond;
  if (!d.farthest_op.empty()) {
    json["farthest"] = {{"op", d.farthest_op}, {"distance", d.farthest}};
  }
  Put("known_equal_step", d.known_equal, &json);
  return json;
}

Json LossJson(const LossDiff& loss) {
  Json json;
  json["steps"] = loss.steps;
  if (loss.first_step) {
    json["first_step"] = *loss.first_step;
    json["a"] = loss.first_a;
    json["b"] = loss.first_b;
  }
  if (loss.farthest) {
    json["farthest_of_means"] = *loss.farthest;
    json["farthest_step"] = loss.farthest_step;
  }
  if (loss.bad_in_a) json["bad_in_a"] = loss.bad_in_a->step;
  if (loss.bad_in_b) json["bad_in_b"] = loss.bad_in_b->step;
  return json;
}

Json OverflowsJson(const OverflowDiff& diff) {
  const auto one = [](const DeviceOverflow& overflow) {
    return Json{{"step", overflow.step},
                {"op", overflow.op},
                {"unit", overflow.unit},
                {"meaning", overflow.meaning}};
  };
  Json only_a = Json::array();
  for (const DeviceOverflow& overflow : diff.only_a) {
    only_a.push_back(one(overflow));
  }
  Json only_b = Json::array();
  for (const OverflowBeside& beside : diff.only_b) {
    only_b.push_back(one(beside.overflow));
    only_b.back()["in_a"] = Name(beside.in_a);
  }
  return {{"both", diff.both},
          {"only_a", std::move(only_a)},
          {"only_b", std::move(only_b)},
          {"abnormal_steps", diff.abnormal_steps},
          {"updates_lost", diff.updates_lost}};
}

Json SideJson(const ComparedSide& side) {
  Json json;
  json["name"] = side.name;
  json["run"] = side.run.key.run_id;
  json["attempt"] = side.run.key.attempt;
  if (!side.complaint.empty()) json["missing"] = side.complaint;
  return json;
}

// What they come to, and who they are.
Json HeadJson(const ComparedSide& a, const ComparedSide& b,
              const Comparison& comparison) {
  const ComparisonWords words = WordsOf(comparison);
  Json json;
  json["a"] = SideJson(a);
  json["b"] = SideJson(b);
  json["comparable"] = comparison.comparable();
  json["severity"] = Name(SeverityOf(comparison));
  json["says"] = {{"headline", words.headline},
                  {"what_to_do", words.what_to_do},
                  {"settings", words.settings},
                  {"loss", words.loss},
                  {"tensors", words.tensors}};
  return json;
}

constexpr const char* kStandingNames[] = {"equal", "within", "unknown",
                                          "beyond"};

Json CellJson(const std::optional<MapCell>& cell) {
  if (!cell) return nullptr;
  const char* standing = kStandingNames[static_cast<int>(cell->standing)];
  if (!cell->decades) return standing;
  return {standing, std::round(100 * *cell->decades) / 100};
}

}  // namespace

Json ComparisonJson(const ComparedSide& a, const ComparedSide& b,
                    const Comparison& comparison) {
  Json json = HeadJson(a, b, comparison);
  if (comparison.first) json["divergence"] = DivergenceJson(*comparison.first);
  json["settings"] = Json::array();
  for (const SettingDiff& diff : comparison.settings) {
    json["settings"].push_back(
        {{"key", diff.key},
         {"a", diff.a},
         {"b", diff.b},
         {"weight", kWeightNames[static_cast<int>(diff.weight)]}});
  }
  json["loss"] = LossJson(comparison.loss);
  json["overflows"] = OverflowsJson(comparison.overflows);
  json["batches"]["steps"] = comparison.batches.steps;
  Put("first_step", comparison.batches.first_step, &json["batches"]);
  Put("shift", comparison.batches.shift, &json["batches"]);
  json["batches"]["begins_anew"] = comparison.batches.begins_anew;
  Json& tensors = json["tensors"];
  tensors["steps"] = comparison.tensor_steps;
  tensors["compared"] = comparison.tensors;
  tensors["other_layout"] = comparison.other_layout;
  tensors["only_a"] = comparison.only_a;
  tensors["only_b"] = comparison.only_b;
  tensors["by_statistics"] = comparison.by_statistics;
  tensors["incomparable"] = comparison.incomparable;
  tensors["empty"] = comparison.empty;
  tensors["unread"] = comparison.unread;
  Put("unseen_below", comparison.unseen, &tensors);
  if (comparison.unseen) {
    tensors["unseen_gradients_below"] = comparison.unseen_gradients;
  }
  if (comparison.bits) {
    Json& bits = json["first_unequal"];
    bits["step"] = comparison.bits->step;
    bits["op"] = comparison.bits->op;
    bits["slot"] = Name(comparison.bits->slot);
    Put("distance", comparison.bits->distance, &bits);
  }
  return json;
}

Json DistanceMapJson(const DistanceMap& map) {
  Json json;
  json["steps"] = map.steps;
  json["steps_left_out"] = map.steps_left_out;
  json["tensors_left_out"] = map.rows_left_out;
  Json& tensors = json["tensors"] = Json::array();
  for (const MapRow& row : map.rows) {
    Json& tensor = tensors.emplace_back();
    tensor["op"] = row.op;
    tensor["type"] = row.type;
    tensor["slot"] = Name(row.slot);
    tensor["phase"] = kPhaseNames[static_cast<int>(row.phase)];
    Json& cells = tensor["cells"] = Json::array();
    for (const auto& cell : row.cells) cells.push_back(CellJson(cell));
  }
  return json;
}

}  // namespace nanwatch
