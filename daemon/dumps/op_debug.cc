#include "dumps/op_debug.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "dumps/dump_place.h"

namespace nanwatch {
namespace {

// An accelerator writes one for each of its cores. Beyond: left out.
constexpr size_t kUnits = 4096;

struct Meaning {
  uint64_t bits;
  std::string_view words;
};
// Of an AI Core each bit says what overflowed.
constexpr Meaning kOfCore[] = {{0x8, "the negative of the smallest integer"},
                               {0x10, "integer arithmetic"},
                               {0x20, "floating-point arithmetic"},
                               {0x80, "a negative number to an unsigned one"},
                               {0x100, "FP32 or int32 to FP16"},
                               {0x400, "a matrix product's sum"}};
// Of atomic additions a number in some of the bits.
constexpr Meaning kOfDha[] = {{0x9, "overflow"},
                              {0xA, "underflow"},
                              {0xB, "the source is NaN"},
                              {0xC, "the target is NaN"},
                              {0xD, "both are NaN"}};
constexpr Meaning kOfL2[] = {{1, "overflow"},
                             {2, "underflow"},
                             {3, "the source is NaN"},
                             {4, "the target is NaN"},
                             {5, "both are NaN"}};

template <size_t kSize>
std::string NumberNamed(const Meaning (&meanings)[kSize], uint64_t number) {
  for (const Meaning& meaning : meanings) {
    if (meaning.bits == number) return std::string(meaning.words);
  }
  return "";
}

uint64_t Bits(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t bits = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, bits, base);
  return error == std::errc() && last == end ? bits : 0;
}

}  // namespace

std::string MeaningOf(const OpOverflow& overflow) {
  if (overflow.unit == "DHA Atomic Add") {
    return NumberNamed(kOfDha, overflow.status >> 8 & 0xff);
  }
  if (overflow.unit == "L2 Atomic Add") {
    return NumberNamed(kOfL2, overflow.status >> 16 & 7);
  }
  std::string text;
  if (overflow.unit != "AI Core" && overflow.unit != "AIC" &&
      overflow.unit != "AIV") {
    return text;
  }
  for (const Meaning& meaning : kOfCore) {
    if ((overflow.status & meaning.bits) == 0) continue;
    if (!text.empty()) text += ", ";
    text += meaning.words;
  }
  return text;
}

Result<std::vector<OpOverflow>> OpDebugReader::Finish() {
  const Status scanned = scan_.Finish();
  if (!scanned.ok()) return Error{scanned.error()};
  if (!has_units_) {
    return Error{"no unit in it has a status: this is no file of CANN's check"};
  }
  return std::move(found_);
}

void OpDebugReader::OnBegin(bool is_object) {
  levels_.push_back({.is_object = is_object});
}

void OpDebugReader::OnEnd() {
  Level ended = std::move(levels_.back());
  levels_.pop_back();
  if (!ended.has_status) return;
  has_units_ = true;
  // "data" of an object that says its type, or an object named after the unit.
  if (levels_.empty()) return;
  const Level& outer = levels_.back();
  ended.unit.unit = outer.type.empty() ? outer.key : outer.type;
  if (ended.unit.status != 0 && found_.size() < kUnits) {
    found_.push_back(std::move(ended.unit));
  }
}

void OpDebugReader::OnKey(std::string_view key) {
  levels_.back().key = key;
  if (key == "status") levels_.back().has_status = true;
}

void OpDebugReader::OnText(std::string_view text) {
  if (levels_.empty()) return;
  if (levels_.back().key == "acc_type") levels_.back().type = text;
  if (levels_.back().key == "status") levels_.back().unit.status |= Bits(text);
}

void OpDebugReader::OnNumber(double, std::string_view digits) {
  if (levels_.empty()) return;
  Level* level = &levels_.back();
  // A status of several words is a list.
  if (!level->is_object && levels_.size() > 1) {
    level = &levels_[levels_.size() - 2];
    if (level->key != "status") return;
  }
  if (level->key == "status") level->unit.status |= Bits(digits);
  if (level->key == "task_id") level->unit.task = DigitsOf(digits).value_or(-1);
  if (level->key == "stream_id")
    level->unit.stream = DigitsOf(digits).value_or(-1);
}

}  // namespace nanwatch
