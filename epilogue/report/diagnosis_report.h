// SPDX-License-Identifier: Apache-2.0
// What limits a step, with the numbers behind it.
#pragma once

#include <string>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

// As in JSON: "gpu_bound", "cpu_bound", "input_bound".
const char* regime_text(analysis::Limiter limiter);

// What is judged: "the step", "the steps", "the trace".
const char* window_text(const analysis::Diagnosis& diagnosis);
// "HOST-BOUND: the GPU is idle 33 % of the step". `cpu_kernels`: the trace has
// the kernels of a CPU instead of a GPU's.
std::string verdict_text(const analysis::Diagnosis& diagnosis, bool cpu_kernels);
inline constexpr const char* kCpuOnly = "CPU ONLY: the trace has no GPU work";
// "dispatch 62 %, arithmetic 15 %, launches 12 %", the largest first.
std::string path_text(const analysis::Diagnosis& diagnosis);
// The critical path, part by part in order; without `all` the longest ones.
struct PathStyle {
  bool all = false;
  bool markdown = false;
  bool cpu_kernels = false;
  size_t width = 80;
};
std::string critical_path_text(const analysis::Diagnosis& diagnosis, const trace::Trace& trace,
                               const PathStyle& style);
// "limiter", "window_us", the sums, and "path": an array of all parts.
void critical_path_json(JsonWriter& json, const analysis::Diagnosis& diagnosis,
                        const trace::Trace& trace);
// The same in a word or two each, as many as fit.
std::string short_path_text(const analysis::Diagnosis& diagnosis, size_t width);
void diagnosis_json(JsonWriter& json, const analysis::Diagnosis& diagnosis);

// "79 % FLOP/s", "88 % B/s"; a dash if unknown.
std::string rate_text(const analysis::KernelRate& rate);
void rate_json(JsonWriter& json, const analysis::KernelRate& rate);

}  // namespace epi::report
