// Which loss scales suit which layers, in words: for advice and for commands.

#ifndef NANWATCH_DIAGNOSE_SCALE_WORDS_H_
#define NANWATCH_DIAGNOSE_SCALE_WORDS_H_

#include <string>
#include <vector>

#include "model/snapshot.h"

namespace nanwatch {

// "2^14", "2^13.6".
std::string PowerOfTwo(double scale);

// A sentence each: whether one scale suits all layers, else the fewest that do
// and for which layers; which layers no scale suits; of which all is lost.
// `most`: stretches of layers that are named. Empty: nothing is known.
std::vector<std::string> ScalesInWords(const LayerRangesView& ranges,
                                       size_t most);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_SCALE_WORDS_H_
