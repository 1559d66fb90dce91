// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/describe.h"

#include <cerrno>
#include <thread>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/profile/cpu_kernel_lane.h"
#include "epilogue/trace/event_args.h"

namespace epi::profile {
namespace {

// Kineto's sort order: GPUs below the process, overhead below everything else.
constexpr int64_t kFirstGpuSortIndex = 5'000'000;
constexpr int64_t kOverheadSortIndex = int64_t{1} << 24;

class Describer {
 public:
  Describer(trace::Trace& trace, ArgsText& args, const TraceFacts& facts)
      : trace_(trace), args_(args), facts_(facts) {}

  void name_processes() {
    name_process(facts_.pid, program_invocation_short_name, "CPU", facts_.pid);
    for (const GpuDevice& device : facts_.recording.gpu.devices) {
      name_process(device.id, program_invocation_short_name, fmt::format("GPU {}", device.id),
                   kFirstGpuSortIndex + device.id);
    }
    if (facts_.has_cpu_lane()) {
      name_process(kCpuKernelsPid, "CPU kernels", "CPU kernels", kCpuKernelsPid);
    }
    if (!facts_.gpu.overhead.empty()) {
      name_process(kOverheadPid, "Overhead", "Overhead", kOverheadSortIndex);
    }
  }

  void name_threads() {
    if (facts_.has_cpu_lane()) {
      const auto kernels = trace_.find_or_add_lane({kCpuKernelsPid, 0});
      add_metadata(kernels, "thread_name", "name", json_quoted("kernels"));
    }
    for (const auto& [lane, name] : facts_.thread_names) {
      name_thread(lane, fmt::format("thread {} ({})", trace_.lanes[lane].tid, name));
    }
    for (const trace::LaneId lane : facts_.gpu.threads) {
      if (facts_.thread_names.contains(lane)) continue;
      name_thread(lane, fmt::format("thread {}", trace_.lanes[lane].tid));
    }
    for (const trace::LaneId lane : facts_.gpu.streams) {
      name_thread(lane, fmt::format("stream {}", trace_.lanes[lane].tid));
    }
  }

 private:
  void name_process(int64_t pid, std::string_view name, std::string_view label,
                    int64_t sort_index) {
    const auto lane = trace_.find_or_add_lane({pid, 0});
    add_metadata(lane, "process_name", "name", json_quoted(name));
    add_metadata(lane, "process_labels", "labels", json_quoted(label));
    add_metadata(lane, "process_sort_index", "sort_index", fmt::format("{}", sort_index));
  }

  void name_thread(trace::LaneId lane, std::string_view name) {
    add_metadata(lane, "thread_name", "name", json_quoted(name));
    add_metadata(lane, "thread_sort_index", "sort_index",
                 fmt::format("{}", trace_.lanes[lane].tid));
  }

  void add_metadata(trace::LaneId lane, std::string_view name, std::string_view key,
                    const std::string& value) {
    trace_.push({.phase = trace::Phase::kMetadata,
                 .name = trace_.names.intern(name),
                 .lane = lane,
                 .ts_ns = facts_.begin_ns,
                 .args = args_.add(fmt::format("{{\"{}\": {}}}", key, value))});
  }

  trace::Trace& trace_;
  ArgsText& args_;
  const TraceFacts& facts_;
};

// Uses the keys of PyTorch's files.
void describe_gpu(JsonWriter& json, const GpuDevice& device) {
  json.begin_object().key("id").integer(device.id).key("name").string(device.name);
  json.key("totalGlobalMem").integer(device.memory_bytes);
  json.key("computeMajor").integer(device.major).key("computeMinor").integer(device.minor);
  json.key("maxThreadsPerBlock").integer(device.max_threads_per_block);
  json.key("maxThreadsPerMultiprocessor").integer(device.max_threads_per_sm);
  json.key("regsPerBlock").integer(device.registers_per_block);
  json.key("warpSize").integer(device.warp_size);
  json.key("sharedMemPerBlock").integer(device.shared_per_block_bytes);
  json.key("numSms").integer(device.sms);
  json.key("regsPerMultiprocessor").integer(device.registers_per_sm);
  json.key("sharedMemPerBlockOptin").integer(device.shared_per_block_optin_bytes);
  json.key("sharedMemPerMultiprocessor").integer(device.shared_per_sm_bytes);
  json.end_object();
}

void describe_cpu(JsonWriter& json) {
  json.begin_object().key("id").integer(0).key("name").string(cpu_name());
  json.key("numCores").integer(std::thread::hardware_concurrency()).key("features").begin_array();
  for (const std::string& feature : cpu_features()) json.string(feature);
  json.end_array().end_object();
}

std::string device_properties(const TraceFacts& facts) {
  JsonWriter json;
  json.begin_array();
  for (const GpuDevice& device : facts.recording.gpu.devices) describe_gpu(json, device);
  if (facts.has_cpu_lane()) describe_cpu(json);
  json.end_array();
  return json.text();
}

// Describes what is missing from the recording. Empty if it is complete.
std::string missing_text(const Recording& recording) {
  std::string out;
  for (const auto& log : recording.logs) {
    if (log->ran_out_of_memory()) out = "a thread ran out of memory";
  }
  if (recording.gpu.dropped > 0) {
    out +=
        fmt::format("{}{} GPU records were lost", out.empty() ? "" : "; ", recording.gpu.dropped);
  }
  return out;
}

void describe_gpu_recording(trace::Trace& trace, const TraceFacts& facts) {
  const GpuRecords& records = facts.recording.gpu;
  const auto add = [&](const char* key, int64_t value) {
    trace.properties.emplace_back(key, fmt::format("{}", value));
  };
  if (records.versions) {
    add("cuda_driver_version", records.versions->driver);
    add("cuda_runtime_version", records.versions->runtime);
    add("cupti_version", records.versions->cupti);
  }
  if (facts.gpu.shift_ns != 0) add("gpu_clock_shift_ns", facts.gpu.shift_ns);
  if (!records.failure.empty()) {
    trace.properties.emplace_back("gpu_recording", json_quoted(records.failure));
  }
}

}  // namespace

void describe_trace(trace::Trace& trace, ArgsText& args, const TraceFacts& facts) {
  Describer describer(trace, args, facts);
  describer.name_processes();
  describer.name_threads();
  trace.properties = {{"schemaVersion", "1"},
                      {std::string(trace::kProducer), "\"epilogue\""},
                      {"deviceProperties", device_properties(facts)}};
  const RecordOptions& options = facts.recording.options;
  if (options.record_shapes) trace.properties.emplace_back("record_shapes", "1");
  if (options.profile_memory) trace.properties.emplace_back("profile_memory", "1");
  describe_gpu_recording(trace, facts);
  if (const std::string missing = missing_text(facts.recording); !missing.empty()) {
    trace.properties.emplace_back("recording_incomplete", json_quoted(missing));
  }
  trace.properties.emplace_back("displayTimeUnit", "\"ms\"");
}

}  // namespace epi::profile
