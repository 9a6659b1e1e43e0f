#include "dumps/dump_place.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "dumps/msprobe_name.h"
#include "dumps/npy_place.h"

namespace nanwatch {
namespace {

TEST(DumpPlaceTest, FoldersSayStepAndRank) {
  const DumpPlace place = PlaceOfDump("step3/rank_12/net/dump.json");
  EXPECT_EQ(place.step, 3);
  EXPECT_EQ(place.rank, 12);
  EXPECT_THAT(place.folders, testing::ElementsAre("net"));
  EXPECT_EQ(place.file, "dump.json");
}

TEST(DumpPlaceTest, OtherFoldersSayNeither) {
  const DumpPlace place = PlaceOfDump("stepper/rank/3/99999999999999999999/x");
  EXPECT_FALSE(place.step);
  EXPECT_FALSE(place.rank);
  EXPECT_THAT(place.folders,
              testing::ElementsAre("stepper", "3", "99999999999999999999"));
}

TEST(NpyPlaceTest, ADevicesDumpSaysTypeTimeAndSlot) {
  const NpyPlace place = PlaceOfNpy(
      "rank_1/net/0/7/MatMul.Default_fc-Dense_MatMul-op1.0.3."
      "1700000000000001.input.2.DefaultFormat.npy");
  EXPECT_EQ(place.step, 7);
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.type, "MatMul");
  EXPECT_EQ(place.name, "Default_fc-Dense_MatMul-op1");
  EXPECT_EQ(place.slot, Slot::kInput);
  EXPECT_EQ(place.index, 2);
  EXPECT_EQ(place.time, 1700000000000001);
}

TEST(NpyPlaceTest, TensorFlowsDebuggerSaysTheTime) {
  const NpyPlace place = PlaceOfNpy("dense_1_MatMul.0.1700000000000002.npy");
  EXPECT_EQ(place.name, "dense_1_MatMul");
  EXPECT_EQ(place.time, 1700000000000002);
  EXPECT_EQ(place.step, 0);
}

TEST(NpyPlaceTest, MsprobesNameSaysThePass) {
  const NpyPlace place =
      PlaceOfNpy("Functional.linear.5.backward.output.1.npy");
  EXPECT_EQ(place.name, "Functional.linear.5");
  EXPECT_EQ(place.slot, Slot::kGradInput);
  EXPECT_FALSE(place.time);
}

TEST(NpyPlaceTest, AnyOtherNameIsThePath) {
  const NpyPlace place = PlaceOfNpy("layers/0/attn.q.npy");
  EXPECT_EQ(place.name, "layers/0/attn.q");
  EXPECT_EQ(place.step, 0);
}

TEST(NpyPlaceTest, NamesAreInTheOrderOfTheirNumbers) {
  std::vector<NpyPlace> places;
  for (const char* name :
       {"l10.npy", "l2.npy", "l02.npy", "l1.x.npy", "k.npy"}) {
    places.push_back(PlaceOfNpy(name));
  }
  std::stable_sort(places.begin(), places.end(), IsBefore);
  std::vector<std::string> names;
  for (const NpyPlace& place : places) names.push_back(place.name);
  EXPECT_THAT(names, testing::ElementsAre("k", "l1.x", "l02", "l2", "l10"));
}

TEST(NpyPlaceTest, TimesComeBeforeNames) {
  const NpyPlace early = PlaceOfNpy("z.0.1700000000000001.npy");
  const NpyPlace late = PlaceOfNpy("a.0.1700000000000002.npy");
  EXPECT_TRUE(IsBefore(early, late));
  EXPECT_FALSE(IsBefore(late, early));
}

TEST(MsprobeNameTest, OfAModule) {
  const MsprobeName name =
      ParseMsprobeName("Module.blocks.0.fc.Linear.forward.3");
  EXPECT_EQ(name.name, "blocks.0.fc");
  EXPECT_EQ(name.type, "Linear");
  EXPECT_FALSE(name.backward);
}

TEST(MsprobeNameTest, OfAFunction) {
  const MsprobeName name = ParseMsprobeName("Functional.gelu.3.backward");
  EXPECT_EQ(name.name, "Functional.gelu.3");
  EXPECT_EQ(name.type, "gelu");
  EXPECT_TRUE(name.backward);
}

TEST(MsprobeNameTest, OfGradientsOfParameters) {
  const MsprobeName name =
      ParseMsprobeName("Module.fc.Linear.parameters_grad.0");
  EXPECT_EQ(name.name, "fc");
  EXPECT_TRUE(name.parameters_grad);
}

TEST(MsprobeNameTest, AnyOtherIsANameWhole) {
  for (const char* text : {"", ".", "x", "forward", "a.b.c", "Module."}) {
    EXPECT_EQ(ParseMsprobeName(text).name, text);
  }
}

}  // namespace
}  // namespace nanwatch
