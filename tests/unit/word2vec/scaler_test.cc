#include "scaler.h"

#include <gmock/gmock.h>

#include <string_view>
#include <vector>

namespace word2vec {
namespace {

using ::testing::ElementsAre;

// 'T': overflow, 'F': finite. The scale after each.
std::vector<double> Scales(LossScaler* scaler, std::string_view updates) {
  std::vector<double> scales;
  for (char update : updates) {
    EXPECT_EQ(scaler->Update(update == 'T'), update == 'F');
    scales.push_back(scaler->scale());
  }
  return scales;
}

TEST(ScalerTest, AscendTfCountsOverflowsThatAreNotAdjacent) {
  AscendTfScaler scaler(1024, 0.5);
  EXPECT_THAT(Scales(&scaler, "TFTTFFFT"),
              ElementsAre(1024, 1024, 512, 512, 512, 512, 512, 256));
}

TEST(ScalerTest, AscendTfFallsByFourFifthsToOne) {
  AscendTfScaler scaler(65536, AscendTfScaler::kBackoff);
  EXPECT_THAT(Scales(&scaler, "TT"), ElementsAre(65536, 52428.8));
  int updates = 2;
  while (scaler.scale() > 1) {
    scaler.Update(true);
    ASSERT_LT(++updates, 1000);
  }
  EXPECT_EQ(updates, 100);  // 50 times 0.8 of 2^16, two overflows each
  EXPECT_THAT(Scales(&scaler, "TT"), ElementsAre(1, 1));
}

TEST(ScalerTest, AscendTfGrowsAfterAThousandFiniteUpdates) {
  AscendTfScaler scaler(8, 0.8);
  for (int i = 0; i < 999; ++i) scaler.Update(false);
  EXPECT_EQ(scaler.scale(), 8);
  scaler.Update(false);
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(ScalerTest, PytorchHalvesBelowOneDownToZero) {
  PytorchScaler scaler(2);
  EXPECT_THAT(Scales(&scaler, "TTT"), ElementsAre(1, 0.5, 0.25));
  for (int i = 0; i < 200; ++i) scaler.Update(true);
  EXPECT_EQ(scaler.scale(), 0);
}

TEST(ScalerTest, PytorchGrowsAfterTwoThousandInARow) {
  PytorchScaler scaler(4);
  for (int i = 0; i < 1999; ++i) scaler.Update(false);
  scaler.Update(true);
  EXPECT_EQ(scaler.scale(), 2);
  for (int i = 0; i < 2000; ++i) scaler.Update(false);
  EXPECT_EQ(scaler.scale(), 4);
}

TEST(ScalerTest, FixedSkipsOnlyWithItsCheckOn) {
  FixedScaler on(1024, true);
  EXPECT_FALSE(on.Update(true));
  EXPECT_TRUE(on.Update(false));
  FixedScaler off(1024, false);
  EXPECT_TRUE(off.Update(true));
  EXPECT_EQ(off.scale(), 1024);
}

}  // namespace
}  // namespace word2vec
