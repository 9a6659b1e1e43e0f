// Turns: how many requests of a kind are served at once, and whose is next. Who
// asks much waits behind himself. Any thread.

#ifndef NANWATCH_WEB_TURNS_H_
#define NANWATCH_WEB_TURNS_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace nanwatch {

// Who asks, and how many of a kind his quota allows at once.
struct Asker {
  std::string name;
  size_t most = 0;
};

class Turns {
 public:
  // `places`: served at once; no user has more than limits::UserShare of them.
  // `here`: of one user, served or waiting.
  Turns(size_t places, size_t here) : places_(places), here_(here) {}

  // Served for as long as it lives; false: refused.
  class Turn {
   public:
    Turn(Turns& turns, std::string user, bool taken)
        : turns_(turns), user_(std::move(user)), taken_(taken) {}
    ~Turn() {
      if (taken_) turns_.End(user_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return taken_; }

   private:
    Turns& turns_;
    const std::string user_;
    const bool taken_;
  };

  // Waits for a place, behind who has fewer of them, or had his last one longer
  // ago. Refused: he has too many here.
  Turn Wait(const Asker& asker) { return {*this, asker.name, Take(asker)}; }
  // Refused: there is no place that he may have.
  Turn Try(const Asker& asker) { return {*this, asker.name, TryTake(asker)}; }
  // Those that wait now.
  size_t waiting();

 private:
  struct User {
    size_t served = 0;
    size_t here = 0;
    uint64_t last = 0;  // turn
  };
  struct Waiting {
    User* user;
    size_t most;
    bool served = false;
    std::condition_variable served_changed;
  };

  bool Take(const Asker& asker);
  bool TryTake(const Asker& asker);
  void End(const std::string& user);
  size_t MostOf(const Asker& asker) const;
  static bool Before(const User& one, const User& other);
  void ServeLocked(User& user) REQUIRES_LOCK(mutex_);
  // Those who wait, as far as there are places.
  void ServeLocked() REQUIRES_LOCK(mutex_);

  const size_t places_;
  const size_t here_;
  Mutex mutex_;
  size_t served_ GUARDED_BY(mutex_) = 0;
  uint64_t last_ GUARDED_BY(mutex_) = 0;                  // turn that was given
  std::map<std::string, User> users_ GUARDED_BY(mutex_);  // who is here
  std::list<Waiting*> waiting_ GUARDED_BY(mutex_);        // the oldest first
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_TURNS_H_
