// TurnedValue: of a log in which no number is known by its name, the first that
// turned from a number into NaN or infinity: "G=-3.1" into "G=nan"; and one
// that grew out of all measure.

#ifndef NANWATCH_LOGS_TURNED_VALUE_H_
#define NANWATCH_LOGS_TURNED_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

class TurnedValue {
 public:
  // Each line of the log, in order.
  void Look(std::string_view line);

  // The first line that shows it; 0: none does.
  uint64_t line() const { return found_; }
  const std::string& name() const { return name_; }

  // A number that grew 10,000-fold and more, rising nearly all the way and
  // faster than it had: what counts steps, seconds or tokens does not.
  struct Growth {
    std::string_view name;  // empty: there is none
    double from = 0;
    double to = 0;
  };
  Growth grown() const;

  // Names that are kept; of more none is looked at.
  static constexpr size_t kNames = 64;
  // Numbers that a name has shown, after which it is known for them; ours.
  static constexpr int kKnown = 3;

 private:
  struct Known {
    std::string name;
    int numbers = 0;
    double first = 0;
    double newest = 0;
    int ups = 0;           // numbers above the one before
    double half = 0;       // at half of the numbers, or down to a quarter
    double next_half = 0;  // at more of them
  };
  static void Follow(double value, Known* known);
  void Note(std::string_view name, double value);

  uint64_t lines_ = 0;
  uint64_t found_ = 0;
  std::string name_;
  std::vector<Known> known_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_TURNED_VALUE_H_
