// The book as bytes and back.

#include "alert/incident_book.h"
#include "model/incident_fields.h"
#include "model/state_bytes.h"

namespace nanwatch {

void IncidentBook::Clear() {
  incidents_.clear();
  tracks_.clear();
  mutes_ = Mutes();
  annotated_ = false;
  last_step_ = 0;
  shape_ = 0;
  renew_ = Time{};
  limit_hits_ = 0;
  next_timer_.reset();
}

void IncidentBook::Save(std::string* bytes) const {
  bytes->clear();
  StateWriter out(bytes);
  out(run_.run_id, run_.attempt, *this);
  Seal(bytes);
}

bool IncidentBook::Load(std::string_view bytes) {
  Clear();
  if (!Unseal(&bytes)) return false;
  StateReader in(bytes);
  RunKey run;
  in(run.run_id, run.attempt, *this);
  if (in.ok() && in.at_end() && run == run_ &&
      tracks_.size() == incidents_.size()) {
    return true;
  }
  Clear();
  return false;
}

}  // namespace nanwatch
