// SPDX-License-Identifier: Apache-2.0
// Device work with what tells whether another run did the same.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/analysis/kernel_names.h"
#include "epilogue/analysis/steps.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// A trace with everything that questions about it need, made once. The trace must outlive it.
struct Examined {
  explicit Examined(const trace::Trace& trace_in);

  // Host events of one lane that begin in [begin, end], as a part of `links.tree.order`.
  std::span<const trace::EventId> host_between(trace::LaneId lane, int64_t begin_ns,
                                               int64_t end_ns) const;

  const trace::Trace& trace;
  trace::Links links;
  Ownership ownership;
  KernelNames names;
  // Where each lane's host events lie in `links.tree.order`; empty for lanes without any.
  std::vector<std::pair<size_t, size_t>> lane_ranges;
};

// Durations added up, in nanoseconds.
double device_time(const trace::Trace& trace, std::span<const trace::EventId> work);

// One piece of device work.
struct WorkItem {
  trace::EventId event = trace::kNoEvent;
  std::string_view name;
  std::array<int64_t, 3> grid{};  // zero where the trace does not tell
  std::array<int64_t, 3> block{};
  int64_t bytes = -1;   // of copies and sets
  std::string_view op;  // that launched it; empty where none is known
  std::string size;     // `size_signature` of that operator

  // The same code over the same grid; sizes agree, or one side does not know them.
  bool is_same_as(const WorkItem& other) const;
};

std::vector<WorkItem> work_items(const Examined& examined, const std::vector<trace::EventId>& work);

struct NamedCount {
  std::string name;
  int64_t count = 0;
};

// Counts by name, in the order in which names first occur.
class Counts {
 public:
  explicit Counts(std::vector<NamedCount>& list) : list_(list) {}
  void add(std::string_view name) {
    const auto [place, is_new] = places_.try_emplace(std::string(name), list_.size());
    if (is_new) list_.push_back({std::string(name), 0});
    ++list_[place->second].count;
  }

 private:
  std::vector<NamedCount>& list_;
  std::map<std::string, size_t> places_;
};

// Pieces of device work matched one to one; what is left over on either side.
struct WorkDifference {
  std::vector<NamedCount> same;
  std::vector<WorkItem> only_a;
  std::vector<WorkItem> only_b;
};
WorkDifference match_work(const std::vector<WorkItem>& a, const std::vector<WorkItem>& b);

// The instance that stands for its like: of those with the most frequent count of kernels, the one
// whose device time is in the middle. Gives its place; `group` has at least one.
size_t typical_instance(const InstanceGroup& group);

}  // namespace epi::analysis
