#include "logs/line_joiner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "logs/translated.h"

namespace nanwatch {
namespace {

std::vector<std::string> Joined(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  LineJoiner joiner([&out](std::string_view line) { out.emplace_back(line); });
  for (const std::string& line : lines) joiner.Take(line);
  joiner.Flush();
  return out;
}

TEST(LineJoiner, MakesOneLineOfADictInParts) {
  EXPECT_EQ(Joined({"[10:00:11] INFO {'loss': 2.5, 'grad_norm': 0.5,  a.py:88",
                    "                 'epoch': 0.5}", "next"}),
            (std::vector<std::string>{
                "",
                "[10:00:11] INFO {'loss': 2.5, 'grad_norm': 0.5, 'epoch': "
                "0.5}",
                "next"}));
}

TEST(LineJoiner, MakesOneLineOfAnObjectOfAList) {
  const std::vector<std::string> object = {
      "    {", "        \"main/loss\": 2.5,", "        \"epoch\": 0", "    },"};
  std::vector<std::string> list = object;
  list.insert(list.begin(), "[");
  EXPECT_EQ(Joined(list),
            (std::vector<std::string>{
                "[", "", "", "", "{ \"main/loss\": 2.5, \"epoch\": 0 },"}));
  EXPECT_EQ(Joined(object), object) << "of something else";
}

TEST(LineJoiner, MakesOneLineOfATensorInTwo) {
  EXPECT_EQ(Joined({"Loss: tensor([nan], device='cuda:1',",
                    "       grad_fn=<DivBackward0>)", "next"}),
            (std::vector<std::string>{"",
                                      "Loss: tensor([nan], device='cuda:1', "
                                      "grad_fn=<DivBackward0>)",
                                      "next"}));
}

TEST(LineJoiner, PutsANumberBehindItsName) {
  const std::string size = "[torch.cuda.FloatTensor of size 1 (GPU 0)]";
  EXPECT_EQ(
      Joined({"step 10 loss Variable containing:", " 2.5000", size, "next"}),
      (std::vector<std::string>{"", "", "step 10 loss 2.5000", "next"}));
  EXPECT_EQ(Joined({"step 10 loss= ", "1.00000e-02 *", "  2.5000", size}),
            (std::vector<std::string>{"", "", "", "step 10 loss= 2.5000e-02"}));
  EXPECT_EQ(Joined({"step 10 loss ", "[nan]", "<NDArray 1 @gpu(0)>"}),
            (std::vector<std::string>{"", "", "step 10 loss nan"}));
}

TEST(LineJoiner, LeavesOtherNumbersInTheirLines) {
  const std::string size = "[torch.FloatTensor of size 1]";
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"loss: ", "2.5", "acc: ", "0.5"},
        {"loss: ", "2.5", "3.5", size},
        {"loss ", "[2.5 3.5]", "<NDArray 2 @gpu(0)>"},
        {"loss: ", " 2.5", "[torch.FloatTensor of size 12]"},
        {"loss: ", "3.5 *", " 2.5", size},
        {"step 10 loss 3.5", " 2.5", size},
        {"loss: ", "loss: ", ""},
        {"loss: ", "2.5"}}) {
    EXPECT_EQ(Joined(lines), lines);
  }
}

TEST(LineJoiner, PassesOnWhatIsNoDictInParts) {
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"{'loss': 2.5}", "  set in"},
        {"a torn {'loss': 2.", "{'loss': 2.5}"},
        {"a torn {'loss': 2.", "not set in}"},
        {"{'loss': 2.5,"}}) {
    EXPECT_EQ(Joined(lines), lines);
  }
}

TEST(LineJoiner, HoldsNoMoreThanItsParts) {
  std::vector<std::string> lines = {"{'loss': 2.5,"};
  for (size_t i = 0; i < 2 * LineJoiner::kParts; ++i) lines.push_back("  'a',");
  EXPECT_EQ(Joined(lines), lines);
}

TEST(Translated, KnowsChineseNamesOfNumbers) {
  std::string out;
  EXPECT_EQ(Translated("训练步数: 50，损失：2.5，学习率：1e-4", &out),
            "step: 50, loss: 2.5, lr: 1e-4");
  EXPECT_EQ(Translated("第 3 轮，第 50 步，梯度范数：0.5", &out),
            "epoch  3 轮, step  50 步, grad_norm: 0.5");
  EXPECT_EQ(Translated("验证损失：2.5", &out), "val loss: 2.5");
  EXPECT_EQ(Translated("【9】ステップ 5／8　損失＝2.5　勾配ノルム＝1", &out),
            "[9] step 5/8 loss=2.5 grad_norm=1");
  EXPECT_EQ(Translated("крок 30 з 60 · втрата 2.5 · норма градієнта 1", &out),
            "step 30 з 60 · loss 2.5 · grad_norm 1");
  EXPECT_EQ(Translated("loss: -∞", &out), "loss: -inf");
  const std::string_view bar = "45%|████  | 176/391 [00:10<00:12]";
  EXPECT_EQ(Translated(bar, &out).data(), bar.data());
}

}  // namespace
}  // namespace nanwatch
