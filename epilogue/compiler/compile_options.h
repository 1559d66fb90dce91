// SPDX-License-Identifier: Apache-2.0
// Options of `epi::compile`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi {

enum class Fuse : uint8_t {
  kNone,       // the eager kernels, without the eager dispatch overhead
  kPointwise,  // adjacent pointwise operators become one kernel
  kEpilogue,   // and are fused into the epilogue of the preceding GEMM
};

// Whether a size of an input may change without compiling again.
enum class Size : uint8_t { kFree, kFixed };
struct InputSize {
  int input = 0;
  int dimension = 0;  // negative: from the end
  Size size = Size::kFree;
};

// A call that needs one more variant than allowed.
enum class OverLimit : uint8_t {
  kThrow,
  kEager,  // runs the function without compiling it
  kEvict,  // replaces the oldest variant
};

struct CompileOptions {
  Fuse fuse = Fuse::kEpilogue;
  bool dynamic = true;   // sizes may change; otherwise every new size compiles
  int max_variants = 8;  // limit over dtypes, layouts and fixed sizes
  OverLimit over_limit = OverLimit::kThrow;
  // Other sizes are free if they are not the last of an input, or have changed between calls, and
  // the function allows it.
  std::vector<InputSize> sizes{};
  // Integer arguments, by position, whose every value compiles a variant. The others are symbolic.
  std::vector<int> fixed_integers{};
  // Capture the function again at each new size and integer, and compile a variant where it calls
  // other operators. Without it, all sizes and integers above 1 run the code of the first such.
  bool compare_sizes = true;
  bool cache = true;   // load code from the disk cache and store it there
  bool graph = false;  // on a GPU: replay the launches as a CUDA graph, one per size
  // Round gate and up to their dtype before the epilogue reads them, and use the activations of the
  // pointwise kernels. The result is then bitwise that of a GEMM followed by a pointwise kernel.
  bool round_gemms = false;
  std::string name = "graph";
};

}  // namespace epi
