// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/parquet_export.h"

#include <fmt/format.h>

#include "epilogue/base/temporary_folder.h"
#include "epilogue/parquet/parquet_file.h"
#include "epilogue/sql/tables.h"

namespace epi::verbs {
namespace {

namespace fs = std::filesystem;
using parquet::ColumnType;
using parquet::ParquetFile;
using sql::Cell;

// Renames a folder that only the user can read to `target`, which may be an empty folder.
Result<void> publish(const fs::path& folder, const fs::path& target) {
  constexpr fs::perms kReadable = fs::perms::owner_all | fs::perms::group_read |
                                  fs::perms::group_exec | fs::perms::others_read |
                                  fs::perms::others_exec;
  std::error_code error;
  fs::permissions(folder, kReadable, error);
  if (!error) fs::rename(folder, target, error);
  if (error) return failure("{}: {}", target.string(), error.message());
  return {};
}

// Columns that mix numbers and texts are texts.
void add_cell(ParquetFile& file, size_t column, bool is_text, const Cell& cell) {
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

Result<int64_t> write_table(const sql::Table& table, const fs::path& path) {
  std::vector<parquet::ColumnInfo> infos;
  for (const sql::Column& column : table.columns) {
    const bool is_integer = column.type == sql::Type::kInteger;
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
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  const auto temporary = TemporaryFolder::make(parent, ".epilogue-");
  EPI_TRY(temporary);
  int64_t replaced = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t rank = inputs[i].has_rank ? inputs[i].rank : static_cast<int64_t>(i);
    for (const std::string_view name : sql::table_names()) {
      const fs::path place = temporary->path() / name / fmt::format("rank={}", rank);
      fs::create_directories(place, error);
      if (error) return failure("{}: {}", place.string(), error.message());
      const auto table = sql::table(inputs[i].models(), name);
      const auto written = write_table(*table, place / fmt::format("part-{}.parquet", i));
      EPI_TRY(written);
      replaced += *written;
    }
  }
  EPI_TRY(publish(temporary->path(), folder));
  return replaced;
}

}  // namespace epi::verbs
