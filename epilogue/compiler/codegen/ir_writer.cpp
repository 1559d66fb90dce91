// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/ir_writer.h"

#include <bit>
#include <cstdint>

namespace epi::compiler {
void IrWriter::hoist_constants() {
  hoist_at_ = text_.size();
  hoisted_.clear();
}

IrValue IrWriter::hoisted(const std::string& type, const std::string& constant) {
  const auto [found, is_new] = hoisted_.emplace(constant, fmt::format("%c{}", hoisted_.size()));
  if (is_new) {
    const std::string line = fmt::format("  {0} = call {1} asm \"\", \"=w,0\"({1} {2})\n",
                                         found->second, type, constant);
    text_.insert(hoist_at_, line);
    hoist_at_ += line.size();
  }
  return found->second;
}

std::string float_bits(double value) {
  return double_bits(static_cast<double>(static_cast<float>(value)));
}

std::string double_bits(double value) {
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
}

}  // namespace epi::compiler
