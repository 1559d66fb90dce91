// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/links.h"

#include "epilogue/trace/id_index.h"

namespace epi::trace {
namespace {

bool is_call(Category category) {
  return category == Category::kCudaRuntime || category == Category::kCudaDriver;
}

bool is_op(Category category) {
  return category == Category::kCpuOp || category == Category::kUserAnnotation;
}

// The innermost operator or annotation around an event.
EventId enclosing_op(const Trace& trace, const OpTree& tree, EventId id) {
  EventId outer = tree.parent[id];
  while (outer != kNoEvent && !is_op(trace.category[outer])) outer = tree.parent[outer];
  return outer;
}

}  // namespace

Links link(const Trace& trace) {
  Links links{build_op_tree(trace), std::vector<EventId>(trace.size(), kNoEvent),
              std::vector<EventId>(trace.size(), kNoEvent), std::vector<int64_t>(trace.size(), 0)};
  const IdIndex calls = index_events(trace.correlation, [&](EventId id) {
    return trace.is_span(id) && is_call(trace.category[id]);
  });
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
    const EventId call = trace.correlation[id] == 0 ? kNoEvent : calls.find(trace.correlation[id]);
    links.launch[id] = call;
    links.op[id] = call != kNoEvent ? op_of_call(call) : ops.find(trace.external_id[id]);
    links.asked_ns[id] = call != kNoEvent ? trace.ts_ns[call] : trace.ts_ns[id];
  }
  return links;
}

}  // namespace epi::trace
