// SPDX-License-Identifier: Apache-2.0
// The GEMMs of a trace.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/analysis/time/gemms.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/table.h"

namespace epi::report {

struct GemmsResult {
  GemmsResult(const trace::Trace& trace, std::optional<size_t> limit);

  analysis::GemmTable table;
  size_t shown = 0;  // rows: as many as the limit allows

  std::vector<struct GemmItem> gemms() const;
};
std::string text_of(const GemmsResult& result, const Style& style);
// At most `limit` rows, with the decoded kernel names in the first column.
Table gemms_table(const analysis::GemmTable& table, size_t limit);
// The peaks of the GPU, or why they are unknown.
std::string peak_note(const analysis::GemmTable& table);

struct GemmItem {
  const analysis::GemmRow& row;
  std::optional<double> peak_tflops;  // of its type

  std::optional<int64_t> size(int64_t analysis::GemmShape::* member) const {
    return row.gemm ? std::optional(*row.gemm.*member) : std::nullopt;
  }
  KernelItem kernel() const { return {row.kernel, row.name}; }
};
// The data sheet of the GPU.
struct PeakItem {
  const analysis::GpuPeaks& peaks;
  bool is_calibrated = false;
};
std::optional<PeakItem> peak_of(const GemmsResult& result);

template <>
struct Description<GemmItem> {
  using Item = GemmItem;
  using Shape = analysis::GemmShape;
  static constexpr const char* kName = "gemm";
  static constexpr std::tuple kMembers{
      Member{"op", "operator", Unit::kNone, "the operator; null if unknown",
             [](const Item& one) { return if_known(one.row.op); }},
      Member{"batch", "batch", Unit::kNumber, "number of GEMMs in one call",
             [](const Item& one) { return one.size(&Shape::batch); }},
      Member{"m", "M", Unit::kNumber, "rows", [](const Item& one) { return one.size(&Shape::m); }},
      Member{"n", "N", Unit::kNumber, "columns",
             [](const Item& one) { return one.size(&Shape::n); }},
      Member{"k", "K", Unit::kNumber, "depth", [](const Item& one) { return one.size(&Shape::k); }},
      Member{"count", "count", Unit::kCount, "number of calls",
             [](const Item& one) { return one.row.count; }},
      Member{"gpu_us_median", "median", Unit::kNanoseconds,
             "median GPU time of a call, with its companions such as a split-K reduction",
             [](const Item& one) { return one.row.median_ns; }},
      Member{"gpu_us", "total", Unit::kNanoseconds, "GPU time of all calls",
             [](const Item& one) { return one.row.total_ns; }},
      Member{"tflop_per_s", "TFLOP/s", Unit::kTeraflopsPerSecond, "rate of the median call",
             [](const Item& one) { return one.row.tflops; }},
      Member{"share_of_peak_flops", "of peak", Unit::kShare, "share of the dense peak of its type",
             [](const Item& one) { return one.row.share_of_peak; }},
      Member{"peak_tflop_per_s", "peak", Unit::kNumber, "that peak, TFLOP/s", &Item::peak_tflops},
      Member{"kernel", "kernel", Unit::kNone, "the kernel", &Item::kernel}};
};

template <>
struct Description<PeakItem> {
  using Item = PeakItem;
  static constexpr const char* kName = "peak";
  static constexpr std::tuple kMembers{
      Member{"gpu", "GPU", Unit::kNone, "the GPU", [](const Item& one) { return one.peaks.title; }},
      Member{"source", "source", Unit::kNone, "where the peaks are from",
             [](const Item& one) { return one.peaks.source; }},
      Member{"gpu_is_calibrated", "calibrated", Unit::kNone, "Epilogue was measured on it",
             &Item::is_calibrated},
      Member{"memory_tb_per_s", "memory", Unit::kNumber, "memory bandwidth, TB/s",
             [](const Item& one) { return one.peaks.memory_tb_s; }}};
};

template <>
struct Description<GemmsResult> {
  static constexpr const char* kName = "gemms";
  static constexpr std::tuple kMembers{
      Member{"gemms", "GEMMs", Unit::kNone, "by operator, sizes and kernel, the longest first",
             &GemmsResult::gemms},
      Member{"gpu", "GPU", Unit::kNone, "the GPU as the trace names it",
             [](const GemmsResult& one) { return if_known(one.table.device); }},
      Member{"peak", "peak", Unit::kNone, "its data sheet; null if it is not listed", &peak_of}};
};

}  // namespace epi::report
