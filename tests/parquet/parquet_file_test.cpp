// SPDX-License-Identifier: Apache-2.0
// The frame of a file. python/tests/test_parquet.py reads the content with DuckDB.
#include "epilogue/parquet/parquet_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <iterator>

namespace epi::parquet {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class ParquetFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("epilogue_parquet_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(ParquetFileTest, EndsWithTheFooterAndItsLength) {
  const auto path = folder_ / "t.parquet";
  auto file =
      ParquetFile::create(path, {{"id", ColumnType::kInteger}, {"name", ColumnType::kText}});
  ASSERT_TRUE(file);
  for (int i = 0; i < 3; ++i) {
    file->add_integer(0, i);
    i == 1 ? file->add_null(1) : file->add_text(1, "a\xFF");
    ASSERT_TRUE(file->end_row());
  }
  const auto replaced = file->finish();
  ASSERT_TRUE(replaced);
  EXPECT_EQ(*replaced, 1);  // in the dictionary, once
  const std::string bytes = content_of(path);
  ASSERT_GT(bytes.size(), 12U);
  EXPECT_EQ(bytes.substr(0, 4), "PAR1");
  EXPECT_EQ(bytes.substr(bytes.size() - 4), "PAR1");
  uint32_t length = 0;
  for (size_t i = 0; i < 4; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[bytes.size() - 8 + i]))
              << 8 * i;
  }
  const std::string footer = bytes.substr(bytes.size() - 8 - length, length);
  EXPECT_EQ(footer.substr(0, 2), "\x15\x02");  // version 1
  EXPECT_NE(footer.find("name"), std::string::npos);
}

TEST_F(ParquetFileTest, DoesNotAppearBeforeItIsFinished) {
  const auto path = folder_ / "t.parquet";
  {
    auto file = ParquetFile::create(path, {{"id", ColumnType::kInteger}});
    ASSERT_TRUE(file);
    file->add_integer(0, 1);
    ASSERT_TRUE(file->end_row());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ParquetFileTest, ReportsAFolderThatDoesNotExist) {
  const auto file =
      ParquetFile::create(folder_ / "none" / "t.parquet", {{"id", ColumnType::kInteger}});
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace epi::parquet
