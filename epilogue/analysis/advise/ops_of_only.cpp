// SPDX-License-Identifier: Apache-2.0
// The host's part of advice that removes GPU work: the operators that would not be called.
#include <unordered_map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/index/enclosing.h"

namespace epi::analysis {

using trace::EventId;
using trace::kNoEvent;

std::vector<EventId> ops_of_only(const AdviserInput& input, std::span<const EventId> work) {
  const TraceIndex& index = input.index;
  std::unordered_map<EventId, int64_t> launched;  // of `work`, by operator and call around it
  for (const EventId id : work) {
    const EventId launch = index.links.launch[id];
    const EventId innermost = launch != kNoEvent ? launch : index.links.op[id];
    find_enclosing(index, innermost, [&](EventId around) {
      ++launched[around];
      return false;
    });
  }
  const auto& all = input.launched.get([&] { return launched_work(index); });
  std::vector<EventId> found;
  for (const EventId id : input.host_events) {
    const EventId op = find_enclosing(index, id, [&](EventId around) {
      const auto of_work = launched.find(around);
      return index.trace.category[around] == trace::Category::kCpuOp && of_work != launched.end() &&
             of_work->second == all[around].count;
    });
    if (op != kNoEvent) found.push_back(id);
  }
  return found;
}

}  // namespace epi::analysis
