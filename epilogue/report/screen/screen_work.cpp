// SPDX-License-Identifier: Apache-2.0
// The table of GPU work on the first screen.
#include <fmt/format.h>

#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/text/table.h"

namespace epi::report {
namespace {

using analysis::WorkClass;
using analysis::WorkGroup;

const char* name_of(WorkClass what) {
  switch (what) {
    case WorkClass::kGemm:
      return "GEMM";
    case WorkClass::kAttention:
      return "attention";
    case WorkClass::kUnfusedAttention:
      return "unfused attention";
    case WorkClass::kConvolution:
      return "convolution";
    case WorkClass::kNorm:
      return "norm";
    case WorkClass::kSoftmax:
      return "softmax";
    case WorkClass::kReduction:
      return "reduction";
    case WorkClass::kPointwise:
      return "pointwise";
    case WorkClass::kOptimizer:
      return "optimizer";
    case WorkClass::kCommunication:
      return "communication";
    case WorkClass::kHostCopies:
      return "copies between host and device";
    case WorkClass::kDeviceCopies:
      return "device copies, memsets";
    case WorkClass::kIndexing:
      return "gather, sort, random";
    case WorkClass::kOther:
      return "other kernels";
  }
  return "";
}

// The share of the peak that the group comes closer to. A memory-bound GEMM also shows its
// bandwidth.
std::string peak_text(const WorkGroup& group) {
  const double flops = group.of_peak_flops.value_or(0);
  const double bytes = group.of_peak_bandwidth.value_or(0);
  if (!group.of_peak_flops && !group.of_peak_bandwidth) return "-";
  if (bytes > 1) return "in cache";  // faster than memory
  if (flops >= bytes) return fmt::format("{:.0f} % FLOP/s", 100 * flops);
  if (group.what == WorkClass::kGemm && group.bytes_per_ns) {
    return fmt::format("{}/s, {:.0f} %", bytes_text(1e9 * *group.bytes_per_ns), 100 * bytes);
  }
  return fmt::format("{:.0f} % bandwidth", 100 * bytes);
}

}  // namespace

std::string group_text(const WorkGroup& group) {
  if (group.what == WorkClass::kGemm && group.about.empty() && group.kinds > 1) {
    return fmt::format("linear layers ({} shapes)", group.kinds);
  }
  if (group.about.empty()) return name_of(group.what);
  if (group.what == WorkClass::kPointwise || group.what == WorkClass::kReduction ||
      group.what == WorkClass::kHostCopies) {
    return group.about;
  }
  return fmt::format("{} {}", name_of(group.what), group.about);
}

Table work_table(const Overview& data, size_t most) {
  const auto& groups = data.groups;
  Table table(
      {{fmt::format("{} {}", data.summary.cpu_kernels ? "kernels" : "GPU work", time_of(groups.ns)),
        Align::kLeft},
       {"calls", Align::kRight},
       {"time", Align::kRight},
       {"share", Align::kRight},
       {"of peak", Align::kRight}});
  const auto add = [&](const std::string& name, int64_t calls, int64_t ns, std::string peak) {
    const double share =
        groups.ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(groups.ns);
    table.add_row({name, fmt::format("{}", calls), time_of(ns),
                   fmt::format("{:.0f} %", 100 * share), std::move(peak)});
  };
  int64_t rest_calls = groups.rest_calls;
  int64_t rest_ns = groups.rest_ns;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const WorkGroup& group = groups.groups[i];
    if (i < most) {
      add(group_text(group), group.calls, group.ns, peak_text(group));
    } else {
      rest_calls += group.calls;
      rest_ns += group.ns;
    }
  }
  if (rest_calls > 0) add("others", rest_calls, rest_ns, "-");
  return table;
}

std::string groups_text(const Overview& data, size_t most, size_t width) {
  return data.groups.groups.empty() ? "" : work_table(data, most).text(width);
}

}  // namespace epi::report
