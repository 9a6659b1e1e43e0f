#include "played_job.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace nanwatch {
namespace {

MessagePlace PlaceOf(const v1::IngestRequest& request) {
  switch (request.kind_case()) {
    case v1::IngestRequest::kOpen:
      return {request.open().session(), 0};
    case v1::IngestRequest::kOpNames:
      return {request.op_names().session(), request.op_names().sequence()};
    case v1::IngestRequest::kSteps:
      return {request.steps().session(), request.steps().sequence()};
    case v1::IngestRequest::kOps:
      return {request.ops().session(), request.ops().sequence()};
    case v1::IngestRequest::kDropped:
      return {request.dropped().session(), request.dropped().sequence()};
    case v1::IngestRequest::kClose:
      return {request.close().session(), request.close().sequence()};
    default:
      return {};
  }
}

int RankOf(uint64_t session, int number, const PlayedJob& job) {
  return job.options.first_rank + number * static_cast<int>(job.rank.size()) +
         job.rank.at(session);
}

void ReplayOpening(uint64_t session, int number, int64_t later,
                   const PlayedJob& job, v1::OpenSession* open) {
  open->set_client_time_us(UnixMicros());
  open->mutable_run()->set_run_id(job.options.run);
  open->mutable_run()->set_world_size(job.options.world);
  const int rank = RankOf(session, number, job);
  open->mutable_rank()->set_rank(rank);
  open->mutable_rank()->set_dp(rank);
  open->mutable_rank()->set_host("host-" + std::to_string(number));
  if (job.options.clients) {
    open->clear_relayed();
    open->mutable_run()->clear_owner();
    open->mutable_run()->clear_attempt();
  } else {
    open->mutable_relayed()->set_opened_us(open->relayed().opened_us() + later);
  }
}

template <typename Batch>
void Shift(int64_t later, Batch* batch) {
  batch->set_sent_time_us(batch->sent_time_us() + later);
  if (batch->time_us_deltas_size() > 0) {
    batch->set_time_us_deltas(0, batch->time_us_deltas(0) + later);
  }
}

// The one loss that was asked for is not a number.
void Spoil(int rank, v1::StepBatch* steps, PlayedJob* job) {
  if (rank != job->options.nan_rank) return;
  int64_t step = 0;
  for (int row = 0; row < steps->step_deltas_size(); ++row) {
    step += steps->step_deltas(row);
    if (step != job->options.nan_step || row >= steps->loss().values_size()) {
      continue;
    }
    steps->mutable_loss()->set_values(row, std::nan(""));
    job->nan_at = UnixMicros();
  }
}

}  // namespace

int64_t UnixMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void GiveUp(const std::string& why) {
  std::fprintf(stderr, "play_relays: %s\n", why.c_str());
  std::_Exit(1);
}

void ReadRecording(PlayedJob* job) {
  constexpr size_t kHead = 12;  // the time, and how many bytes follow
  const std::string all = ReadFile(job->options.recording);
  for (size_t at = 0; at + kHead <= all.size();) {
    RecordedMessage one;
    uint32_t size = 0;
    std::memcpy(&one.time_us, &all[at], sizeof(one.time_us));
    std::memcpy(&size, &all[at + sizeof(one.time_us)], sizeof(size));
    one.bytes = all.substr(at + kHead, size);
    at += kHead + size;
    v1::IngestRequest request;
    if (!request.ParseFromString(one.bytes)) GiveUp("a bad recording");
    one.place = PlaceOf(request);
    const auto [session, sequence] = one.place;
    if (request.has_open()) job->rank[session] = request.open().rank().rank();
    job->last[session] = std::max(job->last[session], sequence);
    if (session != 0) job->messages.push_back(std::move(one));
  }
  if (job->rank.empty()) {
    GiveUp("nothing is recorded in " + job->options.recording);
  }
}

// Any bijection will do.
constexpr uint64_t kApart = 0x9e3779b97f4a7c15;

uint64_t PlayedId(uint64_t recorded, int number, const PlayedJob& job) {
  return (recorded ^ job.salt) + kApart * (static_cast<uint64_t>(number) + 1);
}

uint64_t RecordedId(uint64_t id, int number, const PlayedJob& job) {
  return (id - kApart * (static_cast<uint64_t>(number) + 1)) ^ job.salt;
}

v1::IngestRequest Replayed(const RecordedMessage& recorded, int number,
                           PlayedJob* job) {
  v1::IngestRequest request;
  if (!request.ParseFromString(recorded.bytes)) GiveUp("a bad recording");
  const uint64_t session = recorded.place.session;
  const uint64_t id = PlayedId(session, number, *job);
  const int64_t later = UnixMicros() - recorded.time_us;
  switch (request.kind_case()) {
    case v1::IngestRequest::kOpen:
      request.mutable_open()->set_session(id);
      ReplayOpening(session, number, later, *job, request.mutable_open());
      break;
    case v1::IngestRequest::kOpNames:
      request.mutable_op_names()->set_session(id);
      break;
    case v1::IngestRequest::kSteps:
      request.mutable_steps()->set_session(id);
      Shift(later, request.mutable_steps());
      Spoil(RankOf(session, number, *job), request.mutable_steps(), job);
      break;
    case v1::IngestRequest::kOps:
      request.mutable_ops()->set_session(id);
      Shift(later, request.mutable_ops());
      break;
    case v1::IngestRequest::kDropped:
      request.mutable_dropped()->set_session(id);
      break;
    default:
      request.mutable_close()->set_session(id);
  }
  return request;
}

}  // namespace nanwatch
