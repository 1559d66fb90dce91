// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/screen/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::report {
namespace {

using analysis::Diagnosis;

// "132,152"
std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3) {
    text.insert(static_cast<size_t>(place), ",");
  }
  return text;
}

// "rank 3 of 8 | ". Empty if the trace does not name its rank, or there is only one.
std::string rank_text(const trace::Trace& trace) {
  const std::string_view info = trace.property("distributedInfo");
  const auto number = [&](const char* key) {
    return trace::parse_integer_token(trace::find_value(info, key).value_or(""));
  };
  const auto rank = number("rank");
  const auto size = number("world_size");
  return rank && size.value_or(0) > 1 ? fmt::format("rank {} of {} | ", *rank, *size) : "";
}

// "mlp_eager.json | NVIDIA H200 | 3 steps | 243 events". If that is too long, the least important
// parts are dropped first.
std::string header(const SummaryResult& result, size_t width) {
  const Overview& data = result.overview;
  const std::string& file = result.file;
  const std::string name = std::filesystem::path(file).filename().string();
  std::string device = data.summary.device.empty()
                           ? "GPU not named"
                           : visible_text(data.summary.device, LineBreaks::kReplace);
  std::string steps = rank_text(result.models.index().trace) + shown_steps_text(data);
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

std::string next_text(const Overview& data, const std::string& file, size_t width,
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

std::string host_table(const Overview& data, size_t width) {
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

SummaryResult::SummaryResult(const analysis::StepModels& step_models, std::string file_name)
    : models(step_models), overview(models), file(std::move(file_name)) {}

analysis::Limiter SummaryResult::regime() const {
  const auto& diagnosis = overview.advised.diagnosis;
  return diagnosis ? diagnosis->limiter : overview.advised.missing_work.limiter();
}

std::vector<std::string_view> SummaryResult::conditions() const {
  const auto& advised = overview.advised;
  return advised.diagnosis ? conditions_of(*advised.diagnosis)
                           : conditions_of(advised.missing_work);
}

std::vector<analysis::Diagnosis> SummaryResult::diagnoses() const {
  return analysis::diagnoses(models);
}

std::vector<NamedTimeItem> SummaryResult::kernels() const {
  const auto& [kernels, rates] = std::tie(overview.summary.kernels, overview.summary.rates);
  std::vector<NamedTimeItem> items;
  for (size_t i = 0; i < kernels.size(); ++i) {
    items.push_back({i < rates.size() ? rates[i] : analysis::KernelRate(), kernels[i]});
  }
  return items;
}

std::vector<OperatorItem> SummaryResult::ops() const {
  std::vector<OperatorItem> items;
  for (const auto& time : overview.summary.ops) items.push_back({time});
  return items;
}

std::optional<double> SummaryResult::exact_mfu() const {
  return overview.groups.all_flops_known ? overview.mfu() : std::nullopt;
}

namespace {

// The largest kernels with the names that --names selects.
std::string named_kernels(const SummaryResult& result, NameStyle names, const Style& style) {
  constexpr size_t kShown = 10;
  ExplainedTrace kernels(result.models.index().trace);
  if (kernels.times.size() > kShown) kernels.times.resize(kShown);
  kernels.names = names;
  return '\n' + text_of(kernels, style);
}

std::string screen_text(const SummaryResult& result, size_t width) {
  const Overview& data = result.overview;
  const std::string& file = result.file;
  std::string out = header(result, width) + "\n\n";
  if (!data.advised.diagnosis) {
    out += missing_work_text(data.advised.missing_work) + '\n';
    if (data.summary.ops.empty()) return out;
    out += '\n' + host_table(data, width) + '\n';
    const std::string word = shell_word(file);
    const std::string next = fmt::format("next: epilogue table {0} | tree {0}", word);
    return out + (next.size() <= width ? next : "next: epilogue table FILE | tree FILE") + '\n';
  }
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  out += wrapped(verdict_text(diagnosis, data.summary.cpu_kernels), width) + '\n';
  out += bar_text(data, width);
  out += decided_text(data, width) + '\n';
  std::vector<std::string> notes = verdict_notes(data, result.models.index());
  for (std::string& note : notes) note = wrapped(note, width) + '\n';
  std::string mfu = mfu_text(data);
  if (!mfu.empty()) mfu += '\n';
  const std::string advice = advice_text(data, width);
  std::string below = advice.empty() ? '\n' + wrapped(no_advice_text(data), width) + '\n' : advice;
  const std::vector<std::string> quality = quality_notes(data, !advice.empty());
  if (!quality.empty()) below += wrapped("trace: " + join(quality, "; "), width) + '\n';
  below += next_text(data, file, width, result.suggests_run);
  // The ranks of rows are in docs/verdicts.md. The table of GPU work gets the remaining lines.
  const auto lines = [](const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  constexpr size_t kAround = 3;  // the empty line, the header of the table, "others"
  const auto taken = [&] {
    return lines(out) + lines(join(notes, "")) + lines(mfu) + lines(below) + kAround;
  };
  if (taken() >= kScreenLines) mfu.clear();
  while (taken() >= kScreenLines && !notes.empty()) notes.pop_back();
  const size_t left = kScreenLines > taken() ? kScreenLines - taken() : 0;
  out += join(notes, "");
  return out + '\n' +
         groups_text(data, std::clamp<size_t>(left, 1, analysis::kOverviewGroups), width) + mfu +
         below;
}

}  // namespace

std::string text_of(const SummaryResult& result, const Style& style) {
  if (style.markdown) return summary_markdown(result);
  return screen_text(result, style.width) +
         (result.names ? named_kernels(result, *result.names, style) : "");
}

}  // namespace epi::report
