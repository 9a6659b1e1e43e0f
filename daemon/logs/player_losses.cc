#include "logs/player_losses.h"

#include <array>
#include <string>

#include "logs/names_before.h"
#include "logs/next_sign.h"
#include "logs/one_of.h"
#include "logs/scan.h"
#include "logs/usual_names.h"

namespace nanwatch {
namespace {

// "d", "gen", in front of a bar, where both players have one.
Player PlayerInShort(std::string_view name) {
  constexpr std::string_view kDiscriminators[] = {"d", "D", "disc"};
  constexpr std::string_view kGenerators[] = {"g", "G", "gen"};
  return IsOneOf(name, kDiscriminators) ? Player::kDiscriminator
         : IsOneOf(name, kGenerators)   ? Player::kGenerator
                                        : Player::kNone;
}

bool NamesBothInShort(std::string_view before_bar) {
  std::array<bool, 3> named{};  // by Player
  for (size_t at = NextSign(before_bar, 0); at < before_bar.size();
       at = NextSign(before_bar, at + 1)) {
    const Player player = PlayerInShort(NameAtEnd(before_bar.substr(0, at)));
    named[static_cast<size_t>(player)] = true;
  }
  return named[0] && named[1];
}

}  // namespace

Player PlayerOf(std::string_view name) {
  constexpr std::string_view kDiscriminators[] = {"D", "D_A", "D_B"};
  constexpr std::string_view kGenerators[] = {
      "G", "G_A", "G_B", "cycle_A", "idt_A", "cycle_B", "idt_B"};
  if (IsOneOf(name, kDiscriminators)) return Player::kDiscriminator;
  if (IsOneOf(name, kGenerators)) return Player::kGenerator;
  const ColumnMeaning usual = UsualMeaning(name);
  if (usual != ColumnMeaning::kAdversaryLoss &&
      usual != ColumnMeaning::kGeneratorLoss) {
    return Player::kNone;
  }
  // "loss_D", "errD", "d_loss", "disc_loss".
  const std::string low = LowerCase(name);
  const bool discriminates = low.ends_with('d') || low.starts_with('d') ||
                             low.find("dis") != low.npos ||
                             low.find("d_loss") != low.npos;
  return discriminates ? Player::kDiscriminator : Player::kGenerator;
}

void PlayerLosses::Begin(std::string_view line) {
  losses_ = {};
  all_from_ = std::string_view::npos;
  const size_t at = line.find("l_");
  may_be_ = at != line.npos && (line.find("l_g_", at) != line.npos ||
                                line.find("l_d_", at) != line.npos);
  named_ = line.find("D_A") != line.npos && line.find("G_A") != line.npos &&
           line.find("oss") == line.npos &&
           (line.find("cycle_") != line.npos || line.find("D_B") != line.npos);
  const size_t bar = line.find("%|");
  short_ = bar != line.npos && NamesBothInShort(line.substr(0, bar));
  may_be_ |= named_ || short_;
  if (!line.starts_with("(epoch: ")) return;
  const size_t end = line.find(") ");
  if (end == line.npos) return;
  const std::string_view place = line.substr(0, end);
  const bool of_kin = place.find(", iters: ") != place.npos &&
                      place.find(", time: ") != place.npos;
  if (of_kin) all_from_ = end;
  may_be_ |= of_kin;
}

bool PlayerLosses::Take(std::string_view line, size_t at) {
  const std::string_view name = NameAtEnd(line.substr(0, at));
  const bool all = at > all_from_;
  const Player player = named_   ? PlayerOf(name)
                        : short_ ? PlayerInShort(name)
                                 : Player::kNone;
  const bool discriminates = name.starts_with("l_d_") ||
                             (all && name.starts_with("D_")) ||
                             player == Player::kDiscriminator;
  const bool generates =
      all || name.starts_with("l_g_") || player == Player::kGenerator;
  if (name.empty() || (!discriminates && !generates)) return false;
  const std::optional<double> value = ValueAt(line.substr(at + 1));
  if (!value) return false;
  std::optional<double>& loss = losses_[discriminates ? 1 : 0];
  loss = loss.value_or(0) + *value;
  return true;
}

bool PlayerLosses::AddTo(ColumnFact* fact) const {
  const bool any = losses_[0] || losses_[1];
  if (!any || fact->fact().has(StepField::kLoss)) return false;
  for (const std::optional<double>& loss : losses_) {
    if (loss) fact->AddNumber(ColumnMeaning::kAdversaryLoss, *loss);
  }
  return true;
}

}  // namespace nanwatch
