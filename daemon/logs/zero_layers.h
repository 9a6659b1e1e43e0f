// ZeroLayers: which layers of a log have a gradient norm of exactly 0, where
// those of others are not.

#ifndef NANWATCH_LOGS_ZERO_LAYERS_H_
#define NANWATCH_LOGS_ZERO_LAYERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "logs/layer_pairs.h"

namespace nanwatch {

class ZeroLayers {
 public:
  // Takes in a line and its number. Returns whether what follows here became
  // another.
  bool Read(std::string_view line, uint64_t number);

  // "fc1.weight and 2 more": the layer that had a gradient until the line
  // since(), and has none from there on; and one that never had. Empty: there
  // is none, or the log says that it freezes layers.
  const std::string& lost() const { return lost_; }
  uint64_t since() const { return since_; }
  const std::string& never() const { return never_; }

 private:
  struct Layer {
    int32_t norms = 0;    // that are not 0
    int32_t zeros = 0;    // in a row, the newest among them
    int32_t longest = 0;  // row of zeros that ended
    uint64_t since = 0;   // line of the first of the row
    double size = 0;      // mean of the norms
  };
  // Returns whether it is time to Tell().
  bool Take(const LayerPair& pair, uint64_t line);
  bool Tell();

  std::map<std::string, Layer, std::less<>> layers_;
  std::vector<LayerPair> pairs_;
  GradColumn column_;
  std::string lost_;
  std::string never_;
  uint64_t since_ = 0;
  double digit_ = 1;      // what the last one is worth, at the finest
  int32_t without_ = 0;   // lines on gradients that show no layer
  uint32_t lines_ = 0;    // saturates
  bool freezes_ = false;  // the log says it
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ZERO_LAYERS_H_
