// IncidentId: which incident this is, the same after every replay.

#ifndef NANWATCH_ALERT_INCIDENT_ID_H_
#define NANWATCH_ALERT_INCIDENT_ID_H_

#include <cstdint>
#include <string_view>

#include "model/run.h"
#include "model/severity.h"

namespace nanwatch {

// 64-bit FNV-1a of what is put in, in order. Not for secrets.
class StableHash {
 public:
  void Put(std::string_view bytes) {
    Put(static_cast<uint64_t>(bytes.size()));
    for (const char c : bytes) PutByte(static_cast<uint8_t>(c));
  }
  void Put(uint64_t number) {
    for (int i = 0; i < 8; ++i) PutByte(static_cast<uint8_t>(number >> 8 * i));
  }
  uint64_t value() const { return hash_; }

 private:
  void PutByte(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ull; }
  uint64_t hash_ = 0xcbf29ce484222325ull;
};

// Returns the id of an incident as it opens, from its first finding then; it
// stays, also when an earlier finding is heard of later. The rank is no part of
// it: of several ranks that find the same at one step, any may be heard first.
// Never 0, which means "the whole run" in an Annotation.
uint64_t IncidentId(const RunKey& run, Family family, std::string_view op,
                    int64_t opened_step);

}  // namespace nanwatch

#endif  // NANWATCH_ALERT_INCIDENT_ID_H_
