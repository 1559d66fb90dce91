// SPDX-License-Identifier: Apache-2.0
// Writes a Parquet file row by row. Rows are collected into groups, so memory is bounded by the
// size of a group. The file is complete or does not appear at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/output_file.h"
#include "epilogue/base/result.h"

namespace epi::parquet {

class ThriftWriter;

enum class ColumnType : uint8_t { kInteger, kText };

struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::kInteger;
};

class ParquetFile {
 public:
  static Result<ParquetFile> create(const std::filesystem::path& path,
                                    const std::vector<ColumnInfo>& columns);
  ParquetFile(ParquetFile&&) noexcept;
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;
  ~ParquetFile();

  // The value of a column in the current row: call one of these once for every column.
  void add_null(size_t column);
  void add_integer(size_t column, int64_t value);
  void add_text(size_t column, std::string_view value);
  Result<void> end_row();

  // Writes the footer. Call once, last. Returns the number of bytes of text that were not UTF-8.
  Result<int64_t> finish();

 private:
  struct Column;
  struct Group;
  explicit ParquetFile(OutputFile file);
  Result<void> write(std::string_view bytes);
  Result<void> write_page(Column& column, int32_t type, std::string_view values,
                          const std::function<void(ThriftWriter&)>& describe);
  Result<void> write_dictionary(Column& column);
  Result<void> write_data(Column& column, size_t first_row, size_t rows, size_t& value);
  Result<void> write_group();
  std::string footer() const;

  OutputFile file_;
  int64_t position_ = 0;
  int64_t rows_ = 0;        // in finished groups
  size_t group_rows_ = 0;   // in the current one
  size_t group_bytes_ = 0;  // before compression
  std::vector<Column> columns_;
  std::vector<Group> groups_;
};

}  // namespace epi::parquet
