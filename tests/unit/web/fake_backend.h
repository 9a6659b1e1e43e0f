// A backend without a daemon: a snapshot and a history that tests fill.

#ifndef NANWATCH_TESTS_UNIT_WEB_FAKE_BACKEND_H_
#define NANWATCH_TESTS_UNIT_WEB_FAKE_BACKEND_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/metrics/sample_run.h"
#include "web/backend.h"

namespace nanwatch {

// What a FakeReader answers, and what it was asked.
struct FakeHistory {
  std::vector<RunRow> runs;
  std::vector<StepBucket> buckets;
  std::vector<OpRow> rows;
  std::vector<std::pair<RunKey, Incident>> sent;
  StepQuery step_query;
  OpQuery op_query;
  std::string failure;  // not empty: every read fails with it
};

class FakeReader : public HistoryReader {
 public:
  explicit FakeReader(FakeHistory* history) : history_(history) {}
  Status ForEachEvent(
      uint64_t, const std::optional<RunKey>&,
      const std::function<bool(const StampedEvent&)>&) override {
    return OkStatus();
  }
  uint64_t damaged_events() const override { return 0; }
  Status ForEachRestartEvent(
      std::string_view,
      const std::function<bool(const StampedEvent&)>&) override {
    return OkStatus();
  }
  Status ForEachEventFromCheckpoint(
      const RunKey&, std::string_view,
      const std::function<bool(const StampedEvent&)>&) override {
    return OkStatus();
  }
  Result<std::vector<RunKey>> TrimmedRuns() override {
    return std::vector<RunKey>();
  }
  Result<std::vector<RunRow>> Runs() override { return history_->runs; }
  Result<std::vector<StepBucket>> Steps(const StepQuery& query) override {
    history_->step_query = query;
    if (!history_->failure.empty()) return Error{history_->failure};
    return history_->buckets;
  }
  Result<OpRows> Ops(const OpQuery& query) override {
    history_->op_query = query;
    return OpRows{history_->rows, std::nullopt};
  }
  Result<std::vector<std::pair<RunKey, Incident>>> Sent() override {
    return history_->sent;
  }

 private:
  FakeHistory* const history_;
};

struct FakeDaemon {
  std::shared_ptr<const Snapshot> snapshot = SnapshotOf({});
  std::string not_ready;
  FakeHistory history;
  std::vector<SelfSample> self_samples;
  bool history_on = true;
  decltype(WebBackend::past_run) past_run;
  Time now = FromMicros(1700000000000000);
  std::vector<std::pair<RunKey, Annotation>> said;

  // This must outlive the backend.
  WebBackend Backend() {
    WebBackend backend;
    backend.snapshot = [this] { return snapshot; };
    backend.self_samples = [this] { return self_samples; };
    if (history_on) {
      backend.open_history =
          [this]() -> Result<std::unique_ptr<HistoryReader>> {
        return std::unique_ptr<HistoryReader>(
            std::make_unique<FakeReader>(&history));
      };
    }
    backend.past_run = past_run;
    backend.not_ready = [this] { return not_ready; };
    backend.now = [this] { return now; };
    backend.annotate = [this](const RunKey& run, const Annotation& it,
                              const Caller&) {
      said.emplace_back(run, it);
      return OkStatus();
    };
    backend.rule_name = [](RuleId rule) {
      return rule == RuleId::kScaleUnrepresentable
                 ? std::string("scale_collapse")
                 : std::string();
    };
    backend.version = "0.1.0";
    return backend;
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_WEB_FAKE_BACKEND_H_
