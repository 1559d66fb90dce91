// SPDX-License-Identifier: Apache-2.0
// What remains of the trace of one rank after it was read: all that the analysis of many ranks
// needs, in at most 200 bytes per collective and 1 kB per step.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/collectives.h"
#include "epilogue/analysis/step/breakdown.h"
#include "epilogue/analysis/step/diagnosis.h"

namespace epi::analysis {

// What a rank spends time on between two collectives: why it may arrive late.
enum class Between : uint8_t {
  kCompute,
  kCopies,  // not overlapped by compute
  kDataLoading,
  kSynchronizing,
  kHost,        // the device waits for dispatch, launches, Python
  kNotInTrace,  // the device waits for something that is not recorded
};
inline constexpr size_t kBetweens = 6;
using BetweenTimes = std::array<int64_t, kBetweens>;  // nanoseconds

struct ProcessGroup {
  std::string name;   // empty: not recorded, the world is assumed
  std::string ranks;  // their list as recorded, which may be cut; tells groups with one name apart
  int64_t size = 0;   // 0 if unknown

  auto operator<=>(const ProcessGroup&) const = default;
};

struct RankCollective {
  size_t kind = 0;         // in RankData::kinds
  size_t group = 0;        // in RankData::groups
  Interval when;           // of its kernel, by the clock of this rank, in nanoseconds since 1970
  int64_t bytes = -1;      // of the whole tensor, as NCCL counts them; -1 if unknown
  int64_t sequence = -1;   // number within the group, if recorded
  int64_t step = -1;       // the N of ProfilerStep#N in which it is launched; -1 if not recorded
  BetweenTimes before{};   // since the end of the preceding collective
  int64_t exposed_ns = 0;  // without compute at the same time
};

struct RankStep {
  int64_t number = 0;     // the N of ProfilerStep#N, otherwise its position, from 0
  bool cold = false;      // over twice the median
  bool is_judged = true;  // warm, and with GPU work if any step has some
  Interval when;          // by the clock of this rank
  TimeShares shares;
  IdleCauses idle;
};

// Time of all kernels, or of all idle intervals during host events, with one name.
struct RankActivity {
  Between kind = Between::kCompute;
  std::string name;
  int64_t ns = 0;
};

struct RankData {
  std::string file;
  int64_t rank = 0;
  bool has_rank = false;  // the file says which rank it is
  std::string device;
  std::string host;        // empty if the name of the file does not say
  int64_t world_size = 0;  // 0 if the file does not say
  // What limits the typical step, and the share of it that waits for something not in the trace.
  Limiter limiter = Limiter::kNoDevice;
  double unexplained_share = 0;
  bool is_one_step = false;  // only one step is kept; `limiter` is still that of the typical one
  std::vector<std::string> kinds;
  std::vector<ProcessGroup> groups;
  std::vector<RankCollective> collectives;  // by begin
  int64_t recorded_collectives = 0;         // in the whole file
  int64_t point_to_point = 0;               // sends and receives, which are not compared
  std::vector<RankStep> steps;
  std::vector<RankActivity> activities;  // the longest first
};

RankData rank_data(const StepModels& models);

// Of the shown step.
struct RankTimes {
  double step_ns = 0;  // 0 if the rank has no steps
  double compute_ns = 0;
  double exposed_ns = 0;  // communication that is not overlapped by compute
  double hidden_ns = 0;   // communication that is
  double copies_ns = 0;   // that neither overlaps
  double others_ns = 0;   // only work that no step owns runs
  double idle_ns = 0;
  IdleCauses idle;
};
RankTimes times_of(const RankData& rank);
// The median of the ranks with steps.
double median_step_ns(const std::vector<RankData>& ranks);

// Forgets everything outside of a step. False if the rank has no step of this number.
bool keep_step(RankData& rank, int64_t number);
// Forgets the collectives of other groups. False if the rank has none of this one.
bool keep_group(RankData& rank, const std::string& name);

// True if every rank of such a collective waits for all others: not for a broadcast, whose root may
// leave early.
bool is_synchronizing_kind(std::string_view kind);
// What each link carries, relative to the bytes of the tensor, by NCCL's definition.
double bus_factor(std::string_view kind, double ranks);

}  // namespace epi::analysis
