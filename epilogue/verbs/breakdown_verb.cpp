// SPDX-License-Identifier: Apache-2.0
// `epilogue breakdown FILE`: where the time of each device goes, and why it was idle. With
// --critical, the critical path of a step.
#include <memory>

#include "epilogue/report/steps/breakdown_report.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct BreakdownOptions {
  std::vector<TraceSource> files;
  bool critical = false;
  bool all = false;
};

int breakdown(Call& call, const BreakdownOptions& options) {
  const auto inputs = call.read(options.files);
  if (options.critical) {
    return print_each(call, inputs, [&](const TraceInput& input) {
      return report::CriticalPath(input.models(), options.all);
    });
  }
  return print_each(call, inputs, [](const TraceInput& input) {
    return report::BreakdownResult(input.models());
  });
}

Run add(Options& options) {
  auto given = std::make_shared<BreakdownOptions>();
  add_files(options, given->files);
  options.add("--critical", given->critical, "Show the critical path of a step instead");
  options.add("--all", given->all, "With --critical: show every part");
  return [given](Call& call) { return breakdown(call, *given); };
}

std::string schema() {
  return VerbSchema("breakdown")
      .of_trace<report::BreakdownResult>()
      .of_trace<report::CriticalPath>()
      .text();
}

}  // namespace

extern const Verb kBreakdown{.name = "breakdown",
                             .help =
                                 "Where the GPU time goes, and why the GPU is idle\n"
                                 "Example: epilogue breakdown trace.json.gz",
                             .add = add,
                             .schema = schema,
                             .formats = {.csv = true}};

}  // namespace epi::verbs
