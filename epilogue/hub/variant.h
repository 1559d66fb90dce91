// SPDX-License-Identifier: Apache-2.0
// Parses variant names such as "abi1-cu13-sm90a-linux" and decides whether a variant runs on this
// machine. The name contains the architecture and instruction set, so an unsuitable variant is
// refused before anything is fetched.
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

// The properties of a machine that variants depend on.
struct Host {
  std::string os;
  std::string architecture;           // "x86_64", "aarch64"
  std::vector<std::string> features;  // "avx2", "avx512", "neon", ...
  Device device;                      // on which kernels will run
  int capability = 0;                 // compute capability of the GPU: 90
  int64_t driver = 0;                 // in CUDA's version encoding: 13000
};
// Throws `Error` if the device does not exist.
Host this_host(Device device);

struct VariantMatch {
  std::string refusal;  // "needs sm_90a, this GPU is sm_80"; empty if it is accepted
  int64_t rank = 0;     // the accepted variant with the highest rank is the best
};
VariantMatch match_variant(const Variant& variant, const Host& host);

// "13.0" for 13000.
std::string driver_text(int64_t driver);

}  // namespace epi::hub
