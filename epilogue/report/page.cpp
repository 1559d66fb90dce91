// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/advise.h"
#include "epilogue/analysis/breakdown.h"
#include "epilogue/analysis/compare.h"
#include "epilogue/analysis/profiler_table.h"
#include "epilogue/analysis/summary.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/breakdown_report.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/page_files.h"
#include "epilogue/report/page_timeline.h"
#include "epilogue/report/profiler_table.h"
#include "epilogue/report/regime_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/summary_report.h"
#include "epilogue/trace/args.h"

namespace epi::report {
namespace {

// Where a page becomes larger, it is made again with half as much in it.
constexpr size_t kMostBytes = 25'000'000;
constexpr size_t kFewestEvents = 1000;
constexpr size_t kIdleParts = 400;

// How much one page shows of all its traces.
struct Amounts {
  size_t events = 200'000;
  size_t rows = 2000;  // of each table
};

template <typename Write>
void object(JsonWriter& json, const char* key, Write&& write) {
  json.key(key).begin_object();
  write();
  json.end_object();
}

// Shares of each part of the window, by what the device waited for.
void idle_map_json(JsonWriter& json, const analysis::DeviceBreakdown& device, int64_t from_ns) {
  using analysis::IdleCauses;
  const double part_ns =
      static_cast<double>(device.shares.window_ns) / static_cast<double>(kIdleParts);
  json.begin_object().key("device").integer(device.device);
  json.key("begin_ns").integer(device.begin_ns - from_ns).key("part_ns").fixed(part_ns, 3);
  json.key("causes").begin_array();
  const auto cause = [&](const std::string& why, const auto& ns) {
    const auto is_there = [&](const IdleCauses& part) { return ns(part) > 0; };
    const auto& parts = device.over_time;
    if (std::none_of(parts.begin(), parts.end(), is_there)) return;
    json.begin_object().key("why").string(why).key("shares").begin_array();
    for (const IdleCauses& part : parts) json.fixed(static_cast<double>(ns(part)) / part_ns, 3);
    json.end_array().end_object();
  };
  for (size_t i = 0; i < analysis::kHostActivities; ++i) {
    const char* activity = analysis::text_of(static_cast<analysis::HostActivity>(i));
    cause(fmt::format("CPU: {}", activity), [&](const IdleCauses& part) { return part.host[i]; });
  }
  cause("on its way", [](const IdleCauses& part) { return part.on_its_way_ns; });
  cause("between kernels", [](const IdleCauses& part) { return part.between_ns; });
  cause("unknown", [](const IdleCauses& part) { return part.unknown_ns; });
  json.end_array().end_object();
}

template <typename Item>
void keep_first(std::vector<Item>& items, size_t most) {
  if (items.size() > most) items.resize(most);
}

// Without what the page has from elsewhere: steps, and operators in the table.
analysis::Summary shown_summary(const analysis::Examined& examined, size_t rows) {
  analysis::Summary summary = analysis::summarize(examined);
  summary.steps.instances.clear();
  summary.ops.clear();
  keep_first(summary.kernels, rows);
  return summary;
}

// `begin_ns` is where its timeline begins.
void trace_json(JsonWriter& json, const PageTrace& page_trace, int64_t begin_ns, size_t rows) {
  const analysis::Examined& examined = page_trace.examined;
  const trace::Trace& trace = examined.trace;
  json.begin_object().key("file").string(page_trace.file);
  json.key("cpu_kernels").boolean(trace::has_cpu_kernels(trace));
  object(json, "summary", [&] { summary_json(json, shown_summary(examined, rows)); });
  auto steps = analysis::steps(trace, examined.ownership);
  json.key("step_count").integer(static_cast<int64_t>(steps.instances.size()));
  keep_first(steps.instances, rows);
  object(json, "steps", [&] { steps_json(json, {std::move(steps), {}}); });
  object(json, "table", [&] {
    auto table = analysis::profiler_table(trace);
    analysis::sort_rows(table, "cuda_time_total");
    table_json(json, table, {.limit = rows});
  });
  auto devices = analysis::breakdown(examined, kIdleParts);
  for (auto& device : devices) device.steps.clear();
  object(json, "breakdown", [&] { breakdown_json(json, devices); });
  json.key("idle_maps").begin_array();
  for (const auto& device : devices) idle_map_json(json, device, begin_ns);
  json.end_array();
  const analysis::Advised advised = analysis::advise(examined, std::nullopt);
  object(json, "advice",
         [&] { advise_json(json, advised, trace, {.file = page_trace.file, .most_events = 5}); });
  json.key("bound");
  advised.use ? json.string(use_text(*advised.use)) : json.null();
  json.end_object();
}

// Inside of a script element no "<" may stand: it could end the element.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    c == '<' ? out += "\\u003c" : out += c;
  }
  return out;
}

// As a policy names a script: a hash of 64 hexadecimal digits in base 64.
std::string base64_of(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  // Three digits of base 16 are two of base 64; the hash is 32 bytes, so that one "=" is left.
  for (size_t at = 0; at < hex.size(); at += 3) {
    const std::string part =
        std::string(hex.substr(at, 3)) + std::string(at + 3 > hex.size() ? 2 : 0, '0');
    const int value = std::stoi(part.substr(0, 3), nullptr, 16);
    out += kDigits[static_cast<size_t>(value >> 6)];
    out += kDigits[static_cast<size_t>(value & 63)];
  }
  return out.substr(0, 43) + "=";
}

std::string data_json(const std::vector<PageTrace>& traces,
                      const std::vector<analysis::Timeline>& timelines, size_t rows) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("files").begin_array();
  for (size_t i = 0; i < traces.size(); ++i) {
    trace_json(json, traces[i], timelines[i].begin_ns, rows);
  }
  json.end_array().key("compare");
  if (traces.size() == 2) {
    const auto comparison = analysis::compare(traces[0].examined, traces[1].examined, std::nullopt);
    json.begin_object();
    compare_json(json, comparison);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
  return json.text();
}

std::string data_element(const std::string& id, const std::string& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                     script_safe(json));
}

std::string page_of(const std::vector<PageTrace>& traces, const Amounts& amounts) {
  std::vector<analysis::Timeline> timelines;
  for (const PageTrace& one : traces) {
    timelines.push_back(make_timeline(one.examined, amounts.events / traces.size()));
  }
  std::string data = data_element("data", data_json(traces, timelines, amounts.rows));
  for (size_t i = 0; i < traces.size(); ++i) {
    data += data_element(fmt::format("timeline-{}", i),
                         timeline_json(traces[i].examined, timelines[i]));
  }
  std::string out(kPageHead);
  const auto put = [&](std::string_view mark, std::string_view text) {
    out.replace(out.find(mark), mark.size(), text);
  };
  put("{policy}", fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src "
                              "'sha256-{}'; base-uri 'none'; form-action 'none'",
                              base64_of(kScriptHash)));
  put("{style}", kPageStyle);
  put("{script}", kPageScript);
  put("{data}", data);
  return out;
}

}  // namespace

std::string page_html(const std::vector<PageTrace>& traces) {
  for (Amounts amounts;; amounts.events /= 2, amounts.rows /= 2) {
    std::string page = page_of(traces, amounts);
    if (page.size() <= kMostBytes || amounts.events < kFewestEvents) return page;
  }
}

}  // namespace epi::report
