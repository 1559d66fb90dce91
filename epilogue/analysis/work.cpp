// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/work.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "epilogue/analysis/op_cost.h"
#include "epilogue/analysis/op_inputs.h"
#include "epilogue/trace/args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

std::array<int64_t, 3> three(std::string_view args, std::string_view key) {
  std::array<int64_t, 3> result{};
  const auto numbers = integers(trace::find_value(args, key).value_or(""));
  std::copy_n(numbers.begin(), std::min<size_t>(numbers.size(), 3), result.begin());
  return result;
}

WorkItem make_item(const Examined& examined, EventId id) {
  const trace::Trace& trace = examined.trace;
  WorkItem item;
  item.event = id;
  item.name = trace.name_of(id);
  const std::string_view args = trace.args_of(id);
  item.grid = three(args, "grid");
  item.block = three(args, "block");
  if (trace.category[id] != trace::Category::kKernel) {
    item.bytes = trace::parse_integer(trace::find_value(args, "bytes").value_or("")).value_or(-1);
  }
  const EventId op = examined.links.op[id];
  if (op != kNoEvent) {
    item.op = trace.name_of(op);
    item.size = size_signature(trace, op);
  }
  return item;
}

}  // namespace

Examined::Examined(const trace::Trace& trace_in)
    : trace(trace_in),
      links(trace::link(trace_in)),
      ownership(trace_in, links),
      names(trace_in),
      lane_ranges(trace_in.lanes.size()) {
  const auto& order = links.tree.order;
  for (size_t i = 0; i < order.size(); ++i) {
    auto& [first, last] = lane_ranges[trace.lane[order[i]]];
    if (first == last) first = i;
    last = i + 1;
  }
}

std::span<const EventId> Examined::host_between(trace::LaneId lane, int64_t begin_ns,
                                                int64_t end_ns) const {
  const auto [first, last] = lane_ranges[lane];
  const auto begin = links.tree.order.begin();
  const auto from = std::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                     begin + static_cast<std::ptrdiff_t>(last), begin_ns,
                                     [&](EventId id, int64_t ns) { return trace.ts_ns[id] < ns; });
  const auto to = std::upper_bound(from, begin + static_cast<std::ptrdiff_t>(last), end_ns,
                                   [&](int64_t ns, EventId id) { return ns < trace.ts_ns[id]; });
  return {from, to};
}

double device_time(const trace::Trace& trace, std::span<const EventId> work) {
  double ns = 0;
  for (const EventId id : work) ns += static_cast<double>(trace.dur_ns[id]);
  return ns;
}

bool WorkItem::is_same_as(const WorkItem& other) const {
  if (name != other.name || grid != other.grid || block != other.block || bytes != other.bytes) {
    return false;
  }
  if (size.empty() || other.size.empty()) return true;
  // A product's sizes mean the same for every operator; shapes of inputs only for the same one.
  const bool products = size.front() != '[' && other.size.front() != '[';
  return (op != other.op && !products) || size == other.size;
}

std::vector<WorkItem> work_items(const Examined& examined, const std::vector<EventId>& work) {
  std::vector<WorkItem> items;
  items.reserve(work.size());
  for (const EventId id : work) items.push_back(make_item(examined, id));
  return items;
}

WorkDifference match_work(const std::vector<WorkItem>& a, const std::vector<WorkItem>& b) {
  using Key = std::tuple<std::string_view, std::array<int64_t, 3>, std::array<int64_t, 3>, int64_t>;
  const auto key = [](const WorkItem& item) {
    return Key(item.name, item.grid, item.block, item.bytes);
  };
  std::map<Key, std::deque<size_t>> candidates;
  for (size_t i = 0; i < b.size(); ++i) candidates[key(b[i])].push_back(i);
  std::vector<bool> a_matched(a.size());
  std::vector<bool> b_matched(b.size());
  // Those that agree in sizes first, so that an unknown size does not take a known one's partner.
  for (const bool exactly : {true, false}) {
    for (size_t i = 0; i < a.size(); ++i) {
      const auto list = candidates.find(key(a[i]));
      if (a_matched[i] || list == candidates.end()) continue;
      const auto partner = std::find_if(list->second.begin(), list->second.end(), [&](size_t j) {
        return exactly ? a[i].size == b[j].size : a[i].is_same_as(b[j]);
      });
      if (partner == list->second.end()) continue;
      a_matched[i] = b_matched[*partner] = true;
      list->second.erase(partner);
    }
  }
  WorkDifference result;
  Counts same(result.same);
  for (size_t i = 0; i < a.size(); ++i) {
    a_matched[i] ? same.add(a[i].name) : result.only_a.push_back(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (!b_matched[i]) result.only_b.push_back(b[i]);
  }
  return result;
}

size_t typical_instance(const InstanceGroup& group) {
  std::map<int64_t, int64_t> counts;
  for (const Instance& instance : group.instances) ++counts[instance.measures.kernels];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<size_t> typical;
  for (size_t i = 0; i < group.instances.size(); ++i) {
    if (group.instances[i].measures.kernels == most->first) typical.push_back(i);
  }
  std::stable_sort(typical.begin(), typical.end(), [&](size_t a, size_t b) {
    return group.instances[a].measures.device_ns < group.instances[b].measures.device_ns;
  });
  return typical[(typical.size() - 1) / 2];
}

}  // namespace epi::analysis
