// The book as bytes and back.

#include <utility>

#include "alert/incident_book.h"
#include "alert/incident_codec.h"

namespace nanwatch {

void IncidentBook::Clear() {
  incidents_.clear();
  tracks_.clear();
  mutes_ = Mutes();
  annotated_ = false;
  last_step_ = 0;
  shape_ = 0;
  renew_ = Time{};
  next_timer_.reset();
}

void IncidentBook::Save(std::string* bytes) const {
  bytes->clear();
  ByteWriter out(bytes);
  out.String(run_.run_id);
  out.I64(run_.attempt);
  out.I64(last_step_);
  out.U64(shape_);
  out.I64(ToMicros(renew_));
  out.U64(limit_hits_);
  out.U8(annotated_);
  out.U8(next_timer_.has_value());
  out.I64(ToMicros(next_timer_.value_or(Time{})));
  mutes_.Put(&out);
  out.U64(incidents_.size());
  for (size_t i = 0; i < incidents_.size(); ++i) {
    PutIncident(incidents_[i], &out);
    PutPhase(tracks_[i].phase, &out);
    out.String(tracks_[i].reason);
    PutOrigin(tracks_[i].origin, &out);
    PutOrigin(tracks_[i].name, &out);
    out.U8(tracks_[i].named);
    out.U8(tracks_[i].first_step.has_value());
    out.I64(tracks_[i].first_step.value_or(0));
  }
  StableHash hash;
  hash.Put(*bytes);
  out.U64(hash.value());
}

bool IncidentBook::Load(std::string_view bytes) {
  Clear();
  constexpr size_t kHashBytes = 8;
  constexpr size_t kIncidentBytes = 160;
  if (bytes.size() < kHashBytes) return false;
  const std::string_view body = bytes.substr(0, bytes.size() - kHashBytes);
  StableHash hash;
  hash.Put(body);
  ByteReader tail(bytes.substr(body.size()));
  if (tail.U64() != hash.value()) return false;

  ByteReader in(body);
  const std::string run_id = in.String();
  const int64_t attempt = in.I64();
  last_step_ = in.I64();
  shape_ = in.U64();
  renew_ = FromMicros(in.I64());
  limit_hits_ = in.U64();
  annotated_ = in.U8() != 0;
  const bool has_timer = in.U8() != 0;
  const Time timer = FromMicros(in.I64());
  if (has_timer) next_timer_ = timer;
  mutes_.Get(&in);
  const size_t count = in.Count(kIncidentBytes);
  for (size_t i = 0; i < count && in.ok(); ++i) {
    incidents_.push_back(GetIncident(&in));
    Track track;
    track.phase = GetPhase(&in);
    track.reason = in.String();
    track.origin = GetOrigin(&in);
    track.name = GetOrigin(&in);
    track.named = in.U8() != 0;
    const bool has_first = in.U8() != 0;
    const int64_t first = in.I64();
    if (has_first) track.first_step = first;
    tracks_.push_back(std::move(track));
  }
  if (in.done() && run_id == run_.run_id && attempt == run_.attempt) {
    return true;
  }
  Clear();
  return false;
}

}  // namespace nanwatch
