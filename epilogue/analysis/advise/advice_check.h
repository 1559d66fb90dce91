// SPDX-License-Identifier: Apache-2.0
// Compares the estimates from one run with a second run, recorded after the change.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "epilogue/analysis/advise/advise.h"

namespace epi::analysis {

// The estimate that a second run is compared with.
enum class Change : uint8_t {
  kFused,     // pointwise operators fused, as compilers do
  kGatedMlp,  // gate, up and the activation in one kernel
};

// One quantity in both runs, by their shown steps.
struct CheckedTime {
  double before_ns = 0;
  double after_ns = 0;
  Estimate saving_ns;  // estimated; 0 if there is none
  // How much kernels that are the same in both runs differ.
  double noise_ns = 0;

  double actual_ns() const { return before_ns - after_ns; }
  bool has_estimate() const { return saving_ns.high > 0; }
  // Whether the saving lies in the estimated range, widened by the noise on either side. None
  // without an estimate, or if the noise exceeds it.
  std::optional<bool> holds() const {
    if (!has_estimate() || noise_ns > saving_ns.likely) return std::nullopt;
    return actual_ns() >= saving_ns.low - noise_ns && actual_ns() <= saving_ns.high + noise_ns;
  }
  // Relative error of the estimate. None if nothing was saved.
  std::optional<double> error() const {
    if (actual_ns() <= 0) return std::nullopt;
    return saving_ns.likely / actual_ns() - 1;
  }
};

struct AdviceCheck {
  Change change = Change::kFused;
  bool cpu_kernels = false;
  // The share of the first run's matrix arithmetic, or of its kernels if sizes are not recorded,
  // that the second run has, too. None if generated kernels contain it, which have no sizes.
  std::optional<double> same_work;
  CheckedTime step;
  CheckedTime gpu;  // sum of the kernels, copies and memsets
  int64_t kernels = 0;
  int64_t kernels_predicted = 0;
  int64_t kernels_after = 0;
  std::string before_device;  // names of the GPUs; empty if unknown
  std::string after_device;
  bool after_is_cut = false;  // the second run's file is truncated
  double compile_ns = 0;      // compilation inside the second run's steps

  // Below this, the second run is not the first one after a change.
  static constexpr double kMinSameWork = 0.5;
  bool is_same_work() const { return !same_work || *same_work >= kMinSameWork; }
};

// Throws `Error` if the runs cannot be compared: one has no device work, or they have no common
// subject.
AdviceCheck check_advice(const StepModels& before, const StepModels& after,
                         const std::optional<std::string>& under);

}  // namespace epi::analysis
