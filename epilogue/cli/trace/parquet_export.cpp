// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/parquet_export.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "epilogue/analysis/sql/sql_tables.h"
#include "epilogue/parquet/parquet_file.h"

namespace epi::cli {
namespace {

namespace fs = std::filesystem;
using analysis::SqlCell;
using parquet::ColumnType;
using parquet::ParquetFile;

// A folder beside the target, which becomes the target or is removed.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const fs::path& target) {
    const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
    std::string name = (parent / ".epilogue-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      return failure("{}: {}", parent.string(), std::strerror(errno));
    }
    return TemporaryFolder(name);
  }
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

  Result<void> become(const fs::path& target) {
    std::error_code error;
    fs::permissions(path_,
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                        fs::perms::others_read | fs::perms::others_exec,
                    error);
    if (!error) fs::rename(path_, target, error);  // replaces an empty folder
    if (error) return failure("{}: {}", target.string(), error.message());
    path_.clear();
    return {};
  }

 private:
  fs::path path_;
};

// Columns that mix numbers and texts are texts.
void add_cell(ParquetFile& file, size_t column, bool is_text, const SqlCell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return file.add_null(column);
  if (const auto* number = std::get_if<int64_t>(&cell)) {
    return is_text ? file.add_text(column, fmt::format("{}", *number))
                   : file.add_integer(column, *number);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return file.add_text(column, fmt::format("{}", *real));
  }
  if (const auto* view = std::get_if<std::string_view>(&cell)) return file.add_text(column, *view);
  file.add_text(column, std::get<std::string>(cell));
}

Result<int64_t> write_table(const analysis::SqlTable& table, const fs::path& path) {
  std::vector<parquet::ColumnInfo> infos;
  for (const analysis::SqlColumn& column : table.columns) {
    const bool is_integer = column.type == analysis::SqlType::kInteger;
    infos.push_back({column.name, is_integer ? ColumnType::kInteger : ColumnType::kText});
  }
  auto file = ParquetFile::create(path, infos);
  EPI_TRY(file);
  const size_t rows = table.rows();
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < infos.size(); ++i) {
      add_cell(*file, i, infos[i].type == ColumnType::kText, table.columns[i].cell(row));
    }
    EPI_TRY(file->end_row());
  }
  return file->finish();
}

}  // namespace

Result<int64_t> write_parquet(const std::vector<TraceInput>& inputs, const fs::path& folder) {
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::not_found &&
      (!fs::is_directory(fs::symlink_status(folder)) || !fs::is_empty(folder, error))) {
    return failure("{}: exists; --format parquet needs a new or empty folder", folder.string());
  }
  auto temporary = TemporaryFolder::create(folder);
  EPI_TRY(temporary);
  int64_t replaced = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t rank = inputs[i].has_rank ? inputs[i].rank : static_cast<int64_t>(i);
    for (const std::string_view name : analysis::sql_table_names()) {
      const fs::path place = temporary->path() / name / fmt::format("rank={}", rank);
      fs::create_directories(place, error);
      if (error) return failure("{}: {}", place.string(), error.message());
      const auto table = analysis::sql_table(inputs[i].index(), name);
      const auto written = write_table(*table, place / fmt::format("part-{}.parquet", i));
      EPI_TRY(written);
      replaced += *written;
    }
  }
  EPI_TRY(temporary->become(folder));
  return replaced;
}

}  // namespace epi::cli
