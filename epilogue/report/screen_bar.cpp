// SPDX-License-Identifier: Apache-2.0
// The time of the step as a bar of letters on the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "epilogue/report/idle_class.h"
#include "epilogue/report/screen_parts.h"

namespace epi::report {

using analysis::Diagnosis;
std::vector<BarPart> bar_parts(const ScreenData& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<BarPart> parts = {
      {'G', "busy", data.summary.cpu_kernels ? "kernels" : "GPU busy",
       diagnosis.busy_ns - data.communication_alone_ns - data.copies_alone_ns},
      {'N', "communication", "exposed collectives", data.communication_alone_ns},
      {'D', "copy", "copies", data.copies_alone_ns}};
  const size_t first_idle = parts.size();
  for (size_t i = 0; i < kIdleClasses; ++i) {
    const IdleClassWords& words = words_of(static_cast<IdleClass>(i));
    parts.push_back({words.letter, words.key, words.what, 0});
  }
  for (const analysis::IdleGap& gap : diagnosis.gaps) {
    parts[first_idle + static_cast<size_t>(idle_class(gap))].ns += gap.when.end - gap.when.begin;
  }
  std::erase_if(parts, [](const BarPart& part) { return part.ns <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BarPart& a, const BarPart& b) { return a.ns > b.ns; });
  return parts;
}

bool is_in_legend(const BarPart& part, const Diagnosis& diagnosis) {
  constexpr int64_t kMinShare = 200;
  return part.ns * kMinShare >= diagnosis.window_ns();
}

std::string bar_label(const ScreenData& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  return fmt::format("{} {}", diagnosis.whole_trace ? "trace" : "step",
                     time_of(diagnosis.window_ns() / diagnosis.judged));
}

namespace {

// As many letters as `room`; a part in the legend has at least one.
std::string letters(const std::vector<BarPart>& parts, const Diagnosis& diagnosis, size_t room) {
  const int64_t window_ns = diagnosis.window_ns();
  std::vector<size_t> cells;
  size_t used = 0;
  for (const BarPart& part : parts) {
    const bool shown = is_in_legend(part, diagnosis);
    const auto share = static_cast<double>(part.ns) / static_cast<double>(window_ns);
    const auto wanted = static_cast<size_t>(std::lround(share * static_cast<double>(room)));
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
  const std::string label = bar_label(data) + ' ';
  const size_t room = width - std::min(width - 10, label.size());
  const std::vector<BarPart> parts = bar_parts(data);
  const std::string margin(label.size(), ' ');
  std::string legend = margin;
  size_t column = margin.size();
  for (const BarPart& part : parts) {
    if (!is_in_legend(part, diagnosis)) continue;
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
  const std::string bar = diagnosis.window_ns() <= 0 ? "" : letters(parts, diagnosis, room);
  return label + bar + '\n' + legend + '\n';
}

}  // namespace epi::report
