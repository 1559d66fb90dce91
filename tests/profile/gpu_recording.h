// SPDX-License-Identifier: Apache-2.0
// A synthetic recording with a GPU: the log of one thread, and the records CUPTI would deliver.
// Times are in ns after the start of the recording.
#pragma once

#include <algorithm>
#include <string_view>

#include "epilogue/ops/op.h"
#include "epilogue/profile/collect.h"

namespace epi::profile {

inline constexpr int64_t kBeginNs = 1'000'000;
inline constexpr int64_t kLengthNs = 100'000;
inline constexpr int64_t kTid = 77;

inline GpuDevice h200() {
  return {.id = 0,
          .name = "NVIDIA H200",
          .memory_bytes = 150109880320,
          .major = 9,
          .minor = 0,
          .max_threads_per_block = 1024,
          .max_threads_per_sm = 2048,
          .registers_per_block = 65536,
          .registers_per_sm = 65536,
          .warp_size = 32,
          .sms = 132,
          .shared_per_block_bytes = 49152,
          .shared_per_block_optin_bytes = 232448,
          .shared_per_sm_bytes = 233472,
          .shared_reserved_bytes = 1024,
          .max_blocks_per_sm = 32};
}

class GpuRecording {
 public:
  GpuRecording()
      : recording_{{std::make_shared<ThreadLog>(kTid, "worker", RecordOptions{})},
                   {},
                   kBeginNs,
                   kBeginNs + kLengthNs,
                   1'790'000'000'000'000'000,
                   {}} {
    recording_.gpu.devices = {h200()};
    recording_.gpu.versions = GpuVersions{13000, 13000, 130001};
  }

  GpuRecords& gpu() { return recording_.gpu; }

  void begin_op(Op op, int64_t ns) {
    entry(EntryKind::kOpBegin, ns, {}).op = static_cast<uint8_t>(op);
    log().commit();
  }
  void begin_annotation(std::string_view name, int64_t ns) {
    entry(EntryKind::kAnnotationBegin, ns, name);
    log().commit();
  }
  void end(int64_t ns) {
    entry(EntryKind::kEnd, ns, {});
    log().commit();
  }
  void launch(const LaunchEntry& launch, int64_t ns) {
    entry(EntryKind::kLaunch, ns, {reinterpret_cast<const char*>(&launch), sizeof launch});
    log().commit();
  }
  void cpu_kernel(std::string_view name, int64_t ns) {
    const KernelEntry kernel{kBeginNs + ns + 10, 64, 32};
    std::string payload(reinterpret_cast<const char*>(&kernel), sizeof kernel);
    entry(EntryKind::kKernel, ns, payload.append(name));
    log().commit();
  }

  // A call of 100 ns. `launch_id` is the external correlation id pushed around it, 0 for none.
  ApiCall& call(std::string_view name, uint32_t correlation, int64_t ns, uint64_t launch_id = 0) {
    if (launch_id != 0) gpu().launches.push_back({correlation, launch_id});
    gpu().calls.push_back({.name = gpu().names.intern(name),
                           .driver = name.starts_with("cu") && !name.starts_with("cuda"),
                           .cbid = 211,
                           .correlation = correlation,
                           .tid = kTid,
                           .start_ns = kBeginNs + ns,
                           .end_ns = kBeginNs + ns + 100});
    return gpu().calls.back();
  }
  // GPU work of 1000 ns on stream 7.
  GpuWork& work(WorkKind kind, std::string_view name, uint32_t correlation, int64_t ns) {
    gpu().work.push_back({.kind = kind,
                          .name = gpu().names.intern(name),
                          .context = 1,
                          .stream = 7,
                          .correlation = correlation,
                          .start_ns = kBeginNs + ns,
                          .end_ns = kBeginNs + ns + 1000});
    return gpu().work.back();
  }

  trace::Trace collect(const std::vector<StepSpan>& steps = {}) {
    return profile::collect(std::move(recording_), steps);
  }

 private:
  ThreadLog& log() { return *recording_.logs[0]; }
  EntryHeader& entry(EntryKind kind, int64_t ns, std::string_view payload) {
    EntryHeader* header = log().open(kind, payload.size());
    std::copy(payload.begin(), payload.end(), reinterpret_cast<char*>(header->payload()));
    header->time_ns = kBeginNs + ns;
    return *header;
  }

  Recording recording_;
};

}  // namespace epi::profile
