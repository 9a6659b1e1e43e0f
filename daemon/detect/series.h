// Series: one positive quantity of one rank and optimizer (a loss, a norm), as
// its rules see it: level and noise, the excursion above them with its
// evidence, and what it has come to. In natural logarithms; a series that
// crosses 0 in inverse hyperbolic sines about the size of its first values.

#ifndef NANWATCH_DETECT_SERIES_H_
#define NANWATCH_DETECT_SERIES_H_

#include <algorithm>
#include <cstdint>

#include "detect/excursion.h"
#include "detect/float_log2.h"
#include "detect/last_digit.h"
#include "detect/series_level.h"

namespace nanwatch {

// Trivially copyable.
class Series {
 public:
  static constexpr float kRise = 0.405f;  // ln 1.5, as loss_spike's ratio
  static constexpr float kAll = -2.996f;  // ln 1/20; ours
  static constexpr float kBeyondRewards = 9.21f;  // ln 1e4, of a rise; ours

  // The next, and its LogOf(). REQUIRES: it is finite.
  void Add(float value, float ln, int64_t step, const NoisePrior& prior);
  void Add(float value, int64_t step, const NoisePrior& prior) {
    Add(value, LogOf(value), step, prior);
  }
  // The natural logarithm, of 2^-120 at least.
  static float LogOf(float value) { return Ln(std::max(value, 0x1p-120f)); }
  // Takes the level where the excursion stands for healthy.
  void Accept();
  // Takes the next value for a level of its own.
  void Renew() { renews_ = values_ > 0; }

  int32_t values() const { return values_; }  // saturates
  bool begins_late() const { return late_; }  // the first step was late
  bool crosses_zero() const { return unit_ > 0; }
  // The size of the first values of one that crosses 0; else 0.
  float unit() const { return unit_; }
  // It stands at a twentieth of its first values or less: a loss that has
  // learned all there is, and wanders there without a meaning.
  bool has_learned_all() const {
    return values_ > 0 && !crosses_zero() && stands() <= first_ + kAll;
  }
  // It left its level below 0 at once, and rests at 0: an objective that is
  // worth nothing any more, as Dice.
  bool has_lost_all() const;
  // It began next to nothing, with much noise: a loss that grows with rewards.
  // What rises evenly, or further than they do, diverges.
  bool follows_rewards() const {
    const bool diverges =
        out_ && (excursion_.IsEven() || rise() >= kBeyondRewards);
    return first_ < kNothing && !late_ && !crosses_zero() &&
           noise() >= kRewards && !diverges;
  }
  // It was more than next to nothing, and kept a level, before it rose.
  bool kept_a_level() const {
    return first_ >= kTiny && level_.values() >= kKept;
  }
  // The newest value belongs to an excursion.
  bool out() const { return out_; }
  const Excursion& excursion() const { return excursion_; }  // the newest
  // The newest third of the excursion: how far it stands above the level that
  // it left, as a logarithm; and whether it shows a way back there.
  float rise() const;
  bool comes_down() const;
  // The excursion rises from its middle third to its last by more than noise.
  bool climbs() const;
  const SeriesLevel& level() const { return level_; }
  // The level, or that which the excursion left.
  float usual() const { return out_ ? excursion_.base() : level_.at(); }
  // How far the newest value stands above that.
  float height() const { return y_ - usual(); }
  // As usual(), of its noise.
  float noise() const { return out_ ? excursion_.noise() : level_.noise(); }
  float newest() const { return newest_; }             // as it came
  float last_digit() const { return digit_.worth(); }  // of such values
  // All as logarithms.
  float y() const { return y_; }
  float first() const { return first_; }  // mean of the first that do not rise
  float best() const { return best_; }    // lowest mean of sixteen
  // Returns where it stands: the mean of about sixteen healthy values, or of
  // the newest third of an excursion of as many.
  float stands() const {
    const bool elsewhere = out_ && excursion_.values() >= kRecent;
    return elsewhere ? excursion_.base() + rise() : recent_;
  }
  float highest() const { return highest_; }  // of healthy values
  float lowest() const { return lowest_; }    // of healthy values
  // Share of healthy values that stand out alone, or nearly so.
  float outliers() const { return outliers_; }
  // It was as high before, about as long, and came back: tasks that take
  // turns, batches that are sorted by length.
  bool recurs() const { return out_ && IsAlike(excursion_.base() + rise()); }
  int32_t returns() const { return returns_; }  // that lasted and came back
  // Returns how many values lie between the newest excursion and the one
  // before, where as many lay between that and the one before it, and it lasts
  // twice as long as that at most, and does not end a row that grew by kRise:
  // something does so by a clock. Else 0.
  int32_t every() const;
  // Of a fresh run: how many of the first values stand kRise above first(),
  // the step of the first of them, and the highest.
  int32_t risen() const { return risen_; }
  int64_t risen_step() const { return risen_step_; }
  float risen_peak() const { return risen_peak_; }
  // Returns the value whose logarithm is `y`.
  float ValueAt(float y) const { return ValueAt(y, unit_); }
  // The same in a series of such a unit().
  static float ValueAt(float y, float unit);

 private:
  static constexpr int32_t kRecent = 16;              // values; ours
  static constexpr float kOfRecent = 1.0f / kRecent;  // as kRecent
  static constexpr float kNothing = -2.3025851f;      // ln 0.1; ours
  static constexpr float kRewards = 0.2f;             // deviation; ours
  static constexpr float kTiny = -4.6f;               // ln 0.01; ours
  static constexpr int32_t kKept = 32;                // values; ours

  float Transform(float value) const;
  // Takes the unit of a series that crosses 0, with this value or before, from
  // its first values.
  void Size(float value);
  // Takes a unit: what was seen so far is seen in it.
  void Resize(float unit);
  void Begin(float value, int64_t step, const NoisePrior& prior);
  // Notes what the first values are like.
  void NoteFirst(float y, int64_t step);
  // Returns true where `y` opens an excursion; else the level learns it.
  bool Leaves(float y, int64_t step);
  void Heal(float y, int64_t step);
  // Gives a value to the excursion.
  void Stray(float value, float y, int64_t step);
  // Opens an excursion, or takes what is open for one that begins here.
  void Open(int64_t step, float base, float noise, int32_t values);
  // The excursion, up to `top`, is as the one that returned.
  bool IsAlike(float top) const;
  // Notes that the excursion, which was no noise, came back; or that it is no
  // more than another level would be.
  void NoteReturn();
  void NoteBeat();
  void MoveTo(float y);
  float Floor() const;

  Excursion excursion_;
  SeriesLevel level_;
  LastDigit digit_;
  float seen_ = 0;  // logarithm of the size at which the last digit is noise
  float unit_ = 0;  // of a series that crosses 0; 0: it does not
  float newest_ = 0;
  float y_ = 0;
  float first_ = 0;
  float best_ = 0;
  float recent_ = 0;
  float usual_ = 0;  // mean of about kLong healthy values
  float highest_ = 0;
  float lowest_ = 0;
  float outliers_ = 0;
  float trough_ = 0;  // lowest level of late
  // The newest excursion that lasted and came back: how far up, no further than
  // the first of a row that recur; for how many values. 0: none.
  float returned_from_ = 0;
  int32_t returned_after_ = 0;
  int16_t returns_ = 0;  // how many there were; saturates
  int16_t risen_ = 0;
  // The same of the newest that rose far, and where it began: so many values
  // before it, and after another such.
  float beat_peak_ = 0;
  float beat_from_ = 0;  // peak of the first of a row that is ever higher
  int32_t beat_after_ = 0;
  int32_t beat_ = 0;    // 0: none
  int32_t period_ = 0;  // 0: not known
  int32_t values_ = 0;
  float risen_peak_ = 0;
  int64_t risen_step_ = 0;
  bool out_ = false;
  bool late_ = false;
  bool renews_ = false;
  bool on_time_ = false;  // the newest excursion came as late as that before
  bool rises_ = false;    // since rise_step_ no value was at the trough
  int64_t rise_step_ = 0;
};

// The newest of few values rise far above the others, and do not come down.
bool IsUnsettled(const Series& s);

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SERIES_H_
