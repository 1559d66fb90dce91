// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace in one screen.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "epilogue/cli/trace_inputs.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/summary_report.h"

namespace epi::cli {
namespace {

int summary(const TraceFlags& flags) {
  const auto inputs = read_inputs(flags.files);
  if (flags.json) {
    print_json(inputs, [](JsonWriter& json, const TraceInput& input) {
      report::summary_json(json, analysis::summarize(analysis::Examined(input.trace)));
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    fmt::print("{}", report::summary_text(analysis::summarize(analysis::Examined(input.trace)),
                                          input.file, flags.markdown, screen_width()));
  }
  show_notices(inputs);
  return 0;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* verb = app.add_subcommand("summary",
                                      "A trace in one screen; also: epilogue FILE\n"
                                      "Example: epilogue summary trace.json.gz");
  add_trace_flags(*verb, *flags);
  verb->callback([flags, &action] { action = [flags] { return summary(*flags); }; });
}

}  // namespace epi::cli
