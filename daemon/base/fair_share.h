// FairShare: how much one of several may have of what they share: as much as is
// still free. Alone that is one half, of n one part in n + 1 each; so there is
// always room for who comes next.

#ifndef NANWATCH_BASE_FAIR_SHARE_H_
#define NANWATCH_BASE_FAIR_SHARE_H_

#include <cstddef>

namespace nanwatch {

struct FairShare {
  size_t all = 0;
  size_t taken = 0;  // by everyone

  // True when who has `own` may take `amount` more. Who has nothing may take
  // what is free, and anything where nobody has anything.
  bool Fits(size_t own, size_t amount) const {
    if (taken == 0) return true;
    if (taken + amount > all) return false;
    return own == 0 || own + amount <= all - taken;
  }
  // True when he has half of what he may have, or more.
  bool Presses(size_t own) const {
    return taken >= all || 2 * own >= all - taken;
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_FAIR_SHARE_H_
