// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/describe.h"

#include <cerrno>
#include <thread>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/profile/collect.h"

namespace epi::profile {
namespace {

class Describer {
 public:
  Describer(trace::Trace& trace, ArgsText& args, const TraceFacts& facts)
      : trace_(trace), args_(args), facts_(facts) {}

  void name_processes() {
    name_process(facts_.pid, program_invocation_short_name, "CPU");
    name_process(kCpuKernelsPid, "CPU kernels", "CPU kernels");
  }

  void name_threads() {
    const auto kernels = trace_.find_or_add_lane({kCpuKernelsPid, 0});
    add_metadata(kernels, "thread_name", "name", json_quoted("kernels"));
    for (const auto& [lane, name] : facts_.thread_names) {
      const int64_t tid = trace_.lanes[lane].tid;
      add_metadata(lane, "thread_name", "name",
                   json_quoted(fmt::format("thread {} ({})", tid, name)));
      add_metadata(lane, "thread_sort_index", "sort_index", fmt::format("{}", tid));
    }
  }

 private:
  void name_process(int64_t pid, const char* name, const char* label) {
    const auto lane = trace_.find_or_add_lane({pid, 0});
    add_metadata(lane, "process_name", "name", json_quoted(name));
    add_metadata(lane, "process_labels", "labels", json_quoted(label));
    add_metadata(lane, "process_sort_index", "sort_index", fmt::format("{}", pid));
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

std::string device_properties() {
  JsonWriter json;
  json.begin_array().begin_object();
  json.key("id").integer(0).key("name").string(cpu_name());
  json.key("numCores").integer(std::thread::hardware_concurrency()).key("features").begin_array();
  for (const std::string& feature : cpu_features()) json.string(feature);
  json.end_array().end_object().end_array();
  return json.text();
}

bool is_incomplete(const Recording& recording) {
  for (const auto& log : recording.logs) {
    if (log->ran_out_of_memory()) return true;
  }
  return false;
}

}  // namespace

void describe_trace(trace::Trace& trace, ArgsText& args, const TraceFacts& facts) {
  Describer describer(trace, args, facts);
  describer.name_processes();
  describer.name_threads();
  trace.properties = {{"schemaVersion", "1"}, {"deviceProperties", device_properties()}};
  const RecordOptions& options = facts.recording.options;
  if (options.record_shapes) trace.properties.emplace_back("record_shapes", "1");
  if (options.profile_memory) trace.properties.emplace_back("profile_memory", "1");
  if (is_incomplete(facts.recording)) {
    trace.properties.emplace_back("recording_incomplete", "\"a thread ran out of memory\"");
  }
  trace.properties.emplace_back("displayTimeUnit", "\"ms\"");
}

}  // namespace epi::profile
