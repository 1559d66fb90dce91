// SPDX-License-Identifier: Apache-2.0
// A loop of nothing but the instruction that a GEMM is made of, on registers: what the CPU can
// do at most, to measure GEMMs by.
#pragma once

#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Runs `rounds` rounds; writes something that depends on all of them to `sink`, 64 bytes.
using PeakFunction = void (*)(void* sink, int64_t rounds);

struct PeakCode {
  std::string ir;
  int64_t flops_per_round = 0;
};
PeakCode emit_peak(const std::string& name, GemmKind kind, const Target& target);

// Reads `rounds` rounds of bytes, one after the other, and does little else.
using ReadFunction = void (*)(void* sink, const void* data, int64_t rounds);
struct ReadCode {
  std::string ir;
  int64_t bytes_per_round = 0;
};
ReadCode emit_read(const std::string& name, const Target& target);

}  // namespace epi::compiler
