// SPDX-License-Identifier: Apache-2.0
// Safetensors files on disk: round trips, views of the mapping, and failed saves.
// safetensors_header_test.cpp covers the header.
#include "epilogue/nn/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "epilogue/tensor/factories.h"

namespace epi::nn {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Scratch {
  fs::path path = fs::path(testing::TempDir()) / fmt::format("epilogue_safetensors_{}", ::getpid());
  ~Scratch() { fs::remove_all(path); }
};

// An empty folder that is removed when the program ends.
fs::path fresh_folder() {
  static const Scratch scratch;
  fs::remove_all(scratch.path);
  fs::create_directories(scratch.path);
  return scratch.path;
}

std::string file_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

fs::path write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string raw_file(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8).append(header).append(data);
}

std::string bytes_of(const Tensor& tensor) {
  EXPECT_TRUE(tensor.is_contiguous());
  return {reinterpret_cast<const char*>(tensor.raw_data()),
          static_cast<size_t>(tensor.size_bytes())};
}

TEST(Safetensors, RoundTripsEveryDtypeAndShape) {
  const fs::path path = fresh_folder() / "all.safetensors";
  NamedTensors tensors;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const Dims& shape : {Dims{}, Dims{3}, Dims{2, 0, 4}, Dims{1, 2, 1, 3, 1, 1, 1, 2}}) {
      const std::string name = fmt::format("{} {}", epi::name(dtype), to_string(shape));
      tensors.emplace_back(name, full(shape,
                                      is_floating(dtype)      ? i + 2.5
                                      : dtype == DType::kBool ? 1
                                                              : i + 2,
                                      {dtype, kCpu}));
    }
  }
  ASSERT_TRUE(save_safetensors(path, tensors, {{"format", "pt"}, {"a \"b\"", "\n\xC3\xA9"}}));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->names().size(), tensors.size());
  const std::string metadata = R"("__metadata__": {"a \"b\"": "\né", "format": "pt"})";
  EXPECT_NE(file_bytes(path).find(metadata), std::string::npos);
  for (const auto& [name, tensor] : tensors) {
    const auto loaded = file->tensor(name);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->dtype(), tensor.dtype()) << name;
    EXPECT_EQ(loaded->layout(), tensor.layout()) << name;
    EXPECT_EQ(bytes_of(*loaded), bytes_of(tensor)) << name;
  }
}

TEST(Safetensors, RoundTripsAFileWithoutTensors) {
  const fs::path path = fresh_folder() / "none.safetensors";
  ASSERT_TRUE(save_safetensors(path, {}));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->names().empty());
  EXPECT_FALSE(file->contains("a"));
  EXPECT_EQ(file->tensor("a").error().message, path.string() + ": tensor \"a\": not in the file");
}

TEST(Safetensors, WritesViewsInRowMajorOrder) {
  const Tensor x = arange(24, {DType::kI32, kCpu});
  const auto view = [&](Dims shape, Dims strides, int64_t offset) {
    return x.with_layout("view", {shape, strides}, offset);
  };
  const NamedTensors tensors = {{"transposed", view({3, 2}, {1, 3}, 0)},
                                {"sliced", view({2, 2}, {6, 2}, 1)},
                                {"broadcast", view({2, 2}, {0, 1}, 4)},
                                {"reversed", view({4}, {-2}, 7)},
                                {"permuted", view({2, 2, 2}, {1, 12, 4}, 0)}};
  const fs::path path = fresh_folder() / "views.safetensors";
  ASSERT_TRUE(save_safetensors(path, tensors));
  const auto file = SafetensorsFile::open(path).value();
  using Values = std::vector<int32_t>;
  const auto values = [&](std::string_view name) {
    const Tensor tensor = file.tensor(name).value();
    return Values(tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.numel());
  };
  EXPECT_EQ(values("transposed"), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values("sliced"), (Values{1, 3, 7, 9}));
  EXPECT_EQ(values("broadcast"), (Values{4, 5, 4, 5}));
  EXPECT_EQ(values("reversed"), (Values{7, 5, 3, 1}));
  EXPECT_EQ(values("permuted"), (Values{0, 4, 12, 16, 1, 5, 13, 17}));
}

TEST(Safetensors, RoundTripsTransposeLargerThanWriteBuffer) {
  const int64_t rows = 515;
  const int64_t columns = 701;  // 2.9 MB of f64: the buffer of 1 MiB is flushed inside a row
  const Tensor x = arange(rows * columns, {DType::kF64, kCpu});
  const Tensor t = x.with_layout("t", {{columns, rows}, {1, columns}}, 0);
  const fs::path path = fresh_folder() / "large.safetensors";
  ASSERT_TRUE(save_safetensors(path, NamedTensors{{"t", t}}));
  const Tensor loaded = SafetensorsFile::open(path).value().tensor("t").value();
  ASSERT_EQ(loaded.shape(), (Dims{columns, rows}));
  int64_t wrong = 0;
  for (int64_t i = 0; i < loaded.numel(); ++i) {
    const int64_t expected = i % rows * columns + i / rows;
    wrong += loaded.data<double>()[i] != static_cast<double>(expected);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Safetensors, TensorsShareTheMappingAndOutliveTheFile) {
  const fs::path path = fresh_folder() / "shared.safetensors";
  ASSERT_TRUE(save_safetensors(path, NamedTensors{{"x", full({4}, 1.5)}}));
  const std::string before = file_bytes(path);
  Tensor x;
  {
    const auto file = SafetensorsFile::open(path).value();
    x = file.tensor("x").value();
    EXPECT_EQ(file.tensor("x").value().raw_data(), x.raw_data());
  }
  EXPECT_EQ(x.data<float>()[3], 1.5F);
  x.data<float>()[3] = 7;
  EXPECT_EQ(x.data<float>()[3], 7.0F);
  EXPECT_EQ(file_bytes(path), before);
}

TEST(Safetensors, CopiesOnlyMisalignedTensors) {
  const fs::path folder = fresh_folder();
  std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  while (header.size() % 8 != 0) header += ' ';
  for (size_t shift = 0; shift < 8; ++shift, header += ' ') {
    const auto path = write_file(folder / fmt::format("{}.safetensors", shift),
                                 raw_file(header, std::string_view("\0\0\x80?\0\0\0@", 8)));
    const auto file = SafetensorsFile::open(path).value();
    const Tensor a = file.tensor("x").value();
    const Tensor b = file.tensor("x").value();
    EXPECT_EQ(a.data<float>()[0], 1.0F);
    EXPECT_EQ(a.data<float>()[1], 2.0F);
    EXPECT_EQ(a.raw_data() == b.raw_data(), shift % 4 == 0) << shift;
  }
}

TEST(Safetensors, UnsupportedDtypeFailsOnAccess) {
  const auto header = R"({"q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[4,6]},)"
                      R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const auto path = write_file(fresh_folder() / "fp8.safetensors", raw_file(header, "123456"));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->names(), (Names{"q", "x"}));
  EXPECT_TRUE(file->tensor("x"));
  EXPECT_EQ(file->tensor("q").error().message,
            path.string() + ": tensor \"q\": dtype \"F8_E4M3\" is not supported");
}

TEST(Safetensors, AlignsDataAndSortsByElementSize) {
  const fs::path path = fresh_folder() / "aligned.safetensors";
  const NamedTensors tensors = {{"a", zeros({3}, {DType::kBool, kCpu})},
                                {"b", zeros({3}, {DType::kBF16, kCpu})},
                                {"c", zeros({1}, {DType::kF64, kCpu})},
                                {"d", zeros({1}, {DType::kF32, kCpu})}};
  ASSERT_TRUE(save_safetensors(path, tensors));
  const std::string bytes = file_bytes(path);
  const auto header = parse_safetensors_header(std::as_bytes(std::span(bytes)), "x").value();
  EXPECT_EQ(header.data_offset % 64, 0);
  std::string begins;
  for (const SafetensorsEntry& entry : header.entries) begins += fmt::format("{} ", entry.begin);
  EXPECT_EQ(begins, "18 12 0 8 ");
}

TEST(Safetensors, ReportsUnmappableFiles) {
  const fs::path folder = fresh_folder();
  const auto absent = SafetensorsFile::open(folder / "absent.safetensors");
  ASSERT_FALSE(absent);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "absent.safetensors: No such file",
                      absent.error().message);
  EXPECT_FALSE(SafetensorsFile::open(folder));
  const auto empty = SafetensorsFile::open(write_file(folder / "empty.safetensors", ""));
  ASSERT_FALSE(empty);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "empty.safetensors: byte 0: ", empty.error().message);
}

TEST(Safetensors, ReportsSavingIntoMissingFolder) {
  const fs::path folder = fresh_folder();
  const auto saved = save_safetensors(folder / "no" / "x.safetensors", NamedTensors{});
  ASSERT_FALSE(saved);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no/x.safetensors: ", saved.error().message);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(Safetensors, SavingReplacesFileAndKeepsOpenTensors) {
  const fs::path path = fresh_folder() / "x.safetensors";
  ASSERT_TRUE(save_safetensors(path, NamedTensors{{"x", full({1000}, 1)}}));
  const Tensor old = SafetensorsFile::open(path).value().tensor("x").value();
  ASSERT_TRUE(save_safetensors(path, NamedTensors{{"x", full({2}, 2)}, {"old", old}}));
  const auto file = SafetensorsFile::open(path).value();
  EXPECT_EQ(old.data<float>()[999], 1.0F);
  EXPECT_EQ(file.tensor("x").value().data<float>()[1], 2.0F);
  EXPECT_EQ(bytes_of(file.tensor("old").value()), bytes_of(old));
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(Safetensors, InvalidArgumentsThrowAndWriteNothing) {
  const fs::path path = fresh_folder() / "x.safetensors";
  const auto message = [&](const NamedTensors& tensors,
                           const std::map<std::string, std::string>& metadata = {}) -> std::string {
    try {
      return save_safetensors(path, tensors, metadata) ? "saved" : "failed";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const Tensor x = zeros({1});
  EXPECT_EQ(message({{"a", x}, {"a", x}}), "[save_safetensors] duplicate tensor name \"a\"");
  EXPECT_EQ(message({{"m", empty({2}, {DType::kF32, kMeta})}}),
            "[save_safetensors] tensor \"m\" is on meta, not on the CPU");
  EXPECT_EQ(message({{"u", Tensor()}}), "[save_safetensors] tensor \"u\" is undefined");
  EXPECT_EQ(message({{"__metadata__", x}}), "[save_safetensors] the name __metadata__ is reserved");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is not UTF-8", message({{"\xFF", x}}));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is not UTF-8", message({}, {{"k", "\xFF"}}));
  EXPECT_TRUE(fs::is_empty(path.parent_path()));
}

TEST(Safetensors, RejectsInvalidBooleans) {
  const std::string header = R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  const fs::path path = write_file(fresh_folder() / "bool.safetensors", raw_file(header, "\1\2"));
  const auto tensor = SafetensorsFile::open(path)->tensor("b");
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message.find("neither 0 nor 1"), std::string::npos);
}

}  // namespace
}  // namespace epi::nn
