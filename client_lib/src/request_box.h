// RequestBox: what the daemon asks of the training, until the training polls.

#ifndef NANWATCH_CLIENT_REQUEST_BOX_H_
#define NANWATCH_CLIENT_REQUEST_BOX_H_

#include <nanwatch.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

class RequestBox {
 public:
  // The sender. A kind that only newer daemons know is left out. At most 16
  // wait: of a training that never polls the oldest go.
  void Put(const nanwatch::v1::Request& request);
  // Any thread; false: nothing waits, which costs no lock.
  bool Take(nanwatch_request* request);

 private:
  std::atomic<uint32_t> waiting_{0};  // as requests_.size()
  std::mutex mutex_;
  std::deque<nanwatch_request> requests_;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_REQUEST_BOX_H_
