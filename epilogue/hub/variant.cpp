// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/variant.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/hub/parse_count.h"
#include "epilogue/kernel_abi.h"

namespace epi::hub {
namespace {

constexpr size_t kMaxNameLength = 100;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Parses a text that consists of `prefix` and a number.
std::optional<int64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return parse_count(text.substr(prefix.size()));
}

// "sm90a", "ptx80"
struct GpuTarget {
  int64_t capability = 0;
  bool is_ptx = false;
  bool arch_specific = false;  // the "a" in sm90a: runs only on this compute capability
};
std::optional<GpuTarget> parse_gpu_target(std::string_view text) {
  if (const auto ptx = number_after(text, "ptx")) return GpuTarget{*ptx, true, false};
  const bool arch_specific = text.ends_with('a');
  if (arch_specific) text.remove_suffix(1);
  if (const auto sm = number_after(text, "sm")) return GpuTarget{*sm, false, arch_specific};
  return std::nullopt;
}

VariantMatch judge_cpu(const Variant& variant, const Host& host) {
  if (host.device != kCpu) return {fmt::format("runs on the CPU, not on {}", name(host.device))};
  if (variant.targets[0] != host.architecture) {
    return {fmt::format("needs {}, this CPU is {}", variant.targets[0], host.architecture)};
  }
  int64_t rank = 0;
  for (size_t i = 1; i < variant.targets.size(); ++i) {
    const auto found = std::ranges::find(host.features, variant.targets[i]);
    if (found == host.features.end()) {
      return {fmt::format("needs {}, which this CPU does not support", variant.targets[i])};
    }
    // Features are sorted from weakest to strongest.
    rank += int64_t{1} << (1 + (found - host.features.begin()));
  }
  return {"", rank};
}

std::string sm_text(int64_t capability, bool arch_specific) {
  return fmt::format("sm_{}{}", capability, arch_specific ? "a" : "");
}

VariantMatch judge_gpu(const Variant& variant, const Host& host) {
  if (host.device == kCpu) return {"runs on a GPU, not on the CPU"};
  const auto toolkit = number_after(variant.backend, "cu");
  const auto target = parse_gpu_target(variant.targets[0]);
  if (*toolkit * 1000 > host.driver) {
    return {fmt::format("needs a driver for CUDA {}, this one is for {}", *toolkit,
                        driver_text(host.driver))};
  }
  const std::string here = sm_text(host.capability, false);
  if (target->is_ptx) {
    if (host.capability >= target->capability) return {"", target->capability};
    return {
        fmt::format("needs {} or later, this GPU is {}", sm_text(target->capability, false), here)};
  }
  // A cubin runs on the same major compute capability with the same or a later minor version.
  const bool runs = target->arch_specific ? host.capability == target->capability
                                          : host.capability / 10 == target->capability / 10 &&
                                                host.capability >= target->capability;
  if (!runs) {
    return {fmt::format("needs {}, this GPU is {}",
                        sm_text(target->capability, target->arch_specific), here)};
  }
  constexpr int64_t kCompiled = 10'000;  // preferred to PTX, which the driver must compile
  return {"", kCompiled + 2 * target->capability + (target->arch_specific ? 1 : 0)};
}

}  // namespace

Result<Variant> parse_variant(std::string_view name) {
  const auto parts = split(name, '-');
  const auto refused = failure(
      "not a valid variant: expected abi<N>-<backend>-<target>-<os>, such as "
      "abi1-cu13-sm90a-linux");
  if (name.size() > kMaxNameLength || parts.size() != 4) return refused;
  const auto abi = number_after(parts[0], "abi");
  if (!abi || *abi < 1) return refused;
  const auto is_word = [](const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  Variant variant{*abi, parts[1], split(parts[2], '.'), parts[3]};
  if (!std::ranges::all_of(variant.targets, is_word) || !is_word(variant.os)) return refused;
  if (variant.backend == "cpu") return variant;
  const auto toolkit = number_after(variant.backend, "cu");
  const bool is_gpu = toolkit && *toolkit >= 1 && *toolkit < 1000 && variant.targets.size() == 1 &&
                      parse_gpu_target(variant.targets[0]);
  if (!is_gpu) return refused;
  return variant;
}

Host this_host(Device device) {
  Host host{.os = "linux", .architecture = "", .features = {}, .device = device};
#if defined(__aarch64__)
  host.architecture = "aarch64";
  host.features = cpu_features();
#else
  host.architecture = "x86_64";
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (cpu_isa() >= isa) host.features.emplace_back(name(isa));
  }
#endif
  if (device == kCpu) return host;
  const auto devices = cuda::devices();
  if (!devices) throw Error(devices.error().message);
  if (static_cast<size_t>(device.index) >= devices->size()) {
    fail("hub", "there is no {}: this machine has {} GPUs", name(device), devices->size());
  }
  const cuda::DeviceInfo& gpu = (*devices)[static_cast<size_t>(device.index)];
  host.capability = gpu.major * 10 + gpu.minor;
  host.driver = gpu.driver;
  return host;
}

VariantMatch match_variant(const Variant& variant, const Host& host) {
  if (variant.abi > EPI_KERNEL_ABI) {
    return {fmt::format("needs ABI {}, this library has {}", variant.abi, EPI_KERNEL_ABI)};
  }
  if (variant.os != host.os) return {fmt::format("needs {}, this is {}", variant.os, host.os)};
  return variant.backend == "cpu" ? judge_cpu(variant, host) : judge_gpu(variant, host);
}

std::string driver_text(int64_t driver) {
  return fmt::format("{}.{}", driver / 1000, driver % 1000 / 10);
}

}  // namespace epi::hub
