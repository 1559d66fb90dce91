// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/gpu_links.h"

#include <algorithm>
#include <unordered_map>

#include "epilogue/profile/gpu_names.h"

namespace epi::profile {
namespace {

class Linker {
 public:
  Linker(const GpuRecords& records, std::span<const Launch> launches, const OpRanges& ranges,
         const TimeWindow& window)
      : records_(records), launches_(launches), ranges_(ranges), window_(window) {
    links_.shown.resize(records.calls.size());
    links_.starts_work.resize(records.calls.size());
    links_.op.resize(records.calls.size(), trace::kNoEvent);
    links_.call.resize(records.work.size(), kNoIndex);
    links_.launch.resize(records.work.size(), kNoIndex);
  }

  GpuLinks run() {
    index_calls();
    index_launches();
    for (size_t i = 0; i < records_.work.size(); ++i) link_work(i);
    for (size_t i = 0; i < records_.calls.size(); ++i) link_call(i);
    return std::move(links_);
  }

 private:
  bool is_recorded(const ApiCall& call) const {
    return call.start_ns >= window_.begin_ns && call.start_ns <= window_.end_ns;
  }

  // CUPTI may report both a runtime function and the driver function that it calls. Keeps only the
  // runtime function.
  void index_calls() {
    for (size_t i = 0; i < records_.calls.size(); ++i) {
      const ApiCall& call = records_.calls[i];
      if (!is_recorded(call)) continue;
      const auto [slot, is_new] = calls_.try_emplace(call.correlation, static_cast<uint32_t>(i));
      if (!is_new && !call.driver) slot->second = static_cast<uint32_t>(i);
    }
  }

  void index_launches() {
    for (const LaunchOfCall& pair : records_.launches) {
      const auto found =
          std::lower_bound(launches_.begin(), launches_.end(), pair.launch_id,
                           [](const Launch& launch, uint64_t id) { return launch.id < id; });
      if (found == launches_.end() || found->id != pair.launch_id) continue;
      launch_of_call_[pair.correlation] = static_cast<uint32_t>(found - launches_.begin());
    }
    has_cost_.resize(launches_.size(), true);
  }

  uint32_t launch_of(uint32_t correlation) const {
    const auto found = launch_of_call_.find(correlation);
    return found == launch_of_call_.end() ? kNoIndex : found->second;
  }

  // A GEMM launch may also start the kernel that reduces its split-K parts. Only the first kernel
  // gets the cost.
  void link_work(size_t index) {
    const GpuWork& work = records_.work[index];
    const auto call = calls_.find(work.correlation);
    if (call == calls_.end()) return;
    links_.call[index] = call->second;
    links_.starts_work[call->second] = true;
    const int64_t early_ns = records_.calls[call->second].start_ns - work.start_ns;
    links_.shift_ns = std::max(links_.shift_ns, early_ns);
    const uint32_t launch = launch_of(work.correlation);
    if (launch == kNoIndex || work.kind != WorkKind::kKernel || !has_cost_[launch]) return;
    links_.launch[index] = launch;
    has_cost_[launch] = false;
  }

  void link_call(size_t index) {
    const ApiCall& call = records_.calls[index];
    if (!is_recorded(call) || calls_.at(call.correlation) != index) return;
    links_.shown[index] =
        links_.starts_work[index] || is_worth_showing(call.driver, records_.names[call.name]);
    if (!links_.shown[index]) return;
    const uint32_t launch = launch_of(call.correlation);
    if (launch != kNoIndex) links_.op[index] = launches_[launch].range;
    if (links_.op[index] != trace::kNoEvent) return;
    links_.op[index] = ranges_.find(call.tid, call.start_ns + window_.to_trace_ns,
                                    call.end_ns + window_.to_trace_ns);
  }

  const GpuRecords& records_;
  std::span<const Launch> launches_;
  const OpRanges& ranges_;
  const TimeWindow& window_;
  GpuLinks links_;
  std::unordered_map<uint32_t, uint32_t> calls_;           // index by correlation
  std::unordered_map<uint32_t, uint32_t> launch_of_call_;  // index by correlation
  std::vector<bool> has_cost_;  // launches whose cost is not yet assigned to a kernel
};

}  // namespace

GpuLinks link_gpu(const GpuRecords& records, std::span<const Launch> launches,
                  const OpRanges& ranges, const TimeWindow& window) {
  return Linker(records, launches, ranges, window).run();
}

}  // namespace epi::profile
