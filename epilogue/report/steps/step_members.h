// SPDX-License-Identifier: Apache-2.0
// The members of steps and annotations. docs/measures.md defines them.
#pragma once

#include "epilogue/analysis/step/step_model.h"
#include "epilogue/report/description/description.h"

namespace epi::report {

template <>
struct Description<analysis::StepModel> {
  using Step = analysis::StepModel;
  static constexpr const char* kName = "step";
  static constexpr std::tuple kMembers{
      Member{"name", "step", Unit::kNone, "its name in the trace", &Step::name},
      Member{"cold", "cold", Unit::kNone, "took more than twice the median", &Step::cold},
      Member{"cpu_us", "CPU", Unit::kNanoseconds, "from its start to its end on the host",
             &Step::cpu_ns},
      Member{"step_us", "time", Unit::kNanoseconds, "step time: length of its window",
             &Step::step_ns},
      Member{"latency_us", "latency", Unit::kNanoseconds,
             "from its start on the host to the end of its window", &Step::latency_ns},
      Member{"period_us", "period", Unit::kNanoseconds,
             "from its start to the start of the next one", &Step::period_ns},
      Member{"gpu_us", "GPU", Unit::kNanoseconds, "sum of the GPU events that it owns",
             &Step::gpu_ns},
      Member{"busy_us", "GPU busy", Unit::kNanoseconds, "union of these events in its window",
             &Step::busy_ns},
      Member{"busy_share", "busy", Unit::kShare, "GPU busy as a share of the step time",
             &Step::busy_share},
      Member{"others_us", "others", Unit::kNanoseconds,
             "time in its window in which only work of others runs", &Step::others_ns},
      Member{"idle_us", "idle", Unit::kNanoseconds, "time in its window in which nothing runs",
             &Step::idle_ns},
      Member{"kernels", "kernels", Unit::kCount, "kernels that it owns", &Step::kernels},
      Member{"memcpy", "memcpy", Unit::kCount, "copies that it owns", &Step::memcpys},
      Member{"memset", "memset", Unit::kCount, "memsets that it owns", &Step::memsets},
      Member{"launches", "launches", Unit::kCount, "calls in it that started GPU work",
             &Step::launches},
      Member{"lost_launches", "lost", Unit::kCount,
             "calls in it that launch kernels and have no GPU event", &Step::lost_launches},
      Member{"syncs", "syncs", Unit::kCount, "calls in it that wait for the device", &Step::syncs}};
};

// Medians over the instances of a group. The keys of the measures get the suffix of the statistic.
template <>
struct Description<analysis::MedianMeasures> {
  using Median = analysis::MedianMeasures;
  static constexpr const char* kName = "medians";
  static constexpr std::tuple kMembers{
      Member{"kernels_min", "fewest kernels", Unit::kCount, "the fewest kernels of an instance",
             &Median::kernels_min},
      Member{"kernels_max", "most kernels", Unit::kCount, "the most kernels of an instance",
             &Median::kernels_max},
      Member{"cpu_us_median", "CPU", Unit::kNanoseconds, "median CPU time", &Median::cpu_ns},
      Member{"step_us_median", "time", Unit::kNanoseconds, "median step time", &Median::step_ns},
      Member{"gpu_us_median", "GPU", Unit::kNanoseconds, "median GPU time", &Median::gpu_ns},
      Member{"busy_us_median", "GPU busy", Unit::kNanoseconds, "median GPU busy time",
             &Median::busy_ns},
      Member{"busy_share_median", "busy", Unit::kShare, "median share of GPU busy in the step time",
             &Median::busy_share},
      Member{"others_us_median", "others", Unit::kNanoseconds, "median time of work of others",
             &Median::others_ns},
      Member{"idle_us_median", "idle", Unit::kNanoseconds, "median GPU idle time",
             &Median::idle_ns},
      Member{"kernels_median", "kernels", Unit::kNumber, "median number of kernels",
             &Median::kernels},
      Member{"memcpy_median", "memcpy", Unit::kNumber, "median number of copies", &Median::memcpys},
      Member{"memset_median", "memset", Unit::kNumber, "median number of memsets",
             &Median::memsets},
      Member{"launches_median", "launches", Unit::kNumber, "median number of launches",
             &Median::launches}};
};

}  // namespace epi::report
