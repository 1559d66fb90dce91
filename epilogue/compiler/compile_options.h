// SPDX-License-Identifier: Apache-2.0
// Options of `epi::compile`.
#pragma once

#include <cstdint>
#include <string>

namespace epi {

enum class Fuse : uint8_t {
  kNone,       // the eager kernels, without the eager dispatch overhead
  kPointwise,  // adjacent pointwise operators become one kernel
  kEpilogue,   // and are fused into the epilogue of the preceding GEMM
};

struct CompileOptions {
  Fuse fuse = Fuse::kEpilogue;
  bool dynamic = true;   // leading sizes are dynamic; otherwise every new size compiles
  int max_variants = 8;  // limit over dtypes, layouts and fixed sizes
  bool cache = true;     // load code from the disk cache and store it there
  bool graph = false;    // on a GPU: replay the launches as a CUDA graph, one per size
  // Round gate and up to their dtype before the epilogue reads them, and use the activations of the
  // pointwise kernels. The result is then bitwise that of a GEMM followed by a pointwise kernel.
  bool round_gemms = false;
  std::string name = "graph";
};

}  // namespace epi
