// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/gemms.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "epilogue/analysis/index/decoded_names.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

bool belongs_to_gemm(Kind kind) { return kind == Kind::kSplitKReduce || kind == Kind::kEpilogue; }

// The kernels of one operator.
struct Launched {
  std::vector<EventId> gemms;
  int64_t beside_ns = 0;
};

// The key of a row: operator, sizes, kernel.
using Key = std::tuple<std::string_view, std::string, trace::NameId>;

struct Group {
  EventId first = kNoEvent;
  EventId op = kNoEvent;
  std::vector<double> times_ns;
};

GemmRow make_row(const trace::Trace& trace, const DecodedNames& names, const Group& group,
                 const std::optional<GpuPeaks>& peaks) {
  GemmRow row;
  if (group.op != kNoEvent) {
    row.op = trace.name_of(group.op);
    row.gemm = gemm_shape(trace, group.op, group.first);
  }
  row.kernel = trace.name_of(group.first);
  row.name = names[trace.name[group.first]];
  if (group.op != kNoEvent && is_glu_kernel(trace, group.op, group.first)) {
    row.name.dtype = glu_type(trace, group.op);
  }
  row.count = static_cast<int64_t>(group.times_ns.size());
  row.median_ns = median(group.times_ns);
  for (const double ns : group.times_ns) row.total_ns += ns;
  auto flops = recorded_number(trace, group.first, "flops");
  if (!flops && row.gemm) flops = row.gemm->flops();
  if (!flops || row.median_ns <= 0) return row;
  row.tflops = *flops / row.median_ns / 1000;
  const double peak = peaks ? peaks->of(row.name.dtype) : 0;
  if (peak > 0) row.share_of_peak = *row.tflops / peak;
  return row;
}

std::unordered_map<EventId, Launched> launched_by_op(const trace::Trace& trace,
                                                     const trace::Links& links,
                                                     const DecodedNames& names) {
  std::unordered_map<EventId, Launched> result;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || trace.category[id] != Category::kKernel) continue;
    const Kind kind = names[trace.name[id]].kind;
    Launched& launched = result[links.op[id]];
    if (is_gemm(kind)) launched.gemms.push_back(id);
    if (belongs_to_gemm(kind)) launched.beside_ns += trace.dur_ns[id];
  }
  return result;
}

}  // namespace

GemmTable gemm_table(const trace::Trace& trace) {
  const trace::Links links = trace::link(trace);
  const DecodedNames names(trace);
  GemmTable table;
  table.device = device_name(trace);
  table.peaks = gpu_peaks(table.device);
  std::map<Key, Group> groups;
  for (const auto& [op, launched] : launched_by_op(trace, links, names)) {
    // The sizes are known for an operator that runs a single GEMM, and for the custom kernels of
    // ours.
    const bool is_single = op != kNoEvent && launched.gemms.size() == 1;
    for (const EventId kernel : launched.gemms) {
      const std::string_view op_name = op == kNoEvent ? "" : trace.name_of(op);
      const bool single = is_single || (op != kNoEvent && is_glu_kernel(trace, op, kernel));
      Group& group = groups[{op_name, single ? size_signature(trace, op) : "", trace.name[kernel]}];
      if (group.first == kNoEvent || kernel < group.first) {
        group.first = kernel;
        group.op = single ? op : kNoEvent;
      }
      group.times_ns.push_back(
          static_cast<double>(trace.dur_ns[kernel] + (is_single ? launched.beside_ns : 0)));
    }
  }
  std::vector<std::pair<EventId, GemmRow>> rows;
  for (const auto& [key, group] : groups) {
    rows.emplace_back(group.first, make_row(trace, names, group, table.peaks));
    if (rows.back().second.op.empty()) rows.back().second.op = std::get<0>(key);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second.total_ns, a.first) < std::tuple(-b.second.total_ns, b.first);
  });
  for (auto& [first, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace epi::analysis
