// SPDX-License-Identifier: Apache-2.0
// What limits a step, with the numbers behind it: the verdict and the critical path.
#pragma once

#include <string>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

// The spelling in JSON: "gpu_bound", "cpu_bound", "input_bound".
const char* regime_text(analysis::Limiter limiter);

// The diagnosed window: "the step", "the steps", "the trace".
const char* window_text(const analysis::Diagnosis& diagnosis);
// "HOST-BOUND in this trace: the GPU is idle 33 % of the step". `cpu_kernels`: the kernels ran on
// the CPU backend, and the text does not mention a GPU.
std::string verdict_text(const analysis::Diagnosis& diagnosis, bool cpu_kernels);
inline constexpr const char* kCpuOnly = "CPU ONLY: the trace has no GPU work";
// "host dispatch 68 %, kernel launches 17 %, compute-bound kernels 15 %", largest first.
std::string path_text(const analysis::Diagnosis& diagnosis);
struct PathStyle {
  bool all = false;  // all parts, not only the longest
  bool markdown = false;
  bool cpu_kernels = false;
  size_t width = 80;
};
// The critical path, part by part in order of time.
std::string critical_path_text(const analysis::Diagnosis& diagnosis, const trace::Trace& trace,
                               const PathStyle& style);
// Writes the members of `diagnosis_json`, and `path`: an array of all parts.
void critical_path_json(JsonWriter& json, const analysis::Diagnosis& diagnosis,
                        const trace::Trace& trace);
// `path_text` with short names, as many parts as fit into `width`.
std::string short_path_text(const analysis::Diagnosis& diagnosis, size_t width);
// Writes the verdict (`regime`, `bound_by`), the window and the time of each bound into an open
// object.
void diagnosis_json(JsonWriter& json, const analysis::Diagnosis& diagnosis);

// "79 % FLOP/s", "88 % B/s"; a dash if unknown.
std::string rate_text(const analysis::KernelRate& rate);
void rate_json(JsonWriter& json, const analysis::KernelRate& rate);

}  // namespace epi::report
