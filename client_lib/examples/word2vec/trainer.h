// Trainer: the training loop, and what came of it.

#ifndef NANWATCH_WORD2VEC_TRAINER_H_
#define NANWATCH_WORD2VEC_TRAINER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "model.h"
#include "options.h"
#include "scaler.h"
#include "vocabulary.h"
#include "watch.h"

namespace word2vec {

struct TrainingOutcome {
  int64_t steps = 0;
  int64_t applied = 0;
  int64_t overflows = 0;
  double first_loss = 0;  // mean of the finite ones among the first 100
  double last_loss = 0;   // mean of the finite ones among the last 100
  double scale = 0;
  std::optional<std::string> stop_reason;
};

class Trainer {
 public:
  // All must outlive this.
  Trainer(const Options& options, const Vocabulary& vocabulary, Watch* watch);

  TrainingOutcome Run();
  const Table& vectors() const { return model_.vectors(); }

 private:
  StepOutcome Update(int64_t step, Batch* batch);
  void Progress(const StepOutcome& step, const TrainingOutcome& so_far);

  const Options& options_;
  const Scenario& scenario_;
  Watch* const watch_;
  Device device_;
  Sampler sampler_;
  Model model_;
  std::unique_ptr<LossScaler> scaler_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_TRAINER_H_
