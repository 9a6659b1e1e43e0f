// Usual names in other European languages.

#include <algorithm>
#include <iterator>

#include "logs/compact_name.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

using Meaning = ColumnMeaning;

// German, French, Spanish, Italian and Portuguese, without accents. Their
// numbers have commas, which most readers take for the end of one.
constexpr NamedMeaning kForeign[] = {
    {"verlust", Meaning::kLoss},
    {"trainingsverlust", Meaning::kLoss},
    {"perte", Meaning::kLoss},
    {"perdida", Meaning::kLoss},
    {"prdida", Meaning::kLoss},
    {"perdita", Meaning::kLoss},
    {"perda", Meaning::kLoss},
    {"genauigkeit", Meaning::kAccuracy},
    {"exactitude", Meaning::kAccuracy},
    {"prcision", Meaning::kAccuracy},
    {"precisin", Meaning::kAccuracy},
    {"lernrate", Meaning::kLearningRate},
    {"tauxapprentissage", Meaning::kLearningRate},
    {"tauxdapprentissage", Meaning::kLearningRate},
    {"tasadeaprendizaje", Meaning::kLearningRate},
    {"schritt", Meaning::kStep},
    {"gradientennorm", Meaning::kGradNorm},
    {"normegradient", Meaning::kGradNorm},
    {"normedugradient", Meaning::kGradNorm},
};

}  // namespace

ColumnMeaning ForeignMeaning(std::string_view name) {
  NameRoom room;
  const std::string_view text = Compact(name, &room);
  const auto found = std::find_if(
      std::begin(kForeign), std::end(kForeign),
      [text](const NamedMeaning& known) { return known.text == text; });
  return found == std::end(kForeign) ? Meaning::kNothing : found->meaning;
}

}  // namespace nanwatch
