// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace in one screen.
#include <fmt/format.h>

#include <memory>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
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
        report::summary_json(json, summary_of(input));
      },
      [&](const TraceInput& input) {
        return report::summary_text(summary_of(input), input.file, flags.markdown, screen_width());
      });
}

}  // namespace

void add_summary(Command& verb) {
  auto flags = std::make_shared<TraceFlags>();
  add_trace_flags(verb, *flags);
  verb.run([flags] { return summary(*flags); });
}

}  // namespace epi::cli
