// SPDX-License-Identifier: Apache-2.0
// `epilogue breakdown FILE`: where the time of each device goes, and what idle moments wait for.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "epilogue/analysis/breakdown.h"
#include "epilogue/cli/trace_inputs.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/breakdown_report.h"

namespace epi::cli {
namespace {

std::vector<analysis::DeviceBreakdown> breakdown_of(const TraceInput& input) {
  return analysis::breakdown(analysis::Examined(input.trace));
}

int breakdown(const TraceFlags& flags) {
  const auto inputs = read_inputs(flags.files);
  if (flags.json) {
    print_json(inputs, [](JsonWriter& json, const TraceInput& input) {
      report::breakdown_json(json, breakdown_of(input));
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    fmt::print("{}", report::breakdown_text(breakdown_of(input), flags.markdown));
  }
  show_notices(inputs);
  return 0;
}

}  // namespace

void add_breakdown(CLI::App& app, Action& action) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* verb = app.add_subcommand("breakdown",
                                      "Where the GPU's time goes; why it is idle\n"
                                      "Example: epilogue breakdown trace.json.gz");
  add_trace_flags(*verb, *flags);
  verb->callback([flags, &action] { action = [flags] { return breakdown(*flags); }; });
}

}  // namespace epi::cli
