// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/links.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/id_index.h"
#include "epilogue/trace/number_text.h"

namespace epi::trace {
namespace {

bool is_op(Category category) {
  return category == Category::kCpuOp || category == Category::kUserAnnotation;
}

// For each host event: the innermost operator or annotation around it. Parents come before their
// children in the order of the tree.
std::vector<EventId> enclosing_ops(const Trace& trace, const OpTree& tree) {
  std::vector<EventId> around(trace.size(), kNoEvent);
  for (const EventId id : tree.order) {
    const EventId outer = tree.parent[id];
    if (outer != kNoEvent) around[id] = is_op(trace.category[outer]) ? outer : around[outer];
  }
  return around;
}

// Finds calls by correlation id. If several calls share an id, the latest one that starts at or
// before the given time is used, or the earliest one if all start later.
class Calls {
 public:
  explicit Calls(const Trace& trace)
      : trace_(trace), first_(index_events(trace.correlation, [&](EventId id) {
          return trace.is_span(id) && is_call(trace.category[id]);
        })) {
    for (EventId id = 0; id < trace.size(); ++id) {
      if (!trace.is_span(id) || !is_call(trace.category[id]) || trace.correlation[id] == 0)
        continue;
      if (first_.find(trace.correlation[id]) != id) shared_[trace.correlation[id]].push_back(id);
    }
    for (auto& [correlation, ids] : shared_) {
      shared_count_ += static_cast<int64_t>(ids.size());
      ids.insert(ids.begin(), first_.find(correlation));
      std::stable_sort(ids.begin(), ids.end(),
                       [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
      // Of calls that start at the same time, the first in the file is used.
      const auto same_start = [&](EventId a, EventId b) {
        return trace.ts_ns[a] == trace.ts_ns[b];
      };
      ids.erase(std::unique(ids.begin(), ids.end(), same_start), ids.end());
    }
  }

  EventId find(int64_t correlation, int64_t ns) const {
    const auto shared = shared_.find(correlation);
    if (shared == shared_.end()) return first_.find(correlation);
    const std::vector<EventId>& ids = shared->second;
    const auto later = std::upper_bound(ids.begin(), ids.end(), ns, [&](int64_t time, EventId id) {
      return time < trace_.ts_ns[id];
    });
    return later == ids.begin() ? ids.front() : *(later - 1);
  }
  int64_t shared() const { return shared_count_; }

 private:
  const Trace& trace_;
  IdIndex first_;
  // The calls with an id that several calls have, by start.
  std::unordered_map<int64_t, std::vector<EventId>> shared_;
  int64_t shared_count_ = 0;  // all calls but the first of each id
};

}  // namespace

Links link(const Trace& trace) {
  Links links;
  std::vector<EventId> enclosing;
  std::optional<Calls> calls;
  std::optional<IdIndex> ops;
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    if (begin == 0) {  // nested in a loop, the lanes are sorted on one thread
      links.tree = build_op_tree(trace);
      enclosing = enclosing_ops(trace, links.tree);
    }
    if (end == 2) {
      calls.emplace(trace);
      ops = index_events(trace.external_id, [&](EventId id) {
        return trace.is_span(id) && is_op(trace.category[id]);
      });
    }
  });
  links.shared_correlations = calls->shared();
  links.op.assign(trace.size(), kNoEvent);
  links.launch.assign(trace.size(), kNoEvent);
  links.launch_ns.assign(trace.size(), 0);
  const auto op_of_call = [&](EventId call) {
    return enclosing[call] != kNoEvent ? enclosing[call] : ops->find(trace.external_id[call]);
  };
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id)) continue;
    if (is_call(trace.category[id])) links.op[id] = op_of_call(id);
    if (!is_device_work(trace.category[id])) continue;
    const EventId call =
        trace.correlation[id] == 0 ? kNoEvent : calls->find(trace.correlation[id], trace.ts_ns[id]);
    links.launch[id] = call;
    links.op[id] = call != kNoEvent ? op_of_call(call) : ops->find(trace.external_id[id]);
    const EventId caller = call != kNoEvent ? call : links.op[id];
    links.launch_ns[id] = trace.ts_ns[caller != kNoEvent ? caller : id];
  }
  return links;
}

// A flow event has the same lane and timestamp as the start of its operator.
std::vector<EventId> forward_ops(const Trace& trace) {
  std::map<std::pair<LaneId, int64_t>, EventId> ops;
  std::unordered_map<int64_t, EventId> starts;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && trace.category[id] == Category::kCpuOp) {
      ops.try_emplace({trace.lane[id], trace.ts_ns[id]}, id);
    }
  }
  const auto op_at = [&](EventId flow) {
    const auto found = ops.find({trace.lane[flow], trace.ts_ns[flow]});
    return found == ops.end() ? kNoEvent : found->second;
  };
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] == Category::kFwdbwd && trace.phase[id] == Phase::kFlowStart) {
      starts[trace.correlation[id]] = op_at(id);
    }
  }
  std::vector<EventId> forward(trace.size(), kNoEvent);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != Category::kFwdbwd || trace.phase[id] != Phase::kFlowEnd) continue;
    const EventId backward = op_at(id);
    const auto start = starts.find(trace.correlation[id]);
    if (backward != kNoEvent && start != starts.end()) forward[backward] = start->second;
  }
  return forward;
}

std::vector<EventId> python_parents(const Trace& trace) {
  const auto number = [&](EventId id, std::string_view key) {
    return parse_integer_token(find_value(trace.args_of(id), key).value_or(""));
  };
  std::unordered_map<int64_t, EventId> frames;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != Category::kPythonFunction) continue;
    if (const auto own = number(id, "Python id")) frames[*own] = id;
  }
  std::vector<EventId> parents(trace.size(), kNoEvent);
  for (const auto& [own, id] : frames) {
    const auto parent = number(id, "Python parent id");
    const auto found = parent ? frames.find(*parent) : frames.end();
    if (found != frames.end()) parents[id] = found->second;
  }
  return parents;
}

}  // namespace epi::trace
