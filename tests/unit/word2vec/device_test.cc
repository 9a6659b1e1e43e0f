#include "device.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ops/ops.h"

namespace word2vec {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

const Op kOp{"test/Op", "Op", "ND", 0};

std::vector<float> Floats(const Tensor& tensor) {
  std::vector<float> out(tensor.size());
  ToFloat(tensor.data.data(), out.size(), out.data());
  return out;
}

// The Log of the loss: all probabilities 1/2, with or without padding.
Tensor LogOfHalves(Device* device, bool padded) {
  const Shape shape = {1000, 6};
  Tensor in(shape);
  for (Half& x : in.data) x = Half{0.5f};
  Tensor padded_in(shape, padded ? NzShape(1000, 6) : shape);
  if (padded) {
    TransDataToNz(in.data.data(), 1000, 6, padded_in.data.data());
  } else {
    padded_in = in;
  }
  Tensor out(shape, padded_in.storage);
  device->Run(kOp, {&padded_in}, &out,
              [&] { Log(padded_in.data.data(), out.size(), out.data.data()); });
  return out;
}

TEST(DeviceTest, LogOverAPaddedBufferSetsTheFloatStatus) {
  Device device(OverflowMode::kSaturation, nullptr);
  const Tensor out = LogOfHalves(&device, true);
  EXPECT_TRUE(device.float_status().overflow());
  EXPECT_THAT(device.float_status().words(),
              ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
  size_t saturated = 0;
  for (float x : Floats(out)) saturated += x == -kMaxHalf;
  EXPECT_EQ(saturated, 1008u * 16 - 1000 * 6) << "exactly the padding";
  Tensor logical({1000, 6});
  TransDataFromNz(out.data.data(), 1000, 6, logical.data.data());
  EXPECT_THAT(Floats(logical),
              Each(static_cast<float>(static_cast<Half>(std::log(0.5f)))));
}

TEST(DeviceTest, LogOverAnUnpaddedBufferDoesNot) {
  Device device(OverflowMode::kSaturation, nullptr);
  LogOfHalves(&device, false);
  EXPECT_FALSE(device.float_status().overflow());
}

TEST(DeviceTest, FloatStatusStaysSetUntilCleared) {
  Device device(OverflowMode::kSaturation, nullptr);
  LogOfHalves(&device, true);
  LogOfHalves(&device, false);
  EXPECT_TRUE(device.float_status().overflow());
  device.float_status().Clear();
  LogOfHalves(&device, false);
  EXPECT_FALSE(device.float_status().overflow());
}

TEST(DeviceTest, SaturationClampsInfinityAndMakesNanZero) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {inf,   -inf,     std::nanf(""), -std::nanf(""),
                                 1.5f,  -65504.f, 65504.f,       -0.f,
                                 6e-8f, 0.f};
  std::vector<Half> halves(in.size());
  FromFloat(in.data(), in.size(), halves.data());
  EXPECT_TRUE(HasNonFinite(halves.data(), halves.size()));
  Saturate(halves.data(), halves.size());
  std::vector<float> out(in.size());
  ToFloat(halves.data(), out.size(), out.data());
  EXPECT_THAT(out, ElementsAre(kMaxHalf, -kMaxHalf, 0, 0, 1.5f, -65504, 65504,
                               0, 0x1p-24f, 0));
  EXPECT_FALSE(HasNonFinite(halves.data(), halves.size()));
}

TEST(DeviceTest, InfNanModeKeepsInfinity) {
  Device device(OverflowMode::kInfNan, nullptr);
  const Tensor out = LogOfHalves(&device, true);
  EXPECT_TRUE(HasNonFinite(out.data.data(), out.size()));
}

class ListenerSpy : public OpListener {
 public:
  void OnOp(const Op&, std::initializer_list<const Tensor*>, const Tensor&,
            bool overflow) override {
    overflows.push_back(overflow);
  }
  std::vector<bool> overflows;
};

TEST(DeviceTest, ListenerHearsTheStatusOfEachOpAlone) {
  ListenerSpy spy;
  Device device(OverflowMode::kSaturation, &spy);
  LogOfHalves(&device, true);
  LogOfHalves(&device, false);
  EXPECT_THAT(spy.overflows, ElementsAre(true, false));
}

// Gradients of 40 pairs of 3 targets, whose largest is seed * weight / 2.
bool GradientOverflows(float scale) {
  const Extent extent{.pairs = 40, .targets = 3, .dim = 8};
  Tensor sigmoid({40, 3}), weight({40}), out({40, 3});
  for (Half& x : sigmoid.data) x = Half{0.5f};
  for (Half& x : weight.data) x = Half{1};
  Device device(OverflowMode::kSaturation, nullptr);
  device.Run(kOp, {&sigmoid}, &out, [&] {
    LogSigmoidGrad(extent, sigmoid.data.data(), weight.data.data(), scale,
                   out.data.data());
  });
  return device.float_status().overflow();
}

TEST(DeviceTest, RangeOverflowDependsOnTheScale) {
  EXPECT_FALSE(GradientOverflows(0x1p16f));
  EXPECT_FALSE(GradientOverflows(65504.f * 80));
  EXPECT_TRUE(GradientOverflows(65504.f * 81));
  EXPECT_TRUE(GradientOverflows(0x1p32f));
}

TEST(DeviceTest, RsqrtOfANegativeIsInvalid) {
  Tensor in({1}), out({1});
  in.data[0] = Half{-1};
  Device device(OverflowMode::kInfNan, nullptr);
  device.Run(kOp, {&in}, &out,
             [&] { Rsqrt(in.data.data(), 1, out.data.data()); });
  EXPECT_TRUE(device.float_status().overflow());
  EXPECT_TRUE(std::isnan(Floats(out)[0]));
}

}  // namespace
}  // namespace word2vec
