// SPDX-License-Identifier: Apache-2.0
// What a kernel call may assume about its weights.
#pragma once

namespace epi::hub {

// Constant weights may be read before the preceding kernel has finished.
enum class Weights : bool { kMayChange, kConstant };

}  // namespace epi::hub
