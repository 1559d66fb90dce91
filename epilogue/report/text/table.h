// SPDX-License-Identifier: Apache-2.0
// A table of text cells: aligned for a terminal, as Markdown, or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/base/json_writer.h"

namespace epi::report {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Expects one cell per column.
  void add_row(std::vector<std::string> cells);

  // In `text`, a first cell longer than `max_size` gets its own line, above the other cells.
  void wrap_first(size_t max_size) { max_first_size_ = max_size; }

  // The column that is cut to fit a width. By default the first.
  void shrink(size_t column) { shrunk_ = column; }

  bool is_empty() const { return rows_.empty(); }

  // Puts two spaces before each column and no trailing spaces. If a line would exceed `width`, the
  // cells of one column are cut: at the end, or in the middle for names that differ at both ends.
  enum class Cut { kEnd, kMiddle };
  std::string text(size_t width = SIZE_MAX, Cut cut = Cut::kEnd) const;
  std::string markdown() const;
  std::string html() const;
  // Writes {"columns": [{"title", "right"}], "rows": [["cell", ...]]}.
  void json(JsonWriter& json) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  size_t max_first_size_ = static_cast<size_t>(-1);
  size_t shrunk_ = 0;
};

}  // namespace epi::report
