#include "cli/layers_table.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

v1::Layer& Add(const char* name, double rms, v1::GetLayersResponse* layers) {
  v1::Layer& layer = *layers->add_layers();
  layer.set_name(name);
  layer.set_dtype("fp16");
  layer.set_step(96);
  layer.set_elements(1000);
  layer.set_abs_max(10 * rms);
  layer.set_rms(rms);
  return layer;
}

v1::GetLayersResponse Five() {
  v1::GetLayersResponse layers;
  Add("enter", 0.5, &layers).set_zeros(125);
  Add("small", 0.001, &layers);
  Add("large", 8, &layers);
  Add("dead", 0, &layers).set_zeros(1000);
  Add("leave", 0.25, &layers);
  return layers;
}

TEST(LayersTable, HasALineEachInTheirOrder) {
  const std::string table = LayersTable(Five(), Style());
  EXPECT_THAT(table, HasSubstr("   abs-max        rms   zeros"));
  EXPECT_THAT(
      table,
      HasSubstr("          5        0.5  12.5 %  fp16            96  enter\n"));
  EXPECT_LT(table.find("enter"), table.find("small"));
  EXPECT_LT(table.find("dead"), table.find("leave"));
}

TEST(LayersTable, WhatNobodyCountedIsNoZero) {
  v1::GetLayersResponse layers;
  layers.add_layers()->set_name("any");
  EXPECT_THAT(
      LayersTable(layers, Style()),
      HasSubstr("          -          -       -  -                0  any\n"));
}

TEST(LayersTable, WhatIsNotFiniteIsSaid) {
  v1::GetLayersResponse layers = Five();
  layers.mutable_layers(1)->set_nonfinite(1234);
  EXPECT_THAT(LayersTable(layers, Style()),
              HasSubstr("small  1,234 not finite\n"));
}

TEST(LayersTable, OfNoneIsEmpty) {
  EXPECT_THAT(LayersTable({}, Style()), IsEmpty());
  EXPECT_THAT(LayersBrief({}, 96, 1, 4, Style()), IsEmpty());
  EXPECT_THAT(LayersBrief(Five(), 96, 1, 0, Style()), IsEmpty());
}

TEST(LayersBrief, HasWhatIsOddAndTheEnds) {
  v1::GetLayersResponse layers = Five();
  layers.mutable_layers(4)->set_nonfinite(3);
  const std::string brief = LayersBrief(layers, 96, 1, 4, Style());
  EXPECT_THAT(brief, HasSubstr("layers (4 of 5: odd, largest, smallest)"));
  EXPECT_LT(brief.find("leave"), brief.find("dead"));
  EXPECT_LT(brief.find("dead"), brief.find(" large\n"));
  EXPECT_LT(brief.find(" large\n"), brief.find(" small\n"));
  EXPECT_THAT(brief, Not(HasSubstr("enter")));
}

TEST(LayersBrief, ThoseOfFp16AreComparedWithoutTheLossScale) {
  v1::GetLayersResponse layers;
  Add("scaled", 1024, &layers);
  Add("plain", 2, &layers).set_dtype("fp32");
  Add("small", 1, &layers);
  const std::string brief = LayersBrief(layers, 96, 1024, 1, Style());
  EXPECT_THAT(brief, HasSubstr("plain"));
  EXPECT_THAT(brief, Not(HasSubstr("scaled")));
}

TEST(LayersBrief, ALongNameIsCut) {
  v1::GetLayersResponse layers;
  const std::string name(60, 'n');
  Add(name.c_str(), 1, &layers);
  EXPECT_THAT(LayersBrief(layers, 96, 1, 4, Style()), HasSubstr("nn...\n"));
  EXPECT_THAT(LayersTable(layers, Style()), HasSubstr(name + '\n'));
}

TEST(LayersBrief, WhatWasBadLongAgoIsNot) {
  v1::GetLayersResponse layers = Five();
  v1::Layer& once = *layers.add_layers();
  once.set_name("once");
  once.set_nonfinite(1);
  EXPECT_THAT(LayersBrief(layers, 0, 1, 6, Style()),
              HasSubstr("once  not finite\n"));
  EXPECT_THAT(LayersBrief(layers, 1, 1, 6, Style()), Not(HasSubstr("once")));
  EXPECT_THAT(LayersBrief(layers, 97, 1, 6, Style()), IsEmpty());
}

TEST(LayersBrief, WhatIsNotFiniteIsSaidBehindALongName) {
  v1::GetLayersResponse layers;
  Add(std::string(60, 'n').c_str(), 1, &layers).set_nonfinite(12);
  Style style;
  style.columns = 80;
  const std::string brief = LayersBrief(layers, 96, 1, 4, style);
  const std::string line = brief.substr(brief.find("  ", brief.find("gradi")));
  EXPECT_THAT(line, HasSubstr("n...  12 not finite\n"));
  EXPECT_LE(line.find('\n', line.find("12")) - line.find("        10"), 80u);
}

TEST(LayersBrief, OfFewHasThemAll) {
  const std::string brief = LayersBrief(Five(), 96, 1, 6, Style());
  EXPECT_THAT(brief, HasSubstr("layers\n"));
  for (const char* name : {"enter", "small", "large", "dead", "leave"}) {
    EXPECT_THAT(brief, HasSubstr(name));
  }
}

}  // namespace
}  // namespace nanwatch
