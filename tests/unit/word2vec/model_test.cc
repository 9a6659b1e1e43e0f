#include "model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace word2vec {
namespace {

constexpr Extent kExtent{.pairs = 100, .targets = 6, .dim = 16};

// A text of pairs: word 2k stands beside word 2k + 1.
std::vector<std::string> PairedText() {
  std::vector<std::string> words;
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    const uint32_t pair = random.Below(20);
    const char letter = static_cast<char>('a' + pair);
    words.push_back(std::string("left") + letter);
    words.push_back(std::string("right") + letter);
  }
  return words;
}

class OpLog : public OpListener {
 public:
  void OnOp(const Op& op, std::initializer_list<const Tensor*>,
            const Tensor& output, bool overflow) override {
    overflow_of[op.name] = overflow;
    bad_of[op.name] = HasNonFinite(output.data.data(), output.size());
    orders.push_back(op.order);
  }
  std::map<std::string, bool> overflow_of;
  std::map<std::string, bool> bad_of;
  std::vector<int> orders;
};

class ModelTest : public ::testing::Test {
 protected:
  Vocabulary vocabulary_{PairedText()};
  Sampler sampler_{vocabulary_, kExtent, 1};
  OpLog log_;
};

TEST_F(ModelTest, OnlyThePaddedLogOverflows) {
  Device device(OverflowMode::kSaturation, &log_);
  Model model(vocabulary_.size(), kExtent, /*padded=*/true, 1);
  const float loss = model.Forward(sampler_.Next(), &device);
  model.Backward(1024, &device);
  EXPECT_GT(loss, 0);
  for (const auto& [name, overflow] : log_.overflow_of) {
    EXPECT_EQ(overflow, name == "loss/Log") << name;
  }
  EXPECT_FALSE(model.GradientNonFinite());
}

TEST_F(ModelTest, NothingOverflowsWithoutPadding) {
  Device device(OverflowMode::kSaturation, &log_);
  Model model(vocabulary_.size(), kExtent, /*padded=*/false, 1);
  model.Forward(sampler_.Next(), &device);
  model.Backward(1024, &device);
  EXPECT_FALSE(device.float_status().overflow());
}

TEST_F(ModelTest, PaddingChangesNoLossAndNoGradient) {
  Device device(OverflowMode::kSaturation, nullptr);
  Model padded(vocabulary_.size(), kExtent, true, 1);
  Model plain(vocabulary_.size(), kExtent, false, 1);
  const Batch batch = sampler_.Next();
  EXPECT_EQ(padded.Forward(batch, &device), plain.Forward(batch, &device));
  padded.Backward(1024, &device);
  plain.Backward(1024, &device);
  EXPECT_EQ(padded.CollectGradient(batch, 1024, OverflowMode::kSaturation),
            plain.CollectGradient(batch, 1024, OverflowMode::kSaturation));
}

TEST_F(ModelTest, UnscaledGradientDoesNotDependOnTheScale) {
  Device device(OverflowMode::kSaturation, nullptr);
  Model model(vocabulary_.size(), kExtent, false, 1);
  const Batch batch = sampler_.Next();
  model.Forward(batch, &device);
  model.Backward(256, &device);
  const double low =
      model.CollectGradient(batch, 256, OverflowMode::kSaturation);
  model.Discard();
  model.Backward(65536, &device);
  const double high =
      model.CollectGradient(batch, 65536, OverflowMode::kSaturation);
  EXPECT_NEAR(low / high, 1, 0.01);
}

TEST_F(ModelTest, DiscardedGradientLeavesTheVectorsAlone) {
  Device device(OverflowMode::kSaturation, nullptr);
  Model model(vocabulary_.size(), kExtent, false, 1);
  const Batch batch = sampler_.Next();
  const float before = model.vectors().row(batch.centre[0])[0];
  model.Forward(batch, &device);
  model.Backward(256, &device);
  model.CollectGradient(batch, 256, OverflowMode::kSaturation);
  model.Discard();
  EXPECT_EQ(model.vectors().row(batch.centre[0])[0], before);
  model.Backward(256, &device);
  model.CollectGradient(batch, 256, OverflowMode::kSaturation);
  model.Apply(0.1f);
  EXPECT_NE(model.vectors().row(batch.centre[0])[0], before);
}

TEST_F(ModelTest, PoisonedRecordMakesTheFirstNanInRsqrt) {
  Device device(OverflowMode::kInfNan, &log_);
  Model model(vocabulary_.size(), kExtent, false, 1);
  Batch& batch = sampler_.Next();
  batch.distance.data[0] = Half{-1};
  EXPECT_TRUE(std::isnan(model.Forward(batch, &device)));
  model.Backward(1, &device);
  EXPECT_TRUE(log_.bad_of["nce/distance/Rsqrt"]);
  EXPECT_FALSE(log_.bad_of["loss/Log"]);
  EXPECT_TRUE(log_.bad_of["loss/ReduceMean"]);
  EXPECT_TRUE(model.GradientNonFinite());
}

TEST_F(ModelTest, OpsRunInTheirDeclaredOrder) {
  Device device(OverflowMode::kSaturation, &log_);
  Model model(vocabulary_.size(), kExtent, true, 1);
  model.Forward(sampler_.Next(), &device);
  model.Backward(1, &device);
  EXPECT_THAT(log_.orders,
              ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

TEST_F(ModelTest, LearnsWhichWordsStandTogether) {
  Device device(OverflowMode::kSaturation, nullptr);
  Model model(vocabulary_.size(), kExtent, true, 1);
  float first = 0, loss = 0;
  for (int step = 0; step < 300; ++step) {
    const Batch& batch = sampler_.Next();
    loss = model.Forward(batch, &device);
    if (step == 0) first = loss;
    model.Backward(1024, &device);
    model.CollectGradient(batch, 1024, OverflowMode::kSaturation);
    model.Apply(0.1f);
  }
  EXPECT_LT(loss, 0.9f * first);
}

}  // namespace
}  // namespace word2vec
