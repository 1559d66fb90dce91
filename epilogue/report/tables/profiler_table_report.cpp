// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/tables/profiler_table_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "epilogue/base/visible_text.h"
#include "epilogue/report/text/table.h"

namespace epi::report {
namespace {

using analysis::ProfilerTable;
using analysis::TableRow;

// Column widths, as in PyTorch.
constexpr size_t kColumnWidth = 12;
constexpr size_t kNameWidth = 55;
constexpr size_t kShapesWidth = 80;
constexpr size_t kPadding = 4;
constexpr size_t kFirstDeviceColumn = 6;
constexpr size_t kDeviceColumns = 4;

std::string time_cell(double time_us) {
  if (time_us >= 1e6) return fmt::format("{:.3f}s", time_us / 1e6);
  if (time_us >= 1e3) return fmt::format("{:.3f}ms", time_us / 1e3);
  return fmt::format("{:.3f}us", time_us);
}

std::string share_cell(double part_us, double whole_us) {
  if (whole_us == 0) return "NaN";
  return fmt::format("{:.2f}%", part_us * 100 / whole_us);
}

// As in PyTorch, 1 KB is 1024 bytes.
std::string memory_cell(int64_t bytes) {
  constexpr double kKb = 1024;
  const auto count = static_cast<double>(bytes);
  const double size = std::abs(count);
  if (size >= kKb * kKb * kKb) return fmt::format("{:.2f} GB", count / (kKb * kKb * kKb));
  if (size >= kKb * kKb) return fmt::format("{:.2f} MB", count / (kKb * kKb));
  if (size >= kKb) return fmt::format("{:.2f} KB", count / kKb);
  return fmt::format("{} B", bytes);
}

// One unit for the whole column, chosen by its smallest value.
struct FlopsUnit {
  const char* name = "FLOPs";
  double scale = 1;
};
FlopsUnit flops_unit(const ProfilerTable& table) {
  constexpr FlopsUnit kUnits[] = {{"FLOPs", 1},     {"KFLOPs", 1e-3},  {"MFLOPs", 1e-6},
                                  {"GFLOPs", 1e-9}, {"TFLOPs", 1e-12}, {"PFLOPs", 1e-15}};
  double smallest = 0;
  for (const TableRow& row : table.rows) {
    const auto flops = static_cast<double>(row.flops);
    if (flops > 0 && (smallest == 0 || flops < smallest)) smallest = flops;
  }
  if (smallest <= 0) return {};
  const double thousands = std::clamp(std::log10(smallest) / 3, 0.0, 5.0);
  return kUnits[static_cast<size_t>(thousands)];
}

std::string name_cell(const std::string& name) {
  constexpr size_t kKept = kNameWidth - 3;
  if (name.size() < kKept) return name;
  size_t kept = kKept;
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0) == 0x80) --kept;
  return name.substr(0, kept) + "...";
}

size_t shown_rows(const ProfilerTable& table, const TableStyle& style) {
  return std::min(table.rows.size(), style.limit.value_or(table.rows.size()));
}

// The column is shown if any row has a shape.
bool shows_shapes(const ProfilerTable& table, const TableStyle& style) {
  return style.shapes && std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) {
           return !row.shapes.empty() && row.shapes != "[]";
         });
}

bool shows_device_memory(const ProfilerTable& table) {
  return table.has_device && table.has_device_memory;
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
  if (table.has_memory) {
    result.insert(result.end(), {"CPU Mem", "Self CPU Mem"});
    if (shows_device_memory(table)) {
      result.push_back(table.device_name + " Mem");
      result.push_back("Self " + table.device_name + " Mem");
    }
  }
  result.emplace_back("# of Calls");
  if (style.stats) result.insert(result.end(), {"min", "median", "p90"});
  if (shows_shapes(table, style)) result.emplace_back("Input Shapes");
  if (table.has_flops) result.push_back(fmt::format("Total {}", flops_unit(table).name));
  return result;
}

std::vector<std::string> cells(const ProfilerTable& table, const TableRow& row,
                               const TableStyle& style) {
  const auto average = [&](double us) {
    return time_cell(us / static_cast<double>(std::max<int64_t>(1, row.calls)));
  };
  std::vector<std::string> result = {visible_text(row.name, LineBreaks::kReplace),
                                     share_cell(row.self_cpu_us, table.self_cpu_total_us),
                                     time_cell(row.self_cpu_us),
                                     share_cell(row.cpu_total_us, table.self_cpu_total_us),
                                     time_cell(row.cpu_total_us),
                                     average(row.cpu_total_us)};
  if (table.has_device) {
    result.push_back(time_cell(row.self_device_us));
    result.push_back(share_cell(row.self_device_us, table.self_device_total_us));
    result.push_back(time_cell(row.device_total_us));
    result.push_back(average(row.device_total_us));
  }
  if (table.has_memory) {
    result.push_back(memory_cell(row.memory.cpu_bytes));
    result.push_back(memory_cell(row.self_memory.cpu_bytes));
    if (shows_device_memory(table)) {
      result.push_back(memory_cell(row.memory.device_bytes));
      result.push_back(memory_cell(row.self_memory.device_bytes));
    }
  }
  result.push_back(fmt::format("{}", row.calls));
  if (style.stats) {
    for (const double us : {row.spread.min_us, row.spread.median_us, row.spread.p90_us}) {
      result.push_back(time_cell(us));
    }
  }
  if (shows_shapes(table, style)) result.push_back(row.shapes);
  if (table.has_flops) {
    result.push_back(row.flops <= 0 ? "--"
                                    : fmt::format("{:8.3f}", static_cast<double>(row.flops) *
                                                                 flops_unit(table).scale));
  }
  return result;
}

std::string totals_text(const ProfilerTable& table) {
  std::string out = fmt::format("Self CPU time total: {}\n", time_cell(table.self_cpu_total_us));
  if (table.has_device) {
    out += fmt::format("Self {} time total: {}\n", table.device_name,
                       time_cell(table.self_device_total_us));
  }
  return out;
}

// The last column, or the one before the FLOPs.
size_t shapes_column(const ProfilerTable& table, size_t columns) {
  return columns - (table.has_flops ? 2 : 1);
}

// Like PyTorch, sizes columns by the longest name and shape of all rows, including rows not shown.
std::vector<size_t> column_widths(const ProfilerTable& table, const TableStyle& style,
                                  size_t columns) {
  size_t name_width = 0;
  size_t shapes_width = 0;
  for (const TableRow& row : table.rows) {
    name_width = std::max(name_width, row.name.size());
    shapes_width = std::max(shapes_width, row.shapes.size());
  }
  std::vector<size_t> widths(columns, kColumnWidth);
  // In PyTorch, "CUDA time avg" is one character wider than its column. Our longer titles widen
  // theirs.
  if (table.has_device && table.device_name != "CUDA") {
    const auto heads = titles(table, style);
    for (size_t c = kFirstDeviceColumn; c < kFirstDeviceColumn + kDeviceColumns; ++c) {
      widths[c] = std::max(widths[c], heads[c].size());
    }
  }
  widths.front() = std::min(name_width + kPadding, kNameWidth);
  if (shows_shapes(table, style)) {
    widths[shapes_column(table, columns)] = std::min(shapes_width + kPadding, kShapesWidth);
  }
  return widths;
}

std::string markdown_of(const ProfilerTable& table, const TableStyle& style) {
  std::vector<Table::Column> columns;
  for (const std::string& title : titles(table, style)) columns.push_back({title, Align::kRight});
  columns.front().align = Align::kLeft;
  Table markdown(columns);
  for (size_t i = 0; i < shown_rows(table, style); ++i) {
    markdown.add_row(cells(table, table.rows[i], style));
  }
  return markdown.markdown() + "\n" + totals_text(table);
}

}  // namespace

std::vector<TableItem> TableResult::rows() const {
  std::vector<TableItem> items;
  for (size_t i = 0; i < shown_rows(table, shown); ++i) items.push_back({table.rows[i], *this});
  return items;
}

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
    if (shows_shapes(table, style)) {
      const size_t column = shapes_column(table, line.size());
      line[column].resize(std::min(line[column].size(), widths[column]));
    }
    add_line(line);
  }
  add_rule();
  return out + totals_text(table);
}

std::string text_of(const TableResult& result, const Style& style) {
  return style.markdown ? markdown_of(result.table, result.shown)
                        : table_text(result.table, result.shown);
}

}  // namespace epi::report
