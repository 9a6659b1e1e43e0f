#include "logs/number_roles.h"

#include <algorithm>
#include <string>

#include "logs/each_word.h"
#include "logs/in_words.h"
#include "logs/loss_parts.h"
#include "logs/one_of.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

constexpr double kRankMax = 1023;   // as NumberedRanks
constexpr double kTimeOfDay = 1e9;  // seconds since 1970 are above; no step is

// What programs call a loss besides its usual names; of these, letters and
// "total" count only beside a step's word.
constexpr std::string_view kLossWords[] = {"obj",    "objf",     "objective",
                                           "cost",   "fehler",   "pérdida",
                                           "strata", "criterion"};
constexpr std::string_view kWeakWords[] = {"j",     "l",   "ce",
                                           "total", "err", "error"};
constexpr std::string_view kStepWords[] = {
    "step", "steps",   "it",      "iter",    "iters",      "iteration",
    "upd",  "update",  "updates", "batch",   "k",          "s",
    "n",    "schritt", "round",   "episode", "globalstep", "etape"};
constexpr std::string_view kEpochWords[] = {"epoch", "ep", "epoche"};
constexpr std::string_view kTrainWords[] = {"train", "training", "trn"};
constexpr std::string_view kNegatives[] = {"neg", "negative"};
constexpr std::string_view kOtherLosses[] = {"best", "min", "lowest", "last"};

// kTrain: "train 2.31 valid 2.44", a loss where it falls. kPart: "loss_seg",
// one of several, as far as its name says. kWhole: it says that there is no
// other.
enum class LossWord {
  kNone,
  kReward,
  kAccuracy,
  kTrain,
  kWeak,
  kNamed,
  kPart,
  kLoss,
  kWhole
};

struct Words {
  void Raise(LossWord to, bool rising) {
    if (to <= loss) return;
    loss = to;
    rises = rising;
  }

  LossWord loss = LossWord::kNone;
  bool rises = false;  // what is named rises as it gets better
  bool part = false;   // of a loss
  bool step = false;
  bool epoch = false;
  ColumnMeaning usual = ColumnMeaning::kNothing;
  bool any = false;
};

// "loss_ema", "logloss", "elbo_loss". Packets are lost, too.
bool IsKindOfLoss(std::string_view word) {
  return (word.starts_with("loss") || word.ends_with("loss")) &&
         word.find("packet") == word.npos;
}

// "loss_total", "total loss", "loss_all", and "loss" without another word.
bool IsWholeLoss(std::string_view text) {
  const ColumnMeaning usual = UsualMeaning(text);
  return usual == ColumnMeaning::kLoss || usual == ColumnMeaning::kMeanLoss;
}

Words WordsOf(std::string_view text) {
  Words found;
  const bool evaluation = IsEvaluation(text);
  bool other = false;
  // "-ELBO", "negative log-likelihood".
  bool negated =
      text.find("-ELBO") != text.npos || text.find("-elbo") != text.npos;
  std::string two;  // the word before and this one: "gradient norm"
  ForEachWord(text, [&](std::string_view word) {
    found.any = true;
    other |= IsOneOf(word, kOtherLosses);
    negated |= IsOneOf(word, kNegatives);
    found.step |= IsOneOf(word, kStepWords);
    found.epoch |= IsOneOf(word, kEpochWords);
    const ColumnMeaning alone = UsualMeaning(word);
    two += word;
    const ColumnMeaning both = UsualMeaning(two);
    const ColumnMeaning usual = both != ColumnMeaning::kNothing ? both
                                : alone != ColumnMeaning::kNothing
                                    ? alone
                                    : ForeignMeaning(word);
    two = word;
    if (usual == ColumnMeaning::kObjective ||
        usual == ColumnMeaning::kMeasure) {
      found.Raise(LossWord::kNamed,
                  usual == ColumnMeaning::kObjective && !negated);
    } else if (IsLoss(usual)) {
      found.Raise(IsWholeLoss(text) ? LossWord::kWhole : LossWord::kLoss,
                  false);
    } else if (usual == ColumnMeaning::kAccuracy) {
      found.Raise(LossWord::kAccuracy, true);
      found.usual = usual;
    } else if (usual == ColumnMeaning::kReward) {
      found.Raise(LossWord::kReward, true);
      found.usual = usual;
    } else if (usual != ColumnMeaning::kNothing) {
      found.usual = usual;
    } else if (IsKindOfLoss(word)) {
      found.Raise(LossWord::kPart, false);
      found.part |= IsPartOfLoss(word);
    } else if (IsOneOf(word, kLossWords)) {
      found.Raise(LossWord::kNamed, false);
    } else if (IsOneOf(word, kWeakWords)) {
      found.Raise(LossWord::kWeak, false);
    } else if (IsOneOf(word, kTrainWords)) {
      found.Raise(LossWord::kTrain, false);
    }
  });
  // "Train-Accuracy".
  if (found.loss == LossWord::kTrain &&
      found.usual == ColumnMeaning::kAccuracy) {
    found.loss = LossWord::kAccuracy;
    found.rises = true;
  }
  if (evaluation || other) {
    found.loss = LossWord::kNone;
    found.part = false;
  }
  return found;
}

// Of the text between two numbers: what a comma or bar parts belongs to the
// next one, or to the last.
constexpr std::string_view kParts = ",;|";
std::string_view OfNext(std::string_view between) {
  const size_t part = between.find_last_of(kParts);
  return part == between.npos ? between : between.substr(part + 1);
}
std::string_view OfLast(std::string_view between) {
  return between.substr(0, between.find_first_of(kParts));
}

bool IsTime(double value) { return value >= kTimeOfDay; }

// Rises from line to line, in whole numbers.
bool Counts(const std::vector<RowValues>& lines, size_t i) {
  for (size_t line = 0; line < lines.size(); ++line) {
    const RowNumber& number = lines[line][i];
    if (!number.whole || number.value < 0 || IsTime(number.value)) return false;
    if (line > 0 && number.value <= lines[line - 1][i].value) return false;
  }
  return true;
}

// Goes on or stays, in whole numbers.
bool Goes(const std::vector<RowValues>& lines, size_t i) {
  for (size_t line = 0; line < lines.size(); ++line) {
    if (!lines[line][i].whole) return false;
    if (line > 0 && lines[line][i].value < lines[line - 1][i].value) {
      return false;
    }
  }
  return true;
}

// A step that ranks print in turn, each behind its number, or that begins anew
// with each epoch: it comes again, and never with the same number.
bool CountsAgain(const std::vector<RowValues>& lines, size_t rank,
                 size_t step) {
  bool again = false;
  for (size_t line = 0; line < lines.size(); ++line) {
    const RowNumber& a = lines[line][rank];
    const RowNumber& b = lines[line][step];
    if (!a.whole || a.value < 0 || a.value > kRankMax) return false;
    if (!b.whole || b.value < 0 || IsTime(b.value)) return false;
    for (size_t before = 0; before < line; ++before) {
      if (lines[before][step].value != b.value) continue;
      if (lines[before][rank].value == a.value) return false;
      again = true;
    }
  }
  return again;
}

// Printed with a point, in most lines, and no share or unit; nor a time, as the
// first line shows it: a loss may grow as large.
bool IsReal(const std::vector<RowValues>& lines, size_t i) {
  if (IsTime(lines.front()[i].value)) return false;
  size_t real = 0;
  for (const RowValues& line : lines) {
    if (line[i].share || line[i].unit) return false;
    if (!line[i].whole) ++real;
  }
  return 2 * real > lines.size();
}

bool Falls(const std::vector<RowValues>& lines, size_t i) {
  return lines.back()[i].value < lines.front()[i].value;
}

bool AnyBelowZero(const std::vector<RowValues>& lines, size_t i) {
  return std::any_of(lines.begin(), lines.end(),
                     [i](const RowValues& line) { return line[i].value < 0; });
}

// Bars that a terminal draws one over the other stand in one line of a file.
bool IsNamedAgain(const NumberRow& row, const std::vector<size_t>& parts,
                  size_t i) {
  return std::any_of(parts.begin(), parts.end(), [&row, i](size_t part) {
    return OfNext(row.Before(part)) == OfNext(row.Before(i));
  });
}

bool HasBar(std::string_view text) { return text.find('|') != text.npos; }

// Bars stand between its names, and in none ("|g|embed").
bool PartsNames(std::string_view header) {
  bool parts = HasBar(header);
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] != '|') continue;
    parts &= (i == 0 || header[i - 1] == ' ') &&
             (i + 1 == header.size() || header[i + 1] == ' ');
  }
  return parts;
}

// Of a table with bars around it.
std::string_view WithoutFirstBar(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  const bool bar = first != text.npos && text[first] == '|';
  return bar ? text.substr(first + 1) : text;
}

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
  std::vector<Words> words;   // before each number
  std::vector<Words> behind;  // each number
  bool any_words = false;
  bool has_step_word = false;
  for (size_t i = 0; i < numbers; ++i) {
    words.push_back(WordsOf(OfNext(row.Before(i))));
    any_words |= words.back().any;
    has_step_word |= words.back().step || words.back().epoch;
  }
  for (size_t i = 0; i < numbers; ++i) {
    behind.push_back(WordsOf(OfLast(row.Before(i + 1))));
    any_words |= behind.back().any;
    if (row.IsDifferentiated(i)) words[i].Raise(LossWord::kLoss, false);
  }
  for (size_t i = 0; i < numbers; ++i) {
    const bool whole = i > 0 && row.Before(i) == "/";
    if (whole || !Counts(lines, i)) continue;
    const bool first = roles.step == kNone;
    if (first || (words[i].step && !words[roles.step].step)) roles.step = i;
  }
  // "3: it 40", "epoch 3 it 40".
  const bool numbered =
      numbers > 1 &&
      (words[0].epoch || row.Before(1).find_first_of(":])|") == 0);
  for (size_t i = 1; numbered && i < numbers && roles.step == kNone; ++i) {
    if (words[i].step && CountsAgain(lines, 0, i)) roles.step = i;
  }
  if (roles.step != kNone && roles.step + 1 < numbers &&
      row.Before(roles.step + 1) == "/") {
    roles.whole = roles.step + 1;
  }
  for (size_t i = 0; i < numbers && i < roles.step; ++i) {
    const bool tabled = !any_words && !header.empty() && i == 0;
    if ((words[i].epoch || tabled) && Goes(lines, i) && roles.step != kNone) {
      roles.epoch = i;
    }
  }
  // Words before a number reach back to the last one that is printed with a
  // point: "Training loss at update 40 is 2.3".
  LossWord best = LossWord::kNone;
  Words reach;
  for (size_t i = 0; i < numbers; ++i) {
    reach.Raise(words[i].loss, words[i].rises);
    reach.part |= words[i].part;
    if (words[i].usual != ColumnMeaning::kNothing) reach.usual = words[i].usual;
    if (i == roles.step || i == roles.whole || i == roles.epoch) continue;
    if (!IsReal(lines, i)) {
      const bool counted = lines.back()[i].whole;
      if (!counted) reach = Words();
      continue;
    }
    const bool weak = (reach.loss <= LossWord::kWeak && !has_step_word &&
                       roles.step == kNone) ||
                      (reach.loss == LossWord::kTrain && !Falls(lines, i));
    if (reach.loss > best && !weak) {
      best = reach.loss;
      roles.loss = i;
      roles.rises = reach.rises;
      roles.top = best == LossWord::kAccuracy ? WholeOf(lines, i) : 0;
    }
    if (reach.part && !IsNamedAgain(row, roles.parts, i)) {
      roles.parts.push_back(i);
    }
    roles.meanings[i] = reach.usual;
    reach = Words();
  }
  roles.named = best >= LossWord::kPart;
  if (best != LossWord::kPart || roles.parts.size() < 2) roles.parts.clear();
  if (!roles.parts.empty()) roles.loss = roles.parts.front();
  for (const size_t part : roles.parts)
    roles.apart |= AnyBelowZero(lines, part);
  if (roles.loss != kNone) return roles;
  // "2.38 avg loss, 0.001 rate".
  for (size_t i = 0; i < numbers; ++i) {
    if (behind[i].loss >= LossWord::kPart && IsReal(lines, i)) {
      roles.loss = i;
      roles.named = true;
      return roles;
    }
  }
  // "iter 3: 13.05" says no more than "3: 13.05".
  const bool two =
      numbers == 2 && roles.step == 0 && !words[1].any && !behind[1].any &&
      UsualMeaning(TrimBlanks(row.Before(0))) == ColumnMeaning::kStep;
  if (any_words && !two) return roles;
  // Columns of words come before those of numbers: "| TRAIN| 12| 2.31|".
  size_t column = 0;
  ForEachWord(row.Before(0), [&column](std::string_view) { ++column; });
  const bool barred = numbers > 1 && HasBar(row.Before(1));
  for (size_t i = 0; i < numbers; ++i, ++column) {
    if (barred) column = ColumnBetweenBars(row, i);
    if (column >= header.size()) break;
    if (!IsReal(lines, i)) continue;
    if (IsLoss(header[column])) {
      roles.loss = i;
      roles.named = true;
    } else {
      roles.meanings[i] = header[column];
    }
  }
  // A table without a header: a count and one number beside it.
  if (header.empty() && roles.step != kNone && roles.step + 2 == numbers &&
      numbers <= 3 && IsReal(lines, numbers - 1)) {
    roles.loss = numbers - 1;
  }
  return roles;
}

std::vector<ColumnMeaning> ReadHeader(std::string_view line) {
  std::vector<ColumnMeaning> header;
  bool loss = false;
  const auto add = [&](std::string_view name) {
    const ColumnMeaning usual = UsualMeaning(name);
    const bool is_loss = IsLoss(usual);
    header.push_back(is_loss && loss ? ColumnMeaning::kNothing : usual);
    loss |= is_loss;
  };
  // "| Training Loss | Epoch |": a name may be of several words.
  if (PartsNames(line)) {
    line = WithoutFirstBar(line);
    for (size_t end = line.find('|'); !line.empty(); end = line.find('|')) {
      add(line.substr(0, end));
      line.remove_prefix(std::min(end, line.size() - 1) + 1);
    }
  } else {
    ForEachWord(line, add);
  }
  if (!loss || header.size() < 2) header.clear();
  return header;
}

}  // namespace nanwatch
