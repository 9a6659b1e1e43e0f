#include "cli/compare.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/floors_file.h"
#include "cli/log_flags.h"
#include "cli/option.h"
#include "config/addresses.h"
#include "json/value.h"

namespace nanwatch {
namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
  std::string a;
  std::string b;
  std::string address;
  CheckOptions log;
  bool json = false;
  std::string floors;  // a file; empty: none
};

int CompareRuns(const CompareOptions& options, const Style& style) {
  const Result<ComparedSide> a =
      ReadSide(options.a, options.address, options.log);
  if (!a.ok()) return Fail(a.error());
  const Result<ComparedSide> b =
      ReadSide(options.b, options.address, options.log);
  if (!b.ok()) return Fail(b.error());
  std::optional<Floors> floors;
  if (!options.floors.empty()) {
    Result<Floors> read = ReadFloors(options.floors);
    if (!read.ok()) return Fail(read.error());
    floors = std::move(*read);
  }
  const Comparison comparison =
      Compare(a->run, b->run, floors ? &*floors : nullptr);
  const std::string text = options.json
                               ? ComparisonJson(*a, *b, comparison)
                               : ComparisonText(*a, *b, comparison, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return comparison.comparable() ? SeverityOf(comparison) : kExitFailed;
}

template <typename T>
void Put(const char* key, const std::optional<T>& value, Json* json) {
  if (value) (*json)[key] = *value;
}

constexpr const char* kPhaseNames[kPhases] = {"weights", "batch", "forward",
                                              "backward", "gradients"};
constexpr const char* kWeightNames[] = {"changes_results", "may_change",
                                        "does_not"};

Json DivergenceJson(const Divergence& d) {
  Json json;
  json["class"] = Name(d.kind);
  json["step"] = d.step;
  json["op"] = Clean(d.op);
  if (!d.type.empty()) {
    json["type"] = Clean(d.type);
    json["slot"] = Name(d.slot);
    json["dtype"] = Name(d.dtype);
  }
  json["phase"] = kPhaseNames[static_cast<int>(d.phase)];
  json["other_shape"] = d.other_shape;
  Put("distance", d.distance, &json);
  Put("nan_a", d.nan_a, &json);
  Put("nan_b", d.nan_b, &json);
  Put("inf_a", d.inf_a, &json);
  Put("inf_b", d.inf_b, &json);
  json["usual_at_most"] = d.floor;
  json["equal_before"] = d.equal_before;
  json["within_before"] = d.within_before;
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

Json SideJson(const ComparedSide& side) {
  Json json;
  json["name"] = Clean(side.name);
  json["run"] = Clean(side.run.key.run_id);
  json["attempt"] = side.run.key.attempt;
  if (!side.complaint.empty()) json["missing"] = Clean(side.complaint);
  return json;
}

}  // namespace

int SeverityOf(const Comparison& comparison) {
  if (comparison.first || comparison.loss.bad_in_a ||
      comparison.loss.bad_in_b) {
    return 2;
  }
  for (const SettingDiff& diff : comparison.settings) {
    if (diff.weight == SettingWeight::kChangesResults) return 1;
  }
  const bool told = comparison.tensors > 0;
  return !told && comparison.loss.first_step ? 1 : 0;
}

std::string ComparisonJson(const ComparedSide& a, const ComparedSide& b,
                           const Comparison& comparison) {
  Json json;
  json["a"] = SideJson(a);
  json["b"] = SideJson(b);
  json["comparable"] = comparison.comparable();
  if (comparison.first) json["divergence"] = DivergenceJson(*comparison.first);
  json["settings"] = Json::array();
  for (const SettingDiff& diff : comparison.settings) {
    json["settings"].push_back(
        {{"key", Clean(diff.key)},
         {"a", Clean(diff.a)},
         {"b", Clean(diff.b)},
         {"weight", kWeightNames[static_cast<int>(diff.weight)]}});
  }
  json["loss"] = LossJson(comparison.loss);
  json["batches"]["steps"] = comparison.batches.steps;
  Put("first_step", comparison.batches.first_step, &json["batches"]);
  Put("shift", comparison.batches.shift, &json["batches"]);
  Json& tensors = json["tensors"];
  tensors["steps"] = comparison.tensor_steps;
  tensors["compared"] = comparison.tensors;
  tensors["other_layout"] = comparison.other_layout;
  tensors["only_a"] = comparison.only_a;
  tensors["only_b"] = comparison.only_b;
  Put("unseen_below", comparison.unseen, &tensors);
  if (comparison.bits) {
    Json& bits = json["first_unequal"];
    bits["step"] = comparison.bits->step;
    bits["op"] = Clean(comparison.bits->op);
    bits["slot"] = Name(comparison.bits->slot);
    Put("distance", comparison.bits->distance, &bits);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Command CompareCommand(const std::string* address) {
  struct Arguments : LogFlags {
    CompareOptions options;
  };
  const auto a = std::make_shared<Arguments>();
  CompareOptions& options = a->options;
  return {
      .name = "compare",
      .help =
          "two runs side by side: the settings, the losses and the first "
          "tensor that differs, whether that is usual, and what parts the "
          "runs. "
          "For tensors both record with level=\"compare\"",
      .options = Joined(
          {{.names = "a",
            .target = &options.a,
            .help = "a history or an export (FILE, FILE:RUN@ATTEMPT), a log, "
                    "or a run that the daemon knows (RUN, RUN@ATTEMPT)",
            .required = true},
           {.names = "b",
            .target = &options.b,
            .help = "the run that is compared with it",
            .required = true},
           {"--floors", &options.floors,
            "a file of `repeat`: what lies no farther apart than repeats of "
            "the program is usual"},
           {"--json", &options.json, "as JSON"}},
          a->OptionsOfALog()),
      .run = [=] {
        const Status resolved = a->Resolve(&a->options.log);
        if (!resolved.ok()) return Fail(resolved.error(), kExitUsage);
        a->options.address = DaemonAddress(*address);
        return CompareRuns(a->options, Style::OfTerminal());
      }};
}

}  // namespace nanwatch
