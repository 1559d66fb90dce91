// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace epi {
namespace {

Isa strongest_isa() {
#if defined(__x86_64__)
  // The compiler's builtin also checks XGETBV, so an instruction set that the operating system
  // disables does not count.
  if (!__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("fma")) return Isa::kBaseline;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return Isa::kAvx2;
#endif
  return Isa::kBaseline;
}

Isa choose_isa() {
  const char* requested = std::getenv("EPILOGUE_ISA");
  if (requested == nullptr) return strongest_isa();
  Isa limit = strongest_isa();
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (std::string_view(requested) == name(isa)) limit = isa;
  }
  return std::min(limit, strongest_isa());
}

// The number after `key` in a file of "key value" lines.
std::optional<int64_t> read_number(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t start = line.find_first_of("0123456789", key.size());
    if (start == std::string::npos) return std::nullopt;
    int64_t value = 0;
    std::from_chars(line.data() + start, line.data() + line.size(), value);
    return value;
  }
  return std::nullopt;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

Isa cpu_isa() {
  static const Isa isa = choose_isa();
  return isa;
}

const char* name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "?";
}

bool has_fmlal() {
#if defined(__aarch64__)
  return std::getenv("EPILOGUE_ISA") == nullptr && (getauxval(AT_HWCAP) & HWCAP_ASIMDFHM) != 0;
#else
  return false;
#endif
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
#if defined(__aarch64__)
  return "AArch64";
#else
  return "x86-64";
#endif
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) found.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) found.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512bf16")) found.emplace_back("avx512_bf16");
#elif defined(__aarch64__)
  found.emplace_back("neon");
  const unsigned long caps = getauxval(AT_HWCAP);
  const unsigned long caps2 = getauxval(AT_HWCAP2);
  if (caps & HWCAP_SVE) found.emplace_back("sve");
  if (caps & HWCAP_ASIMDHP) found.emplace_back("fphp");
  if (caps & HWCAP_ASIMDFHM) found.emplace_back("fhm");
  if (caps2 & HWCAP2_BF16) found.emplace_back("bf16");
  if (caps2 & HWCAP2_I8MM) found.emplace_back("i8mm");
#endif
  return found;
}

int64_t cache_bytes(int level) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    if (first_line(folder + "/level") != std::to_string(level)) continue;
    if (first_line(folder + "/type") == "Instruction") continue;
    const auto kib = read_number((folder + "/size").c_str(), "");
    if (kib && *kib > 0) return *kib * 1024;
  }
  return level == 1 ? int64_t{32} << 10 : int64_t{1} << 20;
}

int64_t available_memory_bytes() {
  const auto available_kib = read_number("/proc/meminfo", "MemAvailable:");
  int64_t bytes = available_kib ? *available_kib * 1024 : std::numeric_limits<int64_t>::max();
  const auto limit = read_number("/sys/fs/cgroup/memory.max", "");
  const auto used = read_number("/sys/fs/cgroup/memory.current", "");
  // The page cache counts as used memory, but the kernel reclaims it on demand.
  const auto cached = read_number("/sys/fs/cgroup/memory.stat", "inactive_file");
  if (limit && used) {
    bytes = std::min(bytes, std::max<int64_t>(0, *limit - *used + cached.value_or(0)));
  }
  return bytes;
}

}  // namespace epi
