// UsualNames: what programs usually call their numbers: "loss", "train/loss",
// "Train/Samples/train_loss", "lm-loss-training/lm loss".

#ifndef NANWATCH_LOGS_USUAL_NAMES_H_
#define NANWATCH_LOGS_USUAL_NAMES_H_

#include <string_view>

#include "logs/column_meaning.h"

namespace nanwatch {

// What a usual name means; kNothing: it is none. Upper and lower case, and what
// separates words, do not matter.
ColumnMeaning UsualMeaning(std::string_view name);
// What a name is that says of an evaluation, "mse_holdout", "valid_0-rmse", in
// a training; kNothing: no loss, or not of an evaluation.
ColumnMeaning EvaluationMeaning(std::string_view name);
// "val_acc", "eval/accuracy".
bool IsEvaluatedAccuracy(std::string_view name);
// The same of names in other European languages.
ColumnMeaning ForeignMeaning(std::string_view name);
// False only for names that are no usual ones, whatever is before their end.
// Cheaper than UsualMeaning().
bool MayBeUsual(std::string_view name);

// Returns true for a name that means a loss only beside its set: "l2" of
// "valid_0's l2". Alone it may be a count of faults, or a norm of weights.
bool NeedsItsSet(std::string_view name);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_USUAL_NAMES_H_
