#include "wire/parse.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "model/limits.h"
#include "model/step_extent.h"
#include "wire/complaint.h"
#include "wire/op_codec.h"
#include "wire/op_name_codec.h"
#include "wire/run_codec.h"
#include "wire/step_codec.h"
#include "wire/utf8.h"

namespace nanwatch {
namespace {

using v1::IngestRequest;

// Steps stay exact in a double (JSON), times in the years 1970 .. 9999; both
// leave room to add and subtract without a thought.
constexpr int64_t kStepMax = int64_t{1} << 53;
constexpr int64_t kTimeMax = 253402300799ll * 1000000;

// Every one lies in 0 .. `most`. Quick in saying so, since nearly all do: no
// number is larger than all of them taken together, bit by bit.
template <typename T, typename Convert>
bool AllWithin(const std::vector<T>& column, int64_t most, Convert&& number) {
  uint64_t bits = 0;
  for (const T& value : column) bits |= static_cast<uint64_t>(number(value));
  if (bits <= static_cast<uint64_t>(most)) return true;
  return std::all_of(column.begin(), column.end(), [&](const T& value) {
    return number(value) >= 0 && number(value) <= most;
  });
}

Verdict CheckStep(int64_t step, size_t row) {
  if (step >= 0 && step <= kStepMax) return std::nullopt;
  return Complaint{
      fmt::format("row {} is of step {}; steps lie in 0 .. 2^53", row, step),
      ""};
}

Verdict CheckSteps(const std::vector<int64_t>& steps) {
  if (AllWithin(steps, kStepMax, [](int64_t step) { return step; })) {
    return std::nullopt;
  }
  for (size_t row = 0; row < steps.size(); ++row) {
    if (Verdict w = CheckStep(steps[row], row)) return w;
  }
  return std::nullopt;
}

Verdict CheckTime(int64_t micros, std::string_view what) {
  if (micros >= 0 && micros <= kTimeMax) return std::nullopt;
  return Complaint{
      fmt::format("{} is {}; send Unix time in microseconds", what, micros),
      ""};
}

Verdict CheckTimes(const std::vector<Time>& times) {
  if (AllWithin(times, kTimeMax, [](Time t) { return ToMicros(t); })) {
    return std::nullopt;
  }
  for (size_t row = 0; row < times.size(); ++row) {
    const int64_t micros = ToMicros(times[row]);
    if (micros >= 0 && micros <= kTimeMax) continue;
    return CheckTime(micros, fmt::format("the time of row {}", row));
  }
  return std::nullopt;
}

Verdict ReadOpen(const v1::OpenSession& from, ClientMessage* message) {
  auto& to = message->body.emplace<OpenSessionMessage>();
  to.session = message->session;
  if (from.run().run_id().size() > limits::kNameBytes) {
    return Complaint{
        fmt::format("run.run_id has {} bytes, at most {} are "
                    "taken; shorten it",
                    from.run().run_id().size(), limits::kNameBytes),
        "string_bytes"};
  }
  to.run_id = from.run().run_id();
  if (from.run().has_attempt()) {
    const int32_t attempt = from.run().attempt();
    if (attempt < 0 || attempt > limits::kAttemptMax) {
      return Complaint{fmt::format("run.attempt is {}; attempts count from 0 "
                                   "to {}, or leave it out",
                                   attempt, limits::kAttemptMax),
                       ""};
    }
    to.attempt = from.run().attempt();
  }
  if (Verdict w = ReadRun(from.run(), &to.run)) return w;
  if (Verdict w = ReadRank(from.rank(), to.run.world_size, &to.rank)) return w;
  if (Verdict w = CheckTime(from.client_time_us(), "client_time_us")) return w;
  to.client_time = FromMicros(from.client_time_us());
  message->sent = to.client_time;
  to.acked = from.acked_sequence();
  if (!from.has_relayed()) return std::nullopt;
  const int64_t opened = from.relayed().opened_us();
  if (Verdict w = CheckTime(opened, "relayed.opened_us")) return w;
  to.relayed = FromMicros(opened);
  return std::nullopt;
}

Verdict ReadNames(const v1::OpNames& from, OpShapes* shapes,
                  ClientMessage* message) {
  OpNames& names = message->body.emplace<OpNamesAdded>().names;
  if (Verdict w = ReadOpNames(from, &names)) return w;
  if (shapes == nullptr) return std::nullopt;
  if (names.first_index > shapes->size()) {
    return Complaint{fmt::format("op names from index {}, but this stream was "
                                 "told {}; send those between first",
                                 names.first_index, shapes->size()),
                     ""};
  }
  if (!shapes->Take(names)) {
    return Complaint{fmt::format("all clients together named more than {} ops; "
                                 "report a sample of them",
                                 limits::kOpShapes),
                     "op_shapes"};
  }
  return std::nullopt;
}

// `relayed`: which ops there are, admission knows.
Verdict ReadStepBatch(const v1::StepBatch& from, const OpShapes* shapes,
                      bool relayed, ClientMessage* message) {
  StepColumns& columns = message->body.emplace<StepBatch>().columns;
  if (Verdict w = CheckTime(from.sent_time_us(), "sent_time_us")) return w;
  message->sent = FromMicros(from.sent_time_us());
  if (Verdict w = ReadSteps(from, &columns)) return w;
  if (columns.rows() == 0) {
    return Complaint{"the batch holds no rows; send none instead", ""};
  }
  if (Verdict w = CheckSteps(columns.step)) return w;
  if (Verdict w = CheckTimes(columns.time)) return w;
  if (relayed) return std::nullopt;
  const size_t known = shapes == nullptr ? 0 : shapes->size();
  for (const LayerScale& scale : columns.layer_scales) {
    if (scale.op < known) continue;
    return Complaint{fmt::format("layer_scales names op {} in row {}, but this "
                                 "stream has sent {} op names; send OpNames "
                                 "first",
                                 scale.op, scale.row, known),
                     ""};
  }
  return std::nullopt;
}

Verdict ReadOpBatch(const v1::OpBatch& from, const OpShapes* shapes,
                    bool relayed, ClientMessage* message) {
  OpColumns& columns = message->body.emplace<OpBatch>().columns;
  static const OpShapes kNone;
  if (Verdict w = CheckTime(from.sent_time_us(), "sent_time_us")) return w;
  message->sent = FromMicros(from.sent_time_us());
  if (shapes == nullptr && !relayed) shapes = &kNone;
  if (Verdict w = ReadOps(from, relayed ? nullptr : shapes, &columns)) return w;
  if (columns.rows() == 0) {
    return Complaint{"the batch holds no rows; send none instead", ""};
  }
  uint32_t row = 0;
  for (const OpGroup& group : columns.groups) {
    if (Verdict w = CheckStep(group.step, row)) return w;
    const int64_t micros = ToMicros(group.time);
    if (micros < 0 || micros > kTimeMax) {
      return CheckTime(micros, fmt::format("the time of row {}", row));
    }
    row = group.end;
  }
  return std::nullopt;
}

Verdict ReadDropped(const v1::Dropped& from, ClientMessage* message) {
  message->body =
      Dropped{from.steps(), from.ops(), from.first_step(), from.last_step()};
  if (Verdict w = CheckSteps({from.first_step(), from.last_step()})) return w;
  if (from.first_step() <= from.last_step()) return std::nullopt;
  return Complaint{fmt::format("dropped steps from {} to {}; send the lower "
                               "one first",
                               from.first_step(), from.last_step()),
                   ""};
}

Verdict ReadClose(const v1::CloseSession& from, ClientMessage* message) {
  CloseMessage& close = message->body.emplace<CloseMessage>();
  if (!from.has_end()) return std::nullopt;
  return ReadProgramEnd(from.end(), &close.end.emplace());
}

Verdict ReadLost(const v1::LostSession& from, ClientMessage* message) {
  auto& lost = message->body.emplace<LostMessage>();
  if (from.reason().size() > limits::kNameBytes) {
    return Complaint{"lost.reason is longer than 512 bytes", "string_bytes"};
  }
  lost.reason = from.reason();
  return std::nullopt;
}

Verdict ReadTold(const v1::ToldIncidents& from, ClientMessage* message) {
  auto& told = message->body.emplace<ToldMessage>().told;
  if (from.told_size() > limits::kNotices) {
    return Complaint{fmt::format("{} incidents were told, at most {} are taken",
                                 from.told_size(), limits::kNotices),
                     ""};
  }
  for (const auto& one : from.told()) {
    told.push_back({{one.run_id(), one.attempt()}, one.incident()});
  }
  return std::nullopt;
}

Verdict ReadMessageBody(const IngestRequest& request, OpShapes* shapes,
                        bool relayed, ClientMessage* message) {
  switch (request.kind_case()) {
    case IngestRequest::kOpen:
      return ReadOpen(request.open(), message);
    case IngestRequest::kOpNames:
      return ReadNames(request.op_names(), relayed ? nullptr : shapes, message);
    case IngestRequest::kSteps:
      return ReadStepBatch(request.steps(), shapes, relayed, message);
    case IngestRequest::kOps:
      return ReadOpBatch(request.ops(), shapes, relayed, message);
    case IngestRequest::kDropped:
      return ReadDropped(request.dropped(), message);
    case IngestRequest::kClose:
      return ReadClose(request.close(), message);
    case IngestRequest::kLost:
      return ReadLost(request.lost(), message);
    case IngestRequest::kTold:
      return ReadTold(request.told(), message);
    case IngestRequest::KIND_NOT_SET:
      break;
  }
  return Complaint{
      "the message is of no kind that this daemon knows; its client is newer",
      ""};
}

struct Head {
  std::string_view kind = "message";
  SessionId session = 0;
  Sequence sequence = 0;
};

Head HeadOf(const IngestRequest& request) {
  switch (request.kind_case()) {
    case IngestRequest::kOpen:
      return {"OpenSession", request.open().session(), 0};
    case IngestRequest::kOpNames:
      return {"OpNames", request.op_names().session(),
              request.op_names().sequence()};
    case IngestRequest::kSteps:
      return {"StepBatch", request.steps().session(),
              request.steps().sequence()};
    case IngestRequest::kOps:
      return {"OpBatch", request.ops().session(), request.ops().sequence()};
    case IngestRequest::kDropped:
      return {"Dropped", request.dropped().session(),
              request.dropped().sequence()};
    case IngestRequest::kClose:
      return {"CloseSession", request.close().session(),
              request.close().sequence()};
    case IngestRequest::kLost:
      return {"LostSession", request.lost().session(), 0};
    case IngestRequest::kTold:
      return {"ToldIncidents", 0, 0};
    case IngestRequest::KIND_NOT_SET:
      break;
  }
  return {};
}

Verdict CheckHead(const IngestRequest& request, const Head& head) {
  if (request.kind_case() == IngestRequest::KIND_NOT_SET ||
      request.has_told()) {
    return std::nullopt;
  }
  if (head.session == 0) {
    return Complaint{"its session is 0; open one with a random id", ""};
  }
  if (head.sequence == 0 && !request.has_open() && !request.has_lost()) {
    return Complaint{"its sequence is 0; a session's messages count from 1",
                     ""};
  }
  return std::nullopt;
}

// What was lost with a refused message.
Dropped Lost(const IngestRequest& request, const ClientMessage& message) {
  Dropped lost;
  lost.steps = request.steps().step_deltas_size();
  lost.ops = request.ops().op_deltas_size();
  const auto* steps = std::get_if<StepBatch>(&message.body);
  const auto* ops = std::get_if<OpBatch>(&message.body);
  const StepExtent extent = steps != nullptr ? ExtentOf(steps->columns)
                            : ops != nullptr ? ExtentOf(ops->columns)
                                             : StepExtent{};
  if (extent.first < 0 || extent.last > kStepMax) return lost;
  lost.first_step = extent.first;
  lost.last_step = extent.last;
  return lost;
}

void Refuse(const IngestRequest& request, const Head& head,
            const Complaint& complaint, Parsed* parsed) {
  RefusedMessage& refused = parsed->refused.emplace();
  refused.reason =
      complaint.limit.empty() ? RefusalReason::kInvalid : RefusalReason::kLimit;
  refused.message =
      fmt::format("{} of session {:x}, sequence {}: {}", head.kind,
                  head.session, head.sequence, complaint.message);
  refused.limit = complaint.limit;
  parsed->message.session = head.session;
  parsed->message.sequence = head.sequence;
  parsed->message.body = Lost(request, parsed->message);
}

}  // namespace

SessionId SessionOf(const IngestRequest& request) {
  return HeadOf(request).session;
}

Parsed Parse(const IngestRequest& request, OpShapes* shapes, bool relayed) {
  Parsed parsed;
  const Head head = HeadOf(request);
  parsed.message.session = head.session;
  parsed.message.sequence = head.sequence;
  Verdict wrong = CheckHead(request, head);
  if (!wrong)
    wrong = ReadMessageBody(request, shapes, relayed, &parsed.message);
  if (wrong) Refuse(request, head, *wrong, &parsed);
  return parsed;
}

Parsed ParseMalformed(const IngestRequest& partial, size_t bytes) {
  const std::string text = FindTextThatIsNotUtf8(partial);
  Complaint complaint;
  complaint.message =
      text.empty()
          ? fmt::format(
                "its {} bytes are not a nanwatch.v1.IngestRequest; "
                "build the client from the same ingest.proto",
                bytes)
          : fmt::format("the string {} is not UTF-8; convert it", text);
  Parsed parsed;
  Refuse(partial, HeadOf(partial), complaint, &parsed);
  return parsed;
}

Parsed ParseOversized(const IngestRequest& beginning, size_t bytes) {
  Parsed parsed;
  Refuse(beginning, HeadOf(beginning),
         {fmt::format("it has {} bytes, at most {} are taken; send smaller "
                      "batches",
                      bytes, limits::kMessageBytes),
          "message_bytes"},
         &parsed);
  return parsed;
}

}  // namespace nanwatch
