// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/tree/tree_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "epilogue/analysis/tree/tree_lines.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"
#include "epilogue/trace/event_args.h"

namespace epi::report {

using analysis::TreeLine;
using analysis::TreeLines;
using analysis::TreeNode;

namespace {

constexpr size_t kTimeWidth = 10;
constexpr size_t kTimesWidth = 3 * kTimeWidth;

class TextWriter {
 public:
  TextWriter(const TreeLines& tree, const TreeResult& result, size_t width)
      : tree_(tree), result_(result), width_(width) {}

  std::string run() {
    name_width_ = std::max<size_t>(24, width_ - std::min(width_, kTimesWidth));
    write_row("", {"CPU total", "CPU self", result_.cpu_kernels ? "kernels" : "GPU"});
    write_siblings(tree_.roots());
    return std::move(out_);
  }

 private:
  struct Times {
    std::string cpu, self, gpu;
  };
  // A line to write, or a run of hidden siblings.
  struct Task {
    const std::vector<size_t>* siblings;
    size_t first;
    size_t count;
  };

  // Not recursive, because a file may nest events arbitrarily deep.
  void write_siblings(const std::vector<size_t>& roots) {
    std::vector<Task> waiting;
    push_children(roots, waiting);
    while (!waiting.empty()) {
      const Task task = waiting.back();
      waiting.pop_back();
      const size_t at = (*task.siblings)[task.first];
      const TreeLine& line = tree_.lines()[at];
      if (!line.shown) {
        write_hidden(task);
        continue;
      }
      const bool closed = std::none_of(line.children.begin(), line.children.end(),
                                       [&](size_t child) { return tree_.lines()[child].shown; });
      write_line(line, closed ? below_text(at) : "");
      if (!closed) push_children(line.children, waiting);
    }
  }

  void push_children(const std::vector<size_t>& siblings, std::vector<Task>& waiting) {
    const auto shown = [&](size_t i) { return tree_.lines()[siblings[i]].shown; };
    std::vector<Task> tasks;
    for (size_t i = 0; i < siblings.size(); ++i) {
      if (!shown(i) && i > 0 && !shown(i - 1)) {
        ++tasks.back().count;
      } else {
        tasks.push_back({&siblings, i, 1});
      }
    }
    waiting.insert(waiting.end(), tasks.rbegin(), tasks.rend());
  }

  static std::string time(int64_t ns) { return time_text(static_cast<double>(ns)); }

  void write_hidden(const Task& task) {
    int64_t count = 0;
    TreeLine sum;
    for (size_t i = task.first; i < task.first + task.count; ++i) {
      const TreeLine& line = tree_.lines()[(*task.siblings)[i]];
      sum.depth = line.depth;
      sum.cpu_ns += line.cpu_ns;
      sum.device_ns += line.device_ns;
      sum.launched = sum.launched || line.launched || line.device;
      count += line.count;
    }
    const std::string text = fmt::format("{}... {} more: {}", indent(sum), count, names_of(task));
    write_row(shortened(text, name_width_ - 1),
              {time(sum.cpu_ns), "", sum.launched ? time(sum.device_ns) : "-"});
  }

  // Occupancy queries and synchronizing calls come first, because their times do not reveal them.
  std::string names_of(const Task& task) const {
    std::vector<std::string> names;
    std::unordered_set<std::string_view> known;
    for (size_t i = task.first; i < task.first + task.count; ++i) {
      const std::string& name = tree_.lines()[(*task.siblings)[i]].name;
      if (known.insert(name).second) names.push_back(name);
    }
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) {
      return name.find("Occupancy") != name.npos || name.find("Synchronize") != name.npos;
    });
    return join(names, ", ");
  }

  // Deeper lines are not indented further, so that the text of n nested lines is not n^2 long.
  static std::string indent(const TreeLine& line) {
    constexpr size_t kMaxIndented = 200;
    return std::string(2 * std::min(line.depth, kMaxIndented), ' ');
  }

  // " (+8, occ.)": eight lines below, including occupancy queries.
  std::string below_text(size_t at) const {
    const TreeLines::Below below = tree_.below(at);
    if (below.lines == 0) return "";
    return fmt::format(" (+{}{})", below.lines, below.has_occupancy ? ", occ." : "");
  }

  void write_line(const TreeLine& line, const std::string& after) {
    if (line.is_thread) {
      out_ += visible_text(line.name, LineBreaks::kReplace) + after + '\n';
      return;
    }
    const Times times{line.device ? "" : time(line.cpu_ns),
                      line.device || line.is_sequence ? "" : time(line.self_ns),
                      line.device || line.launched ? time(line.device_ns) : "-"};
    const std::string before = fmt::format("{}{}{}", indent(line), line.device ? "> " : "",
                                           line.count == 1 ? "" : fmt::format("{} x ", line.count));
    if (!line.device || !result_.names) {
      // A kernel has no CPU times, so its name may extend into their columns.
      const size_t columns = name_width_ + (line.device ? 2 * kTimeWidth : 0);
      const size_t room = columns - 1 - std::min(columns - 1, after.size());
      // A decoded name is usually shorter.
      const bool fits = before.size() + line.name.size() <= room;
      const std::string name =
          line.device && !fits ? name_lines(line.name, NameStyle::kDecoded)[0] : line.name;
      if (line.device) {
        out_ += fmt::format("{:<{}}{:>{}}\n", shortened(before + name, room) + after, columns,
                            times.gpu, kTimeWidth);
      } else {
        write_row(shortened(before + name, room) + after, times);
      }
      return;
    }
    const auto lines = name_lines(line.name, *result_.names);
    write_row(before + lines[0], times);
    for (size_t i = 1; i < lines.size(); ++i) {
      out_ += fmt::format("{}  {}\n", indent(line), lines[i]);
    }
  }

  // A name that does not fit is on a separate line.
  void write_row(std::string name, const Times& times) {
    if (name.size() >= name_width_) {
      out_ += name + '\n';
      name.clear();
    }
    out_ += fmt::format("{:<{}}{:>{}}{:>{}}{:>{}}\n", name, name_width_, times.cpu, kTimeWidth,
                        times.self, kTimeWidth, times.gpu, kTimeWidth);
  }

  const TreeLines& tree_;
  const TreeResult& result_;
  size_t width_;
  size_t name_width_ = 0;
  std::string out_;
};

// With --names, a kernel may take more than one line.
size_t lines_per_kernel(const TreeResult& result) {
  if (!result.names) return 1;
  return *result.names == NameStyle::kBoth ? 3 : 2;
}

}  // namespace

analysis::TreeRange range_of(const analysis::StepModel& step) {
  // The whole trace includes events that start at its end.
  const int64_t after = step.event == trace::kNoEvent ? 1 : 0;
  return {.begin_ns = step.host.begin, .end_ns = step.host.end + after, .step = step.event};
}

TreeResult::TreeResult(const analysis::TraceIndex& trace_index, analysis::TreeRange tree_range)
    : index(trace_index),
      range(tree_range),
      forest(index, range),
      cpu_kernels(trace::has_cpu_kernels(index.trace)) {}

std::vector<NodeItem> TreeResult::tree() const {
  std::vector<NodeItem> items;
  for (const analysis::TreeThread& thread : forest.threads()) {
    for (const size_t root : thread.roots) {
      items.push_back(
          {*this, forest.nodes()[root], std::min(range.depth, analysis::kMaxTreeDepth)});
    }
  }
  return items;
}

std::vector<NodeItem> NodeItem::children() const {
  std::vector<NodeItem> items;
  if (depth_left == 0) return items;
  for (const size_t child : node.children) {
    items.push_back({result, result.forest.nodes()[child], depth_left - 1});
  }
  return items;
}

std::string text_of(const TreeResult& result, const Style& style) {
  const TreeLines full = full_lines(result.index, result.forest, result.range);
  const auto kernels = static_cast<size_t>(std::count_if(
      full.lines().begin(), full.lines().end(), [](const TreeLine& line) { return line.device; }));
  const size_t printed = 1 + full.lines().size() + kernels * (lines_per_kernel(result) - 1);
  if (result.full || printed <= kMaxTreeLines) return TextWriter(full, result, style.width).run();
  TreeLines folded = folded_lines(result.index, result.forest, result.range);
  // Leaves room for the header and the last two lines.
  folded.limit(kMaxTreeLines - 3, lines_per_kernel(result));
  return TextWriter(folded, result, style.width).run() +
         fmt::format(
             "folded from {} lines: --full shows all\n"
             "N x: sum of N events; (+N): N lines below; occ.: with occupancy queries\n",
             full.lines().size());
}

}  // namespace epi::report
