// SPDX-License-Identifier: Apache-2.0
// The time of the step as a bar of letters on the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "epilogue/report/description/words.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/text/text.h"

namespace epi::report {

using analysis::Diagnosis;

std::vector<BarPart> bar_parts(const Overview& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const analysis::TimeShares& shares = diagnosis.shares;
  std::vector<BarPart> parts = {
      {BarTotal::kBusy, 'G', "busy", "kernels", shares.compute_ns},
      {BarTotal::kBusy, 'N', "communication", "exposed collectives",
       shares.exposed_communication_ns},
      {BarTotal::kBusy, 'D', "copy", "copies", shares.exposed_copies_ns},
      {BarTotal::kOthers, 'O', "others", "work of others", shares.others_ns}};
  const auto idle = analysis::sums_by_class(analysis::sum_of(diagnosis.gaps));
  for (size_t i = 0; i < analysis::kIdleClasses; ++i) {
    const IdleClassWords& words = words_of(static_cast<analysis::IdleClass>(i));
    parts.push_back({BarTotal::kIdle, words.letter, words.color, words.phrase, idle[i]});
  }
  std::erase_if(parts, [](const BarPart& part) { return part.ns <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BarPart& a, const BarPart& b) { return a.ns > b.ns; });
  return parts;
}

bool is_in_legend(const BarPart& part, const Diagnosis& diagnosis) {
  constexpr int64_t kMinShare = 200;
  return part.ns >= diagnosis.step_ns() / kMinShare;
}

std::string bar_label(const Overview& data) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  return fmt::format("{} {}", diagnosis.whole_trace() ? "trace" : "step",
                     time_of(diagnosis.step_ns()));
}

namespace {

// As many letters as `room`; a part in the legend has at least one.
std::string letters(const std::vector<BarPart>& parts, const Diagnosis& diagnosis, size_t room) {
  const int64_t window_ns = diagnosis.step_ns();
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

const char* title_of(BarTotal total, bool cpu_kernels) {
  switch (total) {
    case BarTotal::kBusy:
      return cpu_kernels ? "kernels run" : "GPU busy";
    case BarTotal::kOthers:
      return "work of others";
    case BarTotal::kIdle:
      return cpu_kernels ? "no kernel" : "GPU idle";
  }
  return "";
}

// "GPU idle 113.3 us: H waiting for host 101.9 us  . gaps 11.40 us", without the parts that are too
// small. A total of one part is one phrase: "G GPU busy 234.3 us".
std::string legend_of(BarTotal total, int64_t total_ns, const std::vector<BarPart>& parts,
                      const Overview& data) {
  std::vector<const BarPart*> shown;
  for (const BarPart& part : parts) {
    const bool counts = part.total == total && is_in_legend(part, *data.advised.diagnosis);
    if (counts) shown.push_back(&part);
  }
  const char* title = title_of(total, data.summary.cpu_kernels);
  if (shown.empty()) return "";
  if (shown.size() == 1 && shown[0]->ns == total_ns && total != BarTotal::kIdle) {
    return fmt::format("{} {} {}", shown[0]->letter, title, time_of(total_ns));
  }
  std::string line = fmt::format("{} {}:", title, time_of(total_ns));
  const char* space = " ";
  for (const BarPart* part : shown) {
    line += fmt::format("{}{} {} {}", space, part->letter, part->what, time_of(part->ns));
    space = "  ";
  }
  return line;
}

}  // namespace

std::string bar_text(const Overview& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const std::string label = bar_label(data) + ' ';
  const size_t room = width - std::min(width - 10, label.size());
  const std::vector<BarPart> parts = bar_parts(data);
  std::string out =
      label + (diagnosis.step_ns() <= 0 ? "" : letters(parts, diagnosis, room)) + '\n';
  const std::pair<BarTotal, int64_t> totals[] = {{BarTotal::kBusy, diagnosis.shares.busy_ns},
                                                 {BarTotal::kOthers, diagnosis.shares.others_ns},
                                                 {BarTotal::kIdle, diagnosis.shares.idle_ns}};
  std::string line;
  for (const auto& [total, ns] : totals) {
    const std::string legend = legend_of(total, ns, parts, data);
    if (legend.empty()) continue;
    if (!line.empty() && line.size() + 3 + legend.size() <= width) {
      line += "   " + legend;
    } else {
      if (!line.empty()) out += indented(line, 2, width) + '\n';
      line = legend;
    }
  }
  if (!line.empty()) out += indented(line, 2, width) + '\n';
  return out;
}

}  // namespace epi::report
