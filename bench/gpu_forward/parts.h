// SPDX-License-Identifier: Apache-2.0
// The parts of gpu_forward, one file each. A part measures and prints to stdout: `measure_host` a
// table, the others JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi::bench {

// A linear layer, or a gated MLP ("geglu" or "swiglu"): eager, compiled, and as a CUDA graph. Also
// writes the results to the file `output`.
void measure_block(const std::string& kind, const std::string& weights, const std::string& input,
                   const std::string& output);
// One compiled GeGLU MLP over many numbers of rows.
void measure_sweep(const std::string& weights, const std::vector<int64_t>& sizes);
// Our gate, up and gelu, of k by n each, against a cuBLASLt GEMM alone, for each number of rows.
void measure_rates(int64_t n, int64_t k, const std::vector<int64_t>& sizes);
// The gelu of `count` bf16 elements against a copy.
void measure_gelu(int64_t count);
// The first call of a compiled GeGLU MLP.
void measure_first_call(const std::string& weights);
// The host time of the parts of small operators and blocks.
void measure_host();

}  // namespace epi::bench
