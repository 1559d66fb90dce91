// SPDX-License-Identifier: Apache-2.0
// `epilogue steps FILE`: time, kernels and idle time per step and annotation.
#include <fmt/format.h>

#include <memory>

#include "epilogue/analysis/index/steps.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/trace/event_args.h"

namespace epi::cli {
namespace {

report::StepsReport report_of(const TraceInput& input) {
  const trace::Links links = trace::link(input.trace());
  const analysis::Ownership ownership(input.trace(), links);
  return {analysis::steps(input.trace(), ownership),
          analysis::annotations(input.trace(), ownership), trace::has_cpu_kernels(input.trace())};
}

int steps(Session& session, const TraceFlags& flags) {
  return print_each(
      session, flags,
      [](JsonWriter& json, const TraceInput& input) { report::steps_json(json, report_of(input)); },
      [&](const TraceInput& input) {
        return report::steps_text(report_of(input), flags.markdown, session.width());
      });
}

}  // namespace

void add_steps(Command& verb, Session& session) {
  auto flags = std::make_shared<TraceFlags>();
  add_trace_flags(verb, *flags);
  verb.run([flags, &session] { return steps(session, *flags); });
}

}  // namespace epi::cli
