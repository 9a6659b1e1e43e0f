// PlayerLosses: the losses of a GAN's two players, of a line that shows only
// what each is made of. BasicSR and its kin name them so, and in the lines of
// CycleGAN and its kin, pix2pix, pix2pixHD, SPADE, whatever follows is one:
//
//  iter: 3,100, l_g_pix: 1.3e-02 l_g_gan: 7.1e-02 l_d_real: 0.31 l_d_fake: 0.3
//  (epoch: 2, iters: 960, time: 0.13) KLD: 0.2 GAN: 1.1 D_Fake: 0.5 D_real: 0.4
//  step=90 D_A=0.24 G_A=0.28 cycle_A=1.37 idt_A=0.47 D_B=0.23 G_B=0.44 lr=2e-4

#ifndef NANWATCH_LOGS_PLAYER_LOSSES_H_
#define NANWATCH_LOGS_PLAYER_LOSSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/column_fact.h"

namespace nanwatch {

enum class Player : uint8_t { kGenerator, kDiscriminator, kNone };

// Returns whose loss a name says that it is: "loss_D", "errG", "D loss", and
// CycleGAN's "D_A", "idt_B". "D" and "G" are nobody's but beside each other.
Player PlayerOf(std::string_view name);

class PlayerLosses {
 public:
  // The next line begins.
  void Begin(std::string_view line);
  // What stands before the sign at `at` of the line, and behind it. Returns
  // whether it is a part of a player's loss.
  bool Look(std::string_view line, size_t at) {
    return may_be_ && Take(line, at);
  }
  // Adds the players' losses to `*fact`, where the line shows no other. False:
  // it has none.
  bool AddTo(ColumnFact* fact) const;

 private:
  bool Take(std::string_view line, size_t at);

  bool may_be_ = false;                          // of most lines none is
  bool named_ = false;                           // as CycleGAN does
  bool short_ = false;                           // in front of a bar
  std::array<std::optional<double>, 2> losses_;  // by Player
  size_t all_from_ = 0;  // all numbers of the line are such from here on
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_PLAYER_LOSSES_H_
