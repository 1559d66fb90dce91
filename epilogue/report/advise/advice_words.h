// SPDX-License-Identifier: Apache-2.0
// One piece of advice in words: its title, the numbers behind it, and what it saves.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/report/description/description.h"

namespace epi::report {

struct AdviceWords {
  const char* key;
  const char* title;
  const char* short_title;
};
template <>
struct Words<analysis::AdviceKind> {
  static constexpr const char* kName = "advice_kind";
  static std::span<const AdviceWords> rows();
};
// "fuse gelu, mul"
std::string advice_title(const analysis::Advice& advice);
// For a table: "fused attention (SDPA)".
std::string short_title(const analysis::Advice& advice);

struct TermWords {
  const char* key;
  Unit unit;
  const char* text;           // "{} kernels"
  const char* one = nullptr;  // for one, if that differs: "{} kernel"
};
template <>
struct Words<analysis::Term::What> {
  static constexpr const char* kName = "term_what";
  static std::span<const TermWords> rows();
};
// A number that an estimate uses: "2 kernels".
std::string term_text(const analysis::Term& term);
// Its value in JSON, and the unit of it: 30.71 and "us".
double term_value(const analysis::Term& term);
const char* term_unit(const analysis::Term& term);
std::string terms_text(const std::vector<analysis::Term>& terms);

// The subject of the advice: a step, an annotation or the whole trace.
struct Scope {
  std::string the;  // "the step"
  std::string per;  // " per step"; empty for the trace
};
Scope scope_of(const analysis::AdviceReport& report);

// What a piece of advice saves. A part that does not apply is empty.
struct SavingText {
  std::string saves;  // "30.71 us per step (12.35 us to 33.63 us), likely; at most 33.63 us"
  std::string then;   // after it and all advice above: "167.0 us per step, limited by GPU work"

  std::string sentence() const;
};
SavingText saving_text(const analysis::Advice& advice, const analysis::AdviceReport& report);
// "12.35 us to 33.63 us"
std::string range_text(const analysis::Estimate& estimate);

}  // namespace epi::report
