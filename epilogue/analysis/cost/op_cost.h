// SPDX-License-Identifier: Apache-2.0
// FLOPs and bytes of device work, if the trace gives them. Our kernels record both and copies
// record their bytes. For other kernels they follow from the shapes of the launching operator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// `batch` GEMMs of m x k with k x n.
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
  // "512x512x64", "16 of 512x512x64".
  std::string text() const;
};

// For `aten::mm`, `addmm`, `bmm`, `baddbmm`, `_scaled_mm` and `linear` with recorded shapes, among
// others.
std::optional<GemmShape> gemm_shape(const trace::Trace& trace, trace::EventId op);

// The GEMM of one kernel of an operator. `epilogue::glu_mlp` launches two: gate and up, whose
// weights count as stacked, and down. The kernel of another operator has the operator's GEMM.
std::optional<GemmShape> gemm_shape(const trace::Trace& trace, trace::EventId op,
                                    trace::EventId kernel);
// True for a custom kernel of `epilogue::glu_mlp`, which is one of several of its operator.
bool is_glu_kernel(const trace::Trace& trace, trace::EventId op, trace::EventId kernel);

// The type of the weights of `epilogue::glu_mlp`: the names of its kernels do not contain it.
NumberType glu_type(const trace::Trace& trace, trace::EventId op);

// Bytes that an operator reads and writes if each input and the result cross the memory bus once.
// Triton launches list their buffers but not which ones are written, so their value is a lower
// bound.
struct MovedBytes {
  double bytes = 0;
  bool at_least = false;  // some traffic is not counted, or not in full
};
std::optional<MovedBytes> op_bytes(const trace::Trace& trace, trace::EventId op);
// The same for one kernel, see `gemm_shape`.
std::optional<MovedBytes> op_bytes(const trace::Trace& trace, trace::EventId op,
                                   trace::EventId kernel);

// A number recorded in the event's arguments: "bytes", "flops" of our kernels and of copies. None
// if absent.
std::optional<double> recorded_number(const trace::Trace& trace, trace::EventId work,
                                      std::string_view key);

// Sum over all of this work. None if nothing is known about its kernels.
std::optional<MovedBytes> moved_bytes(const trace::Trace& trace, const trace::Links& links,
                                      std::span<const trace::EventId> work);

// The sizes that two launches of one kernel must share to be the same work, beside grid and block:
// the sizes of a GEMM, or the shapes of the inputs. Empty if the trace does not record shapes.
std::string size_signature(const trace::Trace& trace, trace::EventId op);

}  // namespace epi::analysis
