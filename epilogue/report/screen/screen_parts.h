// SPDX-License-Identifier: Apache-2.0
// Parts of the first screen and of the report page: the bar (screen_bar.cpp), the table of GPU work
// (screen_work.cpp), the advice (screen_advice.cpp) and sentences (screen_notes.cpp).
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/overview/overview.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::report {

using analysis::Overview;

inline std::string time_of(int64_t ns) { return time_text(static_cast<double>(ns)); }

// The parts of the step's time add up to three totals, and these to the step's time.
enum class BarTotal : uint8_t { kBusy, kOthers, kIdle };
// A part of the step's time: a letter of the bar, and a color of the report page.
struct BarPart {
  BarTotal total;
  char letter;
  const char* key;  // "busy", "communication", "copy", "others", or of an `IdleClass`
  const char* what;
  int64_t ns = 0;
};
// Largest first, without empty parts.
std::vector<BarPart> bar_parts(const Overview& data);
// Parts below half a percent are not in the legend.
bool is_in_legend(const BarPart& part, const analysis::Diagnosis& diagnosis);
// "step 347.6 us"
std::string bar_label(const Overview& data);
// The time of the step as a bar of letters, with a legend.
std::string bar_text(const Overview& data, size_t width);

// "GEMM 8192x768x3072 bf16"

// The table of GPU work: at most `most` groups, and the rest as one row.
Table work_table(const Overview& data, size_t most);
std::string groups_text(const Overview& data, size_t most, size_t width);

// The first pieces of advice: what each saves, and what limits the step after it.
struct RankedAdvice {
  Table table;
  std::vector<const analysis::Advice*> rows;
};
RankedAdvice ranked_advice(const Overview& data);
// The same as text. Empty if there is no advice.
std::string advice_text(const Overview& data, size_t width);

// "3 steps, #3 shown (median)"
std::string shown_steps_text(const Overview& data);
// What decided: "without host dispatch -22 %, without GPU work -3 %".
std::string decided_text(const Overview& data, size_t width);
// Notes on the evidence for the verdict, and on how to use it. The most important first.
std::vector<std::string> verdict_notes(const Overview& data, const analysis::TraceIndex& index);
// "MFU 34 %: 115.9 GFLOP in 347.6 us"; empty if it is unknown.
std::string mfu_text(const Overview& data);
// What makes the figures less sure.
std::vector<std::string> quality_notes(const Overview& data, bool has_estimates);
// Why there is no advice, and what to do.
std::string no_advice_text(const Overview& data);

}  // namespace epi::report
