// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/ir_writer.h"

#include <bit>
#include <cstdint>

namespace epi::compiler {

std::string float_bits(double value) {
  return double_bits(static_cast<double>(static_cast<float>(value)));
}

std::string double_bits(double value) {
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
}

}  // namespace epi::compiler
