// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/step_model.h"

#include <algorithm>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

bool has_device_work(const StepModel& step) { return !step.owned.work.empty(); }

}  // namespace

bool StepGroup::has_work() const {
  return std::any_of(steps.begin(), steps.end(), has_device_work);
}

std::vector<size_t> StepGroup::warm() const {
  const bool any_work = has_work();
  std::vector<size_t> candidates;
  std::vector<size_t> warm;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (any_work && !has_device_work(steps[i])) continue;
    candidates.push_back(i);
    if (!steps[i].cold) warm.push_back(i);
  }
  return warm.empty() ? candidates : warm;
}

size_t StepGroup::shown() const {
  std::vector<int64_t> step_ns;
  for (const StepModel& step : steps) step_ns.push_back(step.step_ns);
  return median_place(step_ns, warm());
}

size_t median_place(const std::vector<int64_t>& step_ns, std::vector<size_t> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](size_t a, size_t b) { return step_ns[a] < step_ns[b]; });
  return candidates[(candidates.size() - 1) / 2];
}

MedianMeasures StepGroup::medians() const {
  const auto median_of = [&](auto&& measure) {
    std::vector<double> values;
    for (const StepModel& step : steps) values.push_back(static_cast<double>(measure(step)));
    return median(std::move(values));
  };
  MedianMeasures result;
  result.cpu_ns = median_of([](const StepModel& s) { return s.cpu_ns; });
  result.step_ns = median_of([](const StepModel& s) { return s.step_ns; });
  result.gpu_ns = median_of([](const StepModel& s) { return s.gpu_ns; });
  result.busy_ns = median_of([](const StepModel& s) { return s.busy_ns; });
  result.busy_share = median_of([](const StepModel& s) { return s.busy_share(); });
  result.others_ns = median_of([](const StepModel& s) { return s.others_ns; });
  result.idle_ns = median_of([](const StepModel& s) { return s.idle_ns; });
  result.kernels = median_of([](const StepModel& s) { return s.kernels; });
  result.memcpys = median_of([](const StepModel& s) { return s.memcpys; });
  result.memsets = median_of([](const StepModel& s) { return s.memsets; });
  result.launches = median_of([](const StepModel& s) { return s.launches; });
  const auto [least, most] = std::minmax_element(
      steps.begin(), steps.end(),
      [](const StepModel& a, const StepModel& b) { return a.kernels < b.kernels; });
  if (least != steps.end()) {
    result.kernels_min = least->kernels;
    result.kernels_max = most->kernels;
  }
  return result;
}

}  // namespace epi::analysis
