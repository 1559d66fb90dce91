// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/links.h"

#include <map>
#include <unordered_map>

#include "epilogue/trace/event_args.h"
#include "epilogue/trace/id_index.h"
#include "epilogue/trace/number_text.h"

namespace epi::trace {
namespace {

bool is_op(Category category) {
  return category == Category::kCpuOp || category == Category::kUserAnnotation;
}

// The innermost operator or annotation around an event.
EventId enclosing_op(const Trace& trace, const OpTree& tree, EventId id) {
  EventId outer = tree.parent[id];
  while (outer != kNoEvent && !is_op(trace.category[outer])) outer = tree.parent[outer];
  return outer;
}

// Finds calls by correlation id. If several calls share an id, the latest one that starts at or
// before the given time is used.
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
  }

  EventId find(int64_t correlation, int64_t ns) const {
    EventId best = first_.find(correlation);
    const auto others = shared_.find(correlation);
    if (others == shared_.end()) return best;
    for (const EventId id : others->second) {
      const bool nearer = trace_.ts_ns[id] <= ns && trace_.ts_ns[id] > trace_.ts_ns[best];
      if (nearer || (trace_.ts_ns[best] > ns && trace_.ts_ns[id] < trace_.ts_ns[best])) best = id;
    }
    return best;
  }
  int64_t shared() const {
    int64_t count = 0;
    for (const auto& [correlation, ids] : shared_) count += static_cast<int64_t>(ids.size());
    return count;
  }

 private:
  const Trace& trace_;
  IdIndex first_;
  std::unordered_map<int64_t, std::vector<EventId>> shared_;  // all but the first
};

}  // namespace

Links link(const Trace& trace) {
  Links links{build_op_tree(trace), std::vector<EventId>(trace.size(), kNoEvent),
              std::vector<EventId>(trace.size(), kNoEvent), std::vector<int64_t>(trace.size(), 0),
              0};
  const Calls calls(trace);
  links.shared_correlations = calls.shared();
  const IdIndex ops = index_events(trace.external_id, [&](EventId id) {
    return trace.is_span(id) && is_op(trace.category[id]);
  });
  const auto op_of_call = [&](EventId call) {
    const EventId around = enclosing_op(trace, links.tree, call);
    return around != kNoEvent ? around : ops.find(trace.external_id[call]);
  };
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id)) continue;
    if (is_call(trace.category[id])) links.op[id] = op_of_call(id);
    if (!is_device_work(trace.category[id])) continue;
    const EventId call =
        trace.correlation[id] == 0 ? kNoEvent : calls.find(trace.correlation[id], trace.ts_ns[id]);
    links.launch[id] = call;
    links.op[id] = call != kNoEvent ? op_of_call(call) : ops.find(trace.external_id[id]);
    links.launch_ns[id] = call != kNoEvent ? trace.ts_ns[call] : trace.ts_ns[id];
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
