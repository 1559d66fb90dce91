// SPDX-License-Identifier: Apache-2.0
// Steps and annotations with their measures, as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/index/steps.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/table.h"

namespace epi::report {

struct StepsReport {
  analysis::InstanceGroup steps;
  std::vector<analysis::InstanceGroup> annotations;
  bool cpu_kernels = false;  // the kernels ran on the CPU backend
};

// The steps, one row each.
Table steps_table(const analysis::InstanceGroup& steps, bool cpu_kernels);
// Text is at most `width` columns wide. Markdown is not limited.
std::string steps_text(const StepsReport& report, bool markdown, size_t width);
// Writes the members `steps` and `annotations` of an open object.
void steps_json(JsonWriter& json, const StepsReport& report);

// Writes the medians of a group as members of an open object: "cpu_us_median", "kernels_median",
// ...
void median_json(JsonWriter& json, const analysis::InstanceGroup& group);
// Writes the measures of one instance as members of an open object: "cpu_us", "gpu_us", "kernels",
// ...
void measures_json(JsonWriter& json, const analysis::Measures& measures);

}  // namespace epi::report
