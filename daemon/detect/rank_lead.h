// RankLead: whether the same rank of several leads, or trails, all others for
// good where they took turns before. Between ranks that are alike each one
// leads as often as another, whatever a number's noise is; where ranks have
// hard samples in turn, each for a while. So each step adds nats: how much
// likelier its leader is if one rank leads for good than if leads last as long
// as they did so far. A rank that leads from the beginning has data or a part
// of the model of its own, and nothing is said of it.

#ifndef NANWATCH_DETECT_RANK_LEAD_H_
#define NANWATCH_DETECT_RANK_LEAD_H_

#include <cstdint>

namespace nanwatch {

// Trivially copyable: a member of a rule.
class RankLead {
 public:
  // The next step of `ranks` ranks. `rank`: the one that leads; -1: several
  // do. `gap`: how far it is from the mean of the others, as a share of that
  // `mean`. REQUIRES: ranks >= 2, gap >= 0.
  void Add(int64_t step, int32_t ranks, int32_t rank, double gap, double mean);

  int32_t rank() const { return rank_; }
  int64_t since() const { return since_; }    // step
  int32_t held() const { return held_; }      // steps since then; saturates
  int32_t before() const { return before_; }  // steps before it; saturates
  double nats() const { return nats_; }
  double gap() const { return gap_; }  // lately, a share
  // The gap of whoever led before, and part of the widest of those who led for
  // a while: ranks may have hard samples in turn.
  double usual() const;
  // How far the mean of the others moved since then, as a share of it: learning
  // moves ranks apart that have other data.
  double moved() const;

 private:
  void Begin(int64_t step, int32_t ranks, int32_t rank);

  int64_t since_ = 0;
  float nats_ = 0;
  float gap_ = 0;
  float all_ = 0;        // gap of whoever leads, at length
  float usual_ = 0;      // that, as the lead began
  float most_nats_ = 0;  // of this lead
  float most_gap_ = 0;   // gap then
  float widest_ = 0;     // most_gap_ of the leads before
  float mean_ = 0;       // lately
  float from_ = 0;       // mean, as the lead began
  float goes_on_ = 0;    // share of steps with the leader of the step before
  int32_t again_ = 0;    // such steps
  int32_t newest_ = -1;  // leader
  int32_t rank_ = -1;
  int32_t held_ = 0;
  int32_t steps_ = 0;
  int32_t before_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_RANK_LEAD_H_
