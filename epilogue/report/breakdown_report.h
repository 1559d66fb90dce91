// SPDX-License-Identifier: Apache-2.0
// Where the time of each device goes, as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/time/breakdown.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/table.h"

namespace epi::report {

struct BreakdownStyle {
  bool markdown = false;
  bool cpu_kernels = false;  // the device is the kernel lane of our CPU backend
  size_t width = 80;
};
std::string breakdown_text(const std::vector<analysis::DeviceBreakdown>& devices,
                           const BreakdownStyle& style);
// "GPU 0: 1.234 ms from the first to the last event"
std::string device_title(const analysis::DeviceBreakdown& device, bool cpu_kernels);
// A table of the breakdown, and the lines below it; empty if there are none.
struct BreakdownPart {
  Table table;
  std::string below;
};
// The parts for all steps and streams together: time, idle time by cause, kinds of kernels.
std::vector<BreakdownPart> breakdown_parts(const analysis::DeviceBreakdown& device,
                                           bool cpu_kernels);
// Writes the member `devices` of an open object.
void breakdown_json(JsonWriter& json, const std::vector<analysis::DeviceBreakdown>& devices,
                    const trace::Trace& trace);

}  // namespace epi::report
