// Every noun of an incident is described whole, and comes back from a
// checkpoint's bytes as it was.

#include <gmock/gmock.h>

#include "model/state_bytes.h"
#include "tests/unit/model/filled.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAreArray;

// Members of an aggregate: as many as may be initialised.
struct Anything {
  template <typename T>
  operator T&() const&;  // NOLINT: stands for any member
  template <typename T>
  operator T&&() const&&;  // NOLINT
};
template <typename T, typename... A>
constexpr size_t Members() {
  if constexpr (requires { T{A{}..., Anything{}}; }) {
    return Members<T, A..., Anything>();
  } else {
    return sizeof...(A);
  }
}

struct Counter {
  template <typename T>
  void Field(const char*, const T&, const Shown& = {}) {
    ++fields;
  }
  size_t fields = 0;
};

template <typename T>
class FieldsTest : public testing::Test {};
using Nouns = testing::Types<Subject, EvidenceNumber, Finding, Incident,
                             Evidence, Action, CauseVerdict, Diagnosis>;
TYPED_TEST_SUITE(FieldsTest, Nouns);

TYPED_TEST(FieldsTest, EveryMemberIsDescribed) {
  TypeParam noun;
  Counter counter;
  Fields(counter, noun);
  EXPECT_EQ(counter.fields, Members<TypeParam>());
}

TYPED_TEST(FieldsTest, ComesBackFromTheBytesOfACheckpoint) {
  const auto was = Filled<TypeParam>();
  std::string bytes;
  StateWriter writer(&bytes);
  writer(was);
  StateReader reader(bytes);
  TypeParam is;
  EXPECT_NE(FieldTexts::Of(is), FieldTexts::Of(was));
  reader(is);
  EXPECT_TRUE(reader.ok() && reader.at_end());
  EXPECT_THAT(FieldTexts::Of(is), ElementsAreArray(FieldTexts::Of(was)));
}

TYPED_TEST(FieldsTest, EveryCutOfItsBytesIsNoticed) {
  std::string bytes;
  StateWriter writer(&bytes);
  writer(Filled<TypeParam>());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    StateReader reader(std::string_view(bytes).substr(0, cut));
    TypeParam noun;
    reader(noun);
    EXPECT_FALSE(reader.ok()) << cut;
  }
}

TEST(StateBytes, AnEnumerationOutOfItsRangeIsRefused) {
  const std::string bytes = {static_cast<char>(kCauses)};
  StateReader reader(bytes);
  Cause cause = Cause::kDivergence;
  reader(cause);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(cause, Cause{});
}

TEST(StateBytes, ASealIsBrokenByAnyChange) {
  std::string bytes = "what was saved";
  Seal(&bytes);
  std::string_view whole = bytes;
  ASSERT_TRUE(Unseal(&whole));
  EXPECT_EQ(whole, "what was saved");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    std::string_view view = changed;
    EXPECT_FALSE(Unseal(&view)) << i;
    view = std::string_view(bytes).substr(0, i);
    EXPECT_FALSE(Unseal(&view)) << i;
  }
}

}  // namespace
}  // namespace nanwatch
