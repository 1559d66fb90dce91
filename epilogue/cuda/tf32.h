// SPDX-License-Identifier: Apache-2.0
// Whether f32 GEMMs may round their inputs to TF32 (10-bit mantissa), which is several times faster
// on tensor cores. Off by default, as in PyTorch. Applies to the whole process.
#pragma once

#include <atomic>

namespace epi::cuda {

namespace detail {
inline std::atomic<bool> tf32_allowed{false};
}

inline void set_allow_tf32(bool allow) { detail::tf32_allowed = allow; }
inline bool allow_tf32() { return detail::tf32_allowed.load(std::memory_order_relaxed); }

}  // namespace epi::cuda
