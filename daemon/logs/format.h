// LogFormat: how one program (or a family of relatives) prints its training
// log. A file each in formats/, listed in formats.cc.

#ifndef NANWATCH_LOGS_FORMAT_H_
#define NANWATCH_LOGS_FORMAT_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "logs/fact.h"

namespace nanwatch {

// Reads one program's lines, one after the other. May remember (a table's
// header); most do not.
class LineReader {
 public:
  virtual ~LineReader() = default;
  // Appends what `line` says to `*facts`, several facts if several messages
  // are glued together. Nothing: the line is of no interest, torn or foreign.
  // `line` has no line end and no terminal colours; any bytes, any length up to
  // kLogLineMax. Never fails.
  virtual void Read(std::string_view line, FactList* facts) = 0;
  // The same for a line that is like one that Read() was given before, but for
  // numbers: no other format reads this one that did not read that one. False:
  // it is not known to be one.
  virtual bool ReadUsual(std::string_view /*line*/, FactList* /*facts*/) {
    return false;
  }
  // Of the line that Read() was given last there is more to say than it said:
  // no line is like it.
  virtual void ForgetUsual() {}
  // Returns whether Read() said nothing of the line that it was given last, and
  // will say nothing of any that differs in the digits of its numbers alone.
  virtual bool said_nothing() const { return false; }
  // Takes in such a line as Read() would, and cheaper. False: it waits for
  // something, and wants Read().
  virtual bool Pass(std::string_view /*line*/) { return false; }
  // What it says of a line may depend on lines before.
  virtual bool remembers() const { return true; }
};

// What the user says of a log of no known program: "loss" is in column
// "train/loss". Pairs of a field's name (column_names.h: step, loss, scale,
// grad_norm, ...) and a column's: the key of key=value, the header's cell of a
// table, the path of keys of JSON ("amp/scale"), TensorBoard's tag; letter by
// letter. A field that is named here is in that column and in no other, one
// that is not is found by its usual names. A log with a map is read by generic
// formats (and by those of libraries) alone, and a line of it is a step line
// when it shows any number of health. Made by ParseColumnMap().
struct ColumnMap {
  std::vector<std::pair<std::string, std::string>> columns;
};

struct LogFormat {
  enum class Part : uint8_t {
    kProgress,  // the program's own step lines; one such format a log
    kScaler,    // a library's lines on overflows; any number beside it
    kGeneric,   // step lines of no known program; only where no other fits
  };
  std::string_view name;   // for --format; lower case, digits, _
  std::string_view title;  // programs that print so, for --list-formats
  Part part = Part::kProgress;
  bool unnamed = false;       // says nothing of which program it is
  bool within_lines = false;  // what it reads may be a part of another's line
  bool last_resort = false;   // only where no other format read a step
  // A line that says something holds one of these, byte for byte. Empty: any
  // line may (generic formats only).
  std::span<const std::string_view> marks;
  // Every overflow is told, by a line or a counter: one that is not told did
  // not happen. Else no word of overflow is "not collected".
  bool tells_overflows = false;
  // A skipped update takes a step number as an applied one does.
  bool skips_take_steps = true;
  std::unique_ptr<LineReader> (*make)(const ColumnMap& map);
};

// For formats that remember something: a Reader of their own, which may take
// the map.
template <typename Reader>
std::unique_ptr<LineReader> Fresh(const ColumnMap& map) {
  if constexpr (std::is_constructible_v<Reader, const ColumnMap&>) {
    return std::make_unique<Reader>(map);
  } else {
    return std::make_unique<Reader>();
  }
}

// For formats that remember nothing: a LineReader of a plain function.
template <void (*kRead)(std::string_view, FactList*)>
std::unique_ptr<LineReader> Stateless(const ColumnMap&) {
  class Reader : public LineReader {
    void Read(std::string_view line, FactList* facts) override {
      kRead(line, facts);
    }
    bool remembers() const override { return false; }
  };
  return std::make_unique<Reader>();
}

// All formats: progress first, the more particular before the more general.
std::span<const LogFormat* const> AllLogFormats();
// nullptr: there is none of that name.
const LogFormat* FindLogFormat(std::string_view name);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_FORMAT_H_
