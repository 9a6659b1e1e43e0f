// ReplyCache: many pages that show the same ask for the same; one of them is
// answered, the others share the reply.

#ifndef NANWATCH_WEB_REPLY_CACHE_H_
#define NANWATCH_WEB_REPLY_CACHE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/time.h"
#include "web/http.h"

namespace nanwatch {

class ReplyCache {
 public:
  // The reply to `key`: one that was made at most `max_age` before `now`, else
  // that of `make`. Of several that ask for the same at once one makes it, the
  // others wait. Any thread. `make` may throw.
  HttpReply Get(const std::string& key, Time now, Duration max_age,
                const std::function<HttpReply()>& make);

 private:
  struct Entry {
    Mutex mutex;
    bool made GUARDED_BY(mutex) = false;
    Time at GUARDED_BY(mutex){};
    HttpReply reply GUARDED_BY(mutex);
  };

  std::shared_ptr<Entry> Find(const std::string& key);

  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_REPLY_CACHE_H_
