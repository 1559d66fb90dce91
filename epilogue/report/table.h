// SPDX-License-Identifier: Apache-2.0
// A table of text cells: aligned for a terminal, or as Markdown.
#pragma once

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

  // Two spaces in front of each column; no trailing spaces.
  std::string text() const;
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace epi::report
