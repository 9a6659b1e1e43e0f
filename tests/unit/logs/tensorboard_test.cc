#include "logs/tensorboard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "logs/masked_crc.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) {
    bytes += static_cast<char>((value & 127) | 128);
  }
  return bytes + static_cast<char>(value);
}

std::string Message(int field, const std::string& body) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(body.size()) +
         body;
}

std::string Record(const std::string& data) {
  const std::string length = Bytes<uint64_t>(data.size());
  return length + Bytes(MaskedCrc32c(length)) + data +
         Bytes(MaskedCrc32c(data));
}

// A field with a fixed width: its tag and its bytes.
template <typename T>
std::string Fixed(char tag, T value) {
  std::string bytes(1, tag);
  bytes += Bytes(value);
  return bytes;
}

std::string Event(int64_t step, const std::string& value) {
  return Record(Fixed('\x09', 1.7e9) + "\x10" +
                Varint(static_cast<uint64_t>(step)) +
                Message(5, Message(1, value)));
}

std::string Old(const std::string& tag, int64_t step, float number) {
  return Event(step, Message(1, tag) + Fixed('\x15', number));
}

// As the newer writers do: a tensor without a shape.
std::string New(const std::string& tag, int64_t step, float number,
                bool content) {
  const std::string numbers =
      content ? Message(4, Bytes(number)) : Message(5, Bytes(number));
  return Event(step, Message(1, tag) +
                         Message(8, std::string("\x08\x01").append(numbers)));
}

struct Read {
  std::string facts;
  uint64_t damaged = 0;
};

Read ReadBoard(const std::string& file, size_t piece = 1 << 20,
               const ColumnMap& map = {}) {
  Read read;
  TensorBoardReader reader(map, [&read](const LogFact& fact, uint64_t) {
    read.facts += FactText(fact) + "\n";
  });
  for (size_t at = 0; at < file.size(); at += piece) {
    reader.Feed(std::string_view(file).substr(at, piece));
  }
  reader.Finish();
  read.damaged = reader.damaged();
  return read;
}

const std::string kVersion =
    Record(Fixed('\x09', 1.7e9) + Message(3, "brain.Event:2"));

TEST(MaskedCrc, IsTheOneOfTheFormat) {
  // CRC-32C of "123456789" is e3069283.
  const uint32_t crc = 0xe3069283;
  EXPECT_EQ(MaskedCrc32c("123456789"),
            ((crc >> 15) | (crc << 17)) + 0xa282ead8);
}

TEST(TensorBoard, ScalarsOfAStepAreOneFact) {
  const std::string file = kVersion + Old("lm-loss-training/lm loss", 1, 2.5F) +
                           Old("loss-scale/loss-scale", 1, 65536) +
                           Old("rank", 1, 3) +
                           Old("lm-loss-training/lm loss vs samples", 8, 2.5F) +
                           New("grad-norm/grad-norm", 1, 0.5F, true) +
                           New("lm-loss-training/lm loss", 2, NAN, false) +
                           Old("lm-loss-validation/lm loss", 2, 9) +
                           Old("loss-scale/loss-scale", 2, 32768);
  const std::string facts =
      "step=1 loss=2.5 loss_scale=65536 grad_norm=0.5 cross_entropy rank=3\n"
      "step=2 loss=nan loss_scale=32768 cross_entropy\n";
  EXPECT_TRUE(TensorBoardReader::Recognise(file));
  for (const size_t piece : {1, 2, 3, 7, 64, 1 << 20}) {
    const Read read = ReadBoard(file, piece);
    EXPECT_EQ(read.facts, facts) << piece;
    EXPECT_EQ(read.damaged, 0u);
  }
}

TEST(TensorBoard, TheFirstTagOfAMeaningCounts) {
  EXPECT_EQ(ReadBoard(Old("train/loss", 1, 2) + Old("total_loss", 1, 9) +
                      Old("train/loss", 2, 3))
                .facts,
            "step=1 loss=2\nstep=2 loss=3\n");
}

TEST(TensorBoard, AMapNamesTags) {
  ColumnMap map;
  map.columns.emplace_back("loss", "objective");
  EXPECT_EQ(ReadBoard(Old("train/loss", 1, 9) + Old("objective", 1, 2), 64, map)
                .facts,
            "step=1 loss=2\n");
}

TEST(TensorBoard, StepsGoBackWhereTheTrainingBeganAgain) {
  EXPECT_EQ(ReadBoard(Old("loss", 10, 1) + Old("loss", 20, 2) +
                      Old("loss", 15, 3) + Old("loss", 15, 3))
                .facts,
            "step=10 loss=1\nstep=20 loss=2\nstep=15 loss=3\n");
}

TEST(TensorBoard, ManyStepsOfOneTagBeforeTheOther) {
  // Within the window they meet; beyond it what comes late is left out.
  std::string file;
  for (int step = 0; step < 100; ++step) file += Old("loss", step, 1);
  file += Old("loss_scale", 50, 8) + Old("loss_scale", 99, 8);
  const std::string facts = ReadBoard(file).facts;
  EXPECT_NE(facts.find("step=99 loss=1 loss_scale=8\n"), std::string::npos);
  EXPECT_NE(facts.find("step=50 loss=1\n"), std::string::npos);
}

TEST(TensorBoard, DamageCostsItsOwnRecordsOnly) {
  const std::string first = Old("loss", 1, 1);
  const std::string second = Old("loss", 2, 2);
  const std::string third = Old("loss", 3, 3);
  for (size_t at = 0; at < second.size(); ++at) {
    std::string broken = second;
    broken[at] ^= 0x20;
    const Read read = ReadBoard(first + broken + third, 5);
    EXPECT_EQ(read.facts, "step=1 loss=1\nstep=3 loss=3\n") << at;
    EXPECT_EQ(read.damaged, 1u) << at;
  }
  for (size_t cut = 1; cut < third.size(); ++cut) {
    const Read read = ReadBoard(first + third.substr(0, cut));
    EXPECT_EQ(read.facts, "step=1 loss=1\n") << cut;
    EXPECT_EQ(read.damaged, 1u) << cut;
  }
}

TEST(TensorBoard, LongRecordsArePassedOver) {
  const std::string file =
      Old("loss", 1, 1) + Record(std::string(RecordFile::kRecordMax + 1, 'x')) +
      Old("loss", 2, 2);
  for (const size_t piece : {1000, 1 << 22}) {
    const Read read = ReadBoard(file, piece);
    EXPECT_EQ(read.facts, "step=1 loss=1\nstep=2 loss=2\n");
    EXPECT_EQ(read.damaged, 0u);
  }
}

TEST(TensorBoard, OtherFilesAreNotRecognised) {
  EXPECT_FALSE(TensorBoardReader::Recognise(""));
  EXPECT_FALSE(TensorBoardReader::Recognise(std::string(64, '\0')));
  EXPECT_FALSE(TensorBoardReader::Recognise("iteration 10/ 20 | lm loss: 1"));
}

}  // namespace
}  // namespace nanwatch
