// SPDX-License-Identifier: Apache-2.0
// Folds repeated operators of a tree into one line each.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "epilogue/analysis/tree/repeats.h"
#include "epilogue/analysis/tree/tree_lines.h"

namespace epi::analysis {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "nn.Module: Block_12" becomes "nn.Module: Block_*".
std::string without_digits(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      text += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      text += '*';
    }
  }
  return text;
}

uint64_t combined(uint64_t hash, uint64_t value) {
  // FNV-1a, one word at a time.
  return (hash ^ value) * 0x100000001b3;
}

// Nodes grouped by name, in the order of the first node of each group.
struct NodesByName {
  void add(std::string_view name, size_t node) {
    const auto [known, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.emplace_back();
    groups[known->second].push_back(node);
  }

  std::vector<std::vector<size_t>> groups{};
  std::unordered_map<std::string_view, size_t> places{};
};

std::vector<size_t> joined(const std::vector<std::vector<size_t>>& slices) {
  std::vector<size_t> all;
  for (const auto& slice : slices) all.insert(all.end(), slice.begin(), slice.end());
  return all;
}

// Merges the nodes of a forest into lines, from the roots down.
class Folder {
 public:
  // The occurrences of one sequence of operators.
  using Slices = std::vector<std::vector<size_t>>;

  Folder(const TraceIndex& index, const Forest& forest, const TreeRange& range, TreeLines& out)
      : index_(index), trace_(index.trace), nodes_(forest.nodes()), range_(range), out_(out) {
    compute_signatures();
  }

  // Adds the children of the operators that are folded into `parent`, one list per operator.
  void add_siblings(const Slices& parents_children, size_t parent, size_t depth) {
    Slices ops;
    NodesByName others;  // runtime calls and device work
    for (const auto& children : parents_children) {
      auto& ops_of_one = ops.emplace_back();
      for (const size_t child : children) {
        if (is_op(child)) {
          ops_of_one.push_back(child);
        } else {
          others.add(trace_.name_of(nodes_[child].id), child);
        }
      }
    }
    add_sequence(ops, parent, depth);
    for (const auto& same : others.groups) add_merged(same, parent, depth);
  }

 private:
  bool is_op(size_t node) const {
    return !nodes_[node].device && !trace::is_call(trace_.category[nodes_[node].id]);
  }

  // Operators with the same signature are folded: it covers their name and all operators below.
  void compute_signatures() {
    signatures_.assign(nodes_.size(), 0);
    for (size_t i = nodes_.size(); i-- > 0;) {
      if (!is_op(i)) continue;
      uint64_t hash = 0xcbf29ce484222325;
      for (const char c : without_digits(trace_.name_of(nodes_[i].id))) {
        hash = combined(hash, static_cast<unsigned char>(c));
      }
      for (const size_t child : nodes_[i].children) {
        if (is_op(child)) hash = combined(hash, signatures_[child]);
      }
      // The depth distinguishes children of this operator from its next siblings.
      signatures_[i] = combined(hash, nodes_[i].depth);
    }
  }

  void add_sequence(const Slices& slices, size_t parent, size_t depth) {
    if (slices.empty()) return;
    const bool alike = std::all_of(slices.begin(), slices.end(), [&](const auto& slice) {
      return std::equal(slice.begin(), slice.end(), slices[0].begin(), slices[0].end(),
                        [&](size_t a, size_t b) { return signatures_[a] == signatures_[b]; });
    });
    if (!alike) {
      // The parents are calls with the same name, which may contain different operators.
      add_sequence({joined(slices)}, parent, depth);
      return;
    }
    std::vector<uint64_t> sequence;
    for (const size_t node : slices[0]) sequence.push_back(signatures_[node]);
    for (const Repeat& repeat : find_repeats(sequence)) add_repeat(slices, repeat, parent, depth);
  }

  void add_repeat(const Slices& slices, const Repeat& repeat, size_t parent, size_t depth) {
    Slices parts;
    for (const auto& slice : slices) {
      for (size_t time = 0; time < repeat.times; ++time) {
        const auto start =
            slice.begin() + static_cast<std::ptrdiff_t>(repeat.start + time * repeat.period);
        parts.emplace_back(start, start + static_cast<std::ptrdiff_t>(repeat.period));
      }
    }
    if (repeat.period == 1) {
      std::vector<size_t> same;
      for (const auto& part : parts) same.push_back(part[0]);
      add_merged(same, parent, depth);
      return;
    }
    TreeLine line;
    line.name = fmt::format("[{} .. {}]", trace_.name_of(nodes_[parts[0].front()].id),
                            trace_.name_of(nodes_[parts[0].back()].id));
    line.count = static_cast<int64_t>(parts.size());
    for (const auto& part : parts) {
      for (const size_t node : part) add_times(node, line);
    }
    line.depth = depth;
    line.is_sequence = true;
    add_range_of_sequences(parts, line);
    const size_t added = out_.add(std::move(line), parent);
    if (depth < max_depth()) add_sequence(parts, added, depth + 1);
  }

  void add_merged(const std::vector<size_t>& same, size_t parent, size_t depth) {
    TreeLine line;
    const std::string_view first = trace_.name_of(nodes_[same[0]].id);
    const bool one_name = std::all_of(same.begin(), same.end(), [&](size_t node) {
      return trace_.name_of(nodes_[node].id) == first;
    });
    line.name = one_name ? std::string(first) : without_digits(first);
    line.count = static_cast<int64_t>(same.size());
    line.device = nodes_[same[0]].device;
    line.depth = depth;
    Slices children;
    for (const size_t node : same) {
      add_times(node, line);
      children.push_back(nodes_[node].children);
    }
    add_range(same, line);
    const size_t added = out_.add(std::move(line), parent);
    if (depth < max_depth()) add_siblings(children, added, depth + 1);
  }

  size_t max_depth() const { return std::min(range_.depth, kMaxTreeDepth); }

  void add_times(size_t place, TreeLine& line) const {
    const TreeNode& node = nodes_[place];
    line.device_ns += node.device_ns;
    line.launched = line.launched || node.launched;
    if (node.device) return;
    line.cpu_ns += trace_.dur_ns[node.id];
    line.self_ns += index_.links.tree.self_ns[node.id];
  }

  int64_t ns_of(size_t place, bool launched) const {
    return launched || nodes_[place].device ? nodes_[place].device_ns
                                            : trace_.dur_ns[nodes_[place].id];
  }

  // Adds one of the things that are folded into a line: an event, or the first of a sequence.
  void add_instance(size_t place, int64_t ns, TreeLine& line) const {
    const bool is_first = line.first == trace::kNoEvent;
    if (is_first) line.first = nodes_[place].id;
    if (is_first || ns < line.least_ns) line.least_ns = ns;
    if (!is_first && ns <= line.most_ns) return;
    line.most_ns = ns;
    line.slowest = nodes_[place].id;
  }

  void add_range(const std::vector<size_t>& same, TreeLine& line) const {
    for (const size_t node : same) add_instance(node, ns_of(node, line.launched), line);
  }

  void add_range_of_sequences(const Slices& parts, TreeLine& line) const {
    for (const auto& part : parts) {
      int64_t ns = 0;
      for (const size_t node : part) ns += ns_of(node, line.launched);
      add_instance(part.front(), ns, line);
    }
  }

  const TraceIndex& index_;
  const trace::Trace& trace_;
  const std::vector<TreeNode>& nodes_;
  const TreeRange& range_;
  TreeLines& out_;
  std::vector<uint64_t> signatures_;
};

}  // namespace

TreeLines folded_lines(const TraceIndex& index, const Forest& forest, const TreeRange& range) {
  TreeLines out;
  Folder folder(index, forest, range, out);
  const bool many = forest.threads().size() > 1;
  for (const TreeThread& thread : forest.threads()) {
    const size_t top =
        many ? out.add(thread_line(index.trace, forest, thread), SIZE_MAX) : SIZE_MAX;
    folder.add_siblings({thread.roots}, top, 0);
  }
  return out;
}

}  // namespace epi::analysis
