// NumberRoles: what the numbers of lines that are alike mean, where no usual
// name stands right before a sign: "upd 300 | obj 63.1", "Training loss at
// update 40 is 2.3", "12: 3.1, 3.2 avg loss", or a table under its header.

#ifndef NANWATCH_LOGS_NUMBER_ROLES_H_
#define NANWATCH_LOGS_NUMBER_ROLES_H_

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "logs/column_meaning.h"
#include "logs/number_columns.h"
#include "logs/number_row.h"

namespace nanwatch {

struct NumberRoles {
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Returns the meanings of the numbers of `row`; `lines` are those of lines
  // with the same words, oldest first, that of `row` the last. `header`: names
  // of a table's columns, by which numbers without a word go; empty: none.
  static NumberRoles Of(const NumberRow& row,
                        const std::vector<RowValues>& lines,
                        const std::vector<ColumnMeaning>& header);

  bool has_loss() const { return loss != kNone; }
  bool of_players() const { return !players[0].empty(); }

  size_t step = kNone;   // index of the number
  size_t whole = kNone;  // "/600" behind the step
  size_t epoch = kNone;
  bool sums_up = false;  // it is the summary of an epoch
  size_t loss = kNone;
  bool rises = false;  // it is an objective that does, up to `top`
  double top = 0;
  bool named = false;  // its words are those of a loss and of nothing else
  // Where no loss of the whole is shown: those that it is made of, two or more.
  std::vector<size_t> parts;
  bool apart = false;  // they are of several models: one is below 0
  // By Player: the losses of a GAN's, where both are the line's, and no loss
  // of the whole; `loss` is the first one. Of one alone they are the first.
  std::array<std::vector<size_t>, 2> players;
  // Of every number: what its words say otherwise.
  std::vector<ColumnMeaning> meanings;
};

// Returns the meanings of a header's names; empty: it is none, or names no
// loss.
std::vector<ColumnMeaning> ReadHeader(std::string_view line);
// The same of one whose names may be of several words, with two blanks or more
// between them: "Iter       Train Loss   Remaining Time".
std::vector<ColumnMeaning> ReadGappedHeader(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NUMBER_ROLES_H_
