// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/join_parts.h"

#include <functional>
#include <map>

#include "epilogue/base/thread_pool.h"

namespace epi::trace {
namespace {

using Renumberings = std::map<const Trace*, Renumbering>;

// A column at a time, each on one core.
void fill_columns(Trace& trace, const std::vector<TracePart>& parts,
                  const Renumberings& renumberings) {
  size_t count = 0;
  for (const TracePart& part : parts) count += part.last - part.first;
  const auto append = [&](auto column, auto&& convert) {
    auto& to = trace.*column;
    to.reserve(count);
    for (const TracePart& part : parts) {
      const auto& from = part.trace->*column;
      const Renumbering& renumbering = renumberings.at(part.trace);
      for (EventId id = part.first; id < part.last; ++id) {
        to.push_back(convert(from[id], renumbering));
      }
    }
  };
  const auto same = [](auto value, const Renumbering&) { return value; };
  const std::vector<std::function<void()>> columns = {
      [&] { append(&Trace::ts_ns, same); },
      [&] { append(&Trace::dur_ns, same); },
      [&] { append(&Trace::external_id, same); },
      [&] { append(&Trace::correlation, same); },
      [&] { append(&Trace::args, same); },
      [&] { append(&Trace::phase, same); },
      [&] { append(&Trace::category, same); },
      [&] {
        append(&Trace::name, [](NameId name, const Renumbering& r) { return r.names[name]; });
      },
      [&] {
        append(&Trace::lane, [](LaneId lane, const Renumbering& r) { return r.lanes[lane]; });
      },
  };
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
