// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/gpu_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/profile/occupancy.h"

namespace epi::profile {
namespace {

using trace::Category;
using trace::EventId;
using trace::Phase;

Category category_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
      return Category::kKernel;
    case WorkKind::kMemcpy:
      return Category::kGpuMemcpy;
    case WorkKind::kMemset:
      break;
  }
  return Category::kGpuMemset;
}

// Uses the keys of PyTorch's files in their order. The correlation id is stored in a separate
// column.
std::string kernel_args(const GpuWork& work, const GpuDevice& device, const LaunchCost* cost) {
  const KernelShape& shape = work.shape;
  std::string out = fmt::format(
      R"({{"queued": 0, "device": {}, "context": {}, "stream": {}, "registers per thread": {}, )"
      R"("shared memory": {}, "blocks per SM": {:.6f}, "warps per SM": {:.6f}, )"
      R"("grid": [{}], "block": [{}], "est. achieved occupancy %": {})",
      work.device, work.context, work.stream, shape.registers, shape.shared_bytes,
      blocks_per_sm(device, shape), warps_per_sm(device, shape), join(shape.grid, ", "),
      join(shape.block, ", "), estimated_occupancy_percent(device, shape));
  if (work.graph_id != 0) out += fmt::format(R"(, "graph id": {})", work.graph_id);
  if (work.graph_node_id != 0) out += fmt::format(R"(, "graph node id": {})", work.graph_node_id);
  if (cost != nullptr) {
    out += fmt::format(R"(, "bytes": {}, "flops": {})", cost->bytes, cost->flops);
  }
  return out += '}';
}

std::string copy_args(const GpuWork& work) {
  const int64_t dur_ns = work.end_ns - work.start_ns;
  const std::string bandwidth =
      dur_ns > 0 ? fmt::format("{}", static_cast<double>(work.bytes) / static_cast<double>(dur_ns))
                 : "\"N/A\"";
  return fmt::format(R"({{"device": {}, "context": {}, "stream": {}, "bytes": {}, )", work.device,
                     work.context, work.stream, work.bytes) +
         "\"memory bandwidth (GB/s)\": " + bandwidth + "}";
}

class LaneWriter {
 public:
  LaneWriter(trace::Trace& trace, ArgsText& args, GpuLaneInput input)
      : trace_(trace),
        args_(args),
        input_(std::move(input)),
        records_(input_.records),
        annotations_(trace, input_.ranges) {}

  GpuLane run() {
    std::stable_sort(records_.work.begin(), records_.work.end(),
                     [](const GpuWork& a, const GpuWork& b) { return a.start_ns < b.start_ns; });
    std::sort(input_.launches.begin(), input_.launches.end(),
              [](const Launch& a, const Launch& b) { return a.id < b.id; });
    links_ = link_gpu(records_, input_.launches, input_.ranges, input_.window);
    lane_.shift_ns = links_.shift_ns;
    flow_name_ = trace_.names.intern("ac2g");
    for (size_t i = 0; i < records_.calls.size(); ++i) add_call(i);
    for (size_t i = 0; i < records_.work.size(); ++i) add_work(i);
    annotations_.finish();
    for (const Overhead& overhead : records_.overheads) add_overhead(overhead);
    return std::move(lane_);
  }

 private:
  int64_t trace_time(int64_t clock_ns) const { return clock_ns + input_.window.to_trace_ns; }
  trace::NameId name_of(trace::NameId record_name) {
    return trace_.names.intern(records_.names[record_name]);
  }
  int64_t external_id_of(EventId op) const {
    return op == trace::kNoEvent ? 0 : trace_.external_id[op];
  }

  trace::LaneId lane_of(int64_t pid, int64_t tid, std::vector<trace::LaneId>& list) {
    const auto lane = trace_.find_or_add_lane({pid, tid});
    if (std::find(list.begin(), list.end(), lane) == list.end()) list.push_back(lane);
    return lane;
  }

  void add_flow(Phase phase, EventId at) {
    trace_.push({.phase = phase,
                 .category = Category::kAc2g,
                 .name = flow_name_,
                 .lane = trace_.lane[at],
                 .ts_ns = trace_.ts_ns[at],
                 .correlation = trace_.correlation[at]});
  }

  void add_call(size_t index) {
    if (!links_.shown[index]) return;
    const ApiCall& call = records_.calls[index];
    const EventId added =
        trace_.push({.category = call.driver ? Category::kCudaDriver : Category::kCudaRuntime,
                     .name = name_of(call.name),
                     .lane = lane_of(input_.pid, call.tid, lane_.threads),
                     .ts_ns = trace_time(call.start_ns),
                     .dur_ns = std::max<int64_t>(call.end_ns - call.start_ns, 0),
                     .external_id = external_id_of(links_.op[index]),
                     .correlation = call.correlation,
                     .args = args_.add(fmt::format(R"({{"cbid": {}}})", call.cbid))});
    if (links_.starts_work[index]) add_flow(Phase::kFlowStart, added);
  }

  std::string args_of(const GpuWork& work, size_t index) const {
    if (work.kind != WorkKind::kKernel) return copy_args(work);
    static const GpuDevice unknown;
    const auto device = std::find_if(
        records_.devices.begin(), records_.devices.end(),
        [&](const GpuDevice& d) { return static_cast<uint32_t>(d.id) == work.device; });
    const uint32_t launch = links_.launch[index];
    return kernel_args(work, device == records_.devices.end() ? unknown : *device,
                       launch == kNoIndex ? nullptr : &input_.launches[launch].cost);
  }

  void add_work(size_t index) {
    const uint32_t call = links_.call[index];
    if (call == kNoIndex) return;
    const GpuWork& work = records_.work[index];
    const EventId op = links_.op[call];
    const EventId added = trace_.push({.category = category_of(work.kind),
                                       .name = name_of(work.name),
                                       .lane = lane_of(work.device, work.stream, lane_.streams),
                                       .ts_ns = trace_time(work.start_ns + links_.shift_ns),
                                       .dur_ns = std::max<int64_t>(work.end_ns - work.start_ns, 0),
                                       .external_id = external_id_of(op),
                                       .correlation = work.correlation,
                                       .args = args_.add(args_of(work, index))});
    add_flow(Phase::kFlowEnd, added);
    annotations_.add_work(added, op);
  }

  void add_overhead(const Overhead& overhead) {
    if (overhead.start_ns < input_.window.begin_ns || overhead.start_ns > input_.window.end_ns) {
      return;
    }
    trace_.push({.category = Category::kOverhead,
                 .name = name_of(overhead.name),
                 .lane = lane_of(kOverheadPid, overhead.tid, lane_.overhead),
                 .ts_ns = trace_time(overhead.start_ns),
                 .dur_ns = std::max<int64_t>(overhead.end_ns - overhead.start_ns, 0)});
  }

  trace::Trace& trace_;
  ArgsText& args_;
  GpuLaneInput input_;
  GpuRecords& records_;
  GpuAnnotations annotations_;
  GpuLinks links_;
  GpuLane lane_;
  trace::NameId flow_name_ = 0;
};

}  // namespace

GpuLane add_gpu_lane(trace::Trace& trace, ArgsText& args, GpuLaneInput input) {
  return LaneWriter(trace, args, std::move(input)).run();
}

}  // namespace epi::profile
