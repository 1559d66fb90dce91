// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::Comparison;
using analysis::GroupComparison;
using analysis::HostChange;
using analysis::NamedCount;
using analysis::Side;

constexpr size_t kShownGroups = 8;
constexpr size_t kShownKinds = 12;  // of kernels, in each list
constexpr size_t kIndent = 12;

std::string signed_percent(double a, double b) {
  return a == 0 ? (b == 0 ? "" : "new") : fmt::format("{:+.1f} %", 100 * (b - a) / a);
}

std::string bytes_cell(const Side& side) {
  if (!side.bytes) return "?";
  return fmt::format("{}{}", side.bytes->at_least ? ">= " : "", bytes_text(side.bytes->bytes));
}

Table measures_table(const GroupComparison& group, bool cpu_kernels) {
  Table table({{"", Align::kLeft},
               {"A", Align::kRight},
               {"B", Align::kRight},
               {"B - A", Align::kRight},
               {"", Align::kRight}});
  const auto& a = group.a.median;
  const auto& b = group.b.median;
  const auto time = [&](const char* title, double of_a, double of_b) {
    table.add_row({title, time_text(of_a), time_text(of_b), difference_text(of_b - of_a),
                   signed_percent(of_a, of_b)});
  };
  const auto number = [&](const char* title, double of_a, double of_b) {
    if (of_a == 0 && of_b == 0) return;
    table.add_row(
        {title, count_text(of_a), count_text(of_b), fmt::format("{:+g}", of_b - of_a), ""});
  };
  const bool has_work = a.gpu_ns > 0 || b.gpu_ns > 0;
  if (has_work) time(cpu_kernels ? "kernel time" : "GPU time", a.gpu_ns, b.gpu_ns);
  if (group.overlaps()) time(cpu_kernels ? "kernel busy" : "GPU busy", a.busy_ns, b.busy_ns);
  time("step time", a.step_ns, b.step_ns);
  time("CPU time", a.cpu_ns, b.cpu_ns);
  if (has_work) time(cpu_kernels ? "no kernel" : "GPU idle", a.idle_ns, b.idle_ns);
  number("kernels", a.kernels, b.kernels);
  number("memcpy", a.memcpys, b.memcpys);
  number("memset", a.memsets, b.memsets);
  number("launches", a.launches, b.launches);
  if (group.a.bytes || group.b.bytes) {
    const bool exact =
        group.a.bytes && group.b.bytes && !group.a.bytes->at_least && !group.b.bytes->at_least;
    table.add_row({"bytes moved", bytes_cell(group.a), bytes_cell(group.b), "",
                   exact ? signed_percent(group.a.bytes->bytes, group.b.bytes->bytes) : ""});
  }
  return table;
}

// Lines with a title column, in which a repeated title is printed once, or a Markdown list.
class Lines {
 public:
  Lines(NameStyle names, const Style& style) : names_(names), style_(style) {}
  // An empty title continues the previous one.
  void add(std::string_view title, const std::string& text) {
    lines_.push_back({std::string(title), visible_text(text, LineBreaks::kReplace)});
  }
  // "2 x ..." and a kernel by its name, its decoded name, or both.
  void add_kernel(std::string_view title, int64_t count, const std::string& kernel) {
    const std::string times = fmt::format("{} x ", count);
    bool first = true;
    for (const std::string& line : name_lines(kernel, names_)) {
      add(first ? title : "", (first ? times : std::string(times.size(), ' ')) + line);
      first = false;
    }
  }
  // The kernel's name, as code in Markdown. A name that is too long for a line is decoded.
  std::string name(const std::string& text) const {
    if (style_.markdown) return '`' + text + '`';
    if (names_ == NameStyle::kBoth) return join(name_lines(text, names_), " = ");
    if (names_ == NameStyle::kRaw || text.size() + kIndent + 10 <= style_.width) {
      return text;
    }
    return kernel_sentence(text, analysis::decode_name(text));
  }
  bool decoded() const { return names_ == NameStyle::kDecoded; }
  std::string text() const {
    std::string out;
    std::string_view last;
    for (const auto& [title, text] : lines_) {
      if (style_.markdown) {
        out +=
            title.empty() ? fmt::format("  - {}\n", text) : fmt::format("- {}: {}\n", title, text);
        continue;
      }
      const std::string_view shown = title == last ? "" : std::string_view(title);
      if (!title.empty()) last = title;
      out += fmt::format("  {:<{}}{}\n", shown, kIndent - 2, fitted(text));
    }
    return out;
  }
  std::vector<CompareLine> take() { return std::move(lines_); }

 private:
  // Cuts a line to the width, except with --names raw and --names both.
  std::string fitted(const std::string& text) const {
    if (names_ != NameStyle::kDecoded) return text;
    return shortened(text, style_.width > kIndent + 20 ? style_.width - kIndent : 20);
  }

  NameStyle names_;
  Style style_;
  std::vector<CompareLine> lines_;
};

// Adds up the counts of kernels with the same decoded name.
std::vector<NamedCount> by_decoded_name(const std::vector<NamedCount>& entries) {
  std::vector<NamedCount> sums;
  std::unordered_map<std::string, size_t> positions;  // in `sums`, by decoded name
  for (const NamedCount& entry : entries) {
    const auto [known, is_new] = positions.try_emplace(
        kernel_sentence(entry.name, analysis::decode_name(entry.name)), sums.size());
    if (is_new) {
      sums.push_back(entry);
    } else {
      sums[known->second].count += entry.count;
    }
  }
  return sums;
}

void counted_lines(std::string_view title, const std::vector<NamedCount>& entries, Lines& lines) {
  const auto sums = lines.decoded() ? by_decoded_name(entries) : entries;
  int64_t hidden = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i >= kShownKinds) {
      hidden += sums[i].count;
    } else {
      lines.add_kernel(title, sums[i].count, sums[i].name);
    }
  }
  if (hidden > 0) lines.add(title, fmt::format("{} more with --json", hidden));
}

void kernel_lines(const GroupComparison& group, Lines& lines) {
  counted_lines("same", group.same, lines);
  counted_lines("resized", group.resized, lines);
  for (const auto& change : group.changed) {
    lines.add("changed", fmt::format("{} x {}: {}", change.count, change.op,
                                     change.differs.empty() ? "another name, the same description"
                                                            : join(change.differs, ", ")));
    lines.add("", fmt::format("from {}", lines.name(change.from)));
    lines.add("", fmt::format("to {}", lines.name(change.to)));
  }
  for (const auto& fusion : group.fused) {
    lines.add("fused", fmt::format("{} x {} -> {}", fusion.count, join(fusion.ops, ", "),
                                   lines.name(fusion.kernel)));
  }
  for (const auto& fusion : group.unfused) {
    lines.add("unfused", fmt::format("{} x {} -> {}", fusion.count, lines.name(fusion.kernel),
                                     join(fusion.ops, ", ")));
  }
  counted_lines("gone", group.gone, lines);
  counted_lines("new", group.added, lines);
}

// Host event names with their counts, wrapped to the width.
void host_lines(std::string_view title, const std::vector<HostChange>& changes, size_t width,
                Lines& lines) {
  std::string line;
  for (const HostChange& change : changes) {
    const std::string item =
        change.a != 0 && change.b != 0
            ? fmt::format("{} ({} to {})", change.name, change.a, change.b)
            : (change.a + change.b == 1 ? change.name
                                        : fmt::format("{} ({})", change.name, change.a + change.b));
    if (!line.empty() && line.size() + item.size() + 2 + kIndent > width) {
      lines.add(title, line);
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + item;
  }
  if (!line.empty()) lines.add(title, line);
}

std::string title_of(const GroupComparison& group) {
  return fmt::format("{}: medians of {} and {} instances", group.name, group.a.instances,
                     group.b.instances);
}

Lines lines_of(const GroupComparison& group, NameStyle names, const Style& style) {
  const size_t width = style.width;
  Lines lines(names, style);
  kernel_lines(group, lines);
  host_lines("CPU gone", group.host_gone, width, lines);
  host_lines("CPU new", group.host_added, width, lines);
  host_lines("CPU count", group.host_changed, width, lines);
  if (!group.host_same.empty()) {
    lines.add("CPU same", plural(static_cast<double>(group.host_same.size()), "name"));
  }
  return lines;
}

std::string group_text(const GroupComparison& group, const CompareResult& result,
                       const Style& style) {
  const Table table = measures_table(group, result.comparison.cpu_kernels);
  return fmt::format("\n{}{}\n\n{}\n{}", style.markdown ? "### " : "", title_of(group),
                     style.markdown ? table.markdown() : table.text(),
                     lines_of(group, result.names, style).text());
}

// Leaves out the steps if an annotation inside them contains all of their work.
std::vector<const GroupComparison*> shown_groups(const Comparison& comparison) {
  std::vector<const GroupComparison*> shown;
  for (size_t i = 0; i < comparison.groups.size(); ++i) {
    const bool repeated = comparison.steps == i && comparison.main_group != i;
    if (!repeated && shown.size() < kShownGroups) shown.push_back(&comparison.groups[i]);
  }
  return shown;
}

std::string only_text(const char* which, const std::vector<std::string>& names, size_t width) {
  if (names.empty()) return {};
  return shortened(fmt::format("annotations in {} only: {}", which, join(names, ", ")), width) +
         '\n';
}

}  // namespace

std::string text_of(const CompareResult& result, const Style& style) {
  const Comparison& comparison = result.comparison;
  std::string out = wrapped(verdict_text(comparison), style.line_width()) + '\n';
  const auto shown = shown_groups(comparison);
  for (const GroupComparison* group : shown) out += group_text(*group, result, style);
  if (comparison.groups.size() > kShownGroups && shown.size() == kShownGroups) {
    out += fmt::format("\n{} more groups with --json; --under NAME shows one\n",
                       comparison.groups.size() - shown.size());
  }
  const std::string only = only_text("A", comparison.only_a, style.line_width()) +
                           only_text("B", comparison.only_b, style.line_width());
  if (!only.empty()) out += '\n' + only;
  return out;
}

std::vector<ComparePart> compare_parts(const Comparison& comparison) {
  std::vector<ComparePart> parts;
  const Style unlimited{.width = SIZE_MAX / 2};
  for (const GroupComparison* group : shown_groups(comparison)) {
    parts.push_back({title_of(*group), measures_table(*group, comparison.cpu_kernels),
                     lines_of(*group, NameStyle::kDecoded, unlimited).take()});
  }
  return parts;
}

}  // namespace epi::report
