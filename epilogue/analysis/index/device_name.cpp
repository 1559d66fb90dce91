// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/device_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/trace/event_args.h"

namespace epi::analysis {

std::string device_name(const trace::Trace& trace) {
  auto devices = trace::array_items(trace.property("deviceProperties"));
  // The key's name before PyTorch 1.13.
  if (devices.empty()) devices = trace::array_items(trace.property("computeProperties"));
  if (devices.empty()) return {};
  const auto name_of = [](std::string_view device) {
    return trace::string_value(trace::find_value(device, "name").value_or(""));
  };
  const std::string name = name_of(devices[0]);
  if (name.empty()) return {};
  // Epilogue's own traces may list the CPU beside the GPUs.
  const auto count = std::count_if(devices.begin(), devices.end(), [&](std::string_view device) {
    return name_of(device) == name;
  });
  return count == 1 ? name : fmt::format("{} x {}", count, name);
}

}  // namespace epi::analysis
