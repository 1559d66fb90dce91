// SPDX-License-Identifier: Apache-2.0
// The CPU features that generated code may use. They come from the CPU itself (CPUID, HWCAP), not
// from its model name, because a virtual machine can hide features of the model.
#pragma once

#include <string>

namespace epi::compiler {

struct Target {
  std::string triple;         // "x86_64-unknown-linux-gnu"
  std::string data_layout;    // of that triple
  std::string features;       // for LLVM: "+avx2,+fma"; empty for the architecture's baseline
  int lanes = 4;              // f32 elements per vector register
  int registers = 16;         // number of vector registers
  bool converts_f16 = false;  // with one instruction
  bool amx = false;           // bf16 tile GEMMs; the OS has granted permission
  bool amx_int8 = false;      // int8 tile GEMMs
  bool bfmmla = false;        // bf16 GEMMs by 2 x 2 sums, and conversion to bf16, on AArch64
  bool fmlal = false;         // f16 products added to f32 sums, on AArch64
  // The LLVM intrinsic that adds the products of bf16 pairs. Empty if there is none or f32 is
  // faster.
  std::string bf16_pairs;
  bool smmla = false;  // int8 GEMMs by 2 x 2 sums, on AArch64
  // The LLVM intrinsic that adds dot products of four int8. Empty if there is none.
  std::string int8_dots;
  int64_t l1_bytes = 0;  // of the data cache of one core

  bool is_arm() const { return triple.starts_with("aarch64"); }
};

// The target of this machine, limited by EPILOGUE_ISA: baseline, avx2, avx512, or one of
// avx512_vnni and avx512_bf16, which add vpdpbusd or vdpbf16ps to avx512, and nothing else; on
// AArch64 baseline, or dotprod. If unset, the best instruction set is used.
const Target& host_target();

}  // namespace epi::compiler
