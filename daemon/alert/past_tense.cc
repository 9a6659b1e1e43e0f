#include "alert/past_tense.h"

#include <string_view>

namespace nanwatch {
namespace {

struct Phrase {
  std::string_view present;
  std::string_view past;
};

constexpr Phrase kPhrases[] = {
    // A spike that came back was no divergence.
    {"The training diverges since step ", "The training left its way at step "},
    {" and is high for ", " and was high for "},
    {"The loss stands at ", "The loss stood at "},
    {", and most of that is lost", ", and most of that was lost"},
    {", and much of that is lost", ", and much of that was lost"},
    {", and all of that is lost", ", and all of that was lost"},
    {": the model has lost what it knew", ": the model had lost what it knew"},
    {"The loss is not finite since step ",
     "The loss was not finite from step "},
    {"The loss scale is ", "The loss scale was "},
    {": every gradient is lost", ": every gradient was lost"},
    {"in fp16 every gradient is lost", "in fp16 every gradient was lost"},
    {" are lost.", " were lost."},
    {"No update is applied since ", "No update was applied from "},
    {"Every attempt overflows since ", "Every attempt overflowed from "},
    {"Hardly any update is applied since ",
     "Hardly any update was applied from "},
    {"Most updates are skipped since ", "Most updates were skipped from "},
    {"Most attempts overflow since ", "Most attempts overflowed from "},
    {", where a lower one helps nobody", ", where a lower one helped nobody"},
    {"Gradients outgrow the loss scale", "Gradients outgrew the loss scale"},
};

}  // namespace

std::string InPastTense(std::string summary) {
  for (const Phrase& phrase : kPhrases) {
    const size_t at = summary.find(phrase.present);
    if (at == std::string::npos) continue;
    summary.replace(at, phrase.present.size(), phrase.past);
  }
  return summary;
}

}  // namespace nanwatch
