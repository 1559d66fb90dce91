// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/steps/steps_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/report/description/described_table.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {
namespace {

using analysis::StepModel;

// A row of the table: a name that fits, and the marks behind it.
struct NamedStep : StepModel {
  std::string title;
};
struct NamedAnnotation : AnnotationRow {
  std::string title;
  std::string range;  // of the kernels
};

}  // namespace

template <>
struct Description<NamedStep> {
  static constexpr const char* kName = "";
  static constexpr std::tuple kMembers =
      std::tuple_cat(std::tuple{Member{"title", "step", Unit::kNone, "", &NamedStep::title}},
                     Description<StepModel>::kMembers);
};
template <>
struct Description<NamedAnnotation> {
  static constexpr const char* kName = "";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{Member{"title", "annotation", Unit::kNone, "", &NamedAnnotation::title},
                 Member{"range", "kernels", Unit::kCount, "", &NamedAnnotation::range}},
      Description<AnnotationRow>::kMembers);
};

namespace {

Table annotations_table(const std::vector<AnnotationRow>& annotations, bool cpu_kernels) {
  std::vector<NamedAnnotation> rows;
  for (const AnnotationRow& one : annotations) {
    NamedAnnotation row{one, std::string(one.name), fmt::format("{}", one.kernels_min)};
    if (one.cold > 0) row.title += fmt::format(" ({} cold)", one.cold);
    if (one.kernels_min != one.kernels_max) {
      row.range = fmt::format("{}-{}", one.kernels_min, one.kernels_max);
    }
    rows.push_back(std::move(row));
  }
  // 80 columns have no room for both.
  const char* varying = has_values(rows, "others_us_median") ? "others_us_median" : "cpu_us_median";
  return described_table(rows, {{"title"},
                                {"instances"},
                                {"step_us_median"},
                                {varying},
                                {"gpu_us_median", cpu_kernels ? "kernel time" : nullptr},
                                {"busy_share_median"},
                                {"idle_us_median"},
                                {"range"}});
}

std::string copies_text(const StepsResult& result) {
  int64_t memcpys = 0;
  int64_t memsets = 0;
  int64_t syncs = 0;
  for (const StepModel& step : result.steps()) {
    memcpys += step.memcpys;
    memsets += step.memsets;
    syncs += step.syncs;
  }
  return fmt::format("{}: {} memcpy, {} memset, {}\n",
                     result.group.is_whole_trace() ? "total" : "all steps", memcpys, memsets,
                     plural(static_cast<double>(syncs), "synchronizing call"));
}

}  // namespace

StepsResult::StepsResult(const analysis::StepModels& models)
    : group(models.steps()), cpu_kernels(trace::has_cpu_kernels(models.index().trace)) {
  if (const auto* shown = models.shown_device()) device = shown->device();
  for (const analysis::StepGroup& one : models.annotations()) {
    const auto cold = std::count_if(one.steps.begin(), one.steps.end(),
                                    [](const StepModel& step) { return step.cold; });
    annotations.push_back({one.medians(), one.name, std::ssize(one.steps), cold});
  }
}

Table steps_table(std::span<const StepModel> steps, bool is_whole_trace, bool cpu_kernels) {
  // The common prefix of PyTorch's names stands above the column.
  const bool numbered = std::all_of(steps.begin(), steps.end(), [](const StepModel& step) {
    return trace::is_step_name(step.name);
  });
  std::vector<NamedStep> rows;
  for (const StepModel& step : steps) {
    const std::string name =
        numbered ? fmt::format("#{}", trace::step_number(step.name)) : std::string(step.name);
    rows.push_back({step, name + (step.cold ? " (cold)" : "")});
  }
  // 80 columns have no room for both.
  const char* varying = has_values(rows, "others_us") ? "others_us" : "launches";
  return described_table(rows, {{"title", is_whole_trace ? "no steps" : "step"},
                                {"step_us"},
                                {"cpu_us"},
                                {"gpu_us", cpu_kernels ? "kernel time" : nullptr},
                                {"busy_share"},
                                {"idle_us"},
                                {varying},
                                {"kernels"}});
}

std::string text_of(const StepsResult& result, const Style& style) {
  const auto print = [&](const Table& table) {
    return style.markdown ? table.markdown() : table.text(style.width, Table::Cut::kMiddle);
  };
  const char* space = style.markdown ? "\n" : "";
  std::string out =
      print(steps_table(result.steps(), result.group.is_whole_trace(), result.cpu_kernels)) +
      space + copies_text(result);
  if (result.annotations.empty()) return out;
  return out + "\nannotations, medians of all instances\n" + space +
         print(annotations_table(result.annotations, result.cpu_kernels));
}

}  // namespace epi::report
