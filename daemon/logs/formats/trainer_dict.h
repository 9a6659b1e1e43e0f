// TrainerDictReader: the Python dicts that Hugging Face's Trainer and what is
// built on it print at each log step. They show no step: it is taken from the
// progress bars around them.

#ifndef NANWATCH_LOGS_FORMATS_TRAINER_DICT_H_
#define NANWATCH_LOGS_FORMATS_TRAINER_DICT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "logs/format.h"

namespace nanwatch {

// What tells a program of the family from the others.
struct TrainerProgram {
  // A dict is the program's if a key begins with one of these, or one of
  // `words` was in a line before. Both empty: any dict is.
  std::span<const std::string_view> keys;
  std::span<const std::string_view> words;
  // A loss of exactly 0 is nothing odd in it (reinforcement learning).
  bool loss_may_be_zero = false;
};

class TrainerDictReader : public LineReader {
 public:
  explicit TrainerDictReader(const TrainerProgram& program)
      : program_(program) {}
  void Read(std::string_view line, FactList* facts) override;

 private:
  // One dict's numbers.
  struct Entry {
    LogFact fact;
    std::optional<double> epoch;
    bool own = false;     // a key of the program
    bool logger = false;  // printed through a logger, not by the progress bar
  };

  void ReadBars(std::string_view text);
  bool ReadDict(std::string_view text, Entry* entry) const;
  void Finish(Entry* entry, FactList* facts);
  bool IsCopy(const Entry& entry) const;
  bool HidesNan(const LogFact& fact);
  // Sets `*counted` where nothing around the dict shows its step.
  int64_t NextStep(const Entry& entry, bool* counted);

  const TrainerProgram program_;
  bool named_ = false;  // one of the program's words was seen
  // The newest progress bar since the last dict; 0: none.
  int64_t bar_step_ = 0;
  int64_t bar_total_ = 0;
  int64_t total_ = 0;  // of the training's bar; others are an evaluation's
  int64_t drawn_ = 0;  // total of the newest bar, whatever it is of
  int64_t step_ = 0;   // of the last dict
  int64_t stride_ = 1;
  double epoch_ = -1;
  double loss_ = 0;  // as printed
  bool logger_ = false;
  int zeros_ = 0;         // dicts in a row whose loss is exactly 0
  double last_loss_ = 0;  // of the newest that is another number
};

template <const TrainerProgram& kProgram>
std::unique_ptr<LineReader> TrainerDicts(const ColumnMap&) {
  return std::make_unique<TrainerDictReader>(kProgram);
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMATS_TRAINER_DICT_H_
