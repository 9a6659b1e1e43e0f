// Incidents as history keeps them.

#include "history/incident_codec.h"

#include <gmock/gmock.h>

#include "nanwatch/v1/history.pb.h"
#include "tests/unit/model/filled.h"
#include "tests/unit/model/sample_incident.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAreArray;

// LossIncident() as 0.1.0 wrote it.
constexpr std::string_view kOfFirstVersion =
    "091032547698badcfe1001182220062a10080312046164616d1a0468656164200232066e"
    "6f64652d343a0b4e5649444941204831303040024802500358b00960940a68c0c480c1c1"
    "c482037080c9bdc1c1c4820378c0cdfac1c1c48203800180d2b7c2c1c482038a0107636c"
    "6561726564920118546865206c6f7373206c65667420697473206c6576656c2e9a017d08"
    "1b121208ffffffffffffffffff0112037367642006180120fbffffffffffffffff0128e2"
    "09308180f9c0c1c48203388280f9c0c1c48203421f41206e6f726d206f66206d616e7920"
    "74696d65732069747320757375616c2e4a120a046e6f726d110000000000001d401a0178"
    "4a0c0a016e11000000000000004050079a017d081b121208ffffffffffffffffff011203"
    "7367642006180120fbffffffffffffffff0128e209308180f9c0c1c48203388280f9c0c1"
    "c48203421f41206e6f726d206f66206d616e792074696d65732069747320757375616c2e"
    "4a120a046e6f726d11000000000000f87f1a01784a0c0a016e1100000000000000405007"
    "9a017d081b121208ffffffffffffffffff0112037367642006180120fbffffffffffffff"
    "ff0128e209308180f9c0c1c48203388280f9c0c1c48203421f41206e6f726d206f66206d"
    "616e792074696d65732069747320757375616c2e4a120a046e6f726d11000000000000f0"
    "7f1a01784a0c0a016e1100000000000000405007a00102aa0103616e6eb00101b80104";

int HexDigit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string Unhex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(HexDigit(digits[i]) * 16 + HexDigit(digits[i + 1])));
  }
  return bytes;
}

v1::StoredIncident Stored() {
  v1::StoredIncident stored;
  EXPECT_TRUE(stored.ParseFromString(Unhex(kOfFirstVersion)));
  return stored;
}

Result<Incident> Decoded(const v1::StoredIncident& stored) {
  return DecodeIncident(stored.SerializeAsString());
}

TEST(IncidentCodec, EveryFieldComesBack) {
  const auto was = Filled<Incident>();
  std::string bytes;
  EncodeIncident(was, &bytes);
  const Result<Incident> is = DecodeIncident(bytes);
  ASSERT_TRUE(is.ok());
  EXPECT_THAT(FieldTexts::Of(*is), ElementsAreArray(FieldTexts::Of(was)));
}

TEST(IncidentCodec, ReadsWhatTheFirstVersionWrote) {
  const Result<Incident> is = DecodeIncident(Unhex(kOfFirstVersion));
  ASSERT_TRUE(is.ok());
  EXPECT_THAT(FieldTexts::Of(*is),
              ElementsAreArray(FieldTexts::Of(LossIncident())));
}

TEST(IncidentCodec, WhatIsNotYetStaysAbsent) {
  std::string bytes;
  EncodeIncident(Incident(), &bytes);
  const Result<Incident> is = DecodeIncident(bytes);
  ASSERT_TRUE(is.ok());
  EXPECT_EQ(is->resolved, std::nullopt);
  EXPECT_EQ(is->resolved_step, std::nullopt);
  EXPECT_EQ(is->subject.rank, -1);
  EXPECT_THAT(FieldTexts::Of(*is),
              ElementsAreArray(FieldTexts::Of(Incident())));
}

TEST(IncidentCodec, FamiliesThatWereNotKeptAreTheIncidents) {
  v1::StoredIncident stored = Stored();
  stored.clear_alert_family();
  stored.mutable_findings(1)->clear_family();
  const Result<Incident> is = Decoded(stored);
  ASSERT_TRUE(is.ok());
  EXPECT_EQ(is->alert_family, Family::kLoss);
  EXPECT_EQ(is->findings[0].family, Family::kTelemetry);
  EXPECT_EQ(is->findings[1].family, Family::kLoss);
}

TEST(IncidentCodec, WhatOnlyANewerVersionKnowsIsRefused) {
  const auto refused = [](auto change) {
    v1::StoredIncident stored = Stored();
    change(&stored);
    return !Decoded(stored).ok();
  };
  using S = v1::StoredIncident*;
  EXPECT_FALSE(refused([](S) {}));
  EXPECT_TRUE(refused([](S s) { s->set_family(kFamilies); }));
  EXPECT_TRUE(refused([](S s) { s->set_alert_family(kFamilies); }));
  EXPECT_TRUE(refused([](S s) { s->set_cause(kCauses); }));
  EXPECT_TRUE(refused([](S s) { s->set_state(3); }));
  EXPECT_TRUE(refused([](S s) { s->set_severity(4); }));
  EXPECT_TRUE(refused([](S s) { s->set_worst(~0u); }));
  EXPECT_TRUE(refused([](S s) { s->mutable_subject()->set_slot(kSlots); }));
  EXPECT_TRUE(refused([](S s) { s->mutable_findings(2)->set_severity(4); }));
  EXPECT_TRUE(
      refused([](S s) { s->mutable_findings(2)->set_family(kFamilies); }));
  EXPECT_FALSE(DecodeIncident("no message").ok());
}

}  // namespace
}  // namespace nanwatch
