// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/screen_parts.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"

namespace epi::report {
namespace {

using analysis::Diagnosis;
using analysis::WorkGroup;

// "132,152"
std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3) {
    text.insert(static_cast<size_t>(place), ",");
  }
  return text;
}

// "mlp_eager.json | NVIDIA H200 | 3 steps | 243 events". If that is too long, the least important
// parts are dropped first.
std::string header(const ScreenData& data, const std::string& file, size_t width) {
  const std::string name = std::filesystem::path(file).filename().string();
  std::string device = data.summary.device.empty()
                           ? "GPU not named"
                           : visible_text(data.summary.device, LineBreaks::kReplace);
  std::string steps = shown_steps_text(data);
  std::string events = fmt::format(" | {} {}", with_commas(data.summary.events),
                                   data.summary.events == 1 ? "event" : "events");
  const auto size = [&] {
    return name.size() + device.size() + steps.size() + events.size() + 2 * std::strlen(" | ");
  };
  if (size() > width) steps = steps.substr(0, steps.find(" (median"));
  const size_t vendor = device.find("NVIDIA ");
  if (size() > width && vendor != std::string::npos) device.erase(vendor, 7);
  if (size() > width) events.clear();
  constexpr size_t kShortDevice = 12;
  if (size() > width) {
    device = shortened(
        device, std::max(kShortDevice, device.size() - std::min(device.size(), size() - width)));
  }
  const size_t rest = size() - name.size();
  return fmt::format("{} | {} | {}{}", shortened(name, width > rest + 20 ? width - rest : 20),
                     device, steps, events);
}

std::string next_text(const ScreenData& data, const std::string& file, size_t width,
                      bool suggests_run) {
  const std::string word = shell_word(file);
  const bool has_block = suggests_run && !data.advised.blocks.mlps.empty();
  const std::string like = has_block ? " | run mlp --like " + word : "";
  const std::string text =
      fmt::format("next: epilogue advise {0} | report {0} -o r.html{1}", word, like);
  if (text.size() <= width) return text + '\n';
  return fmt::format("next: epilogue advise FILE | report FILE -o r.html | {}\n",
                     has_block ? "run mlp --like FILE" : "breakdown FILE");
}

std::string host_table(const ScreenData& data, size_t width) {
  Table table({{"largest operators, by self time", Align::kLeft},
               {"calls", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight}});
  for (size_t i = 0; i < std::min<size_t>(data.summary.ops.size(), 8); ++i) {
    const auto& op = data.summary.ops[i];
    table.add_row({op.name, fmt::format("{}", op.count), time_of(op.ns),
                   fmt::format("{:.0f} %", 100 * op.share)});
  }
  return table.text(width);
}

}  // namespace

void screen_json(JsonWriter& json, const ScreenData& data) {
  const auto optional = [&](const char* key, const std::optional<double>& value) {
    json.key(key);
    value ? json.fixed(*value, 4) : json.null();
  };
  optional("mfu", data.groups.all_flops_known ? mfu(data) : std::nullopt);
  optional("mfu_at_least", mfu(data));
  json.key("work").begin_array();
  for (const WorkGroup& group : data.groups.groups) {
    json.begin_object().key("what").string(group_text(group)).key("calls").integer(group.calls);
    json.key("us").fixed(static_cast<double>(group.ns) / 1000, 3);
    optional("of_peak_flops", group.of_peak_flops);
    optional("of_peak_bandwidth", group.of_peak_bandwidth);
    optional("gb_s", group.bytes_per_ns);
    json.end_object();
  }
  json.end_array();
}

std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width, bool suggests_run) {
  std::string out = header(data, file, width) + "\n\n";
  if (!data.advised.diagnosis) {
    out += no_device_text(data) + '\n';
    if (data.summary.ops.empty()) return out;
    out += '\n' + host_table(data, width) + '\n';
    const std::string word = shell_word(file);
    const std::string next = fmt::format("next: epilogue table {0} | tree {0}", word);
    return out + (next.size() <= width ? next : "next: epilogue table FILE | tree FILE") + '\n';
  }
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  out += wrapped(verdict_text(diagnosis, data.summary.cpu_kernels), width) + '\n';
  out += bar_text(data, width);
  for (const std::string& line : path_lines(data, width)) out += line + '\n';
  for (const std::string& note : verdict_notes(data, trace)) out += wrapped(note, width) + '\n';
  std::string below = mfu_text(data);
  if (!below.empty()) below += '\n';
  const std::string advice = advice_text(data, width);
  below += advice.empty() ? '\n' + wrapped(no_advice_text(data), width) + '\n' : advice;
  const std::vector<std::string> quality = quality_notes(data, !advice.empty());
  if (!quality.empty()) below += wrapped("trace: " + join(quality, "; "), width) + '\n';
  below += next_text(data, file, width, suggests_run);
  // The table of GPU work gets the remaining lines.
  const auto lines = [](const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  constexpr size_t kAround = 3;  // the empty line, the header of the table, "others"
  const size_t taken = lines(out) + lines(below) + kAround;
  const size_t left = kScreenLines > taken ? kScreenLines - taken : 0;
  return out + '\n' + groups_text(data, std::clamp<size_t>(left, 1, kScreenGroups), width) + below;
}

}  // namespace epi::report
