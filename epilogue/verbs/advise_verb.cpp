// SPDX-License-Identifier: Apache-2.0
// `epilogue advise FILE`: what would make a step shorter, and by how much. `--against B` compares
// the estimate with a trace recorded after the change.
#include <memory>
#include <optional>

#include "epilogue/report/advise/advice_check_report.h"
#include "epilogue/report/advise/advise_report.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct AdviseOptions {
  std::vector<TraceSource> files;
  std::optional<TraceSource> against;
  std::optional<std::string> under;
  bool all = false;
};

// Compares the estimates for one trace with another trace.
int check(Call& call, const AdviseOptions& options) {
  const auto inputs = call.read(options.files);
  const auto after = call.read({*options.against});
  if (inputs.size() != 1 || after.size() != 1) {
    fail("advise", "--against compares one trace with one trace, not with a folder");
  }
  const int code = print_each(call, inputs, [&](const TraceInput& input) {
    return report::AdviceCheckResult(input.models(), after[0].models(), options.under,
                                     after[0].file);
  });
  show_notices(call, after);
  return code;
}

int advise(Call& call, const AdviseOptions& options) {
  if (options.against) return check(call, options);
  return print_each(call, call.read(options.files), [&](const TraceInput& input) {
    report::AdviseResult result(input.models(), options.under, input.file);
    result.all = options.all;
    result.suggests_run = call.can_run();
    return result;
  });
}

Run add(Options& options) {
  auto given = std::make_shared<AdviseOptions>();
  add_files(options, given->files);
  options.add("--under", given->under, "Analyze one annotation, step or operator only")
      .value_name("NAME");
  options.add("--against", given->against, "Compare the estimate with this run after the change")
      .value_name("FILE");
  options.add("--all", given->all, "Show all advice, however small");
  return [given](Call& call) { return advise(call, *given); };
}

std::string schema() {
  return VerbSchema("advise")
      .of_trace<report::AdviseResult>()
      .of_trace<report::AdviceCheckResult>()
      .text();
}

}  // namespace

extern const Verb kAdvise{.name = "advise",
                          .help =
                              "What would make a step faster, by how much, and why\n"
                              "Example: epilogue advise trace.json.gz",
                          .add = add,
                          .schema = schema,
                          .formats = {.csv = true}};

}  // namespace epi::verbs
