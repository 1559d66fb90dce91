// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/join_parts.h"

#include <functional>
#include <map>
#include <type_traits>

#include "epilogue/base/thread_pool.h"

namespace epi::trace {
namespace {

using Renumberings = std::map<const Trace*, Renumbering>;

// Maps the name or lane ids of a part to those of the joined trace. Null for columns that need no
// mapping.
template <typename T>
const std::vector<T>* renumbered(const Column<T>& column, const Renumbering& renumbering) {
  if constexpr (std::is_same_v<T, NameId>) {
    if (column.values == &Trace::name) return &renumbering.names;
  }
  if constexpr (std::is_same_v<T, LaneId>) {
    if (column.values == &Trace::lane) return &renumbering.lanes;
  }
  return nullptr;
}

template <typename T>
void fill_column(Trace& trace, const std::vector<TracePart>& parts,
                 const Renumberings& renumberings, const Column<T>& column, size_t count) {
  std::vector<T>& to = trace.*column.values;
  to.reserve(count);
  for (const TracePart& part : parts) {
    const std::vector<T>& from = part.trace->*column.values;
    const auto* numbers = renumbered(column, renumberings.at(part.trace));
    if (numbers == nullptr) {
      to.insert(to.end(), from.begin() + part.first, from.begin() + part.last);
      continue;
    }
    if constexpr (std::is_integral_v<T>) {
      for (EventId id = part.first; id < part.last; ++id) to.push_back((*numbers)[from[id]]);
    }
  }
}

// Fills the columns in parallel, one core per column.
void fill_columns(Trace& trace, const std::vector<TracePart>& parts,
                  const Renumberings& renumberings) {
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
                           const Renumberings& renumberings) {
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
  for (const TracePart& part : parts) {
    if (!renumberings.contains(part.trace)) {
      renumberings.emplace(part.trace, trace.adopt_names(*part.trace));
    }
  }
  fill_columns(trace, parts, renumberings);
  fill_other_categories(trace, parts, renumberings);
  return trace;
}

}  // namespace epi::trace
