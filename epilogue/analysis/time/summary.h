// SPDX-License-Identifier: Apache-2.0
// A trace in one look: the machine, its steps, and what took the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/index/steps.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

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
  MedianMeasures median;                 // of all steps
  std::vector<Diagnosis> diagnoses;      // of the steps, then of annotations; none without a device
  std::vector<NamedTime> kernels;        // device work, the largest first
  std::vector<KernelRate> rates;         // of the first few of them
  std::vector<NamedTime> ops;            // host events by self time, the largest first
  std::vector<std::string> annotations;  // names, the longest first
  int64_t unlinked_kernels = 0;          // kernels that no launch or operator owns
  int64_t lost_launches = 0;             // kernel launches whose kernel is not in the file
  int64_t shared_correlations = 0;       // calls whose correlation another call has, too
};

// `with_diagnoses`: also what limits its steps and annotations, which is the most work.
Summary summarize(const TraceIndex& index, bool with_diagnoses = true);

// Kernels, copies and sets by name, the largest first.
std::vector<NamedTime> kernel_times(const trace::Trace& trace);

}  // namespace epi::analysis
