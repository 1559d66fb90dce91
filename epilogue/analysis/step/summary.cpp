// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/intervals.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

// Converts CUDA's version number: 13000 is "13.0".
std::string cuda_version(std::string_view token) {
  const auto number = trace::parse_integer_token(token);
  return number ? fmt::format("{}.{}", *number / 1000, *number % 1000 / 10) : std::string();
}

std::vector<std::string> versions(const trace::Trace& trace) {
  std::vector<std::string> result;
  const auto add = [&](const char* what, const std::string& version) {
    if (!version.empty()) result.push_back(fmt::format("{} {}", what, version));
  };
  add("PyTorch", trace::string_value(trace.property("pytorch_version")));
  add("CUDA", cuda_version(trace.property("cuda_runtime_version")));
  add("driver for CUDA", cuda_version(trace.property("cuda_driver_version")));
  return result;
}

// Sums by name.
class TimeByName {
 public:
  explicit TimeByName(const trace::Trace& trace) : trace_(trace), sums_(trace.names.size()) {}
  void add(EventId id, int64_t ns) {
    NamedTime& sum = sums_[trace_.name[id]];
    ++sum.count;
    sum.ns += ns;
    total_ns_ += ns;
  }
  std::vector<NamedTime> largest() {
    std::vector<NamedTime> result;
    for (trace::NameId name = 0; name < sums_.size(); ++name) {
      NamedTime& sum = sums_[name];
      if (sum.count == 0) continue;
      sum.name = trace_.names[name];
      sum.id = name;
      sum.share = total_ns_ == 0 ? 0 : static_cast<double>(sum.ns) / static_cast<double>(total_ns_);
      result.push_back(sum);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const NamedTime& a, const NamedTime& b) { return a.ns > b.ns; });
    return result;
  }

 private:
  const trace::Trace& trace_;
  std::vector<NamedTime> sums_;
  int64_t total_ns_ = 0;
};

std::vector<KernelRate> largest_rates(const TraceIndex& index,
                                      const std::vector<NamedTime>& kernels) {
  constexpr size_t kMax = 10;
  const trace::Trace& trace = index.trace;
  std::map<trace::NameId, std::vector<EventId>> events;
  for (size_t i = 0; i < std::min(kernels.size(), kMax); ++i) events[kernels[i].id];
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || trace.category[id] != Category::kKernel) continue;
    const auto found = events.find(trace.name[id]);
    if (found != events.end()) found->second.push_back(id);
  }
  const auto peaks = gpu_peaks(device_name(trace));
  std::vector<KernelRate> rates;
  for (size_t i = 0; i < std::min(kernels.size(), kMax); ++i) {
    rates.push_back(combined_rate(index, events[kernels[i].id], peaks));
  }
  return rates;
}

int64_t unlinked_kernels(const TraceIndex& index) {
  const auto unlinked = index.ownership.unattributed();
  return std::count_if(unlinked.begin(), unlinked.end(),
                       [&](EventId id) { return index.trace.category[id] == Category::kKernel; });
}

}  // namespace

std::vector<NamedTime> kernel_times(const trace::Trace& trace) {
  TimeByName sums(trace);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && trace::is_device_work(trace.category[id])) {
      sums.add(id, trace.dur_ns[id]);
    }
  }
  return sums.largest();
}

Summary summarize(const StepModels& models) {
  const TraceIndex& index = models.index();
  const trace::Trace& trace = index.trace;
  Summary summary;
  summary.device = device_name(trace);
  summary.versions = versions(trace);
  summary.cpu_kernels = trace::has_cpu_kernels(trace);
  summary.is_cut = is_cut(trace);
  summary.events = trace.size();
  summary.steps = &models.steps();
  TimeByName ops(trace);
  for (EventId id = 0; id < trace.size(); ++id) {
    const Category category = trace.category[id];
    if (!trace.is_span(id)) continue;
    if (category == Category::kCpuOp || trace::is_call(category)) {
      ops.add(id, index.links.tree.self_ns[id]);
    }
  }
  summary.kernels = kernel_times(trace);
  summary.rates = largest_rates(index, summary.kernels);
  summary.ops = ops.largest();
  summary.unlinked_kernels = unlinked_kernels(index);
  summary.lost_launches = std::ssize(index.ownership.everything().lost);
  summary.shared_correlations = index.links.shared_correlations;
  return summary;
}

}  // namespace epi::analysis
