// SPDX-License-Identifier: Apache-2.0
// Where the time of devices goes, as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/time/breakdown.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

std::string breakdown_text(const std::vector<analysis::DeviceBreakdown>& devices, bool markdown);
// The member `devices` of an open object.
void breakdown_json(JsonWriter& json, const std::vector<analysis::DeviceBreakdown>& devices,
                    const trace::Trace& trace);

}  // namespace epi::report
