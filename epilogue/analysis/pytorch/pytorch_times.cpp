// SPDX-License-Identifier: Apache-2.0
// PyTorch's behavior, derived by comparing its tables with its traces (2.11):
//   - a time is the difference of two doubles, in microseconds since the profiler's start;
//   - sums over children and kernels are compensated (Python's `sum`), sums over rows are not;
//   - a runtime call belongs to the thread of the op whose external id it has, and without one to
// the
//     thread that ran the profiler, whichever thread made the call;
//   - an event whose only child has the same name takes over the child's children and kernels;
//   - an overhead event counts the kernels of its enclosing op a second time.
#include "epilogue/analysis/pytorch/pytorch_times.h"

#include <algorithm>
#include <cmath>

#include "epilogue/trace/id_index.h"
#include "epilogue/trace/natural_merge.h"
#include "epilogue/trace/op_tree.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

// Neumaier summation, as in Python's `sum` of floats since 3.12.
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    rest_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

bool is_device_row(Category category) {
  return trace::is_device_work(category) || category == Category::kGpuUserAnnotation;
}

constexpr trace::LaneId kNoLane = UINT32_MAX;

// Kineto writes an annotation's span one nanosecond too wide on each side.
constexpr int64_t kAnnotationPaddingNs = 1;

class TimesBuilder {
 public:
  explicit TimesBuilder(const trace::Trace& trace)
      : trace_(trace), start_ns_(profiler_start()), memory_(trace) {}

  PytorchTimes build() {
    add_host_rows();
    add_device_rows();
    if (!memory_.empty()) row_memory_.resize(rows_.size());
    for (const MemoryRecords::Record& record : memory_.outside()) {
      rows_.push_back({record.id, {}});
      row_memory_.push_back({record.use, record.use});
    }
    std::vector<uint32_t> order = row_order();
    return {std::move(rows_), std::move(row_memory_), std::move(order)};
  }

 private:
  // A host event whose children are being visited.
  struct Frame {
    EventId id = kNoEvent;
    size_t row = 0;
    uint32_t children = 0;
    CompensatedSum children_cpu{};
    CompensatedSum children_device{};
    double kernels_us = 0;
    MemoryUse children_memory{};
    // State of an only child, in case it is merged.
    size_t child_row = 0;
    MemoryUse child_children_memory{};
    CompensatedSum child_children_cpu{};
    CompensatedSum child_children_device{};
    double child_kernels_us = 0;
  };

  int64_t profiler_start() const {
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (trace_.category[id] == Category::kTraceSpan) return trace_.ts_ns[id];
    }
    return trace_.size() == 0 ? 0 : *std::min_element(trace_.ts_ns.begin(), trace_.ts_ns.end());
  }

  int64_t padding_ns(EventId id) const {
    return trace_.category[id] == Category::kGpuUserAnnotation ? kAnnotationPaddingNs : 0;
  }
  int64_t begin_ns(EventId id) const { return trace_.ts_ns[id] + padding_ns(id); }
  int64_t end_ns(EventId id) const {
    return std::max(begin_ns(id), trace_.end_ns(id) - padding_ns(id));
  }
  double elapsed_us(EventId id) const {
    return static_cast<double>(end_ns(id) - start_ns_) / 1000 -
           static_cast<double>(begin_ns(id) - start_ns_) / 1000;
  }

  void add_host_rows() {
    const std::vector<trace::LaneId> lanes = add_kernels_and_find_lanes();
    walk(trace::host_order(trace_, lanes), lanes);
    kernels_ = std::vector<CompensatedSum>();
  }

  std::vector<trace::LaneId> add_kernels_and_find_lanes() {
    const trace::IdIndex ops = trace::index_events(trace_.external_id, [&](EventId id) {
      return trace_.category[id] == Category::kCpuOp ||
             trace_.category[id] == Category::kUserAnnotation;
    });
    add_kernels(ops);
    return pytorch_lanes(ops);
  }

  void add_device_rows() {
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (!trace_.is_span(id) || !is_device_row(trace_.category[id])) continue;
      const double us = elapsed_us(id);
      rows_.push_back({id, {0, 0, us, us}});
    }
  }

  void add_kernels(const trace::IdIndex& ops) {
    kernels_.resize(trace_.size());
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (!trace_.is_span(id) || !trace::is_device_work(trace_.category[id])) continue;
      const EventId op = ops.find(trace_.external_id[id]);
      if (op != kNoEvent) kernels_[op].add(elapsed_us(id));
    }
  }

  // The lane of the thread that ran the profiler: the thread of the steps, or the process's main
  // thread.
  trace::LaneId main_lane() const {
    trace::LaneId first_thread = kNoLane;
    for (EventId id = 0; id < trace_.size(); ++id) {
      const bool annotation = trace_.category[id] == Category::kUserAnnotation;
      if (annotation && trace::is_step_name(trace_.name_of(id))) return trace_.lane[id];
      if (!annotation && trace_.category[id] != Category::kCpuOp) continue;
      const trace::Lane& lane = trace_.lanes[trace_.lane[id]];
      if (lane.pid == lane.tid) first_thread = trace_.lane[id];
    }
    return first_thread;
  }

  std::vector<trace::LaneId> pytorch_lanes(const trace::IdIndex& ops) const {
    std::vector<trace::LaneId> lanes = trace_.lane;
    const trace::LaneId main = main_lane();
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (!trace::is_call(trace_.category[id]) && trace_.category[id] != Category::kOverhead)
        continue;
      const EventId op = ops.find(trace_.external_id[id]);
      if (op != kNoEvent) {
        lanes[id] = trace_.lane[op];
      } else if (main != kNoLane) {
        lanes[id] = main;
      }
    }
    return lanes;
  }

  void walk(const std::vector<EventId>& order, const std::vector<trace::LaneId>& lanes) {
    rows_.reserve(trace_.size());
    std::vector<Frame> open;
    const auto close = [&] {
      finish(open.back(), open.size() < 2 ? nullptr : &open[open.size() - 2]);
      open.pop_back();
    };
    for (const EventId id : order) {
      const auto encloses = [&](EventId outer) {
        return lanes[outer] == lanes[id] && trace_.ts_ns[id] < trace_.end_ns(outer) &&
               trace_.end_ns(id) <= trace_.end_ns(outer);
      };
      while (!open.empty() && !encloses(open.back().id)) close();
      Frame frame{.id = id, .row = rows_.size()};
      frame.kernels_us = kernels_[id].value();
      if (trace_.category[id] == Category::kOverhead && !open.empty()) {
        frame.kernels_us = open.back().kernels_us;
      }
      rows_.push_back({id, {}});
      if (!memory_.empty()) row_memory_.emplace_back();
      open.push_back(frame);
    }
    while (!open.empty()) close();
  }

  // Called after all children of `frame` were visited. Computes its times and adds them to its
  // parent.
  void finish(Frame& frame, Frame* parent) {
    EventTimes& times = rows_[frame.row].times;
    if (frame.children == 1 && trace_.name[rows_[frame.child_row].id] == trace_.name[frame.id]) {
      rows_[frame.child_row].id = kNoEvent;
      frame.children_cpu = frame.child_children_cpu;
      frame.children_device = frame.child_children_device;
      frame.kernels_us = frame.child_kernels_us;
      frame.children_memory = frame.child_children_memory;
    }
    times.cpu_us = elapsed_us(frame.id);
    times.self_cpu_us = times.cpu_us - frame.children_cpu.value();
    times.device_us = frame.kernels_us + frame.children_device.value();
    times.self_device_us = times.device_us - frame.children_device.value();
    if (!memory_.empty()) {
      const MemoryUse all = memory_.during(begin_ns(frame.id), end_ns(frame.id));
      row_memory_[frame.row] = {all, all - frame.children_memory};
      if (parent != nullptr) parent->children_memory += all;
    }
    if (parent == nullptr) return;
    parent->child_children_memory = frame.children_memory;
    ++parent->children;
    parent->children_cpu.add(times.cpu_us);
    parent->children_device.add(times.device_us);
    parent->child_row = frame.row;
    parent->child_children_cpu = frame.children_cpu;
    parent->child_children_device = frame.children_device;
    parent->child_kernels_us = frame.kernels_us;
  }

  // Sorts by start, longer events first, and drops merged events. Each thread and stream is already
  // a sorted run. Few events start at the same time, so their ends are looked up.
  std::vector<uint32_t> row_order() const {
    struct Place {
      int64_t begin_ns;
      uint32_t row;
    };
    std::vector<Place> places;
    places.reserve(rows_.size());
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      const EventId id = rows_[i].id;
      if (id != kNoEvent) places.push_back({begin_ns(id), i});
    }
    places = trace::natural_merge(std::move(places), [&](const Place& a, const Place& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns
                                      : end_ns(rows_[a.row].id) > end_ns(rows_[b.row].id);
    });
    std::vector<uint32_t> order;
    order.reserve(places.size());
    for (const Place& place : places) order.push_back(place.row);
    return order;
  }

  const trace::Trace& trace_;
  int64_t start_ns_;
  std::vector<CompensatedSum> kernels_;  // by op
  MemoryRecords memory_;
  std::vector<TimedEvent> rows_;
  std::vector<EventMemory> row_memory_;
};

}  // namespace

PytorchTimes pytorch_times(const trace::Trace& trace) { return TimesBuilder(trace).build(); }

}  // namespace epi::analysis
