// Rank: one training process of a run, where it runs and with whom it must
// agree.

#ifndef NANWATCH_MODEL_RANK_H_
#define NANWATCH_MODEL_RANK_H_

#include <compare>
#include <cstdint>
#include <string>

#include "model/pod.h"

namespace nanwatch {

// Coordinates in the parallel groups; 0 where a dimension is not used.
struct ParallelPlace {
  int32_t dp = 0;
  int32_t tp = 0;
  int32_t pp = 0;
  int32_t ep = 0;
  int32_t cp = 0;
  auto operator<=>(const ParallelPlace&) const = default;
};

// The ranks that must agree on scale and skip decision: data-parallel replicas,
// equal in every coordinate but dp.
struct AgreementGroup {
  int32_t tp = 0;
  int32_t pp = 0;
  int32_t ep = 0;
  int32_t cp = 0;
  auto operator<=>(const AgreementGroup&) const = default;
};

// What the replica digests of a rank stand for.
enum class ReplicaKind : uint8_t {
  kDeclared,  // ranks hold the same weights
  kAlike,     // weights of the same names and shapes; no more is known
  kNone,      // no replica
};

struct RankDescription {
  int32_t rank = 0;  // 0 .. world_size - 1
  int32_t local_rank = 0;
  std::string host;       // may be empty
  std::string device;     // e.g. "NVIDIA H100", may be empty
  std::string device_id;  // UUID or index, may be empty
  int64_t pid = 0;
  ParallelPlace place;
  ReplicaKind replica = ReplicaKind::kDeclared;
  uint64_t shapes = 0;  // digest of names and shapes of weights; 0: not told
  Pod pod;

  AgreementGroup group() const {
    return {place.tp, place.pp, place.ep, place.cp};
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_RANK_H_
