// SPDX-License-Identifier: Apache-2.0
// `epilogue explain NAME...`, `epilogue explain FILE`: decodes kernel names.
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/verbs/names_option.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct ExplainOptions {
  std::vector<std::string> words;   // kernel names, or traces
  std::vector<TraceSource> traces;  // that are open
  std::string names;
};

int explain(Call& call, const ExplainOptions& options) {
  const auto style = parse_name_style("explain", options.names);
  std::vector<TraceSource> traces = options.traces;
  std::vector<std::string> kernels;
  for (const std::string& word : options.words) {
    call.is_trace(word) ? traces.push_back({word, nullptr}) : kernels.push_back(word);
  }
  if (!traces.empty() && !kernels.empty()) {
    throw Error("explain: takes kernel names or traces, not both");
  }
  if (!traces.empty()) {
    return print_each(call, call.read(traces), [&](const TraceInput& input) {
      report::ExplainedTrace result(input.trace());
      if (style) result.names = *style;
      return result;
    });
  }
  if (kernels.empty()) throw Error("explain: no kernel name and no trace is given");
  report::ExplainedNames result(kernels);
  result.names = style;
  print_result(call, result);
  return kDone;
}

Run add(Options& options) {
  auto given = std::make_shared<ExplainOptions>();
  options.add("NAME", given->words, "Kernel names, or traces to decode all kernels of")
      .required()
      .key("kernels");
  options.add("", given->traces, "");
  add_names(options, given->names);
  return [given](Call& call) { return explain(call, *given); };
}

std::string schema() {
  return VerbSchema("explain")
      .of_call<report::ExplainedNames>()
      .of_trace<report::ExplainedTrace>()
      .text();
}

}  // namespace

extern const Verb kExplain{
    .name = "explain",
    .help =
        "Decodes kernel names: library, types, tile, layout, epilogue, operators\n"
        "Example: epilogue explain nvjet_tst_64x8_64x16_1x2_h_bz_bias_TNT\n"
        "         epilogue explain trace.json.gz",
    .add = add,
    .schema = schema,
    .formats = {.csv = true}};

}  // namespace epi::verbs
