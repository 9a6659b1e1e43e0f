#include "net/http_client.h"

namespace nanwatch {

Delivery DeliveryOf(const PostReply& reply) {
  if (reply.status >= 200 && reply.status < 300) return Delivery::kDelivered;
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  const bool later = reply.status == 0 || reply.status == kRequestTimeout ||
                     reply.status == kTooManyRequests || reply.status >= 500;
  return later ? Delivery::kRetry : Delivery::kRejected;
}

}  // namespace nanwatch
