// SPDX-License-Identifier: Apache-2.0
// Compiled code in a trace: its regions, graph replays, and compilation inside steps.
#include <algorithm>
#include <map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

using trace::EventId;
using trace::kNoEvent;

namespace {

// True if work for which `test` is true takes more than half of the step's device time.
template <typename Test>
bool is_most_work(const AdviserInput& input, Test&& test) {
  int64_t all_ns = 0;
  int64_t some_ns = 0;
  for (const EventId work : input.work) {
    all_ns += input.index.trace.dur_ns[work];
    if (test(work)) some_ns += input.index.trace.dur_ns[work];
  }
  return 2 * some_ns > all_ns;
}

}  // namespace

bool is_compiled_region(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("Epilogue-Compiled Region");
}

bool is_compiled(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  return is_most_work(input, [&](EventId work) {
    return find_enclosing(index, index.links.op[work], [&](EventId id) {
             return is_compiled_region(index.trace.name_of(id));
           }) != kNoEvent;
  });
}

bool replays_graphs(const AdviserInput& input) {
  return is_most_work(input, [&](EventId work) {
    const EventId launch = input.index.links.launch[work];
    return launch != kNoEvent &&
           input.index.trace.name_of(launch).find("GraphLaunch") != std::string_view::npos;
  });
}

std::vector<EventId> compilations(const StepModels& models) {
  const TraceIndex& index = models.index();
  const auto& steps = models.steps().steps;
  const int64_t first_ns = steps.front().host.begin;
  const int64_t last_ns = steps.back().host.end;
  std::vector<bool> compiles(index.trace.names.size());  // by name: few names out of many events
  for (trace::NameId name = 0; name < compiles.size(); ++name) {
    compiles[name] = is_compiling(index.trace.names[name]);
  }
  std::vector<EventId> found;
  std::map<trace::LaneId, int64_t> until;  // end of each thread's last compilation
  for (const EventId id : index.links.tree.order) {
    if (!compiles[index.trace.name[id]]) continue;
    const int64_t begin_ns = index.trace.ts_ns[id];
    int64_t& busy_until = until[index.trace.lane[id]];
    if (begin_ns < std::max(first_ns, busy_until) || begin_ns >= last_ns) continue;
    found.push_back(id);
    busy_until = index.trace.end_ns(id);
  }
  return found;
}

}  // namespace epi::analysis
