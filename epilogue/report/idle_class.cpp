// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/idle_class.h"

#include <fmt/format.h>

#include "epilogue/report/words.h"

namespace epi::report {

using analysis::Bound;
using analysis::HostActivity;
using analysis::IdleCause;

const IdleClassWords& words_of(IdleClass idle) {
  static constexpr std::array<IdleClassWords, kIdleClasses> kWords{{
      {'I', "idle-input", "data loading"},
      {'H', "idle-host", "waiting for host"},
      {'S', "idle-sync", "synchronization"},
      {'C', "idle-compile", "compilation"},
      {'A', "idle-alloc", "allocation"},
      {'M', "idle-startup", "start-up"},
      {'.', "idle-gap", "gaps"},
      {'?', "idle-unknown", "not in the trace"},
  }};
  return kWords[static_cast<size_t>(idle)];
}

namespace {

IdleClass class_of(HostActivity activity) {
  switch (activity) {
    case HostActivity::kDispatch:
    case HostActivity::kLaunching:
    case HostActivity::kGuards:
    case HostActivity::kBetweenOps:
      return IdleClass::kHost;
    case HostActivity::kAllocating:
      return IdleClass::kAllocation;
    case HostActivity::kInitializing:
      return IdleClass::kStartUp;
    case HostActivity::kSynchronizing:
      return IdleClass::kSync;
    case HostActivity::kDataLoading:
      return IdleClass::kInput;
    case HostActivity::kCompiling:
      return IdleClass::kCompile;
  }
  return IdleClass::kHost;
}

}  // namespace

IdleClass idle_class(IdleCause cause, HostActivity activity) {
  switch (cause) {
    case IdleCause::kNotLaunched:
      return class_of(activity);
    case IdleCause::kLaunchLatency:
    case IdleCause::kBetweenKernels:
    case IdleCause::kOtherStreams:
    case IdleCause::kOtherSteps:
      return IdleClass::kGap;
    case IdleCause::kNotInFile:
    case IdleCause::kNoLaunch:
      return IdleClass::kUnknown;
  }
  return IdleClass::kUnknown;
}

bool is_device_bound(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
    case Bound::kMemory:
    case Bound::kUnclassified:
    case Bound::kCopies:
    case Bound::kCommunication:
      return true;
    default:
      return false;
  }
}

IdleClass idle_class(Bound bound) {
  switch (bound) {
    case Bound::kSynchronizing:
      return IdleClass::kSync;
    case Bound::kInput:
      return IdleClass::kInput;
    case Bound::kAllocating:
      return IdleClass::kAllocation;
    case Bound::kInitializing:
      return IdleClass::kStartUp;
    case Bound::kCompiling:
      return IdleClass::kCompile;
    case Bound::kNotInFile:
      return IdleClass::kUnknown;
    default:
      return IdleClass::kHost;
  }
}

std::string cause_text(IdleCause cause, HostActivity activity) {
  if (cause != IdleCause::kNotLaunched) return phrase_of(cause);
  const IdleClass idle = class_of(activity);
  return idle == IdleClass::kHost ? fmt::format("{} ({})", words_of(idle).what, phrase_of(activity))
                                  : words_of(idle).what;
}

IdleClassTimes sums_by_class(const analysis::IdleCauses& causes) {
  IdleClassTimes sums{};
  const auto add = [&](IdleClass idle, int64_t ns) { sums[static_cast<size_t>(idle)] += ns; };
  for (size_t i = 0; i < causes.host.size(); ++i) {
    add(class_of(static_cast<HostActivity>(i)), causes.host[i]);
  }
  add(IdleClass::kGap, causes.launch_latency_ns + causes.between_ns + causes.other_streams_ns +
                           causes.other_steps_ns);
  add(IdleClass::kUnknown, causes.not_in_file_ns + causes.unknown_ns);
  return sums;
}

}  // namespace epi::report
