// SPDX-License-Identifier: Apache-2.0
// Advice in words: the verdict, then what would help, with its arithmetic and its events.
#pragma once

#include <string>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

// `file` is what the commands at its end name. Every piece of advice with `all`, else the first.
struct AdviseStyle {
  std::string file;
  bool markdown = false;
  bool all = false;
  size_t width = 80;
};
std::string advise_text(const analysis::AdviceReport& advised, const trace::Trace& trace,
                        const AdviseStyle& style);
struct AdviseJson {
  std::string file;              // what the command names
  size_t max_events = SIZE_MAX;  // of each piece of advice
};
void advise_json(JsonWriter& json, const analysis::AdviceReport& advised, const trace::Trace& trace,
                 const AdviseJson& style);

// The first line: "torch.compile: likely. ..."
std::string verdict_line(const analysis::AdviceReport& advised);
// How compiled code would differ, where the verdict depends on it; may be empty.
std::string compiled_text(const analysis::AdviceReport& advised);

// What advice is about: a step, an annotation or the whole trace.
struct Scope {
  std::string a;    // "a step"
  std::string the;  // "the step"
  std::string per;  // " per step"; empty for the trace
};
Scope scope_of(const analysis::AdviceReport& advised);

// "fuse gelu, mul"
std::string advice_title(const analysis::Advice& advice);
// For a table: "fused attention (SDPA)".
std::string short_title(const analysis::Advice& advice);
// A number that the estimate uses: "2 kernels".
std::string term_text(const analysis::Term& term);
std::string terms_text(const std::vector<analysis::Term>& terms);

// What a piece of advice saves; parts that do not apply are empty.
struct SavingText {
  std::string saves;  // "30.71 us of GPU time per step (12.35 us to 33.63 us), likely"
  std::string alone;  // "shortens the step, as recorded, by 9.938 us"
  std::string then;   // after it and all advice above: "167.0 us per step, limited by GPU work"

  std::string sentence() const;
};
SavingText saving_text(const analysis::Advice& advice, const analysis::AdviceReport& advised);
// "-1.219 us"
std::string signed_time(double ns);
// "12.35 us to 33.63 us"
std::string range_text(const analysis::Estimate& estimate);

// `epilogue run mlp --like FILE`; empty if the trace has no such block.
std::string like_command(const analysis::AdviceReport& advised, const std::string& file);

std::string advice_check_text(const analysis::AdviceCheck& check, bool markdown);
void advice_check_json(JsonWriter& json, const analysis::AdviceCheck& check);

}  // namespace epi::report
