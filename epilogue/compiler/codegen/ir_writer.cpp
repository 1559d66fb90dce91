// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/ir_writer.h"

#include <bit>
#include <cstdint>

namespace epi::compiler {
namespace {

constexpr int64_t kLineBytes = 64;

}  // namespace

void IrWriter::prefetch(const IrValue& address, int64_t bytes, int cache_level) {
  const int locality = 4 - cache_level;  // LLVM's: 3 keeps the data closest to the CPU
  for (int64_t byte = 0; byte < bytes; byte += kLineBytes) {
    const IrValue at = let("getelementptr i8, ptr {}, i64 {}", address, byte);
    line("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 {}, i32 1)", at, locality);
  }
}

void IrWriter::prefetch_to_write(const IrValue& address, int64_t bytes) {
  for (int64_t byte = 0; byte < bytes; byte += kLineBytes) {
    const IrValue at = let("getelementptr i8, ptr {}, i64 {}", address, byte);
    line("call void @llvm.prefetch.p0(ptr {}, i32 1, i32 3, i32 1)", at);
  }
}

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
