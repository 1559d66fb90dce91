// SPDX-License-Identifier: Apache-2.0
// What generated code may use: asked of the CPU itself (CPUID, HWCAP), never of its name, because a
// virtual machine can hide what the model promises.
#pragma once

#include <string>

namespace epi::compiler {

struct Target {
  std::string triple;         // "x86_64-unknown-linux-gnu"
  std::string data_layout;    // of that triple
  std::string features;       // for LLVM: "+avx2,+fma"; empty for the architecture's baseline
  int lanes = 4;              // f32 numbers of one vector register
  int registers = 16;         // vector registers
  bool converts_f16 = false;  // by one instruction
  bool amx = false;           // bf16 GEMMs of whole tiles; the system has given permission
  // LLVM's name for the sum of GEMMs of bf16 pairs; empty where there is none, or f32 is faster.
  std::string bf16_pairs;
};

// Of this machine, lowered by EPILOGUE_ISA: baseline, avx2, avx512, avx512_bf16 (which is also
// chosen then, where it would not be), and what is left out is the strongest.
const Target& host_target();

}  // namespace epi::compiler
