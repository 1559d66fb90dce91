// SPDX-License-Identifier: Apache-2.0
// Properties of this machine: CPU name, vector instruction sets, caches, available memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi {

// The vector instruction sets that kernels are compiled for, weakest first.
enum class Isa { kBaseline, kAvx2, kAvx512 };

// The strongest instruction set that both the CPU and the operating system support. EPILOGUE_ISA
// (baseline, avx2, avx512) lowers it. AArch64 has only the baseline, which is NEON.
Isa cpu_isa();
const char* name(Isa isa);
// Whether to use fmlal of AArch64, which adds products of f16 to f32. False if EPILOGUE_ISA is set.
bool has_fmlal();

// "Intel(R) Xeon(R) Processor", or the architecture if the system does not report a name.
std::string cpu_name();
// The features of this CPU that matter for GEMMs: "avx2", "avx512f", "bf16", "i8mm" ...
std::vector<std::string> cpu_features();

// Size of the data cache of one core at a level. If the system does not report it, the smallest on
// current servers: 32 KiB at level 1, 1 MiB at level 2.
int64_t cache_bytes(int level);

// Bytes that can be allocated without swapping: MemAvailable, or what is left of the cgroup's
// memory limit if that is less.
int64_t available_memory_bytes();

}  // namespace epi
