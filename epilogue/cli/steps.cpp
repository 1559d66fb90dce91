// SPDX-License-Identifier: Apache-2.0
// `epilogue steps FILE`: what each step and each annotation cost.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "epilogue/analysis/steps.h"
#include "epilogue/cli/trace_inputs.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/steps_report.h"

namespace epi::cli {
namespace {

report::StepsReport report_of(const TraceInput& input) {
  const trace::Links links = trace::link(input.trace);
  const analysis::Ownership ownership(input.trace, links);
  return {analysis::steps(input.trace, ownership), analysis::annotations(input.trace, ownership)};
}

int steps(const TraceFlags& flags) {
  const auto inputs = read_inputs(flags.files);
  if (flags.json) {
    print_json(inputs, [](JsonWriter& json, const TraceInput& input) {
      report::steps_json(json, report_of(input));
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    fmt::print("{}", report::steps_text(report_of(input), flags.markdown, screen_width()));
  }
  show_notices(inputs);
  return 0;
}

}  // namespace

void add_steps(CLI::App& app, Action& action) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* verb = app.add_subcommand("steps",
                                      "What each step and annotation cost; cold ones are marked\n"
                                      "Example: epilogue steps trace.json.gz");
  add_trace_flags(*verb, *flags);
  verb->callback([flags, &action] { action = [flags] { return steps(*flags); }; });
}

}  // namespace epi::cli
