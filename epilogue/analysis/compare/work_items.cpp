// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare/work_items.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

std::array<int64_t, 3> dim3_arg(std::string_view args, std::string_view key) {
  std::array<int64_t, 3> result{};
  const auto numbers = integers(trace::find_value(args, key).value_or(""));
  std::copy_n(numbers.begin(), std::min<size_t>(numbers.size(), 3), result.begin());
  return result;
}

WorkItem make_item(const TraceIndex& index, EventId id) {
  const trace::Trace& trace = index.trace;
  WorkItem item;
  item.event = id;
  item.name = trace.name_of(id);
  const std::string_view args = trace.args_of(id);
  item.grid = dim3_arg(args, "grid");
  item.block = dim3_arg(args, "block");
  item.is_kernel = trace.category[id] == trace::Category::kKernel;
  if (!item.is_kernel) {
    item.bytes =
        trace::parse_integer_token(trace::find_value(args, "bytes").value_or("")).value_or(-1);
  }
  const EventId op = index.links.op[id];
  if (op != kNoEvent) {
    item.op = trace.name_of(op);
    item.size = size_signature(trace, op);
    const EventId outer = index.links.tree.parent[op];
    if (outer != kNoEvent && trace.name_of(outer).starts_with("aten::")) {
      item.outer_op = trace.name_of(outer);
    }
  }
  return item;
}

}  // namespace

bool WorkItem::is_same_as(const WorkItem& other) const {
  if (name != other.name || grid != other.grid || block != other.block || bytes != other.bytes) {
    return false;
  }
  if (size.empty() || other.size.empty()) return true;
  // GEMM sizes are comparable across operators, input shapes only within the same operator.
  const bool gemms = size.front() != '[' && other.size.front() != '[';
  return (op != other.op && !gemms) || size == other.size;
}

std::vector<WorkItem> work_items(const TraceIndex& index, std::span<const EventId> work) {
  std::vector<WorkItem> items;
  items.reserve(work.size());
  for (const EventId id : work) items.push_back(make_item(index, id));
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
  // Exact size matches first, so that an item of unknown size does not take the partner of a known
  // one.
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
    a_matched[i] ? same.add(a[i]) : result.only_a.push_back(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (!b_matched[i]) result.only_b.push_back(b[i]);
  }
  return result;
}

}  // namespace epi::analysis
