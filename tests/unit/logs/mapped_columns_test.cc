#include "logs/mapped_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Missing(const std::vector<std::string>& pairs,
                                 const std::vector<std::string>& lines) {
  const Result<ColumnMap> map = ParseColumnMap(pairs);
  EXPECT_TRUE(map.ok());
  LogReader reader(nullptr, *map, [](const LogRecord&) {});
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  return reader.MissingColumns();
}

TEST(MappedColumns, NamesThoseThatNoLineShows) {
  const std::vector<std::string> lines(
      20, R"({"it": 1, "ce": 2.5, "loss": 3, "amp": {"s": 8, "inf": true}})");
  EXPECT_THAT(
      Missing({"loss=ce", "scale=amp/s", "step=it", "overflow=amp/inf"}, lines),
      IsEmpty());
  EXPECT_THAT(Missing({"loss=nothere", "scale=amp/s"}, lines),
              ElementsAre("loss=nothere"));
  EXPECT_THAT(Missing({"lr=x", "skipped=y", "rank=z", "skipped_total=w",
                       "step=v", "overflow=u"},
                      lines)
                  .size(),
              6u);
  EXPECT_THAT(Missing({}, lines), IsEmpty());
}

// A column that begins late is there.
TEST(MappedColumns, OneLineIsEnough) {
  std::vector<std::string> lines(200, "loss=2.5 step=1");
  lines.emplace_back("");
  lines.emplace_back("loss=2.5 step=2 gn=0.5");
  EXPECT_THAT(Missing({"grad_norm=gn"}, lines), IsEmpty());
}

// Apex tells a scale, but in no column.
TEST(MappedColumns, ALibrarysLineIsNoColumn) {
  const std::vector<std::string> lines = {
      "loss=2.5 step=1",
      "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
      "32768.0"};
  EXPECT_THAT(Missing({"scale=s"}, lines), ElementsAre("scale=s"));
}

}  // namespace
}  // namespace nanwatch
