// AddedTerms: whether a loss leaps in a step line because terms were added to
// it there: the line shows terms that the one before did not, or that were 0,
// which are about as much as it leaps by, and the terms that it was made of are
// where they were.

#ifndef NANWATCH_LOGS_ADDED_TERMS_H_
#define NANWATCH_LOGS_ADDED_TERMS_H_

#include <string>
#include <string_view>

namespace nanwatch {

class AddedTerms {
 public:
  // Takes in the loss of the next step line, and that line; true: terms were
  // added there.
  bool Take(std::string_view line, double loss);

 private:
  bool AreIn(std::string_view line, double loss) const;

  std::string line_;  // the one before
  double loss_ = 0;   // its loss
  double high_ = 0;   // the highest of the lines lately
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_ADDED_TERMS_H_
