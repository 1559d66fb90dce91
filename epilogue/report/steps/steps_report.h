// SPDX-License-Identifier: Apache-2.0
// Steps and annotations with their measures.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/step_models.h"
#include "epilogue/report/steps/step_members.h"
#include "epilogue/report/text/style.h"
#include "epilogue/report/text/table.h"

namespace epi::report {

struct AnnotationRow : analysis::MedianMeasures {
  std::string_view name;
  int64_t count = 0;
  int64_t cold = 0;
};

struct StepsResult {
  explicit StepsResult(const analysis::StepModels& models);

  const analysis::StepGroup& group;
  std::vector<AnnotationRow> annotations;
  std::optional<int64_t> device;  // on which times of steps are measured
  bool cpu_kernels = false;       // the kernels ran on the CPU backend

  std::span<const analysis::StepModel> steps() const { return group.steps; }
};

// The steps, one row each.
Table steps_table(std::span<const analysis::StepModel> steps, bool is_whole_trace,
                  bool cpu_kernels);
std::string text_of(const StepsResult& result, const Style& style);

template <>
struct Description<AnnotationRow> {
  static constexpr const char* kName = "annotation";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{
          Member{"name", "annotation", Unit::kNone, "its name", &AnnotationRow::name},
          Member{"instances", "count", Unit::kCount, "number of instances", &AnnotationRow::count},
          Member{"cold_count", "cold", Unit::kCount, "instances of more than twice the median time",
                 &AnnotationRow::cold}},
      Description<analysis::MedianMeasures>::kMembers);
};
template <>
struct Description<StepsResult> {
  static constexpr const char* kName = "steps";
  static constexpr std::tuple kMembers{
      Member{"steps", "steps", Unit::kNone, "every step; the whole trace if it marks none",
             &StepsResult::steps},
      Member{"annotations", "annotations", Unit::kNone, "every annotation",
             &StepsResult::annotations},
      Member{"device", "device", Unit::kNumber,
             "the device of the times: the busiest of the trace; null without GPU events",
             &StepsResult::device}};
};

}  // namespace epi::report
