// SPDX-License-Identifier: Apache-2.0
// Traces of a generated training job of many ranks, with planted causes of delay. In each step,
// every rank computes and then takes part in a collective, several times. All times follow from the
// seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace epi::trace {

// What makes a rank late.
enum class LateBy : uint8_t { kKernel, kCopy, kLoading, kSynchronizing, kHost };

struct LateRank {
  size_t rank = 0;
  double delay_ns = 0;
  LateBy by = LateBy::kKernel;
  double share = 1;  // of the collectives before which it happens
};

// How the trace of one rank differs from a complete one on a good clock.
struct RankFile {
  double clock_offset_ns = 0;
  double clock_drift = 0;  // nanoseconds per nanosecond
  int first_step = 0;      // the file has the steps from this one
  int steps_cut = 0;       // and lacks as many at the end
  double lost_share = 0;   // of its collectives are not in the file
};

struct RankJob {
  size_t ranks = 8;
  int steps = 10;
  int collectives = 2;  // per step
  int kernels = 4;      // before each collective
  double kernel_ns = 50'000;
  double arrival_sigma_ns = 20'000;  // of the time that a rank computes
  double end_sigma_ns = 1000;        // of the end of a collective on a rank
  int64_t bytes = 64'000'000;        // of each collective
  double bytes_per_ns = 100;         // of an all-reduce, by the size of the tensor
  double slow_link = 1;              // transfers take this many times as long
  bool records_groups = true;        // arguments of collectives are in the file
  uint64_t seed = 0;
  std::vector<LateRank> late;
  std::vector<RankFile> files;  // per rank; may be empty
};

// The trace of each rank, as PyTorch would write it.
std::vector<std::string> make_rank_job(const RankJob& job);
// The same in pieces of about a megabyte, for jobs that do not fit into memory.
using WritePiece = std::function<void(size_t rank, const std::string& piece)>;
void make_rank_job(const RankJob& job, const WritePiece& write);

}  // namespace epi::trace
