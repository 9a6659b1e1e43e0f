#include "json/value.h"

#include <gmock/gmock.h>

#include <cmath>

#include "json/fields.h"
#include "model/view_fields.h"

namespace nanwatch {
namespace {

TEST(JsonValue, NumbersThatJsonHasNotAreStrings) {
  EXPECT_EQ(JsonNumber(NAN).dump(), "\"NaN\"");
  EXPECT_EQ(JsonNumber(INFINITY).dump(), "\"Infinity\"");
  EXPECT_EQ(JsonNumber(-INFINITY).dump(), "\"-Infinity\"");
  EXPECT_EQ(JsonNumber(0.1).dump(), "0.1");
}

TEST(JsonValue, TimesKeepTheirMicroseconds) {
  EXPECT_EQ(JsonTime(FromMicros(1700000000123456)).get<double>(),
            1700000000.123456);
}

TEST(JsonValue, IdsAreSixteenDigits) {
  EXPECT_EQ(JsonId(255), "00000000000000ff");
}

TEST(JsonValue, AbsentIsNull) {
  EXPECT_TRUE(JsonOrNull(std::optional<int>()).is_null());
  EXPECT_EQ(JsonOrNull(std::optional<int>(4)), 4);
}

TEST(JsonFields, AnUpdateHasItsOldKeyBesideTheNew) {
  RunView run;
  run.updates = 7;
  run.scaler.updates_to_floor = 9;
  const Json json = JsonFields::Of(run, {});
  EXPECT_EQ(json["optimizer_attempts"], 7);
  EXPECT_EQ(json["update_attempts"], 7);
  const Json scaler = JsonFields::Of(run.scaler, {});
  EXPECT_EQ(scaler["attempts_to_floor"], 9);
  EXPECT_EQ(scaler["updates_to_floor"], 9);
}

}  // namespace
}  // namespace nanwatch
