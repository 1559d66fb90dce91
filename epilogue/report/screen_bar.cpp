// SPDX-License-Identifier: Apache-2.0
// The time of the step as a bar of letters on the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/screen_parts.h"

namespace epi::report {
namespace {

using analysis::Diagnosis;
using analysis::HostActivity;
using analysis::IdleCause;
using analysis::IdleGap;

// A part of the step's time and its letter in the bar.
struct BarPart {
  char letter;
  const char* what;
  int64_t ns = 0;
};

std::vector<BarPart> bar_parts(const ScreenData& data, const char* device) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<BarPart> parts = {
      {'G', device, diagnosis.busy_ns - data.communication_alone_ns - data.copies_alone_ns},
      {'N', "exposed collectives", data.communication_alone_ns},
      {'D', "copies", data.copies_alone_ns},
      {'I', "data loading"},
      {'H', "waiting for host"},
      {'S', "synchronization"},
      {'C', "compilation"},
      {'A', "allocation"},
      {'M', "start-up"},
      {'.', "gaps"},
      {'?', "not in the trace"}};
  const auto add = [&](char letter, const IdleGap& gap) {
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const BarPart& one) { return one.letter == letter; });
    part->ns += gap.when.end - gap.when.begin;
  };
  const auto letter_of = [](const IdleGap& gap) {
    if (gap.cause == IdleCause::kNotInFile || gap.cause == IdleCause::kNoLaunch) return '?';
    if (gap.cause != IdleCause::kNotLaunched) return '.';
    switch (gap.activity) {
      case HostActivity::kDispatch:
      case HostActivity::kLaunching:
      case HostActivity::kGuards:
      case HostActivity::kBetweenOps:
        return 'H';
      case HostActivity::kAllocating:
        return 'A';
      case HostActivity::kInitializing:
        return 'M';
      case HostActivity::kSynchronizing:
        return 'S';
      case HostActivity::kDataLoading:
        return 'I';
      case HostActivity::kCompiling:
        return 'C';
    }
    return 'H';
  };
  for (const IdleGap& gap : diagnosis.gaps) add(letter_of(gap), gap);
  std::erase_if(parts, [](const BarPart& part) { return part.ns <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BarPart& a, const BarPart& b) { return a.ns > b.ns; });
  return parts;
}

// A part below this share is left out of the legend.
constexpr int64_t kMinShare = 200;

// As many letters as `room`; a part in the legend has at least one.
std::string letters(const std::vector<BarPart>& parts, int64_t window_ns, size_t room) {
  std::vector<size_t> cells;
  size_t used = 0;
  for (const BarPart& part : parts) {
    const bool shown = part.ns * kMinShare >= window_ns;
    const auto share = static_cast<double>(part.ns) / static_cast<double>(window_ns);
    const auto wanted = static_cast<size_t>(share * static_cast<double>(room) + 0.5);
    cells.push_back(std::max<size_t>(shown ? 1 : 0, wanted));
    used += cells.back();
  }
  // Rounding is settled with the largest part.
  if (!cells.empty()) cells[0] = cells[0] + room > used ? cells[0] + room - used : 0;
  std::string bar;
  for (size_t i = 0; i < parts.size(); ++i) bar += std::string(cells[i], parts[i].letter);
  return bar.substr(0, room);
}

}  // namespace

std::string bar_text(const ScreenData& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const char* device = data.summary.cpu_kernels ? "kernels" : "GPU busy";
  const std::string label = fmt::format("{} {} ", diagnosis.whole_trace ? "trace" : "step",
                                        time_of(diagnosis.window_ns() / diagnosis.judged));
  const size_t room = width - std::min(width - 10, label.size());
  const std::vector<BarPart> parts = bar_parts(data, device);
  const std::string margin(label.size(), ' ');
  std::string legend = margin;
  size_t column = margin.size();
  for (const BarPart& part : parts) {
    if (part.ns * kMinShare < diagnosis.window_ns()) continue;
    const std::string one =
        fmt::format("{} {} {}", part.letter, part.what, time_of(part.ns / diagnosis.judged));
    const bool first = column == margin.size();
    if (!first && column + 2 + one.size() > width) {
      legend += '\n' + margin;
      column = margin.size();
    }
    const char* space = column == margin.size() ? "" : "  ";
    legend += space + one;
    column += one.size() + (column == margin.size() ? 0 : 2);
  }
  const std::string bar =
      diagnosis.window_ns() <= 0 ? "" : letters(parts, diagnosis.window_ns(), room);
  return label + bar + '\n' + legend + '\n';
}

}  // namespace epi::report
