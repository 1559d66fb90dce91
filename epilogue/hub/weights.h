// SPDX-License-Identifier: Apache-2.0
// What a call of a kernel may assume about its weights.
#pragma once

namespace epi::hub {

// Weights that nobody writes to while the kernel in front of a call ends may be read early.
enum class Weights : bool { kMayChange, kStay };

}  // namespace epi::hub
