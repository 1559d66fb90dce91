// SPDX-License-Identifier: Apache-2.0
// What this machine is and has: the CPU's name, its vector instructions, free memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi {

// The vector instruction sets that kernels are compiled for, weakest first.
enum class Isa { kBaseline, kAvx2, kAvx512 };

// The strongest set that this CPU and its operating system run; EPILOGUE_ISA (baseline, avx2,
// avx512) lowers it. AArch64 has one: NEON is its baseline.
Isa cpu_isa();
const char* name(Isa isa);

// "Intel(R) Xeon(R) Processor", or the architecture where the system does not say.
std::string cpu_name();
// Of the features that matter for GEMMs, those this CPU has: "avx2", "avx512f", "bf16", "i8mm" ...
std::vector<std::string> cpu_features();

// Bytes that can be allocated without swapping: MemAvailable, or the control group's limit if less.
int64_t available_memory_bytes();

}  // namespace epi
