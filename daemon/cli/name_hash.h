// NameHash: an export that leaves the house without its names. Run ids, jobs,
// hosts, devices, ops, optimizers, settings (keys and values), loss scalers
// that are not in the catalog, and who said what and why become hashes, the
// same name the same hash within one export. Numbers stay, and what says of
// which kind a thing is, since verdicts hang on it: framework, precision, an
// op's type, format and shape.

#ifndef NANWATCH_CLI_NAME_HASH_H_
#define NANWATCH_CLI_NAME_HASH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/event.h"
#include "model/incident.h"

namespace nanwatch {

class NameHash {
 public:
  // `salt` is random and thrown away with this, so that guessing names does not
  // undo the hashes of a file.
  explicit NameHash(uint64_t salt) : salt_(salt) {}

  // Empty stays empty.
  std::string Hash(std::string_view name) const;
  // REQUIRES: no RunCheckpoint, whose bytes hold every name of the run.
  void HashNames(Event* event) const;
  // Also drops sentences, which quote names, and makes the id that a replay of
  // the hashed events finds.
  void HashNames(const RunKey& hashed_run, Incident* incident) const;

 private:
  void HashReference(std::shared_ptr<const Benchmark>* benchmark) const;

  const uint64_t salt_;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_NAME_HASH_H_
