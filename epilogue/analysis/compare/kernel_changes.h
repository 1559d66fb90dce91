// SPDX-License-Identifier: Apache-2.0
// How the kernels of two runs differ, title by title: new, gone, slower and faster ones.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

enum class KernelChangeKind : uint8_t {
  kNew,
  kGone,
  kMoreCalls,
  kFewerCalls,
  kSlower,
  kFaster,
  kSame
};

// GPU events with one title in one run: medians over the judged steps.
struct KernelSide {
  int64_t total = 0;  // in all steps
  double ns = 0;
  double calls = 0;
};
struct KernelChange {
  std::string title;
  Kind kind = Kind::kUnknown;
  std::array<KernelSide, 2> sides;

  KernelChangeKind change() const;
  double difference_ns() const { return sides[1].ns - sides[0].ns; }
};
// Smaller differences, as a share of the longer time, are noise.
inline constexpr double kMinKernelChange = 0.05;

// Several names may have one title.
using KernelTitle = std::function<std::string(std::string_view, const DecodedName&)>;
// The largest changes first.
std::vector<KernelChange> kernel_changes(const StepModels& a, const StepModels& b,
                                         const KernelTitle& title_of);

}  // namespace epi::analysis
