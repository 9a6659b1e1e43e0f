// Terms of a loss: programs that add up several print them beside it.

#ifndef NANWATCH_LOGS_LOSS_TERMS_H_
#define NANWATCH_LOGS_LOSS_TERMS_H_

#include <string_view>

namespace nanwatch {

// The name of the term of the line's loss that is not finite, where the others
// are: "loss_bbox" of "loss_cls: 0.2, loss_bbox: nan, loss: nan". Empty: none
// is, or several are, of which any may be the first. Terms have "loss" in their
// names, before a = or a colon; the name is of letters, digits, _ / . and -, 64
// at most.
std::string_view TermNotFinite(std::string_view line);

struct OddPart {
  std::string_view name;  // empty: none
  bool metric = false;    // of what was learned: "acc", "reward"; NaN
};

// The same of a line whose loss is finite: "kl" of "loss 2.3 (kl nan, rec
// 2.3)", "loss_mask" of "loss: 1.2, loss_cls: 1.2, loss_mask: nan", "losses" of
// "losses: [1.2, nan]". The first of several. Where none is named as a loss,
// any name is a term's that is no metric's: "D_fake: nan"; and at last a
// metric's.
OddPart PartBesideLoss(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LOSS_TERMS_H_
