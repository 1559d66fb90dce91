// SPDX-License-Identifier: Apache-2.0
// Overview of a trace: the machine, its steps, and what took the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/step/diagnosis.h"

namespace epi::analysis {

// One name with its totals over the whole trace.
struct NamedTime {
  std::string name;
  int64_t count = 0;
  int64_t ns = 0;
  double share = 0;  // of all device time, or of all CPU self time
  trace::NameId id = 0;
};

struct Summary {
  std::string device;                 // "NVIDIA H200"; empty if not recorded
  std::vector<std::string> versions;  // "CUDA 13.0", "PyTorch 2.11.0"
  bool cpu_kernels = false;           // the device is the kernel lane of our CPU backend
  bool is_cut = false;                // the file is truncated
  int64_t events = 0;
  const StepGroup* steps = nullptr;  // of the models, which must outlive it
  std::vector<NamedTime> kernels;    // device work, largest first
  std::vector<KernelRate> rates;     // of the first few kernels
  std::vector<NamedTime> ops;        // host events by self time, largest first
  int64_t unlinked_kernels = 0;      // kernels without a launch and an operator
  int64_t lost_launches = 0;         // kernel launches whose kernel is not in the trace
  int64_t shared_correlations = 0;   // calls that share their correlation with another call
};

// The models must outlive it.
Summary summarize(const StepModels& models);

// Kernels, copies and memsets by name, largest first.
std::vector<NamedTime> kernel_times(const trace::Trace& trace);

}  // namespace epi::analysis
