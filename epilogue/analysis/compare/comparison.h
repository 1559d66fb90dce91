// SPDX-License-Identifier: Apache-2.0
// What `compare` finds: for each group of two runs, the kernels and host events that are the same,
// changed, added and gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/compare/device_work.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/steps.h"

namespace epi::analysis {

// The same operator ran another kernel.
struct ChangedKernel {
  std::string op;
  std::string from;
  std::string to;
  std::vector<std::string> differs;  // "tile", "layout": what the names say differently
  int64_t count = 0;
};

// Kernels of several operators on one side, one kernel on the other.
struct Fusion {
  std::vector<std::string> ops;  // "gelu", "mul": those that had kernels of their own
  std::string kernel;
  int64_t count = 0;     // of the fused kernel
  int64_t replaced = 0;  // kernels on the other side, all together
};

struct HostChange {
  std::string name;
  int64_t a = 0;
  int64_t b = 0;
};

struct Side {
  int64_t instances = 0;
  MedianMeasures median;
  std::optional<MovedBytes> bytes;  // of the typical instance
};

struct GroupComparison {
  std::string name;
  std::vector<NamedCount> same;
  std::vector<NamedCount> resized;  // the same code on another size
  std::vector<ChangedKernel> changed;
  std::vector<NamedCount> added;
  std::vector<NamedCount> gone;
  std::vector<Fusion> fused;    // several in A, one in B
  std::vector<Fusion> unfused;  // one in A, several in B
  std::vector<HostChange> host_same;
  std::vector<HostChange> host_changed;  // in both, another count
  std::vector<HostChange> host_added;
  std::vector<HostChange> host_gone;
  Side a;
  Side b;

  bool same_gpu_work() const {
    return resized.empty() && changed.empty() && added.empty() && gone.empty() && fused.empty() &&
           unfused.empty();
  }
};

struct Comparison {
  std::vector<GroupComparison> groups;
  std::optional<size_t> steps;      // the group that is the steps, or the whole traces
  size_t main_group = 0;            // which the verdict is about
  std::vector<std::string> only_a;  // annotations that the other does not have
  std::vector<std::string> only_b;
  bool cpu_kernels = false;  // of both, instead of a GPU's

  bool same_gpu_work() const;
};

}  // namespace epi::analysis
