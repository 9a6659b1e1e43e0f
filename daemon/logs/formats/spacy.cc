// spaCy's training table. A row is of the steps since the row before: losses
// are their sums, one a component.
//
// E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE
// ---  ------  ------------  --------  ------  ------  ------  ------
//   0       0         60.25    564.42   20.00   20.00   20.00    0.20
//   0     200       1281.43  24491.65   25.00   25.00   25.00    0.25

#include <algorithm>
#include <optional>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/scan.h"
#include "logs/table_row.h"

namespace nanwatch {
namespace {

class SpacyReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    if (TakeHeader(line) || losses_ == 0) return;
    row_.Split(line, ' ');
    if (row_.cells().size() < columns_) return;
    // Launchers put something before a row.
    const auto cell = row_.cells().end() - static_cast<ptrdiff_t>(columns_);
    const std::optional<int64_t> step = AsCount(WholeNumber(cell[1]));
    if (!step || !WholeNumber(cell[0])) return;
    double sum = 0;
    for (size_t i = 2; i < 2 + losses_; ++i) {
      const auto loss = WholeNumber(cell[static_cast<ptrdiff_t>(i)]);
      if (!loss) return;
      sum += *loss;
    }
    // The first row is of one step, in a run from the beginning.
    const int64_t steps = *step > last_ ? *step - last_ : 1;
    last_ = *step;
    LogFact fact;
    fact.step = step;
    fact.means = true;
    // The last column.
    const std::optional<double> score = WholeNumber(row_.cells().back());
    if (score) fact.scores_worst = *score == 0;
    fact.Set(StepField::kLoss, sum / static_cast<double>(steps));
    facts->push_back(fact);
  }

 private:
  // The losses' columns, of two words each, follow the step's.
  bool TakeHeader(std::string_view line) {
    const size_t at = line.find("E    # ");
    if (at == std::string_view::npos) return false;
    row_.Split(line.substr(at), ' ');
    const auto& words = row_.cells();
    losses_ =
        static_cast<size_t>(std::count(words.begin(), words.end(), "LOSS"));
    columns_ = words.size() - losses_;
    last_ = 0;
    return true;
  }

  TableRow row_;
  size_t losses_ = 0;  // columns of them; 0: no header yet
  size_t columns_ = 0;
  int64_t last_ = 0;  // step of the row before
};

// Of a header, and of rows.
constexpr std::string_view kMarks[] = {"  "};

}  // namespace

const LogFormat kSpacy = {
    .name = "spacy",
    .title = "spaCy",
    .marks = kMarks,
    .make = Fresh<SpacyReader>,
};

}  // namespace nanwatch
