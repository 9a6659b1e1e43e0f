// DeepXDE: a table whose cells are lists, a number a term of the loss.
//
//  Step      Train loss              Test loss               Test metric
//  0         [2.50e+01, 9.75e-01]    [2.50e+01, 1.00e+00]    [1.00e+00]
//  Best model at step 7000:
//    train loss: 2.47e+01

#include <optional>
#include <string_view>

#include "logs/evaluation_news.h"
#include "logs/formats/formats.h"
#include "logs/named_number.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// The sum of "[2.50e+01, 9.75e-01]", behind blanks. nullopt: there is none.
std::optional<double> SumOfList(Scan* scan) {
  scan->SkipBlanks();
  if (!scan->Skip("[")) return std::nullopt;
  double sum = 0;
  do {
    const std::optional<double> term = scan->Number();
    if (!term) return std::nullopt;
    sum += *term;
  } while (scan->Skip(","));
  return scan->Skip("]") ? std::optional(sum) : std::nullopt;
}

class DeepXdeReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    Scan header(line);
    if (header.To("Step ") && header.To("Train loss ")) {
      in_table_ |= header.To("Test loss ");
      return;
    }
    const size_t list = line.find("  [");
    if (!in_table_ || list == line.npos) return;
    const size_t last = line.find_last_not_of(' ', list);
    const size_t before = line.find_last_not_of("0123456789", last);
    Scan scan(line, before == line.npos ? 0 : before + 1);
    const std::optional<int64_t> step = ReadCount(&scan);
    if (!step) return;
    const std::optional<double> loss = SumOfList(&scan);
    if (!loss) return;
    LogFact& fact = AddFact(LogFact::Kind::kProgress, 0, facts);
    fact.step = step;
    fact.Set(StepField::kLoss, *loss);
    if (const auto test = SumOfList(&scan)) {
      evaluations_.Take(*test, "Test loss", scan.at(), facts);
    }
  }

 private:
  bool in_table_ = false;
  EvaluationNews evaluations_;
};

constexpr std::string_view kMarks[] = {"Train loss ", "]  "};

}  // namespace

const LogFormat kDeepXde = {
    .name = "deepxde",
    .title = "DeepXDE",
    .marks = kMarks,
    .make = Fresh<DeepXdeReader>,
};

}  // namespace nanwatch
