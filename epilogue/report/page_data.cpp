// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page_data.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "epilogue/base/thread_pool.h"

namespace epi::report {
namespace {

// A device is also idle before its first and after its last work in the diagnosed step. With
// several devices, the diagnosis only tells when none of them works.
PageDevice idle_of(const analysis::DeviceBreakdown& device, const PageFile& file) {
  PageDevice idle{
      device.device, {device.begin_ns, device.begin_ns + device.shares.window_ns}, device.gaps};
  const auto& diagnosis = file.screen.advised.diagnosis;
  if (!diagnosis || file.devices.size() > 1) return idle;
  const analysis::Interval work = idle.window;
  std::vector<analysis::IdleGap> before;
  for (analysis::IdleGap gap : diagnosis->gaps) {
    if (gap.when.begin < work.begin) {
      gap.when.end = std::min(gap.when.end, work.begin);
      before.push_back(gap);
    } else if (gap.when.end > work.end) {
      gap.when.begin = std::max(gap.when.begin, work.end);
      idle.gaps.push_back(gap);
    }
  }
  idle.gaps.insert(idle.gaps.begin(), before.begin(), before.end());
  idle.window.begin = std::min(work.begin, diagnosis->window.begin);
  idle.window.end = std::max(work.end, diagnosis->window.end);
  return idle;
}

// Runs the analyses, which are independent of each other, in parallel.
void analyze(PageFile& file) {
  const std::function<void()> analyses[] = {
      [&] { file.screen = screen_data(file.index); },
      [&] { file.devices = analysis::breakdown(file.index); },
      [&] { file.gemms = analysis::gemm_table(file.index.trace); },
      [&] {
        file.table = analysis::profiler_table(file.index.trace);
        analysis::sort_rows(file.table, "cuda_time_total");
      }};
  parallel_for(std::size(analyses), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) analyses[i]();
  });
  for (const analysis::DeviceBreakdown& device : file.devices) {
    file.idle.push_back(idle_of(device, file));
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
    data.files.push_back({shown_name(trace, traces), trace.index, {}, {}, {}, {}, {}});
    analyze(data.files.back());
  }
  if (traces.size() == 2) {
    data.comparison = analysis::compare(traces[0].index, traces[1].index, std::nullopt);
  }
  return data;
}

}  // namespace epi::report
