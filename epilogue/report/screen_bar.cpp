// SPDX-License-Identifier: Apache-2.0
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
      {'N', "collectives", data.communication_alone_ns},
      {'D', "copies", data.copies_alone_ns},
      {'I', "data loading"},
      {'H', "not launched"},
      {'S', "synchronization"},
      {'C', "compilation"},
      {'A', "allocation"},
      {'M', "initialization"},
      {'.', "gaps"},
      {'?', "not in the file"}};
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

}  // namespace

std::string bar_text(const ScreenData& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const char* device = data.summary.cpu_kernels ? "kernels" : "GPU busy";
  const std::string what = std::string(window_text(diagnosis)).substr(std::strlen("the "));
  const std::string label = fmt::format("{} {} ", what, time_of(diagnosis.window_ns()));
  const auto room = static_cast<int64_t>(width - std::min(width - 10, label.size()));
  const std::vector<BarPart> parts = bar_parts(data, device);
  std::string bar;
  int64_t done = 0;
  for (const BarPart& part : parts) {
    done += part.ns;
    const int64_t to = diagnosis.window_ns() <= 0
                           ? 0
                           : (done * room + diagnosis.window_ns() / 2) / diagnosis.window_ns();
    while (static_cast<int64_t>(bar.size()) < std::min(to, room)) bar += part.letter;
  }
  const std::string margin(label.size(), ' ');
  std::string legend = margin;
  size_t column = margin.size();
  for (const BarPart& part : parts) {
    constexpr int64_t kShown = 200;
    if (part.ns * kShown < diagnosis.window_ns()) continue;  // too short to be seen
    const std::string one = fmt::format("{} {} {}", part.letter, part.what, time_of(part.ns));
    const bool first = column == margin.size();
    if (!first && column + 2 + one.size() > width) {
      legend += '\n' + margin;
      column = margin.size();
    }
    const char* space = column == margin.size() ? "" : "  ";
    legend += space + one;
    column += one.size() + (column == margin.size() ? 0 : 2);
  }
  return label + bar + '\n' + legend + '\n';
}

}  // namespace epi::report
