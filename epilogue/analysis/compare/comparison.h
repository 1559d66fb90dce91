// SPDX-License-Identifier: Apache-2.0
// The result of `compare`: for each group of two runs, the kernels and host events that are the
// same, changed, added and gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/compare/work_items.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/step/step_model.h"

namespace epi::analysis {

// One operator that ran a different kernel in each run.
struct ChangedKernel {
  std::string op;
  std::string from;
  std::string to;
  std::vector<std::string> differs;  // fields that differ: "tile", "layout"
  int64_t count = 0;
};

// Several kernels on one side, one fused kernel on the other.
struct Fusion {
  std::vector<std::string> ops;  // operators with separate kernels: "gelu", "mul"
  std::string kernel;
  int64_t count = 0;     // of the fused kernel
  int64_t replaced = 0;  // total of kernels on the other side
};

struct HostChange {
  std::string name;
  int64_t a = 0;
  int64_t b = 0;
};

struct Side {
  int64_t instances = 0;
  MedianMeasures median;
  std::optional<MovedBytes> bytes;  // of the shown step
};

struct GroupComparison {
  std::string name;
  std::vector<NamedCount> same;
  std::vector<NamedCount> resized;  // same kernel, another size
  std::vector<ChangedKernel> changed;
  std::vector<NamedCount> added;
  std::vector<NamedCount> gone;
  std::vector<Fusion> fused;    // several in A, one in B
  std::vector<Fusion> unfused;  // one in A, several in B
  std::vector<HostChange> host_same;
  std::vector<HostChange> host_changed;  // in both, with another count
  std::vector<HostChange> host_added;
  std::vector<HostChange> host_gone;
  Side a;
  Side b;

  bool same_gpu_work() const {
    return resized.empty() && changed.empty() && added.empty() && gone.empty() && fused.empty() &&
           unfused.empty();
  }
  // Whether device work of either side overlapped, so that the sum of its durations counts time
  // twice.
  bool overlaps() const;
};

struct Comparison {
  std::vector<GroupComparison> groups;
  std::optional<size_t> steps;      // the group of the steps, or of the whole traces
  size_t main_group = 0;            // the subject of the verdict
  std::vector<std::string> only_a;  // annotations that only A has
  std::vector<std::string> only_b;
  bool cpu_kernels = false;  // both ran on the CPU backend
  std::string a_device;      // names of the GPUs; empty if unknown
  std::string b_device;
  bool a_is_cut = false;  // the file is truncated
  bool b_is_cut = false;

  bool same_gpu_work() const;
};

}  // namespace epi::analysis
