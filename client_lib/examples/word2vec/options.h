// Options: the command line.

#ifndef NANWATCH_WORD2VEC_OPTIONS_H_
#define NANWATCH_WORD2VEC_OPTIONS_H_

#include <cstdint>
#include <string>

#include "scenario.h"

namespace word2vec {

struct Options {
  Scenario scenario;
  uint64_t seed = 1;
  std::string job = "word2vec";
  std::string run;      // empty: found out by the client
  std::string address;  // empty: found out by the client
  std::string text;     // empty: the King James Bible
  int step_delay_ms = 0;
  bool quiet = false;
  bool help = false;
};

extern const char kUsage[];

// False: `error` says in a sentence what is wrong.
bool ParseOptions(int argc, char** argv, Options* options, std::string* error);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_OPTIONS_H_
