// SPDX-License-Identifier: Apache-2.0
// Recorded GPU activity as plain structs without CUPTI types, so that tests can build a trace from
// handwritten records. Times are in now_ns() time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::profile {

// A call of the CUDA runtime or driver. Work that it launched has the same `correlation`.
struct ApiCall {
  trace::NameId name = 0;  // in GpuRecords::names: "cudaLaunchKernel"
  bool driver = false;     // a driver call, otherwise a runtime call
  uint32_t cbid = 0;       // CUPTI's callback id of the function
  uint32_t correlation = 0;
  int64_t tid = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct KernelShape {
  int registers = 0;  // per thread
  int64_t shared_bytes = 0;
  std::array<int, 3> grid{1, 1, 1};
  std::array<int, 3> block{1, 1, 1};
};

enum class WorkKind : uint8_t { kKernel, kMemcpy, kMemset };

// A kernel, copy or memset on a device.
struct GpuWork {
  WorkKind kind = WorkKind::kKernel;
  trace::NameId name = 0;  // in GpuRecords::names: "Memset (Device)"
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint32_t graph_id = 0;  // 0: not part of a graph
  uint64_t graph_node_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes = 0;    // of copies and memsets
  KernelShape shape{};  // of kernels
};

// The launch id that was pushed (EventRecorder::launch_begin) around the call with this
// correlation.
struct LaunchOfCall {
  uint32_t correlation = 0;
  uint64_t launch_id = 0;
};

// Time spent in recording, or in the driver to load or compile code.
struct Overhead {
  trace::NameId name = 0;  // in GpuRecords::names
  int64_t tid = 0;         // 0: not one of our threads
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct GpuDevice {
  int id = 0;
  std::string name{};
  int64_t memory_bytes = 0;
  int major = 0;
  int minor = 0;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int registers_per_block = 0;
  int registers_per_sm = 0;
  int warp_size = 32;
  int sms = 0;
  int shared_per_block_bytes = 0;        // default limit
  int shared_per_block_optin_bytes = 0;  // limit for kernels that opt in
  int shared_per_sm_bytes = 0;
  int shared_reserved_bytes = 0;  // per block, reserved for the system
  int max_blocks_per_sm = 0;
};

struct GpuVersions {
  int64_t driver = 0;
  int64_t runtime = 0;
  int64_t cupti = 0;
};

struct GpuRecords {
  trace::Names names;
  std::vector<ApiCall> calls;
  std::vector<GpuWork> work;
  std::vector<LaunchOfCall> launches;
  std::vector<Overhead> overheads;
  std::vector<GpuDevice> devices;
  std::optional<GpuVersions> versions{};
  int64_t dropped = 0;    // lost records
  std::string failure{};  // why nothing was recorded; empty on success or if no GPU is in use
};

}  // namespace epi::profile
