// SPDX-License-Identifier: Apache-2.0
// Loops that measure the peak of the CPU, as a reference for GEMMs: one repeats the multiply-add
// instruction of a GEMM on registers, the other reads memory.
#pragma once

#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Runs `rounds` rounds and writes a value that depends on all of them to `sink`, kPeakSinkBytes.
// Multiplies the numbers that are in `sink`: with zeros, AMX runs at a
// higher clock than in a GEMM.
using PeakFunction = void (*)(void* sink, int64_t rounds);
inline constexpr int64_t kPeakSinkBytes = 1024;

struct PeakCode {
  std::string ir;
  int64_t flops_per_round = 0;
};
PeakCode emit_peak(const std::string& name, GemmKind kind, const Target& target);

// Reads `rounds` rounds and does little else.
using ReadFunction = void (*)(void* sink, const void* data, int64_t rounds);
struct ReadCode {
  std::string ir;
  int64_t bytes_per_round = 0;
};
// Each of `streams`, a power of two up to 8, reads an equal part of the data.
ReadCode emit_read(const std::string& name, int streams, const Target& target);

}  // namespace epi::compiler
