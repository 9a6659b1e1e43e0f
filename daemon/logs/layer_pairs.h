// LayerPairs: the gradient norms of layers that a line shows, whatever it looks
// like: "grad_norm/fc1: 0.3", "gnorm[fc1.weight]=3e-1", "grads: fc1:0.3
// fc2:0.2", "fc1.weight grad_norm 0.3".

#ifndef NANWATCH_LOGS_LAYER_PAIRS_H_
#define NANWATCH_LOGS_LAYER_PAIRS_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace nanwatch {

// Returns the letters of a name, in lower case.
std::string LettersOf(std::string_view text);

struct LayerPair {
  std::string_view name;  // of the layer
  double norm = 0;
  double last_digit = 0;  // what it is worth; 0: printed with an exponent
};

// Appends them to `pairs`. Returns whether the line speaks of gradients.
bool ReadLayerPairs(std::string_view line, std::vector<LayerPair>* pairs);
// Returns the norm of all layers that a line shows, where it shows two or more.
std::optional<double> NormOfPairs(std::string_view line);

// GradColumn: the same of a table, of which a line names the columns, and each
// other one is a layer's: "layer |w| |grad|", "fc1.weight 4.63 9.18e-02".
class GradColumn {
 public:
  // Appends the pair of a row. A line that is none ends the table, or begins
  // one.
  void Read(std::string_view line, std::vector<LayerPair>* pairs);
  bool open() const { return words_ > 0; }

 private:
  size_t words_ = 0;  // of a row; 0: no table
  size_t at_ = 0;     // the gradient's
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LAYER_PAIRS_H_
