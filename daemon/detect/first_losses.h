// FirstLosses: has a language model that goes on from a checkpoint lost what
// it knew? Its first losses, if hardly one moved, are its level: a
// cross-entropy does not double by itself, and of what comes after them nobody
// knows whether it is on its way up already. Of other losses the first say
// nothing: a critic's grows.

#ifndef NANWATCH_DETECT_FIRST_LOSSES_H_
#define NANWATCH_DETECT_FIRST_LOSSES_H_

#include <cstdint>

namespace nanwatch {

// Trivially copyable.
class FirstLosses {
 public:
  struct Limits {
    double above;   // times the first: it has left them
    double far;     // times the first: it is lost,
    double hold;    // for so many losses in a row
    double steps;   // and so many steps since it left
    double stays;   // of the highest rise: it does not come down
    double steady;  // of the largest: the first hardly moved
    double least;   // they are no less
  };

  // The next, finite. `few`: it may leave them yet; later is for a baseline to
  // see. True: it is lost, and has not come down.
  bool Add(float loss, int64_t step, bool few, const Limits& limits);

  float level() const { return high_; }  // the highest of the first
  float risen_to() const { return peak_; }
  bool above() const { return left_ > 0; }      // the newest
  int32_t far_for() const { return far_for_; }  // losses, of the newest row
  int64_t left_step() const { return left_step_; }

 private:
  static constexpr int kFirst = 3;  // losses; ours

  float low_ = 0;
  float high_ = 0;
  float smooth_ = 0;  // over about four, since it left
  float peak_ = 0;    // the highest of those
  // Losses: of the first; in a row above them, and far above them. They
  // saturate.
  int16_t known_ = 0;
  int16_t left_ = 0;
  int16_t far_ = 0;
  int16_t far_for_ = 0;
  int64_t left_step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_FIRST_LOSSES_H_
