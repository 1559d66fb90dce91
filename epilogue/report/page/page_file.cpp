// SPDX-License-Identifier: Apache-2.0
// The answers and listings of one file on the page, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/advise/advise_report.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/kernels/gemm_report.h"
#include "epilogue/report/kernels/kernel_class.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/page/page_data.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/steps/breakdown_report.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/steps/steps_report.h"

namespace epi::report {

using analysis::IdleClass;
using analysis::IdleClassTimes;
using analysis::kIdleClasses;
using analysis::Overview;

namespace {

constexpr size_t kWide = 200;      // characters of a line, which the page wraps
constexpr size_t kMaxAdvice = 12;  // the rest is in `epilogue advise --all`

double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

void strings_json(JsonWriter& json, const char* key, const std::vector<std::string>& list) {
  json.key(key).begin_array();
  for (const std::string& text : list) json.string(text);
  json.end_array();
}

void bar_json(JsonWriter& json, const PageFile& file, const EventPlaces& places) {
  const auto& diagnosis = file.screen.advised.diagnosis;
  json.key("bar");
  if (!diagnosis || diagnosis->step_ns() <= 0) {
    json.null();
    return;
  }
  json.begin_object().key("label").string(bar_label(file.screen));
  json.key("begin_ns").integer(diagnosis->step.window.begin - places.begin_ns());
  json.key("length_ns").integer(diagnosis->step_ns()).key("parts").begin_array();
  for (const BarPart& part : bar_parts(file.screen)) {
    json.begin_object().key("key").string(part.key);
    json.key("letter").string(std::string(1, part.letter)).key("what").string(part.what);
    json.key("time").string(time_of(part.ns));
    json.key("in_legend").boolean(is_in_legend(part, *diagnosis));
    json.key("share").fixed(
        static_cast<double>(part.ns) / static_cast<double>(diagnosis->step_ns()), 5);
    json.end_object();
  }
  json.end_array().end_object();
}

void work_json(JsonWriter& json, const Overview& screen) {
  work_table(screen, analysis::kOverviewGroups).json(json.key("work"));
  // If most launches are missing, the table has all work.
  const int64_t unlinked =
      screen.advised.diagnosis->launches_missing ? 0 : screen.summary.unlinked_kernels;
  json.key("work_note")
      .string(unlinked == 0 ? ""
                            : fmt::format("not in this table: {} without a launch",
                                          plural(static_cast<double>(unlinked), "kernel")));
}

// The events of advice that the timeline draws. The page shows the first of them.
int64_t first_place(const std::vector<trace::EventId>& events, const EventPlaces& places) {
  for (const trace::EventId id : events) {
    if (places.of(id) >= 0) return places.of(id);
  }
  return -1;
}

void ranked_json(JsonWriter& json, const RankedAdvice& ranked, const EventPlaces& places) {
  ranked.table.json(json.key("ranked"));
  json.key("ranked_events").begin_array();
  for (const analysis::Advice* advice : ranked.rows) {
    json.integer(first_place(advice->events, places));
  }
  json.end_array();
}

void advice_json(JsonWriter& json, const PageFile& file, const EventPlaces& places) {
  const analysis::AdviceReport& report = file.screen.advised;
  json.key("advice").begin_array();
  for (size_t i = 0; i < std::min(report.advice.size(), kMaxAdvice); ++i) {
    const analysis::Advice& advice = report.advice[i];
    const SavingText saving = saving_text(advice, report);
    json.begin_object().key("title").string(advice_title(advice));
    json.key("event").integer(first_place(advice.events, places));
    strings_json(json, "lines", {saving.sentence(), terms_text(advice.terms)});
    json.end_object();
  }
  json.end_array().key("advice_count").integer(static_cast<int64_t>(report.advice.size()));
  json.key("no_advice").string(fmt::format("no advice for {}", scope_of(report).the));
}

// The answers of the first screen.
void answers_json(JsonWriter& json, const PageFile& file, const EventPlaces& places) {
  const Overview& screen = file.screen;
  const auto& diagnosis = screen.advised.diagnosis;
  const std::optional<RankedAdvice> ranked =
      diagnosis ? std::optional(ranked_advice(screen)) : std::nullopt;
  const bool has_rows = ranked && !ranked->rows.empty();
  json.key("verdict").string(diagnosis ? verdict_text(*diagnosis, screen.summary.cpu_kernels)
                                       : missing_work_text(screen.advised.missing_work));
  json.key("compile").string(verdict_line(screen.advised));
  strings_json(json, "path",
               diagnosis ? std::vector{decided_text(screen, kWide)} : std::vector<std::string>());
  strings_json(json, "notes",
               diagnosis ? verdict_notes(screen, file.models.index()) : std::vector<std::string>());
  std::vector<std::string> quality = quality_notes(screen, has_rows);
  for (const std::string& line : file.models.index().trace.defects.lines()) quality.push_back(line);
  strings_json(json, "quality", quality);
  json.key("mfu").string(diagnosis ? mfu_text(screen) : "");
  bar_json(json, file, places);
  if (diagnosis) {
    work_json(json, screen);
    ranked_json(json, *ranked, places);
    json.key("no_ranked").string(has_rows ? "" : no_advice_text(screen));
  }
  advice_json(json, file, places);
}

void steps_json(JsonWriter& json, const PageFile& file, const EventPlaces& places, size_t rows) {
  const analysis::StepGroup& all = file.models.steps();
  const std::span shown = std::span(all.steps).first(std::min(rows, all.steps.size()));
  json.key("step_count").integer(all.is_whole_trace() ? 0 : std::ssize(all.steps));
  json.key("more_steps").integer(std::ssize(all.steps) - std::ssize(shown));
  steps_table(shown, all.is_whole_trace(), file.screen.summary.cpu_kernels).json(json.key("steps"));
  json.key("step_ranges").begin_array();
  for (const auto& step : shown) {
    json.begin_array().integer(step.window.begin - places.begin_ns());
    json.integer(step.step_ns).end_array();
  }
  json.end_array();
}

void kernels_json(JsonWriter& json, const analysis::Summary& summary, size_t rows) {
  json.key("kernel_count").integer(static_cast<int64_t>(summary.kernels.size()));
  json.key("kernels").begin_array();
  for (size_t i = 0; i < std::min(rows, summary.kernels.size()); ++i) {
    const analysis::NamedTime& kernel = summary.kernels[i];
    const analysis::DecodedName decoded = analysis::decode_name(kernel.name);
    json.begin_object().key("name").string(kernel.name);
    json.key("what").string(kernel_sentence(kernel.name, decoded));
    json.key("kind").string(words_of(kernel_class(decoded.kind)).key);
    json.key("count").integer(kernel.count).key("us").fixed(us(kernel.ns), 3);
    json.key("share").fixed(kernel.share, 6).key("peak");
    json.string(i < summary.rates.size() ? rate_text(summary.rates[i]) : "-").end_object();
  }
  json.end_array();
}

// An annotation spans work of other rows. Its duration on the device is not self time.
void table_json(JsonWriter& json, const analysis::ProfilerTable& table, size_t rows) {
  json.key("row_count").integer(static_cast<int64_t>(table.rows.size()));
  json.key("table").begin_array();
  for (size_t i = 0; i < std::min(rows, table.rows.size()); ++i) {
    const analysis::TableRow& row = table.rows[i];
    const bool is_work = row.device && !row.annotation;
    const analysis::DecodedName decoded =
        is_work ? analysis::decode_name(row.name) : analysis::DecodedName();
    json.begin_object().key("name").string(row.name);
    json.key("what");
    is_work ? json.string(kernel_sentence(row.name, decoded)) : json.null();
    json.key("kind").string(is_work ? words_of(kernel_class(decoded.kind)).key : "host");
    json.key("device").boolean(row.device).key("annotation").boolean(row.annotation);
    json.key("calls").integer(row.calls).key("self_cpu_us").fixed(row.self_cpu_us, 3);
    json.key("cpu_total_us").fixed(row.cpu_total_us, 3).key("self_device_us");
    row.annotation ? json.null() : json.fixed(row.self_device_us, 3);
    json.key("device_total_us").fixed(row.device_total_us, 3).end_object();
  }
  json.end_array();
}

constexpr size_t kMapParts = 400;  // columns of the idle map

// The classes of idle time, with their share of each part of the window.
void idle_map_json(JsonWriter& json, const PageDevice& device, bool cpu_kernels,
                   const EventPlaces& places) {
  const int64_t window_ns = device.window.end - device.window.begin;
  const double part_ns = static_cast<double>(window_ns) / static_cast<double>(kMapParts);
  std::vector<IdleClassTimes> sums;
  for (const auto& part : analysis::idle_over_time(device.gaps, device.window, kMapParts)) {
    sums.push_back(sums_by_class(part));
  }
  json.key("map").begin_object().key("parts").integer(static_cast<int64_t>(kMapParts));
  json.key("title").string(fmt::format(
      "{}: busy and idle time over {}",
      cpu_kernels ? "CPU kernels" : fmt::format("GPU {}", device.device), time_of(window_ns)));
  json.key("begin_ns").integer(device.window.begin - places.begin_ns());
  json.key("part_ns").fixed(part_ns, 3).key("idle").begin_array();
  for (size_t i = 0; i < kIdleClasses; ++i) {
    const auto occurs = [&](const IdleClassTimes& part) { return part[i] > 0; };
    if (std::none_of(sums.begin(), sums.end(), occurs)) continue;
    json.begin_object().key("key").string(words_of(static_cast<IdleClass>(i)).color);
    json.key("shares").begin_array();
    for (const IdleClassTimes& part : sums) {
      json.fixed(part_ns <= 0 ? 0 : static_cast<double>(part[i]) / part_ns, 3);
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

void devices_json(JsonWriter& json, const PageFile& file, const EventPlaces& places) {
  const bool cpu_kernels = file.screen.summary.cpu_kernels;
  json.key("devices").begin_array();
  for (size_t i = 0; i < file.devices.size(); ++i) {
    const analysis::DeviceBreakdown& device = file.devices[i];
    json.begin_object().key("title").string(device_title(device, cpu_kernels));
    json.key("parts").begin_array();
    for (const BreakdownPart& part : breakdown_parts(device, cpu_kernels)) {
      json.begin_object();
      part.table.json(json.key("table"));
      json.key("below").string(part.below).end_object();
    }
    json.end_array();
    idle_map_json(json, file.idle[i], cpu_kernels, places);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void file_json(JsonWriter& json, const PageFile& file, const EventPlaces& places, size_t rows) {
  const analysis::Summary& summary = file.screen.summary;
  json.begin_object().key("file").string(file.file);
  json.key("cpu_kernels").boolean(summary.cpu_kernels);
  std::vector<std::string> source{summary.device.empty() ? "GPU not named" : summary.device};
  source.insert(source.end(), summary.versions.begin(), summary.versions.end());
  source.push_back(shown_steps_text(file.screen));
  strings_json(json, "source", source);
  json.key("events").integer(summary.events);
  answers_json(json, file, places);
  steps_json(json, file, places, rows);
  kernels_json(json, summary, rows);
  table_json(json, file.table, rows);
  gemms_table(file.gemms, rows).json(json.key("gemms"));
  json.key("gemms_note")
      .string(file.gemms.rows.empty() ? "the trace has no GEMM kernels" : peak_note(file.gemms));
  devices_json(json, file, places);
  json.end_object();
}

void legend_json(JsonWriter& json) {
  json.key("idle").begin_array();
  for (size_t i = 0; i < kIdleClasses; ++i) {
    const IdleClassWords& words = words_of(static_cast<IdleClass>(i));
    json.begin_object().key("key").string(words.color).key("what").string(words.phrase);
    json.key("letter").string(std::string(1, words.letter)).end_object();
  }
  json.end_array().key("kinds").begin_array();
  for (size_t i = 0; i < kKernelClasses; ++i) {
    const KernelClassWords& words = words_of(static_cast<KernelClass>(i));
    json.begin_object().key("key").string(words.key).key("what").string(words.what).end_object();
  }
  json.end_array();
}

}  // namespace epi::report
