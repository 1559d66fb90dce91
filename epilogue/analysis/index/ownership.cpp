// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/ownership.h"

#include <algorithm>
#include <numeric>

#include "epilogue/analysis/names/runtime_call.h"

namespace epi::analysis {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

bool is_synchronizing(std::string_view call) { return runtime_call(call) == RuntimeCall::kWait; }

double device_time(const trace::Trace& trace, std::span<const EventId> work) {
  double ns = 0;
  for (const EventId id : work) ns += static_cast<double>(trace.dur_ns[id]);
  return ns;
}

void Ownership::Moments::add(int64_t at_ns, EventId id) {
  ns.push_back(at_ns);
  ids.push_back(id);
}

void Ownership::Moments::sort() {
  if (std::is_sorted(ns.begin(), ns.end())) return;
  std::vector<size_t> order(ns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns[a] < ns[b]; });
  Moments sorted;
  for (const size_t i : order) sorted.add(ns[i], ids[i]);
  *this = std::move(sorted);
}

size_t Ownership::Moments::before(int64_t at_ns) const {
  return static_cast<size_t>(std::lower_bound(ns.begin(), ns.end(), at_ns) - ns.begin());
}

std::span<const EventId> Ownership::Moments::between(int64_t begin_ns, int64_t end_ns) const {
  const size_t first = before(begin_ns);
  return std::span(ids).subspan(first, std::max(first, before(end_ns)) - first);
}

Ownership::Ownership(const trace::Trace& trace, const trace::Links& links)
    : marks_(step_marks(trace)) {
  std::vector<bool> starts_work(trace.size(), false);
  add_work(trace, links, starts_work);
  add_calls(trace, starts_work);
}

void Ownership::add_work(const trace::Trace& trace, const trace::Links& links,
                         std::vector<bool>& starts_work) {
  Moments all;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_device_work(trace.category[id])) continue;
    const bool attributed = links.launch[id] != kNoEvent || links.op[id] != kNoEvent;
    (attributed ? work_ : unattributed_).add(links.launch_ns[id], id);
    all.add(links.launch_ns[id], id);
    if (links.launch[id] != kNoEvent) starts_work[links.launch[id]] = true;
  }
  for (Moments* moments : {&work_, &unattributed_, &all}) moments->sort();
  everything_ = std::move(all.ids);
  work_sums_ = {0};
  for (const EventId id : work_.ids) work_sums_.push_back(work_sums_.back() + trace.dur_ns[id]);
  launches_missing_ =
      device_time(trace, unattributed_.ids) > static_cast<double>(work_sums_.back());
}

void Ownership::add_calls(const trace::Trace& trace, const std::vector<bool>& starts_work) {
  std::vector<RuntimeCall> kinds;  // by name
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    kinds.push_back(runtime_call(trace.names[name]));
  }
  for (EventId id = 0; id < trace.size(); ++id) {
    if (starts_work[id]) launches_.add(trace.ts_ns[id], id);
    if (!trace::is_call(trace.category[id])) continue;
    const RuntimeCall kind = kinds[trace.name[id]];
    if (kind == RuntimeCall::kLaunch && !starts_work[id]) lost_.add(trace.ts_ns[id], id);
    const bool waits = kind == RuntimeCall::kWait && trace.category[id] == Category::kCudaRuntime;
    if (waits) syncs_.add(trace.ts_ns[id], id);
  }
  for (Moments* moments : {&launches_, &lost_, &syncs_}) moments->sort();
}

Ownership::WorkSum Ownership::work_between(int64_t begin_ns, int64_t end_ns) const {
  const size_t first = work_.before(begin_ns);
  const size_t last = std::max(first, work_.before(end_ns));
  return {static_cast<int64_t>(last - first), work_sums_[last] - work_sums_[first]};
}

Owned Ownership::owned(int64_t begin_ns, int64_t end_ns) const {
  return {work_.between(begin_ns, end_ns), launches_.between(begin_ns, end_ns),
          lost_.between(begin_ns, end_ns), syncs_.between(begin_ns, end_ns)};
}

Owned Ownership::everything() const { return {everything_, launches_.ids, lost_.ids, syncs_.ids}; }

}  // namespace epi::analysis
