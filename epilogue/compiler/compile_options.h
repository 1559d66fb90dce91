// SPDX-License-Identifier: Apache-2.0
// What `epi::compile` may be asked for.
#pragma once

#include <cstdint>
#include <string>

namespace epi {

enum class Fuse : uint8_t {
  kNone,       // the eager kernels, without the eager calls
  kPointwise,  // pointwise runs are one kernel
  kEpilogue,   // and become the end of the GEMM before them
};

struct CompileOptions {
  Fuse fuse = Fuse::kEpilogue;
  bool dynamic = true;    // leading sizes are free; without, every size compiles anew
  int most_variants = 8;  // kept at a time: dtypes, layouts, fixed sizes
  bool cache = true;      // code is looked for, and kept, on disk
  bool graph = false;     // on a GPU: launches are replayed as a CUDA graph, one for each size
  // Gate and up are rounded to their dtype before an epilogue reads them, and its activations are
  // those of the pointwise kernels: the bits of a GEMM and a kernel behind it.
  bool round_gemms = false;
  std::string name = "graph";
};

}  // namespace epi
