// SPDX-License-Identifier: Apache-2.0
// The collective operations in the trace of one rank.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// What a process group computes together, by any of the names that PyTorch and NCCL have for it:
// "all_reduce" for "nccl:all_reduce", "c10d::allreduce_" and "AllReduce". Other names stay as they
// are, without prefixes: "barrier".
std::string collective_kind(std::string_view name);

// A collective as one rank ran it: a kernel of a communication library, and what the operator that
// launched it says about it. Files of older versions of PyTorch say less.
struct Collective {
  trace::EventId kernel = trace::kNoEvent;
  std::string kind;         // from the operator; from the kernel's name if no operator is recorded
  std::string group;        // name or number of the process group, empty if not recorded
  std::string group_ranks;  // the list of its ranks as recorded, which may be cut
  std::optional<int64_t> group_size;
  std::optional<int64_t> sequence;  // number of the collective within its group, if recorded
  // Of this rank. Only the input's if the size comes from the operator's shapes.
  std::optional<int64_t> in_bytes;
  std::optional<int64_t> out_bytes;
  int64_t position = 0;  // among the collectives of this group, in the order of their launches
};
// In the order of their launches. Without `wait`, which only waits for an earlier collective.
std::vector<Collective> collectives(const TraceIndex& index);

}  // namespace epi::analysis
