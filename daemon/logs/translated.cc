#include "logs/translated.h"

#include <algorithm>
#include <iterator>

namespace nanwatch {
namespace {

struct Word {
  std::string_view text;
  std::string_view meaning;
};
constexpr int kWalls = 16;
// Longer words before those that they begin with. " step" behind a number is
// "第 50 步": its number is the step's.
constexpr Word kWords[] = {
    // The walls, rules and corners of boxes, kWalls of them. Keras' bars are of
    // heavy rules.
    {"│", "|"},
    {"┃", "|"},
    {"║", "|"},
    {"─", "-"},
    {"═", "-"},
    {"╭", "+"},
    {"╮", "+"},
    {"╰", "+"},
    {"╯", "+"},
    {"┌", "+"},
    {"┐", "+"},
    {"└", "+"},
    {"┘", "+"},
    {"├", "+"},
    {"┤", "+"},
    {"┼", "+"},
    {"训练步数", "step"},
    {"训练步", "step"},
    {"全局步数", "step"},
    {"步数", "step"},
    {"步骤", "step"},
    {"迭代次数", "step"},
    {"迭代", "iter"},
    {"第", "step "},
    {"训练轮数", "epoch"},
    {"轮次", "epoch"},
    {"轮数", "epoch"},
    {"验证损失", "val loss"},
    {"测试损失", "test loss"},
    {"训练损失值", "loss"},
    {"训练损失", "loss"},
    {"平均损失", "avg_loss"},
    {"损失缩放", "loss_scale"},
    {"损失函数值", "loss"},
    {"损失值", "loss"},
    {"损失", "loss"},
    {"梯度范数", "grad_norm"},
    {"梯度norm", "grad_norm"},
    {"学习率", "lr"},
    {"训练次数", "step"},
    // Japanese and Korean.
    {"検証損失", "val loss"},
    {"学習損失", "loss"},
    {"訓練損失", "loss"},
    {"損失", "loss"},
    {"学習率", "lr"},
    {"ステップ", "step"},
    {"エポック", "epoch"},
    {"검증 손실", "val loss"},
    {"학습 손실", "loss"},
    {"손실", "loss"},
    {"학습률", "lr"},
    {"스텝", "step"},
    {"에폭", "epoch"},
    // Russian.
    {"потери", "loss"},
    {"Потери", "Loss"},
    {"шаг", "step"},
    {"Шаг", "Step"},
    {"итерация", "iter"},
    {"Итерация", "Iter"},
    {"эпоха", "epoch"},
    {"Эпоха", "Epoch"},
    {"→", ": "},
    {"：", ": "},
    {"，", ", "},
    {"；", "; "},
    {"（", " ("},
    {"）", ") "},
};

// Words that say that a line is of a training; the rest may be anything.
bool SpeaksOfTraining(std::string_view line) {
  constexpr std::string_view kSome[] = {
      "损失", "步",   "学习率", "梯度", "轮",     "训练",   "：",   "損失",
      "学習", "손실", "학습",   "에폭", "потери", "Потери", "Эпоха"};
  return std::any_of(std::begin(kSome), std::end(kSome),
                     [line](std::string_view word) {
                       return line.find(word) != std::string_view::npos;
                     });
}

// Hardly a line holds other bytes. Without a way out of the loops, here and
// below: so many bytes are looked at at once.
bool IsAscii(std::string_view line) {
  char bytes = 0;
  for (const char c : line) bytes = static_cast<char>(bytes | c);
  return static_cast<unsigned char>(bytes) < 0x80;
}

// Some byte is the first of a Chinese, Japanese, Korean or Russian letter, and
// not of the blocks of progress bars.
bool MayBeTranslated(std::string_view line) {
  unsigned found = 0;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    found |= static_cast<unsigned>((byte >= 0xe3 && byte <= 0xef) ||
                                   byte == 0xd0 || byte == 0xd1);
  }
  return found != 0;
}

// A wall of a box stands in it.
bool HasWall(std::string_view line) {
  return line.find('\xe2') != line.npos &&
         std::any_of(kWords, kWords + kWalls, [line](const Word& wall) {
           return line.find(wall.text) != std::string_view::npos;
         });
}

}  // namespace

std::string_view Translated(std::string_view line, std::string* out) {
  if (IsAscii(line)) return line;
  const bool speaks = MayBeTranslated(line) && SpeaksOfTraining(line);
  if (!speaks && !HasWall(line)) return line;
  out->clear();
  for (size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    const auto word = std::find_if(
        std::begin(kWords), std::end(kWords),
        [rest](const Word& w) { return rest.starts_with(w.text); });
    if (word == std::end(kWords)) {
      *out += line[at++];
      continue;
    }
    // "第 3 轮" is an epoch, "第 3 步" a step.
    const bool epoch = word->text == "第" && rest.find("轮") < rest.find("步");
    *out += epoch ? "epoch " : word->meaning;
    at += word->text.size();
  }
  return *out;
}

}  // namespace nanwatch
