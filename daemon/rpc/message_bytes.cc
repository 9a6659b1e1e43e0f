#include "rpc/message_bytes.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

// Where a message says its kind, session and sequence.
constexpr size_t kBeginning = 64;

}  // namespace

void ParseBeginning(const grpc::ByteBuffer& bytes, v1::IngestRequest* request) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return;
  std::string beginning;
  for (const grpc::Slice& slice : slices) {
    const size_t n = std::min(slice.size(), kBeginning - beginning.size());
    beginning.append(reinterpret_cast<const char*>(slice.begin()), n);
    if (beginning.size() == kBeginning) break;
  }
  // False, as the message is cut: that is meant.
  [[maybe_unused]] const bool whole = request->ParseFromString(beginning);
}

bool ParseWhole(grpc::ByteBuffer* bytes, v1::IngestRequest* request) {
  grpc::ProtoBufferReader reader(bytes);
  return reader.status().ok() && request->ParseFromZeroCopyStream(&reader);
}

}  // namespace nanwatch
