// SPDX-License-Identifier: Apache-2.0
// The listener that writes down what runs, into one log a thread. There is one, which lives for
// ever; a recording begins and ends, and threads find out by its number.
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

// What was recorded between `begin` and `end`.
struct Recording {
  std::vector<std::shared_ptr<ThreadLog>> logs;
  RecordOptions options;
  int64_t begin_ns = 0;       // of now_ns()
  int64_t end_ns = 0;         // what was open then ends there
  int64_t begin_unix_ns = 0;  // the same moment as begin_ns, since 1970
  GpuRecords gpu{};
};

class EventRecorder final : public Listener {
 public:
  static EventRecorder& instance();

  // Begins a recording; throws `Error` where one is under way, or somebody else listens.
  void begin(const RecordOptions& options);
  // Drops what was recorded so far and goes on from here.
  void restart();
  // Ends it and hands it over. What threads do from then on is not in it. Waits for the GPUs.
  Recording end();
  // Ends it and gives what was recorded back.
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

  // The calling thread's log in the recording under way; null where none is.
  ThreadLog* log();
  ThreadLog* attach();
  ThreadLog* attach_locked();
  void end_range();
  void open_recording(const RecordOptions& options);
  Recording close_recording();
  void stop_listening();

  std::mutex turn_;                  // of who begins, restarts or ends one: that may wait for a GPU
  std::atomic<uint64_t> number_{0};  // of the recording under way; 0: none
  std::mutex mutex_;
  uint64_t last_number_ = 0;
  std::atomic<uint64_t> last_launch_{0};
  Recording recording_;
};

}  // namespace epi::profile
