// SPDX-License-Identifier: Apache-2.0
// Every rule of the safetensors header, with the full error message. The files are synthetic, and
// their data section is filled with ones.
#include <gtest/gtest.h>

#include "epilogue/nn/safetensors.h"

namespace epi::nn {
namespace {

std::string raw_file(std::string_view header, size_t data_bytes, uint64_t length) {
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  return bytes.append(header).append(data_bytes, '\1');
}

std::string raw_file(std::string_view header, size_t data_bytes) {
  return raw_file(header, data_bytes, header.size());
}

Result<SafetensorsHeader> parse(std::string_view bytes) {
  return parse_safetensors_header(std::as_bytes(std::span(bytes)), "w.st");
}

// The error message for an invalid file.
std::string error_of(std::string_view bytes) {
  const auto header = parse(bytes);
  return header ? "accepted" : header.error().message;
}

std::string error_of(std::string_view header, size_t data_bytes) {
  return error_of(raw_file(header, data_bytes));
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

// The error message for a single entry "x", without path and tensor name.
std::string entry_error(std::string_view dtype, std::string_view shape, std::string_view offsets,
                        size_t data_bytes) {
  const std::string message = error_of("{" + entry("x", dtype, shape, offsets) + "}", data_bytes);
  const std::string prefix = "w.st: tensor \"x\": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

// Checks the guarantees of every accepted header.
void expect_valid(const SafetensorsHeader& header, size_t file_bytes) {
  int64_t covered = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    EXPECT_GE(entry.begin, 0);
    EXPECT_LE(entry.begin, entry.end);
    EXPECT_LE(header.data_offset + entry.end, static_cast<int64_t>(file_bytes));
    covered += entry.end - entry.begin;
  }
  EXPECT_EQ(header.data_offset + covered, static_cast<int64_t>(file_bytes));
}

const std::string kSmallFile = raw_file(
    R"({"__metadata__":{"k":"v"},)" + entry("b", "F32", "[2,1]", "[0,8]") + "," +
        entry("a", "BOOL", "[3]", "[8,11]") + "," + entry("z", "F16", "[0]", "[8,8]") + "}  ",
    11);

TEST(SafetensorsHeader, SortsEntriesByName) {
  const auto header = parse(kSmallFile);
  ASSERT_TRUE(header) << header.error().message;
  ASSERT_EQ(header->entries.size(), 3U);
  EXPECT_EQ(header->data_offset, static_cast<int64_t>(kSmallFile.size()) - 11);
  const SafetensorsEntry& b = header->entries[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.dtype_name, "F32");
  EXPECT_EQ(b.dtype, DType::kF32);
  EXPECT_EQ(b.shape, (Dims{2, 1}));
  EXPECT_EQ(b.begin, 0);
  EXPECT_EQ(b.end, 8);
}

TEST(SafetensorsHeader, RejectsTruncatedHeader) {
  EXPECT_EQ(error_of("1234567"), "w.st: byte 7: the file ends inside the header length");
  EXPECT_EQ(error_of(raw_file("{}", 0, 100'000'001)),
            "w.st: byte 0: the header length 100000001 exceeds the limit of 100000000 bytes");
  EXPECT_EQ(error_of(raw_file("{}", 0, ~uint64_t{0})),
            "w.st: byte 0: the header length 18446744073709551615 exceeds the limit of "
            "100000000 bytes");
  EXPECT_EQ(error_of(raw_file("{}", 0, 100'000'000)),
            "w.st: byte 8: the header has 100000000 bytes, but the file has only 2 left");
}

TEST(SafetensorsHeader, RejectsInvalidJson) {
  const std::string start = "w.st: byte 8: the header does not start with '{'";
  EXPECT_EQ(error_of("", 0), start);
  EXPECT_EQ(error_of(" {}", 0), start);
  EXPECT_EQ(error_of("[]", 0), start);
  const std::string invalid = "w.st: byte 8: the header is not valid JSON: ";
  for (const std::string_view text : {"{", "{}}", "{} x", "{\"a\"}", "{\"a\":}", "{'a':1}",
                                      "{\"\xFF\":1}", R"({"a":123456789012345678901234567890})"}) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, invalid, error_of(text, 0)) << text;
  }
  EXPECT_PRED_FORMAT2(testing::IsSubstring, invalid, error_of(std::string("{}\0", 3), 0));
  const std::string deep = "{\"a\":" + std::string(5000, '[');
  EXPECT_PRED_FORMAT2(testing::IsSubstring, invalid, error_of(deep, 0));
}

TEST(SafetensorsHeader, AllowsTrailingSpaces) { EXPECT_EQ(error_of("{}      ", 0), "accepted"); }

TEST(SafetensorsHeader, RejectsInvalidKeys) {
  const auto entry_value_error = [](std::string_view value) {
    return error_of(fmt::format(R"({{"x":{}}})", value), 0);
  };
  const std::string prefix = "w.st: tensor \"x\": ";
  EXPECT_EQ(entry_value_error("1"), prefix + "the entry is not an object");
  EXPECT_EQ(entry_value_error("{}"), prefix + "key \"dtype\" is missing");
  EXPECT_EQ(entry_value_error(R"({"dtype":"F32","data_offsets":[0,0]})"),
            prefix + "key \"shape\" is missing");
  EXPECT_EQ(entry_value_error(R"({"dtype":"F32","shape":[0]})"),
            prefix + "key \"data_offsets\" is missing");
  EXPECT_EQ(entry_value_error(R"({"dtype":"F32","shape":[0],"data_offsets":[0,0],"o\n":1})"),
            prefix + "unknown key \"o\\n\"");
  EXPECT_EQ(entry_value_error(R"({"dtype":"F32","shape":[0],"data_offsets":[0,0],"shape":[0]})"),
            prefix + "duplicate key \"shape\"");
  EXPECT_EQ(entry_value_error(R"({"dtype":4,"shape":[0],"data_offsets":[0,0]})"),
            prefix + "dtype is not a string");
}

TEST(SafetensorsHeader, RejectsDuplicateNames) {
  const std::string x = entry("x", "I32", "[0]", "[0,0]");
  const std::string escaped = entry("\\u0078", "I32", "[0]", "[0,0]");
  EXPECT_EQ(error_of("{" + x + "," + escaped + "}", 0), "w.st: tensor \"x\": duplicate name");
  EXPECT_EQ(error_of(R"({"__metadata__":{},"__metadata__":{}})", 0),
            "w.st: __metadata__: duplicate key");
}

TEST(SafetensorsHeader, RejectsInvalidMetadata) {
  EXPECT_EQ(error_of(R"({"__metadata__":[]})", 0),
            "w.st: __metadata__: the entry is not an object");
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":1}})", 0),
            "w.st: __metadata__: \"k\" is not a string");
  EXPECT_EQ(error_of(R"({"__metadata__":{"k":"","k":""}})", 0),
            "w.st: __metadata__: duplicate key \"k\"");
}

TEST(SafetensorsHeader, RejectsInvalidShapes) {
  for (const std::string_view shape :
       {"1", "{}", "null", "[-1]", "[1.0]", "[1e3]", "[\"1\"]", "[[1]]", "[9223372036854775808]"}) {
    EXPECT_EQ(entry_error("F32", shape, "[0,0]", 0),
              "shape is not an array of non-negative integers");
  }
  EXPECT_EQ(entry_error("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]", 4),
            "rank 9 exceeds the limit of 8 dimensions");
  EXPECT_EQ(entry_error("F32", "[4294967296,4294967296]", "[0,0]", 0),
            "the size of shape [4294967296, 4294967296] exceeds 64 bits");
  EXPECT_EQ(entry_error("NEW", "[4611686018427387904,0,4]", "[0,0]", 0),
            "the size of shape [4611686018427387904, 0, 4] exceeds 64 bits");
}

TEST(SafetensorsHeader, RejectsInvalidOffsets) {
  for (const std::string_view offsets : {"0", "[]", "[0]", "[0,4,4]", "[-4,0]", "[0,-4]", "[0.0,4]",
                                         "[0,\"4\"]", "[0,18446744073709551615]"}) {
    EXPECT_EQ(entry_error("F32", "[1]", offsets, 4),
              "data_offsets are not two non-negative integers");
  }
  EXPECT_EQ(entry_error("F32", "[1]", "[4,0]", 4), "data_offsets start at 4, after their end at 0");
  EXPECT_EQ(entry_error("F32", "[2]", "[0,8]", 7),
            "data_offsets end at 8, past the 7 bytes of the data section");
}

TEST(SafetensorsHeader, RejectsSizesThatDoNotMatchTheShape) {
  EXPECT_EQ(entry_error("BF16", "[2,3]", "[0,8]", 8),
            "shape [2, 3] of BF16 takes 12 bytes, but data_offsets span 8");
  EXPECT_EQ(entry_error("F8_E5M2", "[3]", "[0,4]", 4),
            "shape [3] of F8_E5M2 takes 3 bytes, but data_offsets span 4");
  EXPECT_EQ(entry_error("U16", "[]", "[0,1]", 1),
            "shape [] of U16 takes 2 bytes, but data_offsets span 1");
  EXPECT_EQ(entry_error("F4", "[3]", "[0,2]", 2),
            "shape [3] of F4 takes 12 bits, which is not a whole number of bytes");
  EXPECT_EQ(entry_error("F4", "[4]", "[0,2]", 2), "accepted");
  EXPECT_EQ(entry_error("F128", "[4]", "[0,2]", 2), "accepted");  // a dtype of unknown size
}

TEST(SafetensorsHeader, RejectsOverlapsAndGaps) {
  const auto two = [](std::string_view a, std::string_view b, size_t data_bytes) {
    return error_of("{" + entry("a", "Q", "[1]", a) + "," + entry("b", "Q", "[1]", b) + "}",
                    data_bytes);
  };
  EXPECT_EQ(two("[0,8]", "[4,12]", 12),
            "w.st: tensor \"b\": bytes 4 to 12 overlap tensor \"a\" at 0 to 8");
  EXPECT_EQ(two("[4,8]", "[0,8]", 8),
            "w.st: tensor \"a\": bytes 4 to 8 overlap tensor \"b\" at 0 to 8");
  EXPECT_EQ(two("[0,8]", "[0,8]", 8),
            "w.st: tensor \"b\": bytes 0 to 8 overlap tensor \"a\" at 0 to 8");
  // The header has 103 bytes, so the data section starts at byte 111.
  EXPECT_EQ(two("[0,4]", "[6,8]", 8),
            "w.st: byte 115: no tensor covers bytes 4 to 6 of the data section");
  EXPECT_EQ(two("[1,4]", "[4,8]", 8),
            "w.st: byte 111: no tensor covers bytes 0 to 1 of the data section");
  EXPECT_EQ(two("[0,4]", "[4,8]", 9),
            "w.st: byte 119: no tensor covers bytes 8 to 9 of the data section");
  EXPECT_EQ(two("[0,4]", "[4,4]", 4), "accepted");
}

TEST(SafetensorsHeader, RejectsEveryTruncation) {
  for (size_t size = 0; size < kSmallFile.size(); ++size) {
    // A separate allocation, so that ASan detects reads past its end.
    const std::string cut = kSmallFile.substr(0, size);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "w.st: ", error_of(cut)) << size;
  }
}

TEST(SafetensorsHeader, SurvivesAnyChangedByte) {
  for (size_t at = 0; at < kSmallFile.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = kSmallFile;
      changed[at] = static_cast<char>(value);
      const auto header = parse(changed);
      if (header) expect_valid(*header, changed.size());
    }
  }
}

}  // namespace
}  // namespace epi::nn
