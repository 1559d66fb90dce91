// SPDX-License-Identifier: Apache-2.0
// A comparison of two traces, as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"
#include "epilogue/report/table.h"

namespace epi::report {

// Whether both traces run the same GPU work, what changed, and the net change of GPU and CPU time.
std::string verdict_text(const analysis::Comparison& comparison);
// Like `verdict_text`, without times.
std::string work_verdict_text(const analysis::Comparison& comparison);

struct CompareTextOptions {
  bool markdown = false;
  size_t width = 80;
  // With raw names, kernels with the same decoded name are listed separately, and no name is cut.
  NameStyle names = NameStyle::kDecoded;
};

// A line of a comparison: "fused", "1 x gelu, mul -> triton_poi_fused_gelu_mul_0".
struct CompareLine {
  std::string title;  // empty: continues the line above
  std::string text;
};
// A group of both traces: a table of its measures, and what changed.
struct ComparePart {
  std::string title;
  Table measures;
  std::vector<CompareLine> lines;
};
std::vector<ComparePart> compare_parts(const analysis::Comparison& comparison);

// One comparison per rank: a line for each, and which rank differs most.
struct RankComparison {
  std::string name;
  const analysis::Comparison* comparison;
};
// The rank whose GPU work differs, or else whose GPU time changed most.
size_t most_different(const std::vector<RankComparison>& ranks);
std::string compare_ranks_text(const std::vector<RankComparison>& ranks,
                               const CompareTextOptions& options);

std::string compare_text(const analysis::Comparison& comparison, const CompareTextOptions& options);
// Writes the members `same_gpu_work`, `verdict`, `only_a`, `only_b` and `groups` of an open object,
// with at most `max_entries` names and groups.
void compare_json(JsonWriter& json, const analysis::Comparison& comparison,
                  size_t max_entries = SIZE_MAX);

}  // namespace epi::report
