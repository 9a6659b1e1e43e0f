// Watch: tells nanwatch of the training: every op, every step. The only file
// pair here that knows nanwatch.

#ifndef NANWATCH_WORD2VEC_WATCH_H_
#define NANWATCH_WORD2VEC_WATCH_H_

#include <array>
#include <cstdint>
#include <nanwatch.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.h"
#include "options.h"

namespace word2vec {

// What the optimizer knows of one update.
struct StepOutcome {
  int64_t step = 0;
  double loss = 0;
  double scale = 1;
  bool overflow = false;
  bool applied = false;
  double gradient_norm = 0;  // unscaled
  double learning_rate = 0;
  int64_t samples = 0;                                 // since the beginning
  std::optional<std::array<int32_t, 8>> float_status;  // saturation mode only
};

class Watch : public OpListener {
 public:
  explicit Watch(const Options& options);

  void BeginStep(int64_t step);
  void OnOp(const Op& op, std::initializer_list<const Tensor*> inputs,
            const Tensor& output, bool overflow) override;
  void EndStep(const StepOutcome& outcome);
  // Why somebody asked this training to stop, if somebody did.
  std::optional<std::string> StopReason();
  // Says how the conversation with nanwatchd went; a sentence.
  std::string Close();

 private:
  int32_t Index(const Op& op, const Tensor& output);
  // Statistics of a whole buffer, computed once a step.
  const nanwatch::OpStatus& Observed(const Tensor& tensor);
  void Push(const nanwatch::OpStatus& observed, int32_t op, nanwatch_slot slot,
            std::optional<bool> device_flag);
  void PushLogicalRegion(const Tensor& output, int32_t op);

  nanwatch::Run run_;
  int64_t step_ = 0;
  std::vector<int32_t> index_;  // by execution order; -1: not yet registered
  std::unordered_map<const Tensor*, nanwatch::OpStatus> observed_;
  std::vector<Half> logical_;
  uint64_t gradient_elements_ = 0;  // of this step
  uint64_t gradient_zeros_ = 0;
  uint64_t request_ = 0;  // asks for op statuses until request_end_
  int64_t request_end_ = 0;
  std::optional<std::string> stop_reason_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_WATCH_H_
