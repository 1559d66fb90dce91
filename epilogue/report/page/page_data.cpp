// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page/page_data.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "epilogue/analysis/names/name_rules.h"
#include "epilogue/base/thread_pool.h"

namespace epi::report {
namespace {

// The idle time of a device within its work and within all steps, which may start before its first
// work and end after its last.
PageDevice idle_of(const analysis::StepModels& models, const analysis::DeviceWork& device) {
  analysis::Interval window = device.window();
  for (const analysis::StepModel& step : models.steps().steps) {
    window = {std::min(window.begin, step.window.begin), std::max(window.end, step.window.end)};
  }
  return {device.device(), window, analysis::clipped(models.gaps(device), window)};
}

// Runs the analyses, which are independent of each other, in parallel.
void analyze(PageFile& file) {
  const std::function<void()> analyses[] = {
      [&] { file.screen = analysis::Overview(file.models); },
      [&] { file.devices = analysis::breakdown(file.models); },
      [&] { file.gemms = analysis::gemm_table(file.models.index().trace); },
      [&] {
        file.table = analysis::profiler_table(file.models.index().trace);
        analysis::sort_rows(file.table, "cuda_time_total");
      }};
  const auto names = analysis::names_in_use();
  parallel_for(std::size(analyses), 1, [&](int64_t begin, int64_t end) {
    const analysis::NamesInUse in_use(names);
    for (int64_t i = begin; i < end; ++i) analyses[i]();
  });
  for (const analysis::DeviceWork& device : file.models.devices()) {
    file.idle.push_back(idle_of(file.models, device));
  }
}

// The name without folders, unless it does not tell the traces apart.
std::string shown_name(const PageTrace& trace, const std::vector<PageTrace>& traces) {
  const auto name = [](const PageTrace& one) {
    return std::filesystem::path(one.file).filename().string();
  };
  const auto same = std::count_if(traces.begin(), traces.end(), [&](const PageTrace& other) {
    return name(other) == name(trace);
  });
  return same > 1 || name(trace).empty() ? trace.file : name(trace);
}

}  // namespace

PageData page_data(const std::vector<PageTrace>& traces) {
  PageData data;
  for (const PageTrace& trace : traces) {
    data.files.push_back({shown_name(trace, traces), trace.models, {}, {}, {}, {}, {}});
    analyze(data.files.back());
  }
  if (traces.size() == 2) {
    data.comparison = analysis::compare(traces[0].models, traces[1].models, std::nullopt);
  }
  return data;
}

}  // namespace epi::report
