#include <algorithm>
#include <array>
#include <string>

#include "config/sections.h"
#include "config/url_check.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

// Beside the five of our own; Prometheus' usual limit is 30. Ours.
constexpr size_t kLabelsMost = 16;

// As Prometheus takes them (data model); "__" is its own.
bool IsLabelName(std::string_view name) {
  if (name.empty() || name.starts_with("__")) return false;
  if (name.front() >= '0' && name.front() <= '9') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  });
}

bool IsOurs(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOurs = {"run_id", "attempt",
                                                     "rank", "optimizer"};
  return std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end();
}

void ReadLabels(YamlSection section,
                std::map<std::string, std::string>* labels) {
  for (const std::string& name : section.Keys()) {
    std::string& value = (*labels)[name];
    section.Text(name, &value);
    if (!IsLabelName(name)) {
      section.Complain(name,
                       " is no name of a label: letters, digits and _, no "
                       "digit first, no __ first.");
    } else if (IsOurs(name)) {
      section.Complain(name, " is a label that each series has already.");
    } else if (value.empty() || value.size() > limits::kNameBytes) {
      section.Complain(name, " must have 1 to 512 bytes.");
    }
  }
  if (labels->size() > kLabelsMost) {
    section.Complain("", " takes at most 16 labels.");
  }
  section.Finish();
}

void ReadRemoteWrite(YamlSection section, RemoteWriteOptions* options) {
  section.Text("url", &options->url);
  section.ClientFiles(&options->ca, &options->cert, &options->key,
                      &options->token_file);
  const std::string wrong =
      options->url.empty() ? "" : WhatIsWrongWithUrl(options->url);
  if (!wrong.empty()) section.Complain("url", wrong);
  const bool tls = options->url.starts_with("https://");
  const bool files = !options->ca.empty() || !options->cert.empty();
  if (wrong.empty() && files && !tls) {
    section.Complain(options->ca.empty() ? "cert" : "ca",
                     " is for an https:// URL.");
  }
  section.Finish();
}

void ReadOtlp(YamlSection section, OtlpOptions* options) {
  ReadGrpcAddress(section, &options->address);
  section.Know("address");
  section.ClientFiles(&options->ca, &options->cert, &options->key,
                      &options->token_file);
  section.Finish();
}

}  // namespace

void ReadPush(YamlSection section, PushOptions* options) {
  ReadRemoteWrite(section.Section("remote_write"), &options->remote_write);
  ReadOtlp(section.Section("otlp"), &options->otlp);
  ReadLabels(section.Section("labels"), &options->labels);
  section.Whole("ranks", 1, 10000, &options->ranks);
  section.Time("max_age", std::chrono::minutes(1), std::chrono::hours(24 * 30),
               "", &options->max_age);
  section.Finish();
}

}  // namespace nanwatch
