// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/text/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/text/html_text.h"
#include "epilogue/report/text/text.h"

namespace epi::report {
namespace {

// Escapes "|", which would end a Markdown cell.
std::string markdown_cell(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  EPI_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = visible_text(cell, LineBreaks::kReplace);
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t width_limit, Cut cut) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = columns_[c].title.size();
    for (const auto& row : rows_) {
      if (c > 0 || row[c].size() <= max_first_size_) width = std::max(width, row[c].size());
    }
    widths.push_back(width);
  }
  size_t total = 0;
  for (const size_t width : widths) total += 2 + width;
  if (total > width_limit && !widths.empty()) {
    constexpr size_t kMinWidth = 8;
    const size_t others = total - widths[shrunk_];
    widths[shrunk_] = std::max(kMinWidth, width_limit > others ? width_limit - others : 0);
  }
  std::string out;
  const auto append = [&](size_t c, const std::string& cell) {
    out += columns_[c].align == Align::kLeft ? fmt::format("  {:<{}}", cell, widths[c])
                                             : fmt::format("  {:>{}}", cell, widths[c]);
  };
  const auto end_line = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (size_t c = 0; c < columns_.size(); ++c) append(c, columns_[c].title);
  end_line();
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) {
      const bool is_cut =
          c == shrunk_ && row[c].size() > widths[c] && (c > 0 || row[c].size() <= max_first_size_);
      append(c, !is_cut            ? row[c]
                : cut == Cut::kEnd ? shortened(row[c], widths[c])
                                   : shortened_middle(row[c], widths[c]));
      if (c > 0 || row[c].size() <= max_first_size_) continue;
      end_line();
      append(c, "");
    }
    end_line();
  }
  return out;
}

std::string Table::html() const {
  const auto cell = [&](const char* tag, size_t column, const std::string& text) {
    const bool is_right = columns_[column].align == Align::kRight;
    return fmt::format("<{0}{1}>{2}</{0}>", tag, is_right ? " class=\"right\"" : "",
                       html_text(text));
  };
  std::string out = "<table>\n<tr>";
  for (size_t i = 0; i < columns_.size(); ++i) out += cell("th", i, columns_[i].title);
  out += "</tr>\n";
  for (const auto& row : rows_) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) out += cell("td", i, row[i]);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string Table::markdown() const {
  std::string out = "|";
  for (const auto& column : columns_) out += fmt::format(" {} |", markdown_cell(column.title));
  out += "\n|";
  for (const auto& column : columns_) out += column.align == Align::kLeft ? " --- |" : " ---: |";
  out += '\n';
  for (const auto& row : rows_) {
    out += '|';
    for (const auto& cell : row) out += fmt::format(" {} |", markdown_cell(cell));
    out += '\n';
  }
  return out;
}

void Table::json(JsonWriter& json) const {
  json.begin_object().key("columns").begin_array();
  for (const Column& column : columns_) {
    json.begin_object().key("title").string(column.title);
    json.key("right").boolean(column.align == Align::kRight).end_object();
  }
  json.end_array().key("rows").begin_array();
  for (const auto& row : rows_) {
    json.begin_array();
    for (const std::string& cell : row) json.string(cell);
    json.end_array();
  }
  json.end_array().end_object();
}

}  // namespace epi::report
