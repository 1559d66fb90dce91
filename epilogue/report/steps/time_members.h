// SPDX-License-Identifier: Apache-2.0
// The members of busy and idle time. docs/measures.md defines them.
#pragma once

#include "epilogue/analysis/step/step_model.h"
#include "epilogue/analysis/time/idle.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/description/words.h"

namespace epi::report {

template <>
struct Description<analysis::TimeShares> {
  using Shares = analysis::TimeShares;
  static constexpr const char* kName = "times";
  static constexpr std::tuple kMembers{
      Member{"busy_us", "GPU busy", Unit::kNanoseconds, "union of the work", &Shares::busy_ns},
      Member{"compute_us", "compute", Unit::kNanoseconds, "kernels other than collectives",
             &Shares::compute_ns},
      Member{"communication_us", "communication", Unit::kNanoseconds, "collectives",
             &Shares::communication_ns},
      Member{"exposed_communication_us", "comm.", Unit::kNanoseconds,
             "collectives while nothing is computed", &Shares::exposed_communication_ns},
      Member{"copies_us", "copies", Unit::kNanoseconds, "copies and memsets", &Shares::copies_ns},
      Member{"exposed_copies_us", "copies", Unit::kNanoseconds,
             "copies and memsets while no kernel runs", &Shares::exposed_copies_ns},
      Member{"others_us", "others", Unit::kNanoseconds, "only other work runs", &Shares::others_ns},
      Member{"idle_us", "idle", Unit::kNanoseconds, "nothing runs", &Shares::idle_ns}};
};

// What the host did while the next work was not launched yet.
NamedValues<int64_t> host_times(const analysis::IdleCauses& causes);
// Idle time by class.
NamedValues<int64_t> class_times(const analysis::IdleCauses& causes);

template <>
struct Description<analysis::IdleCauses> {
  using Causes = analysis::IdleCauses;
  static constexpr const char* kName = "idle";
  static constexpr std::tuple kMembers{
      Member{"not_launched_us", "not launched", Unit::kNanoseconds,
             "the next work was not launched yet", &Causes::host_ns},
      Member{"activities", "host", Unit::kNanoseconds, "what the host did in this time",
             &host_times},
      Member{"launch_latency_us", "launch latency", Unit::kNanoseconds,
             "launched while the GPU was idle, not started yet", &Causes::launch_latency_ns},
      Member{"between_kernels_us", "between kernels", Unit::kNanoseconds, "launched before the gap",
             &Causes::between_ns},
      Member{"not_in_trace_us", "not in the trace", Unit::kNanoseconds,
             "started much later than launch latency explains", &Causes::not_in_file_ns},
      Member{"no_launch_us", "no launch", Unit::kNanoseconds, "the launch is not in the trace",
             &Causes::unknown_ns},
      Member{"classes", "classes", Unit::kNanoseconds, "the same time by class", &class_times}};
};

}  // namespace epi::report
