// SPDX-License-Identifier: Apache-2.0
// Advice as text and JSON: the verdict, then what would help, with the numbers and events behind
// it.
#pragma once

#include <string>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

struct AdviseStyle {
  std::string file;  // named in the suggested command
  bool markdown = false;
  bool all = false;  // all advice, not only the first few pieces
  size_t width = 80;
  bool suggests_run = true;  // the last line may suggest `epilogue run`
};
std::string advise_text(const analysis::AdviceReport& report, const trace::Trace& trace,
                        const AdviseStyle& style);
struct AdviseJson {
  std::string file;              // named in the suggested command
  size_t max_events = SIZE_MAX;  // per piece of advice
};
void advise_json(JsonWriter& json, const analysis::AdviceReport& report, const trace::Trace& trace,
                 const AdviseJson& style);

// The first line: "torch.compile: likely to help. ..."
std::string verdict_line(const analysis::AdviceReport& report);
// How compiled code would differ. Empty if the verdict does not depend on it.
std::string compiled_text(const analysis::AdviceReport& report);

// The subject of the advice: a step, an annotation or the whole trace.
struct Scope {
  std::string a;    // "a step"
  std::string the;  // "the step"
  std::string per;  // " per step"; empty for the trace
};
Scope scope_of(const analysis::AdviceReport& report);

// "fuse gelu, mul"
std::string advice_title(const analysis::Advice& advice);
// For a table: "fused attention (SDPA)".
std::string short_title(const analysis::Advice& advice);
// A number that an estimate uses: "2 kernels".
std::string term_text(const analysis::Term& term);
std::string terms_text(const std::vector<analysis::Term>& terms);

// What a piece of advice saves. Parts that do not apply are empty.
struct SavingText {
  std::string saves;  // "30.71 us of GPU time per step (12.35 us to 33.63 us), likely"
  std::string alone;  // "shortens the step, as recorded, by 9.938 us"
  std::string then;   // after it and all advice above: "167.0 us per step, limited by GPU work"

  std::string sentence() const;
};
SavingText saving_text(const analysis::Advice& advice, const analysis::AdviceReport& report);
// "-1.219 us"
std::string signed_time(double ns);
// "12.35 us to 33.63 us"
std::string range_text(const analysis::Estimate& estimate);

// `epilogue run mlp --like FILE`. Empty if the trace has no MLP and no linear layer.
std::string like_command(const analysis::AdviceReport& report, const std::string& file);

// Compares the estimates of one trace with the measurements of a second one.
std::string advice_check_text(const analysis::AdviceCheck& check, bool markdown);
void advice_check_json(JsonWriter& json, const analysis::AdviceCheck& check);

}  // namespace epi::report
