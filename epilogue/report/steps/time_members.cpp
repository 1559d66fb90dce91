// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/steps/time_members.h"

namespace epi::report {

NamedValues<int64_t> host_times(const analysis::IdleCauses& causes) {
  NamedValues<int64_t> times{"host_times", {}};
  for (size_t i = 0; i < causes.host.size(); ++i) {
    const auto activity = static_cast<analysis::HostActivity>(i);
    times.values.emplace_back(words_of(activity).time_key, causes.host[i]);
  }
  return times;
}

NamedValues<int64_t> class_times(const analysis::IdleCauses& causes) {
  const analysis::IdleClassTimes sums = analysis::sums_by_class(causes);
  NamedValues<int64_t> times{"idle_classes", {}};
  for (size_t i = 0; i < sums.size(); ++i) {
    times.values.emplace_back(words_of(static_cast<analysis::IdleClass>(i)).time_key, sums[i]);
  }
  return times;
}

}  // namespace epi::report
