#include "cli/layer_scales.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::GetLayersResponse Told() {
  v1::GetLayersResponse told;
  v1::LayerScale* embed = told.add_scales();
  embed->set_name("embed\n\"x\"");
  embed->set_lowest(0x1p32);
  embed->set_highest(0x1p60);
  embed->set_scale(1024);
  embed->set_lost(1);
  embed->set_all_lost(true);
  embed->set_outside(true);
  embed->set_group(1);
  v1::LayerScale* head = told.add_scales();
  head->set_name("head");
  head->set_lowest(1);
  head->set_highest(0x1p12);
  head->set_lost(0.0123);
  head->set_group(0);
  v1::LayerScale* router = told.add_scales();
  router->set_name("router");
  router->set_lowest(0x1p20);
  router->set_highest(0x1p10);
  told.add_scales()->set_name("frozen");
  v1::ScaleGroup* low = told.add_groups();
  low->set_scale(64);
  low->set_lowest(1);
  low->set_highest(4096);
  v1::ScaleGroup* high = told.add_groups();
  high->set_scale(0x1p46);
  high->set_lowest(0x1p32);
  high->set_highest(0x1p60);
  high->set_bound(true);
  return told;
}

TEST(LayerScales, ATableAndTheAdvice) {
  const std::string table = LayerScalesTable(Told(), Style{});
  EXPECT_THAT(table, HasSubstr("    >=2^32     2^60     2^10      all  embed"));
  EXPECT_THAT(table,
              HasSubstr("       2^0     2^12        -    1.2 %  head\n"));
  EXPECT_THAT(table,
              HasSubstr("         -        -        -      0 %  frozen\n"));
  EXPECT_THAT(table, HasSubstr("2^6 for head"));
  EXPECT_THAT(LayerScalesTable({}, Style{}), IsEmpty());
}

TEST(LayerScales, YamlHasANumberWhereOneSuits) {
  const std::string yaml = LayerScalesYaml(Told(), "run \n1");
  EXPECT_THAT(yaml, HasSubstr("\n  \"head\": 64\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("\n  \"router\"")));
  EXPECT_THAT(yaml, Not(HasSubstr("\n\"x\""))) << "no line of its own";
}

}  // namespace
}  // namespace nanwatch
