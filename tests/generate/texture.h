// Texture: how far the numbers of healthy trainings move from one line of their
// log to the next, as measured on public training logs, and the noise that
// moves as far.

#ifndef NANWATCH_TESTS_GENERATE_TEXTURE_H_
#define NANWATCH_TESTS_GENERATE_TEXTURE_H_

#include <string_view>
#include <vector>

namespace nanwatch::generate {

// Of |ln(next / this)| over consecutive lines.
struct Quantiles {
  double median = 0;
  double q99 = 0;
  double q999 = 0;
};
// Linear between neighbours; of fewer than 1000 values the last is hardly more
// than the largest. REQUIRES: no value is 0; at least two.
Quantiles MovesOf(const std::vector<double>& values);

struct Noise {
  double width = 0;  // of the logarithm
  int degrees = 0;   // of Student's t; 0: normal
};

// As measured, and what is made of it.
struct Texture {
  std::string_view source;
  int lines = 0;        // of the log
  int steps_apart = 1;  // updates from one line to the next
  Quantiles measured;
  Noise noise;
};

enum class Kind {
  kLanguage,     // GPT-2 in Megatron-LM
  kMaskedWords,  // BERT
  kTranslation,  // GNMT
};
inline constexpr int kKinds = 3;
const Texture& LossTexture(Kind kind);
const Texture& NormTexture();  // of gradient norms

// A log that prints no loss: its share of skipped steps, and how many updates
// lie between two searches of its scaler (median).
struct ProbingTexture {
  std::string_view source;
  double skipped;
  double apart;
};
const ProbingTexture& Probing();

}  // namespace nanwatch::generate

#endif  // NANWATCH_TESTS_GENERATE_TEXTURE_H_
