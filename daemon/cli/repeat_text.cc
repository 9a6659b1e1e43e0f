// What `repeat` says, to people and as JSON.

#include <spdlog/fmt/fmt.h>

#include <string>

#include "cli/repeat.h"
#include "json/value.h"

namespace nanwatch {
namespace {

bool DrawsNumbers(const Unsteady& what) {
  return what.type.find("Dropout") != std::string::npos;
}

std::string UnsteadyWords(const Unsteady& what) {
  const size_t backward = what.type.rfind("Backward");
  const std::string type = what.kind == UnsteadyKind::kBackward ||
                                   what.kind == UnsteadyKind::kBackwardFunction
                               ? what.type.substr(0, backward)
                               : what.type;
  return type.empty() ? what.op : fmt::format("{} ({})", what.op, type);
}

std::string What(const Unsteady& what) {
  switch (what.kind) {
    case UnsteadyKind::kWeights:
      return fmt::format("The program begins with other weights: {}{}", what.op,
                         what.tensors > 1
                             ? fmt::format(" and {} more", what.tensors - 1)
                             : std::string());
    case UnsteadyKind::kData:
      return "The data: the model gets another batch";
    case UnsteadyKind::kOp:
      return fmt::format(
          "{}, forward: its input is equal to the bit, its output is not",
          UnsteadyWords(what));
    case UnsteadyKind::kFunction:
      return fmt::format(
          "A function {}before {}, forward: all before it is equal to the bit, "
          "what it makes is not",
          what.after.empty() ? std::string()
                             : fmt::format("after {} and ", what.after),
          UnsteadyWords(what));
    case UnsteadyKind::kLoss:
      return "The loss: what the model makes is equal to the bit, the loss or "
             "its gradient is not";
    case UnsteadyKind::kBackward:
      return fmt::format(
          "{}, backward: the gradient that arrives is equal to the bit, the "
          "one that it passes on is not",
          UnsteadyWords(what));
    case UnsteadyKind::kBackwardFunction:
      return fmt::format(
          "A function behind {}, backward: all before it is equal to the bit, "
          "its gradient is not",
          UnsteadyWords(what));
    case UnsteadyKind::kGradient:
      return fmt::format(
          "The gradient of {}: what its module gets, forward and backward, is "
          "equal to the bit",
          what.op);
    case UnsteadyKind::kUpdate:
      return fmt::format(
          "The optimizer: gradients are equal to the bit, {} is not after the "
          "update",
          what.op);
    case UnsteadyKind::kBetween:
      return "Between two steps that are recorded; the tensors of none say "
             "where. Run it with --steps 0 and fewer steps";
  }
  return "";
}

std::string CureOf(const Unsteady& what) {
  if (DrawsNumbers(what)) return "Set the seed before the first step.";
  switch (what.kind) {
    case UnsteadyKind::kWeights:
      return "Set the seed before the model is made, or load a checkpoint.";
    case UnsteadyKind::kData:
      return "Seed the sampler and each worker, and take batches in the order "
             "of their numbers, not in that in which workers are ready.";
    case UnsteadyKind::kOp:
    case UnsteadyKind::kFunction:
    case UnsteadyKind::kBackward:
    case UnsteadyKind::kBackwardFunction:
    case UnsteadyKind::kGradient:
      return "torch.use_deterministic_algorithms(True) takes another kernel, "
             "or says that there is none. Of a compiled region: run it without "
             "torch.compile. If it draws random numbers: set the seed.";
    case UnsteadyKind::kLoss:
      return "Look at what the loss function adds up, and whether it draws "
             "random numbers.";
    case UnsteadyKind::kUpdate:
      return "Run the optimizer with foreach=False and fused=False, and look "
             "at what else changes weights.";
    case UnsteadyKind::kBetween:
      break;
  }
  return "";
}

std::string SeenLine(const Seen& seen, int64_t repeats) {
  return fmt::format(
      "{}. In {} of {} repeats{}.", What(seen.what), seen.repeats, repeats,
      seen.what.distance
          ? fmt::format(", by {:.2g} of its norm at most", *seen.what.distance)
          : std::string());
}

}  // namespace

std::string RepeatsText(const Repeats& r, const Style& style) {
  std::string out =
      style.Bold(r.differs() ? "NOT DETERMINISTIC" : "DETERMINISTIC") + "\n";
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out += Wrapped(text, 2, style.columns);
  };
  if (r.differs()) {
    line(fmt::format("Repeats are not the same from step {} on.", *r.step));
    for (const Seen& seen : r.seen) line(SeenLine(seen, r.count));
    if (r.seen.empty()) line("Nothing is known of what makes it so.");
  } else {
    line(fmt::format(
        "{} equal to the first run, to the bit.",
        r.count == 1 ? "A repeat is" : fmt::format("{} repeats are", r.count)));
  }
  line(r.tensors > 0
           ? fmt::format("{} tensors were compared.", Grouped(r.tensors))
           : std::string(
                 "Losses alone were compared. For tensors the program calls "
                 "nanwatch.torch.watch, and the C library is there."));
  if (r.differs()) {
    line(
        "What comes after these, or at later steps, was not judged: repeat it "
        "when they are mended.");
  }
  if (!r.floors_file.empty()) {
    line(fmt::format(
        "How far repeats lie apart is in {0}: nanwatch compare A B --floors "
        "{0}",
        r.floors_file));
  }
  if (!r.seen.empty()) {
    const std::string advice = CureOf(r.seen.front().what);
    if (!advice.empty()) line("What to do: " + advice);
  }
  return out;
}

std::string RepeatsJson(const Repeats& r) {
  Json json;
  json["deterministic"] = !r.differs();
  json["repeats"] = r.count;
  json["tensors"] = r.tensors;
  if (r.step) json["first_step"] = *r.step;
  json["unsteady"] = Json::array();
  for (const Seen& seen : r.seen) {
    Json one{{"kind", Name(seen.what.kind)},
             {"op", Clean(seen.what.op)},
             {"type", Clean(seen.what.type)},
             {"repeats", seen.repeats},
             {"tensors", seen.what.tensors}};
    if (!seen.what.after.empty()) one["after"] = Clean(seen.what.after);
    if (seen.what.distance) one["distance"] = *seen.what.distance;
    json["unsteady"].push_back(one);
  }
  json["runs"] = r.runs;
  if (!r.floors_file.empty()) json["floors"] = Clean(r.floors_file);
  return Dump(json, 2);
}

}  // namespace nanwatch
