// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/collect.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "epilogue/ops/custom_op.h"
#include "epilogue/profile/args_text.h"
#include "epilogue/profile/cpu_kernel_lane.h"
#include "epilogue/profile/describe.h"
#include "epilogue/profile/gpu_lane.h"
#include "epilogue/profile/inputs.h"
#include "epilogue/trace/step_name.h"

namespace epi::profile {
namespace {

using trace::Category;
using trace::Event;
using trace::EventId;
using trace::Phase;

// Times in Kineto's files are relative to a multiple of a quarter year, so that a double can
// represent their nanoseconds.
constexpr int64_t kQuarterYearNs = int64_t{7889238} * 1'000'000'000;

constexpr size_t kWord = sizeof(int64_t);

std::string_view payload_text(const EntryHeader& entry, size_t skipped = 0) {
  return {reinterpret_cast<const char*>(entry.payload()) + skipped, entry.payload_bytes - skipped};
}

template <typename T>
T payload_of(const EntryHeader& entry) {
  T value;
  std::memcpy(&value, entry.payload(), sizeof value);
  return value;
}

class Collector {
 public:
  explicit Collector(Recording recording)
      : recording_(std::move(recording)), pid_(::getpid()), ranges_(trace_) {
    trace_.base_time_ns = recording_.begin_unix_ns / kQuarterYearNs * kQuarterYearNs;
    shift_ns_ = recording_.begin_unix_ns - trace_.base_time_ns - recording_.begin_ns;
    for (size_t op = 0; op < detail::count_ops(); ++op) {
      op_names_.push_back(trace_.names.intern(op_info(static_cast<Op>(op)).name));
    }
  }

  trace::Trace run(const std::vector<StepSpan>& steps) {
    trace_.reserve(count_events() + steps.size());
    for (const StepSpan& step : steps) add_step(step);
    for (const auto& log : recording_.logs) add_log(*log);
    const GpuLane gpu = add_gpu();
    for (Kernel& kernel : kernels_) add_kernel(kernel);
    describe_trace(
        trace_, args_,
        {recording_, pid_, trace_time(recording_.begin_ns), thread_names_, gpu, !kernels_.empty()});
    trace_.args_text = args_.release();
    return std::move(trace_);
  }

 private:
  struct Kernel {
    Event event;
    EventId caller;  // the enclosing range
  };

  size_t count_events() {
    size_t count = 2 * (recording_.gpu.calls.size() + recording_.gpu.work.size());
    for (const auto& log : recording_.logs) {
      LogReader reader(*log, LogReader::Then::kKeep);
      while (const EntryHeader* entry = reader.next()) count += events_of(entry->kind);
    }
    return count;
  }

  static size_t events_of(EntryKind kind) {
    if (kind == EntryKind::kKernel) return 3;
    return kind == EntryKind::kEnd || kind == EntryKind::kLaunch ? 0 : 1;
  }

  int64_t trace_time(int64_t clock_ns) const { return clock_ns + shift_ns_; }

  EventId add_range(Category category, trace::NameId name, trace::LaneId lane, int64_t begin_ns,
                    trace::ArgsRange args) {
    return trace_.push({.category = category,
                        .name = name,
                        .lane = lane,
                        .ts_ns = trace_time(begin_ns),
                        .external_id = ++last_external_id_,
                        .args = args});
  }

  void add_step(const StepSpan& step) {
    const auto name = trace_.names.intern(trace::step_name(step.number));
    const auto lane = trace_.find_or_add_lane({pid_, step.tid});
    const EventId id = add_range(Category::kUserAnnotation, name, lane, step.begin_ns, {});
    trace_.dur_ns[id] = step.end_ns - step.begin_ns;
    ranges_.add_step(step.tid, id);
  }

  void add_log(ThreadLog& log) {
    const auto lane = trace_.find_or_add_lane({pid_, log.tid()});
    thread_names_[lane] = log.thread_name();
    latest_ns_ = recording_.begin_ns;
    LogReader reader(log, LogReader::Then::kFree);
    while (const EntryHeader* entry = reader.next()) {
      // A thread that noticed the end late may have written further entries.
      if (entry->kind != EntryKind::kEnd && entry->time_ns > recording_.end_ns) break;
      add_entry(*entry, lane);
    }
    while (!open_.empty()) close(recording_.end_ns);
  }

  void add_entry(const EntryHeader& entry, trace::LaneId lane) {
    switch (entry.kind) {
      case EntryKind::kOpBegin:
        return open(add_range(Category::kCpuOp, op_names_[entry.op], lane, in_order(entry),
                              inputs_of(words_at(entry, 0, entry.payload_bytes / kWord))));
      case EntryKind::kCustomOpBegin:
        return open(add_custom_op(entry, lane));
      case EntryKind::kAnnotationBegin:
        return open(add_range(Category::kUserAnnotation, trace_.names.intern(payload_text(entry)),
                              lane, in_order(entry), {}));
      case EntryKind::kEnd:  // the range may have started before the recording
        if (!open_.empty()) close(std::min(in_order(entry), recording_.end_ns));
        return;
      case EntryKind::kKernel:
        return keep_kernel(entry);
      case EntryKind::kLaunch:
        return keep_launch(payload_of<LaunchEntry>(entry));
      case EntryKind::kAllocation:
        return add_allocation(entry, lane);
    }
  }

  // A CPU may read its counter a few instructions early. Makes sure that a range does not start
  // before its parent.
  int64_t in_order(const EntryHeader& entry) {
    latest_ns_ = std::max(latest_ns_, entry.time_ns);
    return latest_ns_;
  }

  // The nesting of ranges is needed only for GPU records.
  void open(EventId range) {
    if (!recording_.gpu.calls.empty()) {
      ranges_.add(trace_.lanes[trace_.lane[range]].tid, range,
                  open_.empty() ? trace::kNoEvent : open_.back());
    }
    open_.push_back(range);
  }

  void close(int64_t end_ns) {
    trace_.dur_ns[open_.back()] = trace_time(end_ns) - trace_.ts_ns[open_.back()];
    open_.pop_back();
  }

  static std::span<const int64_t> words_at(const EntryHeader& entry, size_t first, size_t count) {
    return {reinterpret_cast<const int64_t*>(entry.payload()) + first, count};
  }

  trace::ArgsRange inputs_of(std::span<const int64_t> words) {
    if (words.empty()) return {};
    const std::string_view key(reinterpret_cast<const char*>(words.data()), words.size_bytes());
    return args_.intern(key, [&] { return inputs_json(words); });
  }

  EventId add_custom_op(const EntryHeader& entry, trace::LaneId lane) {
    const auto words = static_cast<size_t>(words_at(entry, 0, 1)[0]);
    const auto name = trace_.names.intern(payload_text(entry, (1 + words) * kWord));
    return add_range(Category::kCpuOp, name, lane, in_order(entry),
                     inputs_of(words_at(entry, 1, words)));
  }

  // Kernels are added to the trace after all operators.
  void keep_kernel(const EntryHeader& entry) {
    if (open_.empty()) return;  // its operator started before the recording
    const auto kernel = payload_of<KernelEntry>(entry);
    const auto name = trace_.names.intern(payload_text(entry, sizeof kernel));
    const auto args = args_.add(fmt::format(
        R"({{"device": 0, "stream": 0, "bytes": {}, "flops": {}}})", kernel.bytes, kernel.flops));
    const int64_t end_ns = std::min(kernel.end_ns, recording_.end_ns);
    kernels_.push_back({{.category = Category::kKernel,
                         .name = name,
                         .ts_ns = trace_time(entry.time_ns),
                         .dur_ns = end_ns - entry.time_ns,
                         .external_id = trace_.external_id[open_.back()],
                         .args = args},
                        open_.back()});
  }

  void keep_launch(const LaunchEntry& launch) {
    launches_.push_back(
        {launch.id, open_.empty() ? trace::kNoEvent : open_.back(), {launch.bytes, launch.flops}});
  }

  GpuLane add_gpu() {
    GpuRecords& records = recording_.gpu;
    for (const ApiCall& call : records.calls) {
      last_correlation_ = std::max<int64_t>(last_correlation_, call.correlation);
    }
    const TimeWindow window{recording_.begin_ns, recording_.end_ns, shift_ns_};
    return add_gpu_lane(trace_, args_, {records, std::move(launches_), ranges_, window, pid_});
  }

  // Adds the kernel and the flow from its operator to the kernel.
  void add_kernel(Kernel& kernel) {
    const int64_t correlation = ++last_correlation_;
    Event flow{.phase = Phase::kFlowStart,
               .category = Category::kAc2g,
               .name = trace_.names.intern("ac2g"),
               .lane = trace_.lane[kernel.caller],
               .ts_ns = kernel.event.ts_ns,
               .correlation = correlation};
    trace_.push(flow);
    kernel.event.correlation = correlation;
    kernel.event.lane = trace_.find_or_add_lane({kCpuKernelsPid, 0});
    trace_.push(kernel.event);
    flow.phase = Phase::kFlowEnd;
    flow.lane = kernel.event.lane;
    trace_.push(flow);
  }

  void add_allocation(const EntryHeader& entry, trace::LaneId lane) {
    const auto allocation = payload_of<AllocationEntry>(entry);
    trace_.push({.phase = Phase::kInstant,
                 .category = Category::kCpuInstantEvent,
                 .name = trace_.names.intern("[memory]"),
                 .lane = lane,
                 .ts_ns = trace_time(entry.time_ns),
                 .args = args_.add(fmt::format(
                     R"({{"Addr": {}, "Bytes": {}, "Total Allocated": {}, "Total Reserved": {}, )"
                     R"("Device Type": {}, "Device Id": {}}})",
                     allocation.address, allocation.bytes, allocation.in_use_bytes,
                     allocation.reserved_bytes, allocation.device_type, allocation.device_id))});
  }

  Recording recording_;
  trace::Trace trace_;
  ArgsText args_;
  int64_t pid_;
  OpRanges ranges_;
  int64_t shift_ns_ = 0;  // added to now_ns() times to get trace times
  std::vector<trace::NameId> op_names_;
  std::vector<EventId> open_;  // open ranges of the current log
  int64_t latest_ns_ = 0;      // latest start or end in the current log
  std::vector<Kernel> kernels_;
  std::vector<Launch> launches_;
  std::map<trace::LaneId, std::string> thread_names_;
  int64_t last_external_id_ = 0;
  int64_t last_correlation_ = 0;
};

}  // namespace

trace::Trace collect(Recording recording, const std::vector<StepSpan>& steps) {
  return Collector(std::move(recording)).run(steps);
}

}  // namespace epi::profile
