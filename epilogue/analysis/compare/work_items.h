// SPDX-License-Identifier: Apache-2.0
// Device work with the properties that decide whether another run did the same work.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// One piece of device work.
struct WorkItem {
  trace::EventId event = trace::kNoEvent;
  std::string_view name;
  bool is_kernel = true;          // neither a copy nor a memset
  std::array<int64_t, 3> grid{};  // zero if the trace does not record it
  std::array<int64_t, 3> block{};
  int64_t bytes = -1;   // of copies and memsets
  std::string_view op;  // that launched it; empty if unknown
  std::string_view
      outer_op;      // ATen operator that called `op` (relu calls clamp_min); empty if none
  std::string size;  // `size_signature` of that operator

  // Same name, grid and block. Sizes agree, or one side does not have them.
  bool is_same_as(const WorkItem& other) const;
};

std::vector<WorkItem> work_items(const TraceIndex& index, std::span<const trace::EventId> work);

struct NamedCount {
  std::string name;
  int64_t count = 0;
  bool is_kernel = true;
};

// Counts by name, in order of first occurrence.
class Counts {
 public:
  explicit Counts(std::vector<NamedCount>& list) : list_(list) {}
  void add(const WorkItem& item) {
    const std::string name(item.name);
    const auto [place, is_new] = places_.try_emplace(name, list_.size());
    if (is_new) list_.push_back({name, 0, item.is_kernel});
    ++list_[place->second].count;
  }

 private:
  std::vector<NamedCount>& list_;
  std::map<std::string, size_t> places_;
};

// Device work matched one to one, and the unmatched rest of each side.
struct WorkDifference {
  std::vector<NamedCount> same;
  std::vector<WorkItem> only_a;
  std::vector<WorkItem> only_b;
};
WorkDifference match_work(const std::vector<WorkItem>& a, const std::vector<WorkItem>& b);

}  // namespace epi::analysis
