// SPDX-License-Identifier: Apache-2.0
// `epilogue breakdown FILE`: where the time of each device goes, and why it was idle. With
// --critical, the critical path of a step.
#include <fmt/format.h>

#include <memory>

#include "epilogue/analysis/time/breakdown.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/breakdown_report.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/trace/event_args.h"

namespace epi::cli {
namespace {

struct BreakdownFlags {
  TraceFlags trace;
  bool critical = false;
  bool all = false;
};

std::vector<analysis::DeviceBreakdown> breakdown_of(const TraceInput& input) {
  return analysis::breakdown(input.index());
}

int breakdown(Session& session, const BreakdownFlags& flags) {
  return print_each(
      session, flags.trace,
      [](JsonWriter& json, const TraceInput& input) {
        report::breakdown_json(json, breakdown_of(input), input.trace());
      },
      [&](const TraceInput& input) {
        return report::breakdown_text(
            breakdown_of(input),
            {flags.trace.markdown, trace::has_cpu_kernels(input.trace()), session.width()});
      });
}

int critical_path(Session& session, const BreakdownFlags& flags) {
  const auto diagnosis_of = [](const TraceInput& input) {
    const analysis::TraceIndex& index = input.index();
    return analysis::diagnose(index, analysis::step_subject(index));
  };
  return print_each(
      session, flags.trace,
      [&](JsonWriter& json, const TraceInput& input) {
        const auto diagnosis = diagnosis_of(input);
        if (diagnosis) {
          report::critical_path_json(json, *diagnosis, input.trace());
        } else {
          json.key("regime").string(report::regime_text(analysis::Limiter::kNoDevice));
          json.key("path").begin_array().end_array();
        }
      },
      [&](const TraceInput& input) -> std::string {
        const auto diagnosis = diagnosis_of(input);
        if (!diagnosis) return std::string(report::kCpuOnly) + '\n';
        const bool cpu = trace::has_cpu_kernels(input.trace());
        return report::critical_path_text(*diagnosis, input.trace(),
                                          {flags.all, flags.trace.markdown, cpu, session.width()});
      });
}

}  // namespace

void add_breakdown(Command& verb, Session& session) {
  auto flags = std::make_shared<BreakdownFlags>();
  add_trace_flags(verb, flags->trace);
  verb.flag("--critical", flags->critical, "Show the critical path of a step instead");
  verb.flag("--all", flags->all, "With --critical: show every part");
  verb.run([flags, &session] {
    return flags->critical ? critical_path(session, *flags) : breakdown(session, *flags);
  });
}

}  // namespace epi::cli
