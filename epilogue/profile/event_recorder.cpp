// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/event_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/ops/op.h"
#include "epilogue/profile/gpu_recorder.h"
#include "epilogue/profile/inputs.h"

namespace epi::profile {
namespace {

// The calling thread's log and the number of its recording. Trivial types, because every event
// reads them.
thread_local uint64_t attached_number = 0;
thread_local ThreadLog* attached_log = nullptr;
thread_local bool thread_is_ending = false;
thread_local bool launch_is_marked = false;

// Owns the log; accessed only when the log changes. Destructors that run later in the exiting
// thread may still run operators or free tensors, which are not recorded.
struct LogOwner {
  std::shared_ptr<ThreadLog> log;
  LogOwner() = default;
  LogOwner(const LogOwner&) = delete;
  LogOwner& operator=(const LogOwner&) = delete;
  ~LogOwner() {
    thread_is_ending = true;
    attached_number = 0;
  }
};
thread_local LogOwner log_owner;

std::string current_thread_name() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

// Threads keep their last log alive, so its memory is freed here.
void free_logs(const Recording& recording) {
  for (const auto& log : recording.logs) {
    LogReader reader(*log, LogReader::Then::kFree);
    while (reader.next() != nullptr) {
    }
  }
}

int64_t unix_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

EventRecorder& EventRecorder::instance() {
  static EventRecorder* const recorder = new EventRecorder;
  return *recorder;
}

void EventRecorder::begin(const RecordOptions& options) {
  const std::lock_guard turn(turn_);
  const std::lock_guard lock(mutex_);
  if (number_.load(std::memory_order_relaxed) != 0) {
    fail("profiler", "another profiler is already recording: stop it first");
  }
  if (current_listener() != nullptr) {
    fail("profiler", "another listener is already set (set_listener): remove it first");
  }
  begin_gpu_recording();  // before the clock starts, because the first call is slow
  wait_for_gpus();        // earlier work would appear as idle time at the start of the recording
  open_recording(options);
  set_listener(this);
  if (options.profile_memory) set_allocation_listener(&EventRecorder::allocation);
}

void EventRecorder::restart() {
  const std::lock_guard turn(turn_);
  const std::lock_guard lock(mutex_);
  const Recording dropped = std::move(recording_);
  restart_gpu_recording();
  wait_for_gpus();
  open_recording(dropped.options);
  free_logs(dropped);
}

void EventRecorder::drop() {
  const std::lock_guard turn(turn_);
  stop_listening();
  drop_gpu_recording();
  free_logs(close_recording());
}

void EventRecorder::open_recording(const RecordOptions& options) {
  recording_ = {{}, options, now_ns(), 0, unix_now_ns()};
  number_.store(++last_number_, std::memory_order_release);
  attach_locked();  // now, so that it does not happen in the middle of a measurement
}

Recording EventRecorder::end() {
  const std::lock_guard turn(turn_);
  stop_listening();
  wait_for_gpus();  // before the recording ends, so that the wait is part of the trace
  Recording recording = close_recording();
  recording.gpu = end_gpu_recording();
  return recording;
}

void EventRecorder::stop_listening() {
  if (current_listener() == this) set_listener(nullptr);
  set_allocation_listener(nullptr);
}

Recording EventRecorder::close_recording() {
  const std::lock_guard lock(mutex_);
  number_.store(0, std::memory_order_release);
  recording_.end_ns = now_ns();
  return std::move(recording_);
}

ThreadLog* EventRecorder::log() {
  const uint64_t number = number_.load(std::memory_order_acquire);
  if (number == 0) return nullptr;
  return number == attached_number ? attached_log : attach();
}

ThreadLog* EventRecorder::attach() {
  const std::lock_guard lock(mutex_);
  return attach_locked();
}

ThreadLog* EventRecorder::attach_locked() {
  const uint64_t number = number_.load(std::memory_order_relaxed);
  if (number == 0 || thread_is_ending) return nullptr;
  try {
    log_owner.log =
        std::make_shared<ThreadLog>(::gettid(), current_thread_name(), recording_.options);
    recording_.logs.push_back(log_owner.log);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  attached_log = log_owner.log.get();
  attached_number = number;
  return attached_log;
}

// Begin events read the clock last and end events read it first, so that the cost of recording is
// attributed to the caller.
void EventRecorder::op_begin(Op op, Args args) {
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  const size_t words = log->options().record_shapes ? packed_words(args) : 0;
  EntryHeader* entry = log->open(EntryKind::kOpBegin, words * sizeof(int64_t));
  if (entry == nullptr) return;
  if (words != 0) pack_inputs(args, reinterpret_cast<int64_t*>(entry->payload()));
  entry->op = static_cast<uint16_t>(op);
  entry->time_ns = now_ns();
  log->commit();
}

void EventRecorder::op_end(Op /*op*/) { end_range(); }

void EventRecorder::annotation_begin(std::string_view name) {
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  EntryHeader* entry = log->open(EntryKind::kAnnotationBegin, name.size());
  if (entry == nullptr) return;
  std::memcpy(entry->payload(), name.data(), name.size());
  entry->time_ns = now_ns();
  log->commit();
}

void EventRecorder::annotation_end() { end_range(); }

void EventRecorder::custom_op_begin(std::string_view name, Args args) {
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  const size_t words = log->options().record_shapes ? packed_words(args) : 0;
  EntryHeader* entry =
      log->open(EntryKind::kCustomOpBegin, (1 + words) * sizeof(int64_t) + name.size());
  if (entry == nullptr) return;
  auto* payload = reinterpret_cast<int64_t*>(entry->payload());
  payload[0] = static_cast<int64_t>(words);
  if (words != 0) pack_inputs(args, payload + 1);
  std::memcpy(payload + 1 + words, name.data(), name.size());
  entry->time_ns = now_ns();
  log->commit();
}

void EventRecorder::end_range() {
  const int64_t time_ns = now_ns();
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  EntryHeader* entry = log->open(EntryKind::kEnd, 0);
  if (entry == nullptr) return;
  entry->time_ns = time_ns;
  log->commit();
}

void EventRecorder::kernel(const KernelRun& run) {
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  EntryHeader* entry = log->open(EntryKind::kKernel, sizeof(KernelEntry) + run.name.size());
  if (entry == nullptr) return;
  const KernelEntry kernel{run.end_ns, run.bytes, run.flops};
  std::memcpy(entry->payload(), &kernel, sizeof kernel);
  std::memcpy(entry->payload() + sizeof kernel, run.name.data(), run.name.size());
  entry->time_ns = run.start_ns;
  log->commit();
}

// Only the GPU recorder uses the cost of a launch.
void EventRecorder::launch_begin(const LaunchCost& cost) {
  if (!gpu_is_recording()) return;
  ThreadLog* log = this->log();
  if (log == nullptr) return;
  EntryHeader* entry = log->open(EntryKind::kLaunch, sizeof(LaunchEntry));
  if (entry == nullptr) return;
  const LaunchEntry launch{last_launch_.fetch_add(1, std::memory_order_relaxed) + 1, cost.bytes,
                           cost.flops};
  std::memcpy(entry->payload(), &launch, sizeof launch);
  entry->time_ns = now_ns();
  log->commit();
  launch_is_marked = mark_launch(launch.id);
}

void EventRecorder::launch_end() {
  if (std::exchange(launch_is_marked, false)) unmark_launch();
}

void EventRecorder::allocation(const Allocation& allocation) noexcept {
  ThreadLog* log = instance().log();
  if (log == nullptr || !log->options().profile_memory) return;
  const bool on_cpu = allocation.device == kCpu;
  const AllocationEntry packed{static_cast<int64_t>(reinterpret_cast<intptr_t>(allocation.data)),
                               allocation.bytes,
                               allocation.in_use_bytes,
                               allocation.reserved_bytes,
                               on_cpu ? 0 : 1,
                               on_cpu ? -1 : allocation.device.index};
  EntryHeader* entry = log->open(EntryKind::kAllocation, sizeof packed);
  if (entry == nullptr) return;
  std::memcpy(entry->payload(), &packed, sizeof packed);
  entry->time_ns = now_ns();
  log->commit();
}

}  // namespace epi::profile
