// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/profiler_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "epilogue/report/table.h"

namespace epi::report {
namespace {

using analysis::ProfilerTable;
using analysis::TableRow;

// PyTorch's widths.
constexpr size_t kColumnWidth = 12;
constexpr size_t kNameWidth = 55;
constexpr size_t kShapesWidth = 80;
constexpr size_t kPadding = 4;
constexpr size_t kFirstDeviceColumn = 6;
constexpr size_t kDeviceColumns = 4;

double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

std::string time_cell(double time_us) {
  if (time_us >= 1e6) return fmt::format("{:.3f}s", time_us / 1e6);
  if (time_us >= 1e3) return fmt::format("{:.3f}ms", time_us / 1e3);
  return fmt::format("{:.3f}us", time_us);
}

std::string share_cell(int64_t part_ns, int64_t whole_ns) {
  if (whole_ns == 0) return "NaN";
  return fmt::format("{:.2f}%", us(part_ns) * 100 / us(whole_ns));
}

// A name may hold anything, a line end too.
std::string one_line(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return name;
}

std::string name_cell(const std::string& name) {
  constexpr size_t kKept = kNameWidth - 3;
  return name.size() >= kKept ? name.substr(0, kKept) + "..." : name;
}

size_t shown_rows(const ProfilerTable& table, const TableStyle& style) {
  return std::min(table.rows.size(), style.limit.value_or(table.rows.size()));
}

std::vector<std::string> titles(const ProfilerTable& table, const TableStyle& style) {
  std::vector<std::string> result = {"Name",        "Self CPU %", "Self CPU",
                                     "CPU total %", "CPU total",  "CPU time avg"};
  if (table.has_device) {
    const std::string& device = table.device_name;
    for (std::string title :
         {"Self " + device, "Self " + device + " %", device + " total", device + " time avg"}) {
      result.push_back(std::move(title));
    }
  }
  result.emplace_back("# of Calls");
  if (style.stats) result.insert(result.end(), {"min", "median", "p90"});
  if (style.shapes) result.emplace_back("Input Shapes");
  return result;
}

std::vector<std::string> cells(const ProfilerTable& table, const TableRow& row,
                               const TableStyle& style) {
  const auto average = [&](int64_t ns) {
    return time_cell(us(ns) / static_cast<double>(std::max<int64_t>(1, row.calls)));
  };
  std::vector<std::string> result = {one_line(row.name),
                                     share_cell(row.self_cpu_ns, table.self_cpu_total_ns),
                                     time_cell(us(row.self_cpu_ns)),
                                     share_cell(row.cpu_total_ns, table.self_cpu_total_ns),
                                     time_cell(us(row.cpu_total_ns)),
                                     average(row.cpu_total_ns)};
  if (table.has_device) {
    result.push_back(time_cell(us(row.self_device_ns)));
    result.push_back(share_cell(row.self_device_ns, table.self_device_total_ns));
    result.push_back(time_cell(us(row.device_total_ns)));
    result.push_back(average(row.device_total_ns));
  }
  result.push_back(fmt::format("{}", row.calls));
  if (style.stats) {
    for (const int64_t ns : {row.spread.min_ns, row.spread.median_ns, row.spread.p90_ns}) {
      result.push_back(time_cell(us(ns)));
    }
  }
  if (style.shapes) result.push_back(row.shapes);
  return result;
}

std::string totals_text(const ProfilerTable& table) {
  std::string out =
      fmt::format("Self CPU time total: {}\n", time_cell(us(table.self_cpu_total_ns)));
  if (table.has_device) {
    out += fmt::format("Self {} time total: {}\n", table.device_name,
                       time_cell(us(table.self_device_total_ns)));
  }
  return out;
}

// Widths as PyTorch sets them: by the longest name and shape of all rows, shown or not.
std::vector<size_t> column_widths(const ProfilerTable& table, const TableStyle& style,
                                  size_t columns) {
  size_t name_width = 0;
  size_t shapes_width = 0;
  for (const TableRow& row : table.rows) {
    name_width = std::max(name_width, row.name.size());
    shapes_width = std::max(shapes_width, row.shapes.size());
  }
  std::vector<size_t> widths(columns, kColumnWidth);
  // PyTorch lets "CUDA time avg" stand one column out; our longer titles make room for themselves.
  if (table.has_device && table.device_name != "CUDA") {
    const auto heads = titles(table, style);
    for (size_t c = kFirstDeviceColumn; c < kFirstDeviceColumn + kDeviceColumns; ++c) {
      widths[c] = std::max(widths[c], heads[c].size());
    }
  }
  widths.front() = std::min(name_width + kPadding, kNameWidth);
  if (style.shapes) widths.back() = std::min(shapes_width + kPadding, kShapesWidth);
  return widths;
}

}  // namespace

std::string table_text(const ProfilerTable& table, const TableStyle& style) {
  const auto heads = titles(table, style);
  const auto widths = column_widths(table, style, heads.size());
  std::string out;
  const auto add_rule = [&] {
    for (const size_t width : widths) out += std::string(width, '-') + "  ";
    out += '\n';
  };
  const auto add_line = [&](const std::vector<std::string>& line) {
    for (size_t c = 0; c < line.size(); ++c) out += fmt::format("{:>{}}  ", line[c], widths[c]);
    out += '\n';
  };
  add_rule();
  add_line(heads);
  add_rule();
  for (size_t i = 0; i < shown_rows(table, style); ++i) {
    auto line = cells(table, table.rows[i], style);
    line.front() = name_cell(line.front());
    if (style.shapes) line.back().resize(std::min(line.back().size(), widths.back()));
    add_line(line);
  }
  add_rule();
  return out + totals_text(table);
}

std::string table_markdown(const ProfilerTable& table, const TableStyle& style) {
  std::vector<Table::Column> columns;
  for (const std::string& title : titles(table, style)) columns.push_back({title, Align::kRight});
  columns.front().align = Align::kLeft;
  Table markdown(columns);
  for (size_t i = 0; i < shown_rows(table, style); ++i) {
    markdown.add_row(cells(table, table.rows[i], style));
  }
  return markdown.markdown() + "\n" + totals_text(table);
}

void table_json(JsonWriter& json, const ProfilerTable& table, const TableStyle& style) {
  json.key("rows").begin_array();
  for (size_t i = 0; i < shown_rows(table, style); ++i) {
    const TableRow& row = table.rows[i];
    json.begin_object().key("name").string(row.name);
    json.key("lane").string(row.device ? "device" : "cpu");
    json.key("annotation").boolean(row.annotation).key("calls").integer(row.calls);
    json.key("self_cpu_us").fixed(us(row.self_cpu_ns), 3);
    json.key("cpu_total_us").fixed(us(row.cpu_total_ns), 3);
    json.key("self_device_us").fixed(us(row.self_device_ns), 3);
    json.key("device_total_us").fixed(us(row.device_total_ns), 3);
    if (style.stats) {
      json.key("min_us").fixed(us(row.spread.min_ns), 3);
      json.key("median_us").fixed(us(row.spread.median_ns), 3);
      json.key("p90_us").fixed(us(row.spread.p90_ns), 3);
    }
    if (style.shapes) json.key("input_shapes").string(row.shapes);
    json.end_object();
  }
  json.end_array();
  json.key("self_cpu_total_us").fixed(us(table.self_cpu_total_ns), 3);
  json.key("self_device_total_us").fixed(us(table.self_device_total_ns), 3);
}

}  // namespace epi::report
