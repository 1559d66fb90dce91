// SPDX-License-Identifier: Apache-2.0
// A table of text cells: aligned for a terminal, or as Markdown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi::report {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns.
  void add_row(std::vector<std::string> cells);

  // In text, a first cell that is longer takes a line of its own, and the others follow below it.
  void wrap_first(size_t longest) { longest_first_ = longest; }

  // Two spaces in front of each column; no trailing spaces. Where a line would be longer than
  // `width`, the cells of the first column are cut: at their end, or in their middle where names
  // differ at both ends.
  enum class Cut { kEnd, kMiddle };
  std::string text(size_t width = SIZE_MAX, Cut cut = Cut::kEnd) const;
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  size_t longest_first_ = static_cast<size_t>(-1);
};

}  // namespace epi::report
