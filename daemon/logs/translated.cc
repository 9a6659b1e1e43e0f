#include "logs/translated.h"

#include <algorithm>
#include <span>

#include "logs/one_of.h"

namespace nanwatch {
namespace {

struct Words {
  std::string_view meaning;
  std::string_view words;  // with commas between
};
constexpr size_t kSigns = 4;
// " step" behind a number is "第 50 步": its number is the step's.
constexpr Words kWords[] = {
    // Signs of any language, kSigns of them: .NET's infinity, and the walls,
    // rules and corners of boxes. Keras' bars are of heavy rules.
    {"inf", "∞"},
    {"|", "│,┃,║"},
    {"-", "─,═"},
    {"+", "╭,╮,╰,╯,┌,┐,└,┘,├,┤,┼"},
    // Chinese, Japanese, Korean, Russian, Ukrainian.
    {"step",
     "训练步数,训练步,全局步数,步数,步骤,迭代次数,训练次数,ステップ,스텝,шаг,"
     "крок"},
    {"iter", "迭代,итерация,ітерація"},
    {"step ", "第"},
    {"epoch", "训练轮数,轮次,轮数,エポック,에폭,эпоха,епоха"},
    {"val loss", "验证损失,検証損失,검증 손실"},
    {"test loss", "测试损失"},
    {"loss",
     "训练损失值,训练损失,损失函数值,损失值,损失,学習損失,訓練損失,損失,학습 "
     "손실,손실,потери,втрата,втрати"},
    {"avg_loss", "平均损失"},
    {"loss_scale", "损失缩放"},
    {"grad_norm",
     "梯度范数,梯度norm,勾配ノルム,норма градиента,норма градієнта"},
    {"lr", "学习率,学習率,학습률,темп навчання,скорость обучения"},
    {"Loss", "Потери,Втрата,Втрати"},
    {"Step", "Шаг,Крок"},
    {"Iter", "Итерация,Ітерація"},
    {"Epoch", "Эпоха,Епоха"},
    {": ", "→,："},
    {", ", "，"},
    {"; ", "；"},
    {" (", "（"},
    {") ", "）"},
    {"[", "【"},
    {"] ", "】"},
    {"=", "＝"},
    {"/", "／"},
    {" ", "　"},
};

struct Found {
  size_t size = 0;  // bytes; 0: none
  std::string_view meaning;
};
// The longest of `words` that begins `text`.
Found WordAt(std::string_view text, std::span<const Words> words = kWords) {
  Found longest;
  for (const Words& each : words) {
    for (std::string_view left = each.words; !left.empty();) {
      const std::string_view word = left.substr(0, left.find(','));
      left.remove_prefix(std::min(word.size() + 1, left.size()));
      if (word.size() > longest.size && text.starts_with(word)) {
        longest = {word.size(), each.meaning};
      }
    }
  }
  return longest;
}

// Words that say that a line is of a training; the rest may be anything.
bool SpeaksOfTraining(std::string_view line) {
  constexpr std::string_view kSome[] = {
      "损失", "步",     "学习率", "梯度",  "轮",    "训练",
      "：",   "損失",   "学習",   "勾配",  "손실",  "학습",
      "에폭", "потери", "Потери", "Эпоха", "втрат", "Втрат"};
  return HasOneOf(line, kSome);
}

// Some byte is the first of a Chinese, Japanese, Korean or Cyrillic letter, and
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

// One of the signs of any language stands in it.
bool HasSign(std::string_view line) {
  for (size_t at = line.find('\xe2'); at != line.npos;
       at = line.find('\xe2', at + 1)) {
    const auto signs = std::span(kWords).first(kSigns);
    if (WordAt(line.substr(at), signs).size > 0) return true;
  }
  return false;
}

}  // namespace

// Without a way out of the loop, as below: so many bytes are looked at at once.
std::string_view Translated(std::string_view line, std::string* out) {
  const bool speaks = MayBeTranslated(line) && SpeaksOfTraining(line);
  if (!speaks && !HasSign(line)) return line;
  out->clear();
  for (size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    const Found word =
        static_cast<unsigned char>(rest[0]) < 0x80 ? Found() : WordAt(rest);
    if (word.size == 0) {
      *out += line[at++];
      continue;
    }
    // "第 3 轮" is an epoch, "第 3 步" a step.
    const bool epoch =
        rest.starts_with("第") && rest.find("轮") < rest.find("步");
    *out += epoch ? "epoch " : word.meaning;
    at += word.size;
  }
  return *out;
}

}  // namespace nanwatch
