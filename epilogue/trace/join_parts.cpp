// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/join_parts.h"

#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "epilogue/base/thread_pool.h"

namespace epi::trace {
namespace {

static_assert(std::is_same_v<NameId, LaneId>);

// Maps the name or lane ids of one trace to those of the joined trace, which are given in the order
// of first use: they do not depend on which thread read which part.
class NewIds {
 public:
  // `add` adds a name or a lane to the joined trace and returns its id there.
  NewIds(size_t count, std::function<NameId(NameId)> add)
      : ids_(count, kUnknown), add_(std::move(add)) {}
  NameId operator[](NameId id) {
    if (ids_[id] == kUnknown) ids_[id] = add_(id);
    return ids_[id];
  }

 private:
  static constexpr NameId kUnknown = UINT32_MAX;
  std::vector<NameId> ids_;
  std::function<NameId(NameId)> add_;
};

struct Renumbering {
  Renumbering(const Trace& from, Trace& to)
      : names(from.names.size(), [&](NameId id) { return to.names.intern(from.names[id]); }),
        lanes(from.lanes.size(), [&](LaneId id) { return to.find_or_add_lane(from.lanes[id]); }) {}
  NewIds names;
  NewIds lanes;
};
using Renumberings = std::map<const Trace*, Renumbering>;

// Null for columns that need no mapping.
template <typename T>
NewIds* new_ids(const Column<T>& column, Renumbering& renumbering) {
  if constexpr (std::is_same_v<T, NameId>) {
    if (column.values == &Trace::name) return &renumbering.names;
    if (column.values == &Trace::lane) return &renumbering.lanes;
  }
  return nullptr;
}

template <typename T>
void fill_column(Trace& trace, const std::vector<TracePart>& parts, Renumberings& renumberings,
                 const Column<T>& column, size_t count) {
  std::vector<T>& to = trace.*column.values;
  to.reserve(count);
  for (const TracePart& part : parts) {
    const std::vector<T>& from = part.trace->*column.values;
    NewIds* ids = new_ids(column, renumberings.at(part.trace));
    if (ids == nullptr) {
      to.insert(to.end(), from.begin() + part.first, from.begin() + part.last);
      continue;
    }
    if constexpr (std::is_same_v<T, NameId>) {
      for (EventId id = part.first; id < part.last; ++id) to.push_back((*ids)[from[id]]);
    }
  }
  for (const TracePart& part : parts) part.trace->*column.values = std::vector<T>();
}

// Fills the columns in parallel, one core per column. Names and lanes are added by one core each.
void fill_columns(Trace& trace, const std::vector<TracePart>& parts, Renumberings& renumberings) {
  size_t count = 0;
  for (const TracePart& part : parts) count += part.last - part.first;
  std::vector<std::function<void()>> columns;
  for_each_column([&](const auto& column) {
    columns.emplace_back([&, column] { fill_column(trace, parts, renumberings, column, count); });
  });
  parallel_for(static_cast<int64_t>(columns.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) columns[static_cast<size_t>(i)]();
  });
}

void fill_other_categories(Trace& trace, const std::vector<TracePart>& parts,
                           Renumberings& renumberings) {
  EventId at = 0;
  for (const TracePart& part : parts) {
    const auto& names = part.trace->other_categories;
    for (EventId id = part.first; id < part.last && !names.empty(); ++id) {
      const auto found = names.find(id);
      if (found == names.end()) continue;
      trace.other_categories[at + (id - part.first)] =
          renumberings.at(part.trace).names[found->second];
    }
    at += part.last - part.first;
  }
}

}  // namespace

Trace join_parts(const std::vector<TracePart>& parts) {
  Trace trace;
  Renumberings renumberings;
  for (const TracePart& part : parts) renumberings.try_emplace(part.trace, *part.trace, trace);
  fill_columns(trace, parts, renumberings);
  fill_other_categories(trace, parts, renumberings);
  return trace;
}

}  // namespace epi::trace
