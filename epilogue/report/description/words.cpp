// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/description/words.h"

#include <fmt/format.h>

#include <iterator>

namespace epi::report {

using analysis::Bound;
using analysis::HostActivity;
using analysis::IdleCause;
using analysis::IdleClass;
using analysis::Limiter;

std::span<const BoundWords> Words<analysis::Bound>::rows() {
  static constexpr BoundWords kRows[] = {
      {"compute", "compute-bound kernels", "compute"},
      {"memory", "memory-bound kernels", "memory"},
      {"unclassified", "kernels of unknown kind", "other kernels"},
      {"copies", "copies between host and device", "copies"},
      {"communication", "communication", "communication"},
      {"dispatch", "host dispatch", "host dispatch"},
      {"launches", "kernel launches", "launches"},
      {"host_work", "other host work", "host work"},
      {"synchronization", "synchronization", "sync"},
      {"data_loading", "data loading", "data loading"},
      {"allocation", "allocation", "allocation"},
      {"start_up", "start-up", "start-up"},
      {"compilation", "compilation", "compilation"},
      {"not_in_trace", "something not in the trace", "not in the trace"},
  };
  static_assert(std::size(kRows) == analysis::kBounds);
  return kRows;
}

bool is_device_bound(Bound bound) { return bound <= Bound::kCommunication; }

std::span<const LimiterWords> Words<analysis::Limiter>::rows() {
  static constexpr LimiterWords kRows[] = {
      {"gpu_bound", "GPU-BOUND", "GPU-bound", "GPU-bound", "GPU work", "GPU", "GPU work"},
      {"host_bound", "HOST-BOUND", "host-bound", "host-bound", "host dispatch and launches", "host",
       "host dispatch"},
      {"host_bound", "HOST-BOUND", "host-bound", "host-bound", "other host work", "host work",
       "other host work"},
      {"input_bound", "INPUT-BOUND", "input-bound", "input-bound", "data loading", "input",
       "data loading"},
      {"synchronization_bound", "SYNC-BOUND", "sync-bound", "sync-bound", "synchronization", "sync",
       "synchronization"},
      {"communication_bound", "COMMUNICATION-BOUND", "communication-bound", "comm.-bound",
       "communication", "comm.", "communication"},
      {"copy_bound", "COPY-BOUND", "copy-bound", "copy-bound", "copies between host and device",
       "copies", "copies"},
      {"allocation_bound", "ALLOCATION-BOUND", "allocation-bound", "alloc.-bound", "allocation",
       "allocation", "allocation"},
      {"start_up_bound", "STARTUP-BOUND", "startup-bound", "startup-bound", "start-up", "start-up",
       "start-up"},
      {"compilation_bound", "COMPILE-BOUND", "compile-bound", "compile-bound", "compilation",
       "compiler", "compilation"},
      {"not_conclusive", "NOT CONCLUSIVE", "not conclusive", "not conclusive",
       "something not in the trace", "unknown", ""},
      {"mixed", "MIXED", "mixed", "mixed", "mixed", "unknown", ""},
      {"graph_capture", "GRAPH CAPTURE", "graph capture", "graph capture", "graph capture",
       "unknown", ""},
      {"not_conclusive", "NOT CONCLUSIVE", "not conclusive", "not conclusive", "not conclusive",
       "unknown", ""},
      {"no_device", "CPU ONLY", "CPU only", "CPU only", "no device", "unknown", ""},
  };
  static_assert(std::size(kRows) == analysis::kAllLimiters);
  return kRows;
}

const char* limiter_phrase(Limiter limiter, bool cpu_kernels) {
  return cpu_kernels && limiter == Limiter::kGpu ? "kernels" : words_of(limiter).phrase;
}

std::span<const ActivityWords> Words<analysis::HostActivity>::rows() {
  static constexpr ActivityWords kRows[] = {
      {"dispatch", "dispatch_us", "dispatch"},
      {"launches", "launches_us", "launching"},
      {"allocation", "allocation_us", "allocating"},
      {"start_up", "start_up_us", "start-up"},
      {"synchronization", "synchronization_us", "synchronizing"},
      {"data_loading", "data_loading_us", "data loading"},
      {"compilation", "compilation_us", "compiling"},
      {"guards", "guards_us", "guards"},
      {"host_work", "host_work_us", "other work"},
      {"between_ops", "between_ops_us", "between ops"},
  };
  static_assert(std::size(kRows) == analysis::kHostActivities);
  return kRows;
}

std::span<const CauseWords> Words<analysis::IdleCause>::rows() {
  static constexpr CauseWords kRows[] = {
      {"not_launched", "not launched yet"},
      {"launch_latency", "launch latency"},
      {"between_kernels", "gap between two kernels"},
      {"not_in_trace", "waiting for something not in the trace"},
      {"no_launch", "unknown: launch not in the trace"},
  };
  static_assert(std::size(kRows) == static_cast<size_t>(IdleCause::kNoLaunch) + 1);
  return kRows;
}

std::span<const IdleClassWords> Words<analysis::IdleClass>::rows() {
  static constexpr IdleClassWords kRows[] = {
      {"data_loading", "data_loading_us", 'I', "idle-input", "data loading", "input"},
      {"host", "host_us", 'H', "idle-host", "waiting for host", "host"},
      {"host_work", "host_work_us", 'W', "idle-work", "other host work", "host work"},
      {"synchronization", "synchronization_us", 'S', "idle-sync", "synchronization", "sync"},
      {"compilation", "compilation_us", 'C', "idle-compile", "compilation", "compile"},
      {"allocation", "allocation_us", 'A', "idle-alloc", "allocation", "alloc"},
      {"start_up", "start_up_us", 'M', "idle-startup", "start-up", "startup"},
      {"gaps", "gaps_us", '.', "idle-gap", "gaps", "gap"},
      {"not_in_trace", "not_in_trace_us", '?', "idle-unknown", "not in the trace", "unknown"},
  };
  static_assert(std::size(kRows) == analysis::kIdleClasses);
  return kRows;
}

std::string cause_text(IdleCause cause, HostActivity activity) {
  if (cause != IdleCause::kNotLaunched) return words_of(cause).phrase;
  const IdleClass idle = analysis::idle_class(activity);
  const char* phrase = words_of(idle).phrase;
  return idle == IdleClass::kHost ? fmt::format("{} ({})", phrase, words_of(activity).phrase)
                                  : phrase;
}

std::span<const ConfidenceWords> Words<analysis::Confidence>::rows() {
  static constexpr ConfidenceWords kRows[] = {
      {"not_conclusive", "not conclusive"}, {"guess", "guess"}, {"likely", "likely"}};
  static_assert(std::size(kRows) == static_cast<size_t>(analysis::Confidence::kLikely) + 1);
  return kRows;
}

std::span<const VerdictWords> Words<analysis::Verdict>::rows() {
  static constexpr VerdictWords kRows[] = {{"no", "no"},
                                           {"maybe", "may help"},
                                           {"likely", "likely to help"},
                                           {"not_conclusive", "not conclusive"}};
  static_assert(std::size(kRows) == static_cast<size_t>(analysis::Verdict::kNotConclusive) + 1);
  return kRows;
}

}  // namespace epi::report
