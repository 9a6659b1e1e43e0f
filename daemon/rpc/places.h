// Places: how many calls of a kind may last at once. Any thread.

#ifndef NANWATCH_RPC_PLACES_H_
#define NANWATCH_RPC_PLACES_H_

#include <atomic>

namespace nanwatch {

class Places {
 public:
  explicit Places(int count) : free_(count) {}

  // A place for as long as it lives; none if all were taken.
  class Taken {
   public:
    explicit Taken(Places& places)
        : places_(places), has_(places.free_.fetch_sub(1) > 0) {
      if (!has_) places_.free_.fetch_add(1);
    }
    ~Taken() {
      if (has_) places_.free_.fetch_add(1);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    explicit operator bool() const { return has_; }

   private:
    Places& places_;
    const bool has_;
  };

 private:
  std::atomic<int> free_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_PLACES_H_
