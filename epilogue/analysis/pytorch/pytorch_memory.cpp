// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/pytorch/pytorch_memory.h"

#include <algorithm>

#include "epilogue/base/parse_integer.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

int64_t number(std::string_view args, std::string_view key) {
  return parse_integer(trace::find_value(args, key).value_or("")).value_or(0);
}

}  // namespace

MemoryRecords::MemoryRecords(const trace::Trace& trace) {
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != trace::Category::kCpuInstantEvent ||
        trace.name_of(id) != "[memory]") {
      continue;
    }
    const std::string_view args = trace.args_of(id);
    // A malformed file may contain any number. Within this limit, sums do not overflow.
    constexpr int64_t kMaxBytes = int64_t{1} << 50;
    const int64_t bytes = number(args, "Bytes");
    if (bytes > kMaxBytes || bytes < -kMaxBytes) continue;
    const bool on_cpu = number(args, "Device Type") == 0;
    records_.push_back({trace.ts_ns[id], id, {on_cpu ? bytes : 0, on_cpu ? 0 : bytes}});
  }
  std::stable_sort(records_.begin(), records_.end(),
                   [](const Record& a, const Record& b) { return a.ns < b.ns; });
  prefix_sums_.resize(records_.size() + 1);
  for (size_t i = 0; i < records_.size(); ++i) {
    prefix_sums_[i + 1] = prefix_sums_[i];
    prefix_sums_[i + 1] += records_[i].use;
  }
}

MemoryUse MemoryRecords::during(int64_t begin_ns, int64_t end_ns) {
  const auto before = [](const Record& record, int64_t ns) { return record.ns < ns; };
  const auto after = [](int64_t ns, const Record& record) { return ns < record.ns; };
  const auto first = std::lower_bound(records_.begin(), records_.end(), begin_ns, before);
  const auto last = std::upper_bound(first, records_.end(), end_ns, after);
  if (first == last) return {};
  ++first->covered;
  if (last != records_.end()) --last->covered;
  return prefix_sums_[static_cast<size_t>(last - records_.begin())] -
         prefix_sums_[static_cast<size_t>(first - records_.begin())];
}

std::vector<MemoryRecords::Record> MemoryRecords::outside() const {
  std::vector<Record> found;
  int64_t covering = 0;
  for (const Record& record : records_) {
    covering += record.covered;
    if (covering == 0) found.push_back(record);
  }
  return found;
}

}  // namespace epi::analysis
