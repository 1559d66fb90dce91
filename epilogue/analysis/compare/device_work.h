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

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// One piece of device work.
struct WorkItem {
  trace::EventId event = trace::kNoEvent;
  std::string_view name;
  std::array<int64_t, 3> grid{};  // zero where the trace does not tell
  std::array<int64_t, 3> block{};
  int64_t bytes = -1;         // of copies and sets
  std::string_view op;        // that launched it; empty where none is known
  std::string_view outer_op;  // of ATen, that called it: relu calls clamp_min; empty for none
  std::string size;           // `size_signature` of that operator

  // The same code over the same grid; sizes agree, or one side does not know them.
  bool is_same_as(const WorkItem& other) const;
};

std::vector<WorkItem> work_items(const TraceIndex& index, const std::vector<trace::EventId>& work);

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

}  // namespace epi::analysis
