// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/breakdown_report.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/profiler_table_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/summary_report.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

constexpr size_t kIdleParts = 400;  // columns of the idle map
constexpr size_t kMaxGroups = 8;    // of a comparison
// Limits the size of a page with long names. The page's own sentences are shorter.
constexpr size_t kMaxTextLength = 4000;

template <typename Write>
void object(JsonWriter& json, const char* key, Write&& write) {
  json.key(key).begin_object();
  write();
  json.end_object();
}

// The causes of idle time, with their share of each part of the window. page/idle.js has the same
// texts.
void idle_map_json(JsonWriter& json, const analysis::DeviceBreakdown& device, int64_t from_ns) {
  using analysis::IdleCauses;
  const double part_ns =
      static_cast<double>(device.shares.window_ns) / static_cast<double>(kIdleParts);
  json.begin_object().key("device").integer(device.device);
  json.key("begin_ns").integer(device.begin_ns - from_ns).key("part_ns").fixed(part_ns, 3);
  json.key("causes").begin_array();
  const auto cause = [&](const std::string& why, const auto& ns) {
    const auto occurs = [&](const IdleCauses& part) { return ns(part) > 0; };
    const auto& parts = device.over_time;
    if (std::none_of(parts.begin(), parts.end(), occurs)) return;
    json.begin_object().key("why").string(why).key("shares").begin_array();
    for (const IdleCauses& part : parts) json.fixed(static_cast<double>(ns(part)) / part_ns, 3);
    json.end_array().end_object();
  };
  for (size_t i = 0; i < analysis::kHostActivities; ++i) {
    const char* activity = phrase_of(static_cast<analysis::HostActivity>(i));
    cause(fmt::format("host: {}", activity), [&](const IdleCauses& part) { return part.host[i]; });
  }
  cause("launch latency", [](const IdleCauses& part) { return part.launch_latency_ns; });
  cause("gap between two kernels", [](const IdleCauses& part) { return part.between_ns; });
  cause("waiting for something not in the trace",
        [](const IdleCauses& part) { return part.not_in_file_ns; });
  cause("unknown: launch not in the trace", [](const IdleCauses& part) { return part.unknown_ns; });
  json.end_array().end_object();
}

// Writes the number of marked steps, their medians, and the first `rows` steps.
void steps_part(JsonWriter& json, const PageData::File& file, size_t rows) {
  const auto& steps = file.summary.steps;
  const auto is_marked = [](const auto& step) { return step.event != trace::kNoEvent; };
  json.key("step_count")
      .integer(std::count_if(steps.instances.begin(), steps.instances.end(), is_marked));
  object(json, "medians", [&] { median_json(json, steps); });
  analysis::InstanceGroup shown = steps;
  shown.instances.resize(std::min(rows, shown.instances.size()));
  object(json, "steps", [&] { steps_json(json, {std::move(shown), {}}); });
}

void file_json(JsonWriter& json, const PageData::File& file, int64_t begin_ns, size_t rows) {
  json.begin_object().key("file").string(file.file);
  json.key("cpu_kernels").boolean(file.advised.cpu_kernels);
  steps_part(json, file, rows);
  object(json, "summary", [&] {
    analysis::Summary shown =
        file.summary;  // without steps and ops, which are elsewhere on the page
    shown.steps.instances.clear();
    shown.ops.clear();
    shown.kernels.resize(std::min(rows, shown.kernels.size()));
    summary_json(json, shown);
  });
  json.key("kernel_count").integer(static_cast<int64_t>(file.summary.kernels.size()));
  json.key("row_count").integer(static_cast<int64_t>(file.table.rows.size()));
  object(json, "table", [&] { table_json(json, file.table, {.limit = rows}); });
  object(json, "breakdown", [&] { breakdown_json(json, file.devices, file.index.trace); });
  json.key("idle_maps").begin_array();
  for (const auto& device : file.devices) idle_map_json(json, device, begin_ns);
  json.end_array();
  object(json, "advice", [&] {
    advise_json(json, file.advised, file.index.trace, {.file = file.file, .max_events = 5});
  });
  json.key("bound");
  const auto& diagnosis = file.advised.diagnosis;
  diagnosis ? json.string(verdict_text(*diagnosis, file.advised.cpu_kernels)) : json.null();
  json.end_object();
}

// Runs the analyses, which are independent of each other, in parallel.
void analyze(PageData::File& file) {
  const std::function<void()> analyses[] = {
      [&] { file.advised = analysis::advise(file.index, std::nullopt); },
      [&] {
        file.devices = analysis::breakdown(file.index, kIdleParts);
        for (auto& device : file.devices) {  // these are not on the page
          device.steps.clear();
          device.streams.clear();
        }
      },
      [&] { file.summary = analysis::summarize(file.index, false); },
      [&] {
        file.table = analysis::profiler_table(file.index.trace);
        analysis::sort_rows(file.table, "cuda_time_total");
      }};
  parallel_for(std::size(analyses), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) analyses[i]();
  });
}

}  // namespace

PageData page_data(const std::vector<PageTrace>& traces) {
  PageData data;
  for (const PageTrace& trace : traces) {
    data.files.push_back({trace.file, trace.index, {}, {}, {}, {}});
    analyze(data.files.back());
  }
  if (traces.size() == 2) {
    data.comparison = analysis::compare(traces[0].index, traces[1].index, std::nullopt);
  }
  return data;
}

std::string data_json(const PageData& data, const std::vector<int64_t>& begins_ns, size_t rows) {
  JsonWriter json(kMaxTextLength);
  json.begin_object().key("schema").integer(1).key("files").begin_array();
  for (size_t i = 0; i < data.files.size(); ++i) {
    file_json(json, data.files[i], begins_ns[i], rows);
  }
  json.end_array().key("compare");
  if (data.comparison) {
    json.begin_object();
    compare_json(json, *data.comparison, kMaxGroups);
    json.key("group_count").integer(static_cast<int64_t>(data.comparison->groups.size()));
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
  return json.text();
}

}  // namespace epi::report
