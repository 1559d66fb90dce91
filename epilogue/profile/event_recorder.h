// SPDX-License-Identifier: Apache-2.0
// The listener that records events into one log per thread. It is a singleton that is never
// destroyed. Each recording has a number, by which threads notice that a recording has started or
// ended.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "epilogue/ops/hooks.h"
#include "epilogue/profile/gpu_records.h"
#include "epilogue/profile/thread_log.h"
#include "epilogue/tensor/allocation_listener.h"

namespace epi::profile {

// The data recorded between `begin` and `end`.
struct Recording {
  std::vector<std::shared_ptr<ThreadLog>> logs;
  RecordOptions options;
  int64_t begin_ns = 0;       // in now_ns() time
  int64_t end_ns = 0;         // ranges that are still open end here
  int64_t begin_unix_ns = 0;  // begin_ns as Unix time
  GpuRecords gpu{};
};

class EventRecorder final : public Listener {
 public:
  static EventRecorder& instance();

  // Starts a recording. Throws `Error` if one is in progress or another listener is set.
  void begin(const RecordOptions& options);
  // Discards what was recorded so far and continues recording.
  void restart();
  // Waits for the GPUs, ends the recording and returns it. Later events are not part of it.
  Recording end();
  // Ends the recording and discards it.
  void drop();

  void op_begin(Op op, Args args) override;
  void op_end(Op op) override;
  void annotation_begin(std::string_view name) override;
  void annotation_end() override;
  void custom_op_begin(std::string_view name, Args args) override;
  void kernel(const KernelRun& run) override;
  void launch_begin(const LaunchCost& cost) override;
  void launch_end() override;

 private:
  EventRecorder() = default;
  static void allocation(const Allocation& allocation) noexcept;

  // The calling thread's log in the current recording, or null if there is no recording.
  ThreadLog* log();
  ThreadLog* attach();
  ThreadLog* attach_locked();
  void end_range();
  void open_recording(const RecordOptions& options);
  Recording close_recording();
  void stop_listening();

  std::mutex turn_;  // serializes begin, restart, end, drop, which may wait for GPUs
  std::atomic<uint64_t> number_{0};  // of the current recording; 0: none
  std::mutex mutex_;
  uint64_t last_number_ = 0;
  std::atomic<uint64_t> last_launch_{0};
  Recording recording_;
};

}  // namespace epi::profile
