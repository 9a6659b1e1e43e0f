// Device: runs ops one after the other as an NPU would, keeps the float status,
// and saturates results if its mode says so.

#ifndef NANWATCH_WORD2VEC_DEVICE_H_
#define NANWATCH_WORD2VEC_DEVICE_H_

#include <functional>
#include <initializer_list>
#include <string>

#include "float_status.h"
#include "tensor.h"

namespace word2vec {

enum class OverflowMode {
  kSaturation,  // Inf becomes +-65504 and NaN 0; only the float status tells
  kInfNan,      // IEEE
};

struct Op {
  std::string name;
  std::string type;
  std::string data_format;
  int order = 0;          // place in the execution order, from 0
  bool gradient = false;  // of the backward pass
};

// Sees every op after it ran.
class OpListener {
 public:
  virtual ~OpListener() = default;
  // `overflow`: the float status around this op alone.
  virtual void OnOp(const Op& op, std::initializer_list<const Tensor*> inputs,
                    const Tensor& output, bool overflow) = 0;
};

// Inf to +-65504 and NaN to 0, on the bits, so that no flag is touched.
void Saturate(Half* data, size_t n);
bool HasNonFinite(const Half* data, size_t n);

class Device {
 public:
  // `listener` may be null and must outlive this.
  Device(OverflowMode mode, OpListener* listener)
      : mode_(mode), listener_(listener) {}

  void Run(const Op& op, std::initializer_list<const Tensor*> inputs,
           Tensor* output, const std::function<void()>& kernel);

  OverflowMode mode() const { return mode_; }
  FloatStatus& float_status() { return float_status_; }

 private:
  const OverflowMode mode_;
  OpListener* const listener_;
  FloatStatus float_status_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_DEVICE_H_
