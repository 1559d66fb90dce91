// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/tree/tree_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

namespace epi::analysis {
namespace {

std::string thread_name(const trace::Trace& trace, trace::LaneId lane) {
  const trace::Lane& where = trace.lanes[lane];
  return "thread " + (where.tid_text.empty() ? fmt::format("{}", where.tid) : where.tid_text);
}

}  // namespace

TreeLine thread_line(const trace::Trace& trace, const Forest& forest, const TreeThread& thread) {
  TreeLine line;
  line.name = thread_name(trace, thread.lane);
  line.is_thread = true;
  line.device_ns = thread.device_ns;
  for (const size_t root : thread.roots) {
    line.cpu_ns += trace.dur_ns[forest.nodes()[root].id];
  }
  return line;
}

TreeLines full_lines(const TraceIndex& index, const Forest& forest, const TreeRange& range) {
  const trace::Trace& trace = index.trace;
  TreeLines out;
  const bool many = forest.threads().size() > 1;
  for (const TreeThread& thread : forest.threads()) {
    const size_t top = many ? out.add(thread_line(trace, forest, thread), SIZE_MAX) : SIZE_MAX;
    std::vector<std::pair<size_t, size_t>> waiting;  // a node and its parent line
    const auto push = [&](const std::vector<size_t>& nodes, size_t above) {
      for (size_t i = nodes.size(); i-- > 0;) waiting.emplace_back(nodes[i], above);
    };
    push(thread.roots, top);
    while (!waiting.empty()) {
      const auto [place, above] = waiting.back();
      waiting.pop_back();
      const TreeNode& node = forest.nodes()[place];
      TreeLine line{.name = std::string(trace.name_of(node.id))};
      line.cpu_ns = node.device ? 0 : trace.dur_ns[node.id];
      line.self_ns = node.device ? 0 : index.links.tree.self_ns[node.id];
      line.device_ns = node.device_ns;
      line.device = node.device;
      line.launched = node.launched;
      line.depth = node.depth;
      const size_t added = out.add(std::move(line), above);
      if (node.depth < range.depth) push(node.children, added);
    }
  }
  return out;
}

void TreeLines::limit(size_t max_lines, size_t per_kernel) {
  if (lines_.size() <= max_lines && per_kernel == 1) return;
  for (TreeLine& line : lines_) line.shown = false;
  const auto weight = [&](size_t at) { return std::max(lines_[at].cpu_ns, lines_[at].device_ns); };
  // The line with the most time is first. Of equal lines, the upper one is.
  const auto lighter = [&](size_t a, size_t b) {
    return std::pair(weight(a), b) < std::pair(weight(b), a);
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(lighter)> waiting(lighter);
  for (const size_t root : roots_) waiting.push(root);
  std::vector<bool> opened(lines_.size() +
                           1);  // has a visible child; the last entry is for the roots
  size_t used = 0;
  while (!waiting.empty()) {
    const size_t at = waiting.top();
    waiting.pop();
    const auto& beside = siblings(lines_[at]);
    const size_t place = lines_[at].place;
    const auto hidden = [&](size_t i) { return !lines_[beside[i]].shown; };
    // Once a sibling is shown, each run of hidden siblings takes one line.
    const size_t parent = std::min(lines_[at].parent, lines_.size());
    const size_t gaps_before = opened[parent] ? 1 : 0;
    const size_t gaps_after = (place > 0 && hidden(place - 1) ? 1U : 0U) +
                              (place + 1 < beside.size() && hidden(place + 1) ? 1U : 0U);
    const size_t own = lines_[at].device ? per_kernel : 1;
    if (used + own + gaps_after - gaps_before > max_lines) continue;
    used += own + gaps_after - gaps_before;
    lines_[at].shown = opened[parent] = true;
    for (const size_t child : lines_[at].children) waiting.push(child);
  }
}

TreeLines::Below TreeLines::below(size_t line) const {
  Below below;
  std::vector<size_t> waiting = lines_[line].children;
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    ++below.lines;
    below.has_occupancy |= lines_[at].name.find("Occupancy") != std::string::npos;
    waiting.insert(waiting.end(), lines_[at].children.begin(), lines_[at].children.end());
  }
  return below;
}

size_t TreeLines::add(TreeLine line, size_t parent) {
  const size_t at = lines_.size();
  auto& beside = parent == SIZE_MAX ? roots_ : lines_[parent].children;
  line.parent = parent;
  line.place = beside.size();
  beside.push_back(at);
  lines_.push_back(std::move(line));
  return at;
}

const std::vector<size_t>& TreeLines::siblings(const TreeLine& line) const {
  return line.parent == SIZE_MAX ? roots_ : lines_[line.parent].children;
}

}  // namespace epi::analysis
