// SPDX-License-Identifier: Apache-2.0
// The words for the enumerators of analysis: one table per enumeration, one row per enumerator.
// `key` is the spelling in JSON.
#pragma once

#include <string>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/report/description/description.h"

namespace epi::report {

struct BoundWords {
  const char* key;
  const char* phrase;  // in a sentence: "compute-bound kernels"
  const char* brief;   // in a list: "compute"
};
template <>
struct Words<analysis::Bound> {
  static constexpr const char* kName = "bound";
  static std::span<const BoundWords> rows();
};
// True for work of the device, false for what the device waits for.
bool is_device_bound(analysis::Bound bound);

struct LimiterWords {
  const char* key;              // "host_bound"
  const char* title;            // at the start of a verdict: "HOST-BOUND"
  const char* adjective;        // "communication-bound"
  const char* brief_adjective;  // in a column: "comm.-bound"
  const char* phrase;           // "host dispatch and launches"
  const char* brief;            // in a column: "host"
  const char* time;             // what takes the time: "host dispatch"
};
template <>
struct Words<analysis::Limiter> {
  static constexpr const char* kName = "limiter";
  static std::span<const LimiterWords> rows();
};
// Its phrase; on CPUs, GPU work is "kernels".
const char* limiter_phrase(analysis::Limiter limiter, bool cpu_kernels);

struct ActivityWords {
  const char* key;
  const char* time_key;  // "data_loading_us"
  const char* phrase;
};
template <>
struct Words<analysis::HostActivity> {
  static constexpr const char* kName = "host_activity";
  static std::span<const ActivityWords> rows();
};

struct CauseWords {
  const char* key;
  const char* phrase;
};
template <>
struct Words<analysis::IdleCause> {
  static constexpr const char* kName = "idle_cause";
  static std::span<const CauseWords> rows();
};

struct IdleClassWords {
  const char* key;
  const char* time_key;  // "data_loading_us"
  char letter;           // in the bar of the first screen
  const char* color;     // on the report page
  const char* phrase;
  const char* brief;  // in a column
};
template <>
struct Words<analysis::IdleClass> {
  static constexpr const char* kName = "idle_class";
  static std::span<const IdleClassWords> rows();
};
// "waiting for host (dispatch)", "launch latency".
std::string cause_text(analysis::IdleCause cause, analysis::HostActivity activity);

struct ConfidenceWords {
  const char* key;
  const char* phrase;
};
template <>
struct Words<analysis::Confidence> {
  static constexpr const char* kName = "confidence";
  static std::span<const ConfidenceWords> rows();
};

struct VerdictWords {
  const char* key;
  const char* phrase;
};
template <>
struct Words<analysis::Verdict> {
  static constexpr const char* kName = "verdict";
  static std::span<const VerdictWords> rows();
};

}  // namespace epi::report
