// SPDX-License-Identifier: Apache-2.0
// Variants by name, "abi1-cu13-sm90a-linux", and whether one runs here. The architecture and the
// instruction set are part of the name: what cannot run is refused before anything is fetched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/tensor/device.h"

namespace epi::hub {

struct Variant {
  int64_t abi = 1;
  std::string backend;               // "cpu", "cu13"
  std::vector<std::string> targets;  // an architecture and its instruction sets; or sm90a, ptx80
  std::string os;
};
Result<Variant> parse_variant(std::string_view name);

// The machine, as far as a variant asks about it.
struct Host {
  std::string os;
  std::string architecture;           // "x86_64", "aarch64"
  std::vector<std::string> features;  // "avx2", "avx512", "neon", ...
  Device device;                      // that kernels are wanted for
  int capability = 0;                 // of the GPU: 90
  int64_t driver = 0;                 // as CUDA counts: 13000
};
// Throws `Error` where the device does not exist.
Host this_host(Device device);

struct Judgement {
  std::string refusal;  // "needs sm_90a, this GPU is sm_80"; empty where it is accepted
  int64_t rank = 0;     // the highest of the accepted is the best
};
Judgement judge(const Variant& variant, const Host& host);

// "13.0" for 13000.
std::string driver_text(int64_t driver);

}  // namespace epi::hub
