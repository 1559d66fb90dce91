// SPDX-License-Identifier: Apache-2.0
// `epilogue breakdown FILE`: where the time of each device goes, and what idle moments wait for.
#include <fmt/format.h>

#include <memory>

#include "epilogue/analysis/time/breakdown.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/breakdown_report.h"

namespace epi::cli {
namespace {

std::vector<analysis::DeviceBreakdown> breakdown_of(const TraceInput& input) {
  return analysis::breakdown(analysis::TraceIndex(input.trace));
}

int breakdown(const TraceFlags& flags) {
  return print_each(
      flags,
      [](JsonWriter& json, const TraceInput& input) {
        report::breakdown_json(json, breakdown_of(input));
      },
      [&](const TraceInput& input) {
        return report::breakdown_text(breakdown_of(input), flags.markdown);
      });
}

}  // namespace

void add_breakdown(Command& verb) {
  auto flags = std::make_shared<TraceFlags>();
  add_trace_flags(verb, *flags);
  verb.run([flags] { return breakdown(*flags); });
}

}  // namespace epi::cli
