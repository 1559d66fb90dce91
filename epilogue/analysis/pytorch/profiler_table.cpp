// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/pytorch/profiler_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/pytorch/pytorch_flops.h"
#include "epilogue/analysis/pytorch/pytorch_times.h"
#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

// As PyTorch prints them: a list of tensors becomes an empty shape.
std::string shapes_text(std::string_view dims) {
  std::vector<std::string_view> shapes = trace::array_items(dims);
  for (std::string_view& shape : shapes) {
    if (shape.starts_with("[[")) shape = "[]";
  }
  return fmt::format("[{}]", join(shapes, ", "));
}

class TableBuilder {
 public:
  TableBuilder(const trace::Trace& trace, const TableOptions& options)
      : trace_(trace), options_(options), counts_flops_(trace.property("with_flops") == "1") {}

  ProfilerTable build() {
    const PytorchTimes times = pytorch_times(trace_);
    for (const uint32_t place : times.order) {
      const auto& [id, event_times] = times.events[place];
      add(id, event_times, times.memory.empty() ? EventMemory() : times.memory[place]);
    }
    for (size_t i = 0; i < durations_.size(); ++i) set_spread(table_.rows[i].spread, durations_[i]);
    for (const TableRow& row : table_.rows) {
      table_.self_cpu_total_us += row.self_cpu_us;
      if (row.device && !row.annotation) table_.self_device_total_us += row.self_device_us;
      table_.has_device = table_.has_device || row.self_device_us > 0;
      table_.has_device_memory = table_.has_device_memory || row.self_memory.device_bytes > 0;
      table_.has_flops = table_.has_flops || row.flops > 0;
    }
    table_.has_memory = trace_.property("profile_memory") == "1";
    // The CPU backend's kernels are a device lane, but not CUDA.
    table_.device_name = trace::has_cpu_kernels(trace_) ? "Kernel" : "CUDA";
    return std::move(table_);
  }

 private:
  void add(EventId id, const EventTimes& times, const EventMemory& memory) {
    const size_t place = place_of(id);
    TableRow& row = table_.rows[place];
    ++row.calls;
    row.self_cpu_us += times.self_cpu_us;
    row.cpu_total_us += times.cpu_us;
    row.self_device_us += times.self_device_us;
    row.device_total_us += times.device_us;
    row.memory += memory.all;
    row.self_memory += memory.self;
    if (counts_flops_ && trace_.category[id] == Category::kCpuOp) {
      row.flops += pytorch_flops(trace_, id);
    }
    if (!options_.stats) return;
    durations_.resize(table_.rows.size());
    durations_[place].push_back(row.device ? times.device_us : times.cpu_us);
  }

  // Host events, device events and annotations of the same name have separate rows.
  size_t place_of(EventId id) {
    const Category category = trace_.category[id];
    const bool device = !trace::is_host(category) && category != Category::kCpuInstantEvent;
    const bool annotation =
        category == Category::kGpuUserAnnotation || category == Category::kUserAnnotation;
    const uint32_t kind = (device ? 1U : 0U) + (annotation ? 2U : 0U);
    if (options_.by_shape) return place_by_shape(id, kind);
    const size_t key = 4 * size_t{row_name(id)} + kind;
    if (key >= places_.size()) places_.resize(std::max(key + 1, 4 * trace_.names.size()), kNoRow);
    if (places_[key] == kNoRow) places_[key] = new_row(id, kind, {});
    return places_[key];
  }

  size_t place_by_shape(EventId id, uint32_t kind) {
    std::string shapes = "[]";
    if ((kind & 1U) == 0) {
      shapes = shapes_text(trace::find_value(trace_.args_of(id), "Input Dims").value_or("[]"));
    }
    const auto [place, is_new] =
        shape_places_.try_emplace({4 * size_t{row_name(id)} + kind, shapes}, table_.rows.size());
    if (is_new) new_row(id, kind, std::move(shapes));
    return place->second;
  }

  size_t new_row(EventId id, uint32_t kind, std::string shapes) {
    const bool step = row_name(id) == first_step_;
    table_.rows.push_back({.name = std::string(step ? trace::kAllSteps : trace_.name_of(id)),
                           .shapes = std::move(shapes),
                           .device = (kind & 1U) != 0,
                           .annotation = (kind & 2U) != 0});
    return table_.rows.size() - 1;
  }

  // All steps share the name of the first one.
  trace::NameId row_name(EventId id) {
    const trace::NameId name = trace_.name[id];
    if (!trace::is_step_name(trace_.names[name])) return name;
    if (first_step_ == UINT32_MAX) first_step_ = name;
    return first_step_;
  }

  static void set_spread(Spread& spread, std::vector<double>& us) {
    std::sort(us.begin(), us.end());
    spread = {us.front(), percentile(us, 0.5), percentile(us, 0.9)};
  }

  static constexpr size_t kNoRow = SIZE_MAX;

  const trace::Trace& trace_;
  TableOptions options_;
  bool counts_flops_;
  ProfilerTable table_;
  trace::NameId first_step_ = UINT32_MAX;
  std::vector<size_t> places_;  // row index by name and kind
  std::map<std::pair<size_t, std::string>, size_t> shape_places_;
  std::vector<std::vector<double>> durations_;  // of the calls, by row
};

using Measure = double (*)(const TableRow&);
struct SortColumn {
  std::string_view name;
  Measure measure;
};

double average(double us, const TableRow& row) {
  return us / static_cast<double>(std::max<int64_t>(1, row.calls));
}

double bytes(int64_t count) { return static_cast<double>(count); }

// PyTorch's names. "device" is the newer spelling of "cuda".
constexpr auto kSortColumns = std::to_array<SortColumn>({
    {"cpu_time", [](const TableRow& r) { return average(r.cpu_total_us, r); }},
    {"cpu_time_total", [](const TableRow& r) { return r.cpu_total_us; }},
    {"self_cpu_time_total", [](const TableRow& r) { return r.self_cpu_us; }},
    {"cuda_time", [](const TableRow& r) { return average(r.device_total_us, r); }},
    {"cuda_time_total", [](const TableRow& r) { return r.device_total_us; }},
    {"self_cuda_time_total", [](const TableRow& r) { return r.self_device_us; }},
    {"device_time", [](const TableRow& r) { return average(r.device_total_us, r); }},
    {"device_time_total", [](const TableRow& r) { return r.device_total_us; }},
    {"self_device_time_total", [](const TableRow& r) { return r.self_device_us; }},
    {"cpu_memory_usage", [](const TableRow& r) { return bytes(r.memory.cpu_bytes); }},
    {"self_cpu_memory_usage", [](const TableRow& r) { return bytes(r.self_memory.cpu_bytes); }},
    {"cuda_memory_usage", [](const TableRow& r) { return bytes(r.memory.device_bytes); }},
    {"self_cuda_memory_usage", [](const TableRow& r) { return bytes(r.self_memory.device_bytes); }},
    {"device_memory_usage", [](const TableRow& r) { return bytes(r.memory.device_bytes); }},
    {"self_device_memory_usage",
     [](const TableRow& r) { return bytes(r.self_memory.device_bytes); }},
    {"count", [](const TableRow& r) { return static_cast<double>(r.calls); }},
});

}  // namespace

ProfilerTable profiler_table(const trace::Trace& trace, const TableOptions& options) {
  return TableBuilder(trace, options).build();
}

void sort_rows(ProfilerTable& table, std::string_view column) {
  const auto* found = std::find_if(kSortColumns.begin(), kSortColumns.end(),
                                   [&](const SortColumn& c) { return c.name == column; });
  if (found == kSortColumns.end()) {
    std::vector<std::string_view> names;
    for (const SortColumn& known : kSortColumns) names.push_back(known.name);
    fail("table", "unknown sort column \"{}\"; valid columns: {}", column, join(names, ", "));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return found->measure(a) > found->measure(b);
  });
}

}  // namespace epi::analysis
