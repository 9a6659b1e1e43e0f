// The thread on which a Sender runs.

#ifndef NANWATCH_CLIENT_SENDER_THREAD_H_
#define NANWATCH_CLIENT_SENDER_THREAD_H_

#include <memory>
#include <thread>

#include "client_lib/src/sender.h"
#include "client_lib/src/shared.h"

namespace nanwatch_client {

// Takes no signal of the program. Sets Shared::ended at its end, whatever
// happened. Throws when there is no thread to be had.
std::thread StartSender(std::shared_ptr<Shared> shared, SenderOptions options);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_SENDER_THREAD_H_
