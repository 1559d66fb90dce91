// SPDX-License-Identifier: Apache-2.0
// `epilogue steps FILE`: time, kernels and idle time per step and annotation.
#include <memory>

#include "epilogue/report/steps/steps_report.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

Run add(Options& options) {
  auto files = std::make_shared<std::vector<TraceSource>>();
  add_files(options, *files);
  return [files](Call& call) {
    return print_each(call, call.read(*files),
                      [](const TraceInput& input) { return report::StepsResult(input.models()); });
  };
}

std::string schema() { return VerbSchema("steps").of_trace<report::StepsResult>().text(); }

}  // namespace

extern const Verb kSteps{.name = "steps",
                         .help =
                             "Time, kernels and idle time per step and annotation\n"
                             "Example: epilogue steps trace.json.gz",
                         .add = add,
                         .schema = schema,
                         .formats = {.csv = true}};

}  // namespace epi::verbs
