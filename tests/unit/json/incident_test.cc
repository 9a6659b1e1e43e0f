// What the API says of incidents and causes: keys, their order, and values.

#include "json/incident.h"

#include <gmock/gmock.h>

#include "tests/unit/model/sample_incident.h"

namespace nanwatch {
namespace {

std::string RuleOf(RuleId rule) {
  return "rule" + std::to_string(NumberOf(rule));
}

constexpr char kIncident[] = R"({
  "id": "fedcba9876543210",
  "family": "loss",
  "rule": {
    "number": 34,
    "name": "rule34"
  },
  "cause": "divergence",
  "subject": {
    "rank": 3,
    "optimizer": "adam",
    "op": "head",
    "slot": "grad_input"
  },
  "host": "node-4",
  "device": "NVIDIA H100",
  "state": "resolved",
  "severity": "warning",
  "worst_severity": "critical",
  "opened_step": 1200,
  "resolved_step": 1300,
  "opened": 1700000000.123456,
  "fired": 1700000001.123456,
  "updated": 1700000002.123456,
  "resolved": 1700000003.123456,
  "resolved_reason": "cleared",
  "summary": "The loss left its level.",
  "reopened": 2,
  "acknowledged_by": "ann",
  "muted": true,
  "findings_total": 3,
  "findings": [
    {
      "rule": {
        "number": 27,
        "name": "rule27"
      },
      "subject": {
        "optimizer": "sgd"
      },
      "severity": "info",
      "opened_step": -5,
      "last_step": 1250,
      "opened": 1700000000.000001,
      "last": 1700000000.000002,
      "sentence": "A norm of many times its usual.",
      "numbers": [
        {
          "name": "norm",
          "value": 7.25,
          "unit": "x"
        },
        {
          "name": "n",
          "value": 2.0,
          "unit": ""
        }
      ],
      "in_summary": "not"
    },
    {
      "rule": {
        "number": 27,
        "name": "rule27"
      },
      "subject": {
        "optimizer": "sgd"
      },
      "severity": "info",
      "opened_step": -5,
      "last_step": 1250,
      "opened": 1700000000.000001,
      "last": 1700000000.000002,
      "sentence": "A norm of many times its usual.",
      "numbers": [
        {
          "name": "norm",
          "value": "NaN",
          "unit": "x"
        },
        {
          "name": "n",
          "value": 2.0,
          "unit": ""
        }
      ],
      "in_summary": "not"
    },
    {
      "rule": {
        "number": 27,
        "name": "rule27"
      },
      "subject": {
        "optimizer": "sgd"
      },
      "severity": "info",
      "opened_step": -5,
      "last_step": 1250,
      "opened": 1700000000.000001,
      "last": 1700000000.000002,
      "sentence": "A norm of many times its usual.",
      "numbers": [
        {
          "name": "norm",
          "value": "Infinity",
          "unit": "x"
        },
        {
          "name": "n",
          "value": 2.0,
          "unit": ""
        }
      ],
      "in_summary": "not"
    }
  ]
})";

constexpr char kCause[] = R"({
  "cause": "harmless_padding",
  "grade": "established",
  "origin": {
    "rank": 1,
    "op": "loss/Log",
    "slot": "output",
    "type": "Log",
    "dtype": "fp16"
  },
  "step": 12,
  "sentence": "s",
  "severity_ceiling": "info",
  "evidence": [
    {
      "grade": "supported",
      "sentence": "outputs are finite"
    },
    {
      "grade": "hypothesis",
      "sentence": "e"
    }
  ],
  "actions": [
    {
      "framework": "ascend_tf",
      "sentence": "Switch the check off."
    },
    {
      "framework": "",
      "sentence": "x"
    }
  ],
  "rules": [
    {
      "number": 18,
      "name": "rule18"
    },
    {
      "number": 20,
      "name": "rule20"
    }
  ]
})";

// And in_summary, which came later.
TEST(IncidentJson, IsThatOfTheFirstVersion) {
  EXPECT_EQ(IncidentJson(LossIncident(), RuleOf).dump(2), kIncident);
}

TEST(IncidentJson, WhatIsNotYetIsNullAndWhatIsNotSaidHasNoKey) {
  Incident incident;
  incident.findings.emplace_back().subject.rank = 0;
  const Json json = IncidentJson(incident, nullptr);
  for (const char* key : {"fired", "resolved", "resolved_step"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["rule"], Json({{"number", 0}})) << "names are not known";
  EXPECT_EQ(json["subject"], Json::object());
  EXPECT_EQ(json["findings"][0]["subject"], Json({{"rank", 0}}));
  EXPECT_EQ(json["findings"][0]["numbers"], Json::array());
}

TEST(IncidentJson, ManyFindingsAreCutAndCounted) {
  Incident incident;
  incident.findings.resize(20);
  const Json json = IncidentJson(incident, RuleOf);
  EXPECT_EQ(json["findings_total"], 20);
  EXPECT_EQ(json["findings"].size(), 16u);
}

TEST(IncidentLine, HasTheKeysThatWereAskedFor) {
  EXPECT_EQ(IncidentLine(LossIncident(), RuleOf,
                         {"worst", "attempt", "rule", "id", "resolved_step"})
                .dump(),
            R"({"worst":"critical","attempt":null,"rule":"rule34",)"
            R"("id":"fedcba9876543210","resolved_step":1300})");
}

TEST(CausesJson, IsThatOfTheFirstVersion) {
  Diagnosis diagnosis;
  CauseVerdict& c = diagnosis.causes.emplace_back();
  c.cause = Cause::kHarmlessPadding;
  c.grade = EvidenceGrade::kEstablished;
  c.origin = {1, "", "loss/Log", Slot::kOutput};
  c.op_type = "Log";
  c.op_dtype = Dtype::kFp16;
  c.step = 12;
  c.rule = RuleId::kOpOverflowOrigin;
  c.sentence = "s";
  c.ceiling = Severity::kInfo;
  c.rules = {RuleId::kOpOverflowOrigin, RuleId::kPersistentOpOverflow};
  c.uncapped = {RuleId::kPersistentOpOverflow};
  c.ops = {"a"};
  c.unlisted_ops = {"b"};
  c.evidence = {{EvidenceGrade::kSupported, "outputs are finite"},
                {EvidenceGrade::kHypothesis, "e"}};
  c.actions = {{"ascend_tf", "Switch the check off."}, {"", "x"}};
  diagnosis.causes.emplace_back();
  const Json json = CausesJson(diagnosis, RuleOf);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].dump(2), kCause);
  EXPECT_EQ(json[1]["origin"], Json::object()) << "nothing is known of it";
}

}  // namespace
}  // namespace nanwatch
