// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace in one screen.
#include <fmt/format.h>

#include <memory>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/first_screen.h"
#include "epilogue/report/summary_report.h"

namespace epi::cli {
namespace {

int summary(const TraceFlags& flags) {
  const auto summary_of = [](const TraceInput& input) {
    return analysis::summarize(analysis::TraceIndex(input.trace));
  };
  return print_each(
      flags,
      [&](JsonWriter& json, const TraceInput& input) {
        const analysis::TraceIndex index(input.trace);
        report::summary_json(json, analysis::summarize(index));
        report::screen_json(json, report::screen_data(index));
      },
      [&](const TraceInput& input) {
        if (flags.markdown) return report::summary_markdown(summary_of(input), input.file);
        const analysis::TraceIndex index(input.trace);
        return report::first_screen(report::screen_data(index), input.trace, input.file,
                                    screen_width());
      });
}

}  // namespace

void add_summary(Command& verb) {
  auto flags = std::make_shared<TraceFlags>();
  add_trace_flags(verb, *flags);
  verb.run([flags] { return summary(*flags); });
}

}  // namespace epi::cli
