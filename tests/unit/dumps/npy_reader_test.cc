#include "dumps/npy_reader.h"

#include <gmock/gmock.h>
#include <nanwatch_sketch.h>

#include <cstring>
#include <limits>

namespace nanwatch {
namespace {

std::string Header(const std::string& dict) {
  std::string text = "\x93NUMPY";
  text += '\1';
  text += '\0';
  const std::string line = dict + "\n";
  text += static_cast<char>(line.size() & 0xff);
  text += static_cast<char>(line.size() >> 8);
  return text + line;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const char* by_columns = "False") {
  return Header("{'descr': '" + descr + "', 'fortran_order': " + by_columns +
                ", 'shape': " + shape + ", }");
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Result<NpyTensor> Read(const std::string& file, size_t piece = 3) {
  NpyReader reader(file.size());
  for (size_t at = 0; at < file.size(); at += piece) {
    const Status fed = reader.Feed(std::string_view(file).substr(at, piece));
    if (!fed.ok()) return Error{fed.error()};
  }
  return reader.Finish();
}

std::vector<float> Numbers(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(i % 97) - 31.5f;
  }
  return values;
}

// What the client says of a tensor in one piece.
nanwatch_sketch Expected(const void* data, size_t n, nanwatch_dtype dtype) {
  nanwatch_sketch sketch;
  nanwatch_sketch_init(&sketch);
  nanwatch_sketch_add(&sketch, data, n, dtype,
                      NANWATCH_OBSERVE_DIGEST | NANWATCH_OBSERVE_SKETCH, 0);
  return sketch;
}

TEST(NpyReaderTest, HasTheDigestAndTheSketchOfTheClient) {
  const std::vector<float> values = Numbers(5000);
  const std::string file = Header("<f4", "(50, 100)") + BytesOf(values);
  for (const size_t piece : {1, 3, 4096, 1 << 20}) {
    const Result<NpyTensor> read = Read(file, piece);
    ASSERT_TRUE(read.ok()) << read.error();
    const nanwatch_sketch expected =
        Expected(values.data(), values.size(), NANWATCH_FP32);
    EXPECT_EQ(read->tensor.digest, expected.digest);
    EXPECT_EQ(read->tensor.elements, 5000u);
    EXPECT_EQ(read->header.dtype, Dtype::kFp32);
    EXPECT_THAT(read->header.shape, testing::ElementsAre(50, 100));
    for (size_t i = 0; i < kSketchSums; ++i) {
      EXPECT_NEAR((*read->tensor.sketch)[i], expected.sums[i], 1e-3);
    }
  }
}

TEST(NpyReaderTest, ATensorByColumnsIsTheSameTensor) {
  constexpr size_t kShape[] = {3, 5, 7};
  const std::vector<float> by_rows = Numbers(3 * 5 * 7);
  std::vector<float> by_columns;
  for (size_t k = 0; k < kShape[2]; ++k) {
    for (size_t j = 0; j < kShape[1]; ++j) {
      for (size_t i = 0; i < kShape[0]; ++i) {
        by_columns.push_back(by_rows[(i * kShape[1] + j) * kShape[2] + k]);
      }
    }
  }
  const Result<NpyTensor> rows =
      Read(Header("<f4", "(3, 5, 7)") + BytesOf(by_rows));
  const Result<NpyTensor> columns =
      Read(Header("<f4", "(3, 5, 7)", "True") + BytesOf(by_columns), 11);
  ASSERT_TRUE(rows.ok() && columns.ok());
  EXPECT_EQ(rows->tensor.digest, columns->tensor.digest);
}

TEST(NpyReaderTest, BigEndianIsTheSameTensor) {
  const std::vector<float> values = Numbers(100);
  std::string swapped = BytesOf(values);
  for (size_t i = 0; i < swapped.size(); i += 4) {
    std::reverse(swapped.begin() + i, swapped.begin() + i + 4);
  }
  const Result<NpyTensor> read = Read(Header(">f4", "(100,)") + swapped);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->tensor.digest,
            Expected(values.data(), 100, NANWATCH_FP32).digest);
}

TEST(NpyReaderTest, CountsWhatIsNotFinite) {
  std::vector<float> values = Numbers(64);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[6] = std::numeric_limits<float>::infinity();
  values[7] = -std::numeric_limits<float>::infinity();
  const Result<NpyTensor> read = Read(Header("<f4", "(64,)") + BytesOf(values));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->tensor.nan, 1u);
  EXPECT_EQ(read->tensor.inf, 2u);
}

struct Format {
  const char* descr;
  size_t bytes;
  Dtype dtype;
  bool sketch;
};

class NpyFormats : public testing::TestWithParam<Format> {};

TEST_P(NpyFormats, AreRead) {
  const Format format = GetParam();
  const Result<NpyTensor> read =
      Read(Header(format.descr, "(2, 3)") + std::string(6 * format.bytes, 1));
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->header.dtype, format.dtype);
  EXPECT_TRUE(read->tensor.digest);
  EXPECT_EQ(read->tensor.sketch.has_value(), format.sketch);
}

INSTANTIATE_TEST_SUITE_P(
    All, NpyFormats,
    testing::Values(Format{"<f2", 2, Dtype::kFp16, true},
                    Format{"<f8", 8, Dtype::kFp64, true},
                    Format{"<V2", 2, Dtype::kBf16, true},
                    Format{"<f1", 1, Dtype::kFp8E5M2, true},
                    Format{"|b1", 1, Dtype::kUnknown, false},
                    Format{"<i8", 8, Dtype::kUnknown, false},
                    Format{"|u1", 1, Dtype::kUnknown, false}));

TEST(NpyReaderTest, AScalarAndAnEmptyTensor) {
  const Result<NpyTensor> scalar =
      Read(Header("<f4", "()") + BytesOf<float>({2.5f}));
  ASSERT_TRUE(scalar.ok()) << scalar.error();
  EXPECT_EQ(scalar->tensor.elements, 1u);
  const Result<NpyTensor> empty = Read(Header("<f4", "(0, 4)", "True"));
  ASSERT_TRUE(empty.ok()) << empty.error();
  EXPECT_EQ(empty->tensor.elements, 0u);
}

class Hostile : public testing::TestWithParam<std::string> {};

TEST_P(Hostile, IsRefused) { EXPECT_FALSE(Read(GetParam()).ok()); }

INSTANTIATE_TEST_SUITE_P(
    All, Hostile,
    testing::Values(
        "", "\x93NUM", "PK\3\4", Header("<f4", "(2,)"),         // cut off
        Header("<f4", "(2,)") + std::string(9, 'x'),            // too long
        Header("<f4", "(1152921504606846976,)"),                // 2^60
        Header("<f4", "(4294967296, 4294967296, 4294967296)"),  // overflows
        Header("<f4", "(-1,)"), Header("<f4", "(99999999999999999999,)"),
        Header("<f4", "(1.5,)"), Header("<f4", "(2"), Header("<f4", "2"),
        Header("|O", "(1,)"), Header("<c8", "(1,)"), Header("<U3", "(1,)"),
        Header("<f4x", "()"), Header("?f4", "()"),
        Header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': "
               "(1,), }"),
        Header("{'descr': '<f4', 'shape': (1,), }"),
        Header("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,), }"),
        Header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': "
               "1}"),
        Header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), "
               "'shape': (1,)}"),
        Header("<f4", "()").substr(0, 20),
        std::string("\x93NUMPY\x04\0\0\0{}", 12),
        std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)));

}  // namespace
}  // namespace nanwatch
