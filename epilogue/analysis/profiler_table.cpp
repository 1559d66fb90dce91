// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/profiler_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>

#include "epilogue/base/error.h"
#include "epilogue/trace/args.h"
#include "epilogue/trace/op_tree.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

bool is_device_row(Category category) {
  return trace::is_device_work(category) || category == Category::kGpuUserAnnotation;
}

// Kineto writes the span of an annotation one nanosecond wider on each side than it is.
constexpr int64_t kAnnotationPaddingNs = 2;

int64_t device_ns(const trace::Trace& trace, EventId id) {
  const int64_t dur_ns = trace.dur_ns[id];
  if (trace.category[id] != Category::kGpuUserAnnotation) return dur_ns;
  return std::max<int64_t>(0, dur_ns - kAnnotationPaddingNs);
}

// Times of every host event, with events merged into their only caller of the same name.
struct HostTimes {
  std::vector<EventId> order;
  std::vector<int64_t> self_ns;
  std::vector<int64_t> self_device_ns;
  std::vector<int64_t> total_device_ns;
  std::vector<bool> merged;  // has no row of its own
};

std::vector<int64_t> device_time_by_caller(const trace::Trace& trace,
                                           const std::vector<EventId>& host) {
  std::unordered_map<int64_t, EventId> callers;
  for (const EventId id : host) {
    // Runtime calls carry the id of the op that made them; the op comes first.
    if (trace.external_id[id] != 0) callers.emplace(trace.external_id[id], id);
  }
  std::vector<int64_t> sums(trace.size(), 0);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_device_work(trace.category[id])) continue;
    const auto caller = callers.find(trace.external_id[id]);
    if (caller != callers.end()) sums[caller->second] += trace.dur_ns[id];
  }
  return sums;
}

HostTimes host_times(const trace::Trace& trace) {
  trace::OpTree tree = trace::build_op_tree(trace);
  HostTimes times{std::move(tree.order), std::move(tree.self_ns), {}, {}, {}};
  times.self_device_ns = device_time_by_caller(trace, times.order);
  times.total_device_ns = times.self_device_ns;
  times.merged.resize(trace.size());
  std::vector<uint32_t> children(trace.size(), 0);
  for (const EventId id : times.order) {
    if (tree.parent[id] != kNoEvent) ++children[tree.parent[id]];
  }
  // From the leaves up.
  for (auto it = times.order.rbegin(); it != times.order.rend(); ++it) {
    const EventId parent = tree.parent[*it];
    if (parent == kNoEvent) continue;
    times.total_device_ns[parent] += times.total_device_ns[*it];
    if (children[parent] != 1 || trace.name[parent] != trace.name[*it]) continue;
    times.merged[*it] = true;
    times.self_ns[parent] += times.self_ns[*it];
    times.self_device_ns[parent] += times.self_device_ns[*it];
  }
  return times;
}

class TableBuilder {
 public:
  TableBuilder(const trace::Trace& trace, bool by_shape) : trace_(trace), by_shape_(by_shape) {}

  ProfilerTable build() {
    const HostTimes times = host_times(trace_);
    for (const EventId id : times.order) {
      if (!times.merged[id]) add_host(id, times);
    }
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (trace_.is_span(id) && is_device_row(trace_.category[id])) add_device(id);
    }
    for (size_t i = 0; i < table_.rows.size(); ++i)
      set_spread(table_.rows[i].spread, durations_[i]);
    table_.has_device = std::any_of(table_.rows.begin(), table_.rows.end(),
                                    [](const TableRow& r) { return r.self_device_ns > 0; });
    table_.device_name = device_name();
    return std::move(table_);
  }

 private:
  void add_host(EventId id, const HostTimes& times) {
    TableRow& row = row_of(id, false);
    row.self_cpu_ns += times.self_ns[id];
    row.cpu_total_ns += trace_.dur_ns[id];
    row.self_device_ns += times.self_device_ns[id];
    row.device_total_ns += times.total_device_ns[id];
    table_.self_cpu_total_ns += times.self_ns[id];
    note_call(row, trace_.dur_ns[id]);
  }

  void add_device(EventId id) {
    TableRow& row = row_of(id, true);
    const int64_t ns = device_ns(trace_, id);
    row.self_device_ns += ns;
    row.device_total_ns += ns;
    if (!row.annotation) table_.self_device_total_ns += ns;
    note_call(row, ns);
  }

  void note_call(TableRow& row, int64_t ns) {
    ++row.calls;
    durations_[static_cast<size_t>(&row - table_.rows.data())].push_back(ns);
  }

  // Annotations and what runs may share a name, and are two rows.
  TableRow& row_of(EventId id, bool device) {
    std::string_view name = trace_.name_of(id);
    if (name.starts_with("ProfilerStep#")) name = "ProfilerStep*";
    const bool annotation = trace_.category[id] == Category::kGpuUserAnnotation ||
                            trace_.category[id] == Category::kUserAnnotation;
    std::string shapes = shapes_of(id, device);
    const auto [place, is_new] =
        places_.try_emplace({name, shapes, device, annotation}, table_.rows.size());
    if (is_new) {
      table_.rows.push_back({.name = std::string(name),
                             .shapes = std::move(shapes),
                             .device = device,
                             .annotation = annotation});
      durations_.emplace_back();
    }
    return table_.rows[place->second];
  }

  std::string shapes_of(EventId id, bool device) const {
    if (!by_shape_) return {};
    if (device) return "[]";
    return std::string(trace::find_value(trace_.args_of(id), "Input Dims").value_or("[]"));
  }

  static void set_spread(Spread& spread, std::vector<int64_t>& ns) {
    std::sort(ns.begin(), ns.end());
    const auto at = [&](size_t percent) { return ns[(ns.size() - 1) * percent / 100]; };
    spread = {at(0), at(50), at(90)};
  }

  // Our own CPU kernels are a device lane that is no CUDA.
  std::string device_name() const {
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (trace_.phase[id] == trace::Phase::kMetadata && trace_.name_of(id) == "process_name" &&
          trace::find_value(trace_.args_of(id), "name") == "\"CPU kernels\"") {
        return "Kernel";
      }
    }
    return "CUDA";
  }

  struct Key {
    std::string_view name;
    std::string shapes;
    bool device;
    bool annotation;
    auto operator<=>(const Key&) const = default;
  };

  const trace::Trace& trace_;
  bool by_shape_;
  ProfilerTable table_;
  std::map<Key, size_t> places_;
  std::vector<std::vector<int64_t>> durations_;  // of each row's calls
};

using Measure = double (*)(const TableRow&);
struct SortColumn {
  std::string_view name;
  Measure measure;
};

double average(int64_t ns, const TableRow& row) {
  return static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(1, row.calls));
}

// PyTorch's names; those with "device" are the newer spelling of those with "cuda".
constexpr auto kSortColumns = std::to_array<SortColumn>({
    {"cpu_time", [](const TableRow& r) { return average(r.cpu_total_ns, r); }},
    {"cpu_time_total", [](const TableRow& r) { return static_cast<double>(r.cpu_total_ns); }},
    {"self_cpu_time_total", [](const TableRow& r) { return static_cast<double>(r.self_cpu_ns); }},
    {"cuda_time", [](const TableRow& r) { return average(r.device_total_ns, r); }},
    {"cuda_time_total", [](const TableRow& r) { return static_cast<double>(r.device_total_ns); }},
    {"self_cuda_time_total",
     [](const TableRow& r) { return static_cast<double>(r.self_device_ns); }},
    {"device_time", [](const TableRow& r) { return average(r.device_total_ns, r); }},
    {"device_time_total", [](const TableRow& r) { return static_cast<double>(r.device_total_ns); }},
    {"self_device_time_total",
     [](const TableRow& r) { return static_cast<double>(r.self_device_ns); }},
    {"count", [](const TableRow& r) { return static_cast<double>(r.calls); }},
});

}  // namespace

ProfilerTable profiler_table(const trace::Trace& trace, bool by_shape) {
  return TableBuilder(trace, by_shape).build();
}

void sort_rows(ProfilerTable& table, std::string_view column) {
  const auto* found = std::find_if(kSortColumns.begin(), kSortColumns.end(),
                                   [&](const SortColumn& c) { return c.name == column; });
  if (found == kSortColumns.end()) {
    std::vector<std::string_view> names;
    for (const SortColumn& known : kSortColumns) names.push_back(known.name);
    fail("table", "no column \"{}\" to sort by; there are {}", column, fmt::join(names, ", "));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return found->measure(a) > found->measure(b);
  });
}

}  // namespace epi::analysis
