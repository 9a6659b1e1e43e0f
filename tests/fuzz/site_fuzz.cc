// Any bytes as a request to the pages and the API, with a body: the answer is
// one of HTTP, its head holds nothing that was sent, and JSON is JSON.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "tests/unit/web/fake_backend.h"
#include "web/request_head.h"
#include "web/site.h"

namespace nanwatch {
namespace {

FakeDaemon& TheDaemon() {
  static FakeDaemon daemon;
  static const bool filled = [] {
    RunView run = SampleRun("team/a..b", 2);
    run.incidents.emplace_back().id = 0xab;
    daemon.snapshot = SnapshotOf({run, SampleRun("b")});
    daemon.history.runs.resize(2);
    daemon.history.runs[0].key = {"old", 3};
    daemon.history.buckets.resize(3);
    daemon.history.rows.resize(3);
    return true;
  }();
  CHECK(filled);
  return daemon;
}

HttpRequest RequestOf(const RequestHead& head, std::string_view body) {
  HttpRequest request;
  TakeOver(head, &request);
  request.remote = "127.0.0.1";
  request.body = body;
  return request;
}

void CheckReply(const HttpReply& reply) {
  CHECK(reply.status >= 200 && reply.status < 600);
  const std::string head = HeaderBlock(reply);
  CHECK(head.find("\r\n\r\n") == head.size() - 4);
  for (const char c : head) CHECK(c == '\r' || c == '\n' || c >= ' ');
  if (reply.gzipped || reply.body.empty()) return;
  if (reply.content_type.starts_with("application/json")) {
    CHECK(nlohmann::json::accept(reply.body));
  }
}

}  // namespace
}  // namespace nanwatch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nanwatch::Site site(nanwatch::TheDaemon().Backend(), {"host.example"});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = nanwatch::EndOfHead(text);
  if (end == std::string_view::npos) return 0;
  const auto head = nanwatch::ParseRequestHead(text.substr(0, end));
  if (!head.ok()) return 0;
  nanwatch::CheckReply(
      site.Answer(nanwatch::RequestOf(*head, text.substr(end))));
  nanwatch::TheDaemon().said.clear();
  return 0;
}
