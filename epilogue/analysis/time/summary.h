// SPDX-License-Identifier: Apache-2.0
// A trace in one look: the machine, its steps, and what took the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/index/steps.h"
#include "epilogue/analysis/time/regime.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// What keeps a step from being shorter, by how busy the device is in the median step.
enum class Regime { kNoDevice, kCpuBound, kMixed, kDeviceBound };

// One name, with what it took over the whole trace.
struct NamedTime {
  std::string name;
  int64_t count = 0;
  int64_t ns = 0;
  double share = 0;  // of all device time, or of all self time on the CPU
  trace::NameId id = 0;
};

struct Summary {
  std::string device;                 // "NVIDIA H200"; empty where the file does not say
  std::vector<std::string> versions;  // "CUDA 13.0", "PyTorch 2.11.0"
  bool cpu_kernels = false;           // the device is our own CPU's kernel lane
  int64_t events = 0;
  InstanceGroup steps;
  MedianMeasures median;  // of all steps
  double busy = 0;        // of the device, from the first step to the end of all work
  Regime regime = Regime::kNoDevice;
  std::vector<TimeUse> uses;             // of the steps, then of annotations
  std::vector<NamedTime> kernels;        // device work, the largest first
  std::vector<KernelRate> rates;         // of the first few of them
  std::vector<NamedTime> ops;            // host events by self time, the largest first
  std::vector<std::string> annotations;  // names, the longest first
  int64_t unlinked_kernels = 0;          // kernels that no launch or operator owns
  int64_t lost_launches = 0;             // kernel launches whose kernel is not in the file
  int64_t shared_correlations = 0;       // calls whose correlation another call has, too
};

// `with_uses`: also what binds its steps and annotations, which is the most work.
Summary summarize(const TraceIndex& index, bool with_uses = true);

// Kernels, copies and sets by name, the largest first.
std::vector<NamedTime> kernel_times(const trace::Trace& trace);

}  // namespace epi::analysis
