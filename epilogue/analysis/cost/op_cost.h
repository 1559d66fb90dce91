// SPDX-License-Identifier: Apache-2.0
// What device work costs, where the trace tells it: our kernels carry their bytes and FLOPs, copies
// their bytes; for others' kernels both follow from the shapes of the operator that launched them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// batch GEMMs of m x k with k x n.
struct GemmShape {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  bool operator==(const GemmShape&) const = default;
  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

// Of `aten::mm`, `addmm`, `bmm`, `baddbmm`, `_scaled_mm` and `linear` with recorded shapes.
std::optional<GemmShape> gemm_shape(const trace::Trace& trace, trace::EventId op);

// Bytes that an operator reads and writes when each input and the result cross the memory bus once.
// Triton's launches list their buffers, but not which are written: for them it is a lower bound.
struct MovedBytes {
  double bytes = 0;
  bool at_least = false;  // something that moves bytes is not counted, or not in full
};
std::optional<MovedBytes> op_bytes(const trace::Trace& trace, trace::EventId op);

// What our kernels and copies carry: "bytes", "flops". None where the arguments do not have it.
std::optional<double> stated_number(const trace::Trace& trace, trace::EventId work,
                                    std::string_view key);

// Of all this work together; nothing where no piece of it tells.
std::optional<MovedBytes> moved_bytes(const trace::Trace& trace, const trace::Links& links,
                                      std::span<const trace::EventId> work);

// What two launches of one kernel must agree in to be the same work, beside grid and block: the
// sizes of a GEMM, or the shapes of the inputs. Empty where the trace does not tell.
std::string size_signature(const trace::Trace& trace, trace::EventId op);

}  // namespace epi::analysis
