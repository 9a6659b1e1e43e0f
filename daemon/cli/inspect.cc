// runs, show, diagnose: reading.

#include <chrono>
#include <cstdio>

#include "base/plain_text.h"
#include "cli/commands.h"
#include "cli/layer_scales.h"
#include "cli/layers_table.h"
#include "cli/report.h"
#include "cli/run_tables.h"
#include "json/message.h"

namespace nanwatch {
namespace {

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void PrintJson(const google::protobuf::Message& message) {
  std::fputs(RunJson(message).c_str(), stdout);
}

}  // namespace

int Fail(const std::string& message, int status) {
  const std::string plain = PlainText(message, [](uint32_t code) {
    return std::string(code == '\n' ? "\n" : "?");
  });
  std::fprintf(stderr, "nanwatch: %s\n", plain.c_str());
  return status;
}

int ExitStatus(v1::Severity severity) {
  switch (severity) {
    case v1::SEVERITY_CRITICAL:
      return 2;
    case v1::SEVERITY_WARNING:
      return 1;
    default:
      return 0;
  }
}

int ListRuns(QueryClient& client, const Style& style, ShowForm form) {
  const Result<v1::ListRunsResponse> runs = client.ListRuns();
  if (!runs.ok()) return Fail(runs.error());
  if (form == ShowForm::kJson) {
    PrintJson(*runs);
  } else {
    const bool all = form == ShowForm::kAll;
    std::fputs(RunsTable(*runs, style, all).c_str(), stdout);
  }
  return 0;
}

int ShowRun(QueryClient& client, const RunChoice& run, const Style& style,
            ShowForm form) {
  const Result<v1::RunDetail> detail = client.GetRun(run.run_id, run.attempt);
  if (!detail.ok()) return Fail(detail.error());
  if (form == ShowForm::kJson) {
    PrintJson(*detail);
  } else {
    const bool all = form == ShowForm::kAll;
    std::fputs(RunReport(*detail, style, NowMicros(), all).c_str(), stdout);
  }
  return 0;
}

v1::GetLayersRequest LayersOf(const RunChoice& run, int32_t rank) {
  v1::GetLayersRequest request;
  request.set_run_id(run.run_id);
  if (run.attempt) request.set_attempt(*run.attempt);
  request.set_rank(rank);
  return request;
}

int ShowLayers(QueryClient& client, const RunChoice& run, int32_t rank,
               const Style& style, bool json) {
  const Result<v1::GetLayersResponse> layers =
      client.GetLayers(LayersOf(run, rank));
  if (!layers.ok()) return Fail(layers.error());
  if (json) {
    PrintJson(*layers);
  } else if (layers->layers_size() == 0) {
    std::printf("%s of gradients of single parameters, of rank %d.\n",
                layers->cut() ? "None of the newest 10,000 rows of ops is"
                              : "Nothing was reported",
                rank);
  } else {
    std::fputs(LayersTable(*layers, style).c_str(), stdout);
    if (layers->cut()) {
      std::puts(
          "Older reports than the newest 10,000 rows are not among these.");
    }
  }
  return 0;
}

int ShowLayerScales(QueryClient& client, const RunChoice& run,
                    const Style& style, ScalesForm form) {
  v1::GetLayersRequest request = LayersOf(run, 0);
  request.set_scales(true);
  const Result<v1::GetLayersResponse> layers = client.GetLayers(request);
  if (!layers.ok()) return Fail(layers.error());
  if (form == ScalesForm::kJson) {
    PrintJson(*layers);
  } else if (layers->scales_size() == 0) {
    return Fail(
        "no gradients in fp16 or FP8 were told that say which scales suit: "
        "watch with level=\"layers\" or \"ops\", or tell their abs_max and "
        "exponents. Block scales (MXFP8, NVFP4) are not read");
  } else if (form == ScalesForm::kYaml) {
    std::fputs(LayerScalesYaml(*layers, run.run_id).c_str(), stdout);
  } else {
    std::fputs(LayerScalesTable(*layers, style).c_str(), stdout);
  }
  return 0;
}

int DiagnoseRun(QueryClient& client, const RunChoice& run, const Style& style,
                DiagnosisForm form) {
  const Result<v1::RunDetail> detail = client.GetRun(run.run_id, run.attempt);
  if (!detail.ok()) return Fail(detail.error());
  switch (form) {
    case DiagnosisForm::kJson:
      PrintJson(*detail);
      break;
    case DiagnosisForm::kBrief:
      std::fputs(Brief(*detail).c_str(), stdout);
      break;
    case DiagnosisForm::kReport:
    case DiagnosisForm::kAll:
      std::fputs(
          DiagnosisReport(*detail, style, form == DiagnosisForm::kAll).c_str(),
          stdout);
      break;
  }
  return ExitStatus(detail->summary().worst());
}

}  // namespace nanwatch
