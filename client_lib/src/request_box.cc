#include "client_lib/src/request_box.h"

#include <cstring>
#include <string>

#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

constexpr size_t kRequestsKept = 16;

// False: of a kind that we do not know.
bool Read(const nanwatch::v1::Request& request, nanwatch_request* out) {
  nanwatch_request_init(out);
  out->id = request.id();
  out->expires_at_step = request.expires_at_step();
  if (request.has_collect_ops()) {
    out->kind = NANWATCH_REQUEST_COLLECT_OPS;
    out->steps = request.collect_ops().steps();
    for (uint32_t op : request.collect_ops().ops()) {
      if (out->ops_count == NANWATCH_REQUEST_OPS) break;
      out->ops[out->ops_count++] = static_cast<int32_t>(op);
    }
    return true;
  }
  if (!request.has_stop()) return false;
  out->kind = NANWATCH_REQUEST_STOP;
  const std::string reason =
      CleanUtf8(request.stop().reason(), sizeof out->reason - 1);
  memcpy(out->reason, reason.c_str(), reason.size() + 1);
  return true;
}

}  // namespace

void RequestBox::Put(const nanwatch::v1::Request& request) {
  nanwatch_request read;
  if (!Read(request, &read)) return;
  std::lock_guard lock(mutex_);
  if (requests_.size() == kRequestsKept) requests_.pop_front();
  requests_.push_back(read);
  waiting_.store(static_cast<uint32_t>(requests_.size()),
                 std::memory_order_release);
}

bool RequestBox::Take(nanwatch_request* request) {
  if (waiting_.load(std::memory_order_acquire) == 0) return false;
  std::lock_guard lock(mutex_);
  if (requests_.empty()) return false;
  *request = requests_.front();
  requests_.pop_front();
  waiting_.store(static_cast<uint32_t>(requests_.size()),
                 std::memory_order_release);
  return true;
}

}  // namespace nanwatch_client
