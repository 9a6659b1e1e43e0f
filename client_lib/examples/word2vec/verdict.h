// Verdict: whether a training ended as its scenario should.

#ifndef NANWATCH_WORD2VEC_VERDICT_H_
#define NANWATCH_WORD2VEC_VERDICT_H_

#include <string>

#include "options.h"
#include "table.h"
#include "trainer.h"
#include "vocabulary.h"

namespace word2vec {

struct Verdict {
  bool as_expected = false;
  std::string sentences;
};

// `text_given`: a text of the user's own, of which no neighbours are known.
Verdict Judge(const Scenario& scenario, const TrainingOutcome& outcome,
              const Vocabulary& vocabulary, const Table& vectors,
              bool text_given);

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_VERDICT_H_
