// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/gpu_peaks.h"

namespace epi::analysis {
namespace {

// From Ampere on, datasheets give tensor rates with 2:4 sparsity. These are the dense rates, half
// of that.
constexpr std::string_view kH100 = "NVIDIA H100 Tensor Core GPU datasheet";
constexpr std::string_view kA100 = "NVIDIA A100 Tensor Core GPU datasheet";
constexpr std::string_view kV100 = "NVIDIA V100 Tensor Core GPU datasheet";

struct Row {
  std::string_view part;   // substring of the driver's name
  std::string_view other;  // second required substring; may be empty
  GpuPeaks peaks;
};
// More specific names first.
constexpr Row kRows[] = {
    // title, source, f16, tf32, f8, f32, f64, s8, TB/s
    {"GB200",
     "",
     {"GB200", "NVIDIA Blackwell architecture brief", 2500, 1250, 5000, 90, 45, 5000, 8}},
    {"B200",
     "",
     {"B200", "NVIDIA Blackwell architecture brief", 2250, 1100, 4500, 80, 40, 4500, 8}},
    {"GH200", "", {"GH200", "NVIDIA GH200 datasheet", 989.5, 494.5, 1979, 67, 67, 1979, 4}},
    {"H200 NVL",
     "",
     {"H200 NVL", "NVIDIA H200 Tensor Core GPU datasheet", 835.5, 417.5, 1670.5, 60, 60, 1670.5,
      4.8}},
    {"H200",
     "",
     {"H200 SXM", "NVIDIA H200 Tensor Core GPU datasheet", 989.5, 494.5, 1979, 67, 67, 1979, 4.8}},
    {"H100", "PCIe", {"H100 PCIe", kH100, 756.5, 378, 1513, 51, 51, 1513, 2}},
    {"H100 NVL", "", {"H100 NVL", kH100, 835.5, 417.5, 1670.5, 60, 60, 1670.5, 3.9}},
    {"H100", "", {"H100 SXM", kH100, 989.5, 494.5, 1979, 67, 67, 1979, 3.35}},
    {"H800", "", {"H800", "NVIDIA H800 datasheet", 989.5, 494.5, 1979, 67, 1, 1979, 3.35}},
    {"H20", "", {"H20", "NVIDIA H20 datasheet", 148, 74, 296, 44, 1, 296, 4}},
    {"A100", "PCIE-40GB", {"A100 PCIe 40 GB", kA100, 312, 156, 0, 19.5, 19.5, 624, 1.555}},
    {"A100", "40GB", {"A100 SXM 40 GB", kA100, 312, 156, 0, 19.5, 19.5, 624, 1.555}},
    {"A100", "PCIe", {"A100 PCIe 80 GB", kA100, 312, 156, 0, 19.5, 19.5, 624, 1.935}},
    {"A100", "", {"A100 SXM 80 GB", kA100, 312, 156, 0, 19.5, 19.5, 624, 2.039}},
    {"A800", "", {"A800", "NVIDIA A800 datasheet", 312, 156, 0, 19.5, 19.5, 624, 2.039}},
    {"A40", "", {"A40", "NVIDIA A40 datasheet", 149.7, 74.8, 0, 37.4, 0, 299.3, 0.696}},
    {"A10G", "", {"A10G", "AWS G5 product page", 70, 35, 0, 31.5, 0, 140, 0.6}},
    {"A10", "", {"A10", "NVIDIA A10 datasheet", 125, 62.5, 0, 31.2, 0, 250, 0.6}},
    {"A30", "", {"A30", "NVIDIA A30 datasheet", 165, 82, 0, 10.3, 10.3, 330, 0.933}},
    {"L40S", "", {"L40S", "NVIDIA L40S datasheet", 362, 183, 733, 91.6, 1.4, 733, 0.864}},
    {"L40", "", {"L40", "NVIDIA L40 datasheet", 181, 90.5, 362, 90.5, 1.4, 362, 0.864}},
    {"L4", "", {"L4", "NVIDIA L4 datasheet", 121, 60, 242.5, 30.3, 0.5, 242.5, 0.3}},
    {"V100-PCIE", "", {"V100 PCIe", kV100, 112, 0, 0, 14, 7, 0, 0.9, false}},
    {"V100", "", {"V100 SXM2", kV100, 125, 0, 0, 15.7, 7.8, 0, 0.9, false}},
    {"Tesla T4", "", {"T4", "NVIDIA T4 datasheet", 65, 0, 0, 8.1, 0, 130, 0.3, false}},
    {"RTX 4090",
     "",
     {"RTX 4090", "NVIDIA Ada GPU architecture whitepaper", 165.2, 82.6, 330.3, 82.6, 1.3, 660.6,
      1.008}},
    {"RTX 3090",
     "",
     {"RTX 3090", "NVIDIA GA102 architecture whitepaper", 71, 35.6, 0, 35.6, 0.6, 284, 0.936}},
    {"MI300X",
     "",
     {"MI300X", "AMD Instinct MI300X data sheet", 1307.4, 653.7, 2614.9, 163.4, 163.4, 2614.9,
      5.3}},
    {"MI250X",
     "",
     {"MI250X", "AMD Instinct MI250X data sheet, of one die", 191.5, 0, 0, 23.9, 47.9, 191.5, 1.6}},
};

}  // namespace

double GpuPeaks::of(NumberType type) const {
  switch (type) {
    case NumberType::kBf16:
      return has_bf16 ? f16 : 0;
    case NumberType::kF16:
      return f16;
    case NumberType::kTf32:
      return tf32;
    case NumberType::kF8e4m3:
    case NumberType::kF8e5m2:
      return f8;
    case NumberType::kF32:
      return f32;
    case NumberType::kF64:
      return f64;
    case NumberType::kS8:
      return s8;
    default:
      return 0;
  }
}

std::optional<GpuPeaks> gpu_peaks(std::string_view device_name) {
  // Slices and variants whose figures differ from those of the GPU in their name.
  for (const std::string_view other : {"MIG", "Laptop", " Ti", "4090 D", "H800 PCIe", "-3e"}) {
    if (device_name.find(other) != std::string_view::npos) return std::nullopt;
  }
  // A digit or letter after the match makes it a different GPU: "A100" is not an A10.
  const auto has = [&](std::string_view part) {
    const size_t at = device_name.find(part);
    if (at == std::string_view::npos) return false;
    const char after = at + part.size() < device_name.size() ? device_name[at + part.size()] : ' ';
    const bool alone = !(after >= '0' && after <= '9') && !(after >= 'A' && after <= 'Z');
    const bool begins = at == 0 || device_name[at - 1] == ' ' || device_name[at - 1] == '-';
    return alone && begins;
  };
  for (const Row& row : kRows) {
    if (has(row.part) &&
        (row.other.empty() || device_name.find(row.other) != std::string_view::npos)) {
      return row.peaks;
    }
  }
  return std::nullopt;
}

}  // namespace epi::analysis
