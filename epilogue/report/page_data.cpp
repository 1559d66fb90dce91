// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page_data.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "epilogue/base/thread_pool.h"

namespace epi::report {
namespace {

constexpr size_t kIdleParts = 400;  // columns of the idle map

// Runs the analyses, which are independent of each other, in parallel.
void analyze(PageFile& file) {
  const std::function<void()> analyses[] = {
      [&] { file.screen = screen_data(file.index); },
      [&] { file.devices = analysis::breakdown(file.index, kIdleParts); },
      [&] { file.gemms = analysis::gemm_table(file.index.trace); },
      [&] {
        file.table = analysis::profiler_table(file.index.trace);
        analysis::sort_rows(file.table, "cuda_time_total");
      }};
  parallel_for(std::size(analyses), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) analyses[i]();
  });
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
    data.files.push_back({shown_name(trace, traces), trace.index, {}, {}, {}, {}});
    analyze(data.files.back());
  }
  if (traces.size() == 2) {
    data.comparison = analysis::compare(traces[0].index, traces[1].index, std::nullopt);
  }
  return data;
}

}  // namespace epi::report
