// What `fusion` says, to people and as JSON.

#include <spdlog/fmt/fmt.h>

#include <string>

#include "app/divergence_words.h"
#include "cli/fusion.h"
#include "json/value.h"

namespace nanwatch {
namespace {

// What computes something else, and by which tensor that shows.
std::string KindInWords(const Divergence& d) {
  switch (d.kind) {
    case DivergenceClass::kDivergentOp:
      return fmt::format(
          "{}: forward, its input agrees and its output does "
          "not",
          OpWords(d));
    case DivergenceClass::kDivergentFunction:
      return fmt::format(
          "a function before {}: forward, what that gets "
          "differs",
          OpWords(d));
    case DivergenceClass::kDivergentLoss:
      return "the loss function: what the model makes agrees, the loss or its "
             "gradient does not";
    default:
      return fmt::format("{}: in the backward pass or the update {} differs",
                         OpWords(d), SlotWords(d));
  }
}

std::string Headline(const Fused& fused) {
  const Divergence* first = fused.first();
  if (first == nullptr) {
    return fused.compiled() ? "Compiled, the training computes the same, but "
                              "for roundings."
                            : "Nothing that is compiled was seen: the two runs "
                              "are equal to the bit.";
  }
  return fmt::format("Compiled, something else is computed by {}. {}",
                     KindInWords(*first), HowFar(*first));
}

}  // namespace

std::string FusedText(const Fused& fused, const Style& style) {
  const bool differs = fused.first() != nullptr;
  std::string out = style.Bold(differs            ? "DIFFERS"
                               : fused.compiled() ? "AGREES"
                                                  : "NOTHING TO COMPARE") +
                    "\n";
  const auto line = [&](const std::string& text) {
    out += Wrapped(text, 2, style.columns);
  };
  line(Headline(fused));
  if (differs) line("A: without fusion. B: compiled.");
  if (fused.is_part()) {
    line(
        fmt::format("It is a part of {}, whose modules were then compiled one "
                    "by one.",
                    Clean(fused.region)));
  } else if (differs && fused.parts && !fused.parts->first) {
    line(
        "Its modules agree where each is compiled alone: look at what is "
        "fused across them, or at the functions between them.");
  }
  line(fmt::format("Tensors: {} compared; {} within what is compiled were not.",
                   Grouped(fused.whole.tensors), Grouped(fused.whole.only_a)));
  if (!fused.precision.empty()) {
    line(
        fmt::format("The weights are {}, whose roundings hide small faults: "
                    "run it in fp32.",
                    fused.precision));
  }
  if (!differs && fused.compiled() && fused.whole.unseen) {
    line(fmt::format(
        "Would not be seen: what differs by less than {} of a tensor's norm.",
        Share(*fused.whole.unseen)));
  }
  if (differs) {
    line(
        "What to do: compare the constants of this kernel (epsilon, "
        "approximation) with those of the eager one. torch.compiler.disable "
        "or jax.disable_jit keeps it from the compiler, run_eagerly=True the "
        "whole model in Keras, MS_JIT=0 the whole program in MindSpore.");
  } else if (!fused.compiled()) {
    line(
        "What to do: compile modules that the watch sees, "
        "torch.compile(module), before nanwatch.torch.watch. In Keras, let "
        "compile() have jit_compile=True.");
  }
  return out;
}

std::string FusedJson(const Fused& fused) {
  Json json;
  const Divergence* first = fused.first();
  json["agrees"] = first == nullptr && fused.compiled();
  json["compiled"] = fused.compiled();
  json["tensors"] = fused.whole.tensors;
  json["hidden"] = fused.whole.only_a;
  if (fused.whole.unseen) json["unseen_below"] = *fused.whole.unseen;
  if (first != nullptr) {
    json["class"] = Name(first->kind);
    json["region"] = Clean(fused.region);
    json["op"] = Clean(first->op);
    json["type"] = Clean(first->type);
    json["slot"] = Name(first->slot);
    json["step"] = first->step;
    if (first->distance) json["distance"] = *first->distance;
    json["usual_at_most"] = first->floor;
  }
  return Dump(json, 2);
}

}  // namespace nanwatch
