// SPDX-License-Identifier: Apache-2.0
// What limits a step, with the numbers behind it: the verdict and the critical path.
#pragma once

#include <string>

#include "epilogue/report/steps/diagnosis_members.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// The analyzed part of the window: "the step", "the trace", "the analyzed time".
const char* window_text(const analysis::Diagnosis& diagnosis);
// "HOST-BOUND in this trace: the GPU is idle 33 % of the step". `cpu_kernels`: the kernels ran on
// the CPU backend, and the text does not mention a GPU.
std::string verdict_text(const analysis::Diagnosis& diagnosis, bool cpu_kernels);
// "CONDITIONAL, the file is cut: "; empty if the verdict is unconditional.
std::string condition_text(const analysis::Diagnosis& diagnosis);
// "2 of 6 steps have another limit: #2 input-bound, #5 mixed"; empty if all agree.
std::string differing_text(const analysis::Diagnosis& diagnosis);
// The verdict on a trace without device work: "CPU ONLY: the trace has no GPU work".
std::string missing_work_text(const analysis::MissingWork& missing);
// "without host dispatch -22 %, without GPU work -3 %": how much shorter the judged steps would be,
// as many parts as fit into `width`, and always GPU work and dispatch.
std::string without_text(const analysis::Diagnosis& diagnosis, bool cpu_kernels, size_t width);
// "steps take 116.2 ms to 182.1 ms; #2 and #5 slow: data loading". Empty if they hardly differ.
std::string slow_text(const analysis::Diagnosis& diagnosis, const analysis::StepGroup& steps);
// Why the verdict is not what the savings or the share of GPU busy time suggest. Empty if it is.
std::string why_text(const analysis::Diagnosis& diagnosis, bool cpu_kernels);
// "host dispatch 68 %, kernel launches 17 %, compute-bound kernels 15 %", largest first.
std::string path_text(const analysis::Diagnosis& diagnosis);

// The critical path of the shown step, part by part in order of time.
struct CriticalPath {
  CriticalPath(const analysis::StepModels& models, bool all_parts);

  const trace::Trace& trace;
  std::optional<analysis::Diagnosis> diagnosis;  // none without device work
  analysis::MissingWork missing_work;            // then
  bool cpu_kernels = false;
  bool all_parts = false;  // in the text: all parts, not only the longest

  std::vector<PathRow> path() const;
  analysis::Limiter regime() const;
  std::vector<std::string_view> conditions() const;
};
std::string text_of(const CriticalPath& path, const Style& style);

template <>
struct Description<CriticalPath> {
  static constexpr const char* kName = "critical_path";
  static constexpr std::tuple kMembers = std::tuple_cat(
      members_through<&CriticalPath::diagnosis>(Description<analysis::Diagnosis>::kGroup),
      std::tuple{Member{"regime", "limit", Unit::kNone, Description<analysis::Diagnosis>::kRegime,
                        &CriticalPath::regime},
                 Member{"conditions", "conditions", Unit::kNone,
                        Description<analysis::Diagnosis>::kConditions, &CriticalPath::conditions}},
      members_through<&CriticalPath::diagnosis>(Description<analysis::Diagnosis>::kFigures),
      std::tuple{
          Member{"path", "path", Unit::kNone, "its parts in order of time", &CriticalPath::path}});
};

}  // namespace epi::report
