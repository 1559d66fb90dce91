// SPDX-License-Identifier: Apache-2.0
// A time range of a trace as a tree: operators, annotations and runtime calls with their times, and
// the kernels and copies that each call launched. The GPU time of an event that launches nothing is
// shown as a dash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/step/step_model.h"
#include "epilogue/analysis/tree/forest.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/kernels/kernel_names.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// Longer trees are folded to at most this many lines: three screens of a large terminal.
inline constexpr size_t kMaxTreeLines = 200;

// The range of a step.
analysis::TreeRange range_of(const analysis::StepModel& step);

struct TreeResult {
  TreeResult(const analysis::TraceIndex& trace_index, analysis::TreeRange tree_range);

  const analysis::TraceIndex& index;
  analysis::TreeRange range;
  analysis::Forest forest;
  bool cpu_kernels = false;          // the kernels ran on the CPU backend
  bool full = false;                 // never folds, even with more than `kMaxTreeLines` lines
  std::optional<NameStyle> names{};  // of kernels; by default, only names too long are decoded

  // Never folded.
  std::vector<struct NodeItem> tree() const;
};
std::string text_of(const TreeResult& result, const Style& style);

struct NodeItem {
  const TreeResult& result;
  const analysis::TreeNode& node;
  size_t depth_left;  // levels below it that are listed

  std::optional<int64_t> on_host(int64_t ns) const {
    return node.device ? std::nullopt : std::optional(ns);
  }
  std::vector<NodeItem> children() const;
};

template <>
struct Description<NodeItem> {
  using Item = NodeItem;
  static constexpr const char* kName = "node";
  static constexpr std::tuple kMembers{
      Member{"name", "event", Unit::kNone, "its name",
             [](const Item& one) { return one.result.index.trace.name_of(one.node.id); }},
      Member{"category", "category", Unit::kNone, "as in the trace",
             [](const Item& one) { return one.result.index.trace.category_text(one.node.id); }},
      Member{
          "cpu_us", "CPU total", Unit::kNanoseconds, "its duration; null for a GPU event",
          [](const Item& one) { return one.on_host(one.result.index.trace.dur_ns[one.node.id]); }},
      Member{"self_cpu_us", "CPU self", Unit::kNanoseconds, "the same without the events in it",
             [](const Item& one) {
               return one.on_host(one.result.index.links.tree.self_ns[one.node.id]);
             }},
      Member{"gpu_us", "GPU", Unit::kNanoseconds,
             "GPU events that it launched; for steps and annotations, those that they own",
             [](const Item& one) { return one.node.device_ns; }},
      Member{"children", "children", Unit::kNone, "the events in it, and what it launched",
             &Item::children}};
};

template <>
struct Description<TreeResult> {
  static constexpr const char* kName = "tree";
  static constexpr std::tuple kMembers{Member{
      "tree", "tree", Unit::kNone, "the outermost events of all threads", &TreeResult::tree}};
};

}  // namespace epi::report
