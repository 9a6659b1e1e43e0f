#include "logs/number_roles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "logs/each_word.h"
#include "logs/in_words.h"
#include "logs/names_before.h"
#include "logs/number_columns.h"
#include "logs/number_words.h"
#include "logs/player_losses.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// Of the text between two numbers: what a comma or bar parts belongs to the
// next one, or to the last.
constexpr std::string_view kParts = ",;|";
constexpr double kMostRate = 0.01;  // ours: shares and thresholds are larger
std::string_view OfNext(std::string_view between) {
  const size_t part = between.find_last_of(kParts);
  return part == between.npos ? between : between.substr(part + 1);
}
std::string_view OfLast(std::string_view between) {
  return between.substr(0, between.find_first_of(kParts));
}

// Bars that a terminal draws one over the other stand in one line of a file.
bool IsNamedAgain(const NumberRow& row, const std::vector<size_t>& parts,
                  size_t i) {
  return std::any_of(parts.begin(), parts.end(), [&row, i](size_t part) {
    return OfNext(row.Before(part)) == OfNext(row.Before(i));
  });
}

bool HasBar(std::string_view text) { return text.find('|') != text.npos; }

// The column of a number of a row with bars.
size_t ColumnBetweenBars(const NumberRow& row, size_t number) {
  const std::string_view first = WithoutFirstBar(row.Before(0));
  auto bars = std::count(first.begin(), first.end(), '|');
  for (size_t i = 1; i <= number; ++i) {
    const std::string_view between = row.Before(i);
    bars += std::count(between.begin(), between.end(), '|');
  }
  return static_cast<size_t>(bars);
}

// Behind the step the only number that is no time, and in few of them; kNone.
size_t OnlyOther(const NumberRoles& roles, const NumberRow& row) {
  size_t other = NumberRoles::kNone;
  for (size_t i = 0; i < row.numbers().size(); ++i) {
    const bool counts = i == roles.step || i == roles.whole || i == roles.epoch;
    if (counts || row.numbers()[i].unit || i < roles.step) continue;
    if (other != NumberRoles::kNone) return NumberRoles::kNone;
    other = i;
  }
  return other;
}

// "- Valid | Epoch 12 | 1/3 | Loss 0.25": a line that begins so is no
// training's. The word right before a number may be that number's alone.
bool IsOfEvaluation(const NumberRow& row) {
  const std::string_view head = row.Before(0);
  const std::string_view own = OfNext(head);
  const NumberWords words = WordsOf(own);
  return IsEvaluation(words.step || words.epoch
                          ? head
                          : head.substr(0, head.size() - own.size()));
}

// Returns the words that name the number `i`: "loss" of "lr 0.1 | loss 2.3",
// or, where nothing but a bar parts a loss's name from its value, "train loss"
// of "Step 3: train loss | 2.3".
std::string_view NameOf(const NumberRow& row, size_t i) {
  const std::string_view own = OfNext(row.Before(i));
  std::string_view before = TrimBlanks(row.Before(i));
  const bool bare = TrimBlanks(own).empty() && before.ends_with('|') &&
                    TrimBlanks(OfLast(row.Before(i + 1))).empty();
  if (!bare) return own;
  before.remove_suffix(1);
  const size_t sign = before.find_last_of(",;|:");
  // It may be the name of the number before: "2.3 loss | 0.1".
  if (i > 0 && sign == before.npos) return own;
  const std::string_view name =
      sign == before.npos ? before : before.substr(sign + 1);
  return WordsOf(name).loss >= LossWord::kPart ? name : own;
}

// "Epoch 14 | 600/1020 |", "Epoch 7/300 600/1000": the number of the place in
// the epoch, right behind that one's; kNone: there is none.
size_t PlaceInEpoch(const NumberRow& row,
                    const std::vector<NumberWords>& words) {
  const auto is_whole = [&row](size_t i) {
    return i < row.numbers().size() && TrimBlanks(row.Before(i)) == "/";
  };
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].epoch) continue;
    const size_t place = i + (is_whole(i + 1) ? 2 : 1);
    if (place < words.size() && is_whole(place + 1) &&
        row.Before(place).find_first_not_of(" ,;|-") ==
            std::string_view::npos) {
      return place;
    }
  }
  return NumberRoles::kNone;
}

bool SaysSummary(const NumberRow& row) {
  for (size_t i = 0; i <= row.numbers().size(); ++i) {
    if (row.Before(i).find("ummary") != std::string_view::npos) return true;
  }
  return false;
}

// Finds the step of `roles`, and the epoch beside it.
void FindStep(const NumberRow& row, const std::vector<RowValues>& lines,
              const std::vector<NumberWords>& words, bool tabled,
              NumberRoles* roles) {
  constexpr size_t kNone = NumberRoles::kNone;
  const size_t numbers = words.size();
  size_t& step = roles->step;
  for (size_t i = 0; i < numbers; ++i) {
    const bool whole = i > 0 && TrimBlanks(row.Before(i)) == "/";
    if (words[i].rate) continue;  // it rises, too, as caches fill
    // What a word calls a step may be told twice, by a run that goes on.
    const bool told = words[i].step && Goes(lines, i) &&
                      lines.front()[i].value < lines.back()[i].value;
    if (whole || (!told && !CountsUp(lines, i))) continue;
    if (step == kNone || (words[i].step && !words[step].step)) step = i;
  }
  // "3: it 40", "epoch 3 it 40".
  const bool numbered =
      numbers > 1 &&
      (words[0].epoch || row.Before(1).find_first_of(":])|") == 0);
  for (size_t i = 1; numbered && i < numbers && step == kNone; ++i) {
    if (words[i].step && CountsAgain(lines, 0, i)) step = i;
  }
  if (step == kNone || !words[step].step) {
    const size_t place = PlaceInEpoch(row, words);
    if (place != kNone) step = place;
  }
  if (step == kNone) return;
  if (step + 1 < numbers && TrimBlanks(row.Before(step + 1)) == "/") {
    roles->whole = step + 1;
  }
  for (size_t i = 0; i < step; ++i) {
    const bool first = tabled && i == 0;
    if ((words[i].epoch || first) && Goes(lines, i)) roles->epoch = i;
  }
  roles->sums_up = words[step].epoch && !words[step].step && SaysSummary(row);
}

// Finds the loss of a line without words: under its header, or as the only
// number beside a count.
void FindInColumns(const NumberRow& row, const std::vector<RowValues>& lines,
                   const std::vector<ColumnMeaning>& header,
                   NumberRoles* roles) {
  // Columns of words come before those of numbers: "| TRAIN| 12| 2.31|".
  size_t column = 0;
  ForEachWord(row.Before(0), [&column](std::string_view) { ++column; });
  const bool barred = row.numbers().size() > 1 && HasBar(row.Before(1));
  for (size_t i = 0; i < row.numbers().size(); ++i, ++column) {
    if (barred) column = ColumnBetweenBars(row, i);
    if (column >= header.size()) break;
    if (!IsReal(lines, i)) continue;
    if (IsLoss(header[column])) {
      roles->loss = i;
      roles->named = true;
    } else {
      roles->meanings[i] = header[column];
    }
  }
  // "tensor(nan, device='cuda:0')", of a program that prints nothing else:
  // it is news where it is not finite again and again.
  if (lines.size() > 1 && row.Before(0) == "tensor(" &&
      !std::isfinite(lines.back()[0].value) &&
      !std::isfinite(lines[lines.size() - 2][0].value)) {
    roles->loss = 0;
    return;
  }
  // A table without a header: a count and one number beside it.
  if (header.empty() && roles->step != NumberRoles::kNone)
    roles->loss = OnlyOther(*roles, row);
  if (roles->has_loss() && !IsReal(lines, roles->loss))
    roles->loss = NumberRoles::kNone;
}

// "errD 1.38 errG 0.71", "loss_D tensor(1.38) loss_G tensor(0.71)": finds the
// losses of a GAN's players. Returns whether the line has both; `lone`: or one,
// that names itself a loss.
bool FindPlayers(const NumberRow& row, const std::vector<RowValues>& lines,
                 const std::vector<NumberWords>& words, bool lone,
                 NumberRoles* roles) {
  std::array<std::vector<size_t>, 2> players;
  for (size_t i = 0; i < words.size(); ++i) {
    const LossWord loss = words[i].loss;
    if (loss != LossWord::kNone && loss != LossWord::kPart) return false;
    std::string_view name = TrimBlanks(NameOf(row, i));
    if (name.ends_with("tensor(")) name.remove_suffix(7);
    const Player player = PlayerOf(NameAtEnd(name));
    if (lone && !IsAnyLoss(UsualMeaning(NameAtEnd(name)))) continue;
    if (player == Player::kNone || !IsReal(lines, i, true)) continue;
    std::vector<size_t>& own = players[static_cast<size_t>(player)];
    if (!IsNamedAgain(row, own, i)) own.push_back(i);
  }
  if (players[0].empty()) std::swap(players[0], players[1]);
  if (players[0].empty() || (players[1].empty() && !lone)) return false;
  roles->loss = players[0].front();
  if (!players[1].empty()) {
    roles->loss = std::min(roles->loss, players[1].front());
  }
  roles->named = true;
  roles->players = std::move(players);
  return true;
}

// "[2.41, 2.93, 20.7, 20200, 0.0002]", as VITS and its kin print: losses, their
// step, and its rate. Returns whether the line is such a list.
bool FindInList(const NumberRow& row, const std::vector<RowValues>& lines,
                NumberRoles* roles) {
  const size_t numbers = row.numbers().size();
  const bool list = numbers > 3 && roles->step == numbers - 2 &&
                    row.Before(0).ends_with('[') &&
                    row.Before(numbers).starts_with(']');
  const double rate = row.numbers().back().value;
  if (!list || !(rate > 0 && rate <= kMostRate)) return false;
  for (size_t i = 1; i < numbers; ++i) {
    if (row.Before(i) != ", ") return false;
  }
  for (size_t i = 0; i < roles->step; ++i) {
    if (!IsReal(lines, i)) return false;
  }
  for (size_t i = 0; i < roles->step; ++i) roles->parts.push_back(i);
  roles->loss = 0;
  roles->meanings[numbers - 1] = ColumnMeaning::kLearningRate;
  return true;
}

// "Losses: x 0.27, conf 4.4, total 15.1": what is made of the line's terms is
// no count (ColumnFact::TakeTotal). Returns whether the line has it.
bool FindTotal(const std::vector<RowValues>& lines, NumberRoles* roles) {
  const auto total = std::ranges::find(roles->meanings, ColumnMeaning::kTotal);
  if (total == roles->meanings.end() || roles->rises) return false;
  const auto at = static_cast<size_t>(total - roles->meanings.begin());
  // A time is no sum of them.
  const auto below = [&](size_t part) {
    return std::ranges::any_of(lines, [&](const RowValues& line) {
      return line[at].value < line[part].value;
    });
  };
  if (!IsReal(lines, at) || std::ranges::any_of(roles->parts, below)) {
    return false;
  }
  roles->loss = at;
  roles->parts.clear();
  return true;
}

// What an accuracy is at most: it is printed as a share, or in percent.
double WholeOf(const std::vector<RowValues>& lines, size_t i) {
  const bool percent =
      std::any_of(lines.begin(), lines.end(),
                  [i](const RowValues& line) { return line[i].value > 1; });
  return percent ? 100 : 1;
}

}  // namespace

NumberRoles NumberRoles::Of(const NumberRow& row,
                            const std::vector<RowValues>& lines,
                            const std::vector<ColumnMeaning>& header) {
  NumberRoles roles;
  const size_t numbers = row.numbers().size();
  roles.meanings.resize(numbers, ColumnMeaning::kNothing);
  if (IsOfEvaluation(row)) return roles;
  std::vector<NumberWords> words;   // before each number
  std::vector<NumberWords> behind;  // each number
  bool any_words = false;
  bool has_step_word = false;
  for (size_t i = 0; i < numbers; ++i) {
    words.push_back(WordsOf(NameOf(row, i)));
    any_words |= words.back().any;
    has_step_word |= words.back().step || words.back().epoch;
  }
  for (size_t i = 0; i < numbers; ++i) {
    behind.push_back(WordsOf(OfLast(row.Before(i + 1))));
    any_words |= behind.back().any && !row.numbers()[i].unit;
  }
  FindStep(row, lines, words, !any_words && !header.empty(), &roles);
  if (FindPlayers(row, lines, words, false, &roles)) return roles;
  // Words before a number reach back to the last one that is printed with
  // a point: "Training loss at update 40 is 2.3".
  LossWord best = LossWord::kNone;
  NumberWords reach;
  for (size_t i = 0; i < numbers; ++i) {
    reach.Raise(words[i].loss, words[i].rises);
    if (row.IsDifferentiated(i)) reach.Raise(LossWord::kLoss, false);
    reach.part |= words[i].part;
    reach.rises_below_zero |= words[i].rises_below_zero;
    if (words[i].usual != ColumnMeaning::kNothing) reach.usual = words[i].usual;
    if (i == roles.step || i == roles.whole || i == roles.epoch) continue;
    if (words[i].usual == ColumnMeaning::kLossScale) {
      roles.meanings[i] = words[i].usual;
      reach = NumberWords();
      continue;
    }
    if (!IsReal(lines, i, reach.loss != LossWord::kNone)) {
      const bool counted = lines.back()[i].whole;
      if (!counted) reach = NumberWords();
      // "lr 1", "return 9": that is the rate.
      if (words[i].usual != ColumnMeaning::kNothing && !words[i].step) {
        roles.meanings[i] = words[i].usual;
        reach.usual = ColumnMeaning::kNothing;
      }
      continue;
    }
    const bool weak = (reach.loss <= LossWord::kWeak && !has_step_word &&
                       roles.step == kNone) ||
                      (reach.loss == LossWord::kTrain && !Falls(lines, i));
    if (reach.loss > best && !weak) {
      best = reach.loss;
      roles.loss = i;
      roles.rises = reach.rises || (reach.rises_below_zero &&
                                    AllBelowZero(lines, i) && !Falls(lines, i));
      roles.top = best == LossWord::kAccuracy ? WholeOf(lines, i) : 0;
    }
    if (reach.part && !IsNamedAgain(row, roles.parts, i)) {
      roles.parts.push_back(i);
    }
    roles.meanings[i] =
        EndsWithNorm(row.Before(i)) ? ColumnMeaning::kWeakNorm : reach.usual;
    reach = NumberWords();
  }
  roles.named = best >= LossWord::kPart;
  if (best == LossWord::kPart && FindTotal(lines, &roles)) return roles;
  if (best != LossWord::kPart || roles.parts.size() < 2) roles.parts.clear();
  if (!roles.parts.empty()) roles.loss = roles.parts.front();
  for (const size_t part : roles.parts) {
    roles.apart |= AnyBelowZero(lines, part);
  }
  if (roles.loss != kNone) return roles;
  if (FindPlayers(row, lines, words, true, &roles)) return roles;
  // "2.38 avg loss, 0.001 rate".
  for (size_t i = 0; i < numbers; ++i) {
    if (behind[i].loss >= LossWord::kPart && IsReal(lines, i, true)) {
      roles.loss = i;
      roles.named = true;
      return roles;
    }
  }
  // "ep 0 iter 3: 13.05" says no more than "0 3: 13.05".
  if (!FindInList(row, lines, &roles) && !any_words) {
    FindInColumns(row, lines, header, &roles);
  }
  return roles;
}

}  // namespace nanwatch
