// SPDX-License-Identifier: Apache-2.0
// Traces in tests/data, and names of kernels whose kind is known.
#pragma once

#include <stdexcept>
#include <string>

#include "epilogue/trace/reader.h"

namespace epi::analysis {

inline constexpr const char* kTraces[] = {
    "traces/linear_eager.json",   "traces/linear_compile.json",
    "traces/mlp_eager.json",      "traces/mlp_compile.json",
    "traces/mlp_cudagraph.json",  "traces/mlp_liger.json",
    "traces/matmul_add_64.json",  "traces/matmul_add_4096.json",
    "traces/llama_train.json.gz", "pytorch/streams.json.gz",
    "pytorch/misc.json.gz",       "pytorch/train_no_schedule.json.gz"};

inline constexpr const char* kGemm = "ampere_sgemm_32x32_tn";
inline constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

inline trace::Trace read_data(const std::string& name) {
  auto trace = trace::read(std::string(EPI_TEST_DATA) + "/" + name);
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

}  // namespace epi::analysis
