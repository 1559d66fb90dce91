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
  std::string file;               // what the command names
  size_t most_events = SIZE_MAX;  // of each piece of advice
};
void advise_json(JsonWriter& json, const analysis::AdviceReport& advised, const trace::Trace& trace,
                 const AdviseJson& style);

// The first line: "torch.compile: likely, ...".
std::string verdict_line(const analysis::AdviceReport& advised);
// What one piece of advice says to do: "fuse gelu, mul".
// In a table: "fused attention (SDPA)".
std::string short_title(const analysis::Advice& advice);
std::string advice_title(const analysis::Advice& advice);
// "saves 30.71 us (12.35 us to 32.73 us) of GPU time per step, likely; ..."
std::string saving_text(const analysis::Advice& advice, bool cpu_kernels);

// `epilogue run mlp --like FILE`; empty where there is no block to run.
std::string like_command(const analysis::AdviceReport& advised, const std::string& file);

std::string advice_check_text(const analysis::AdviceCheck& check, bool markdown);
void advice_check_json(JsonWriter& json, const analysis::AdviceCheck& check);

}  // namespace epi::report
