// SPDX-License-Identifier: Apache-2.0
// One block on the GPU for bench/against_torch.py: reads weights and an input, writes the output,
// and prints the times of a forward as one JSON object.
//   gpu_forward linear|geglu|swiglu WEIGHTS.safetensors INPUT.safetensors OUTPUT.safetensors
//   gpu_forward sweep WEIGHTS.safetensors M[,M...]: one compiled MLP over many sizes
//   gpu_forward rates N K M[,M...]: our gate, up and gelu against a cuBLASLt GEMM alone
//   gpu_forward gelu COUNT
//   gpu_forward first WEIGHTS.safetensors: the first call of a compiled GeGLU MLP
//   gpu_forward host: the host time of the parts of small operators and blocks
#include <fmt/core.h>

#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "bench/gpu_forward/parts.h"
#include "epilogue/base/error.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"

namespace epi::bench {
namespace {

std::vector<int64_t> parse_numbers(const std::string& text) {
  std::vector<int64_t> numbers;
  std::string item;
  for (std::istringstream stream(text); std::getline(stream, item, ',');) {
    numbers.push_back(std::stoll(item));
  }
  return numbers;
}

int run(const std::vector<std::string>& args) {
  register_cpu_backend();
  if (const auto ready = register_cuda_backend(); !ready) throw Error(ready.error().message);
  const std::string kind = args.empty() ? "" : args[0];
  if (kind == "host" && args.size() == 1) {
    measure_host();
  } else if (kind == "rates" && args.size() == 4) {
    measure_rates(std::stoll(args[1]), std::stoll(args[2]), parse_numbers(args[3]));
  } else if (kind == "first" && args.size() == 2) {
    measure_first_call(args[1]);
  } else if (kind == "gelu" && args.size() == 2) {
    measure_gelu(std::stoll(args[1]));
  } else if (kind == "sweep" && args.size() == 3) {
    measure_sweep(args[1], parse_numbers(args[2]));
  } else if ((kind == "linear" || kind == "geglu" || kind == "swiglu") && args.size() == 4) {
    measure_block(kind, args[1], args[2], args[3]);
  } else {
    throw Error("usage: see the top of bench/gpu_forward/main.cpp");
  }
  return 0;
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    return epi::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_forward: {}\n", error.what());
    return 2;
  }
}
