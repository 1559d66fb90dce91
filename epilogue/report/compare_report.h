// SPDX-License-Identifier: Apache-2.0
// A comparison of two traces, as text, Markdown and JSON.
#pragma once

#include <string>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernel_names.h"

namespace epi::report {

// One sentence: the same GPU work or not, and what changed on the GPU and the CPU, net.
std::string verdict_text(const analysis::Comparison& comparison);
// The same without the times.
std::string work_verdict_text(const analysis::Comparison& comparison);

struct CompareTextOptions {
  bool markdown = false;
  size_t width = 80;
  // Raw names are whole, and kernels that say the same by different names stay apart.
  NameStyle names = NameStyle::kDecoded;
};

std::string compare_text(const analysis::Comparison& comparison, const CompareTextOptions& options);
// The members `same_gpu_work`, `verdict` and `groups` of an open object.
void compare_json(JsonWriter& json, const analysis::Comparison& comparison, size_t most = SIZE_MAX);

}  // namespace epi::report
