// SPDX-License-Identifier: Apache-2.0
// Transformer blocks in the device work of a step: gated MLPs and linear layers, with the
// parameters to rerun them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// down(act(gate(x)) * up(x)), without biases
struct GatedMlp {
  int64_t rows = 0;
  int64_t dim = 0;
  int64_t hidden = 0;
  std::string activation;  // "geglu", "geglu_erf", "swiglu"
  std::string dtype;       // "bf16", "f16", "f32"
  std::vector<trace::EventId> work;
  std::vector<trace::EventId> between;  // its work other than GEMMs
  double device_ns = 0;
};

struct Linear {
  int64_t rows = 0;
  int64_t in = 0;
  int64_t out = 0;
  bool bias = false;
  std::string dtype;
  std::vector<trace::EventId> work;
  double device_ns = 0;
};

struct Blocks {
  std::vector<GatedMlp> mlps;
  std::vector<Linear> linears;  // that are not part of such an MLP
};

// `work` is the work of one step in launch order. Needs recorded shapes.
Blocks find_blocks(const TraceIndex& index, std::span<const trace::EventId> work);

// ATen has two kernels for gelu, and traces do not record the `approximate` argument. In ATen's
// source, the first lambda is the tanh kernel.
bool is_tanh_gelu(std::string_view kernel);

}  // namespace epi::analysis
