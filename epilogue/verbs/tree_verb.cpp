// SPDX-License-Identifier: Apache-2.0
// `epilogue tree FILE`: one step as a tree, down to the kernels.
#include <memory>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/report/tree/tree_report.h"
#include "epilogue/trace/step_name.h"
#include "epilogue/verbs/names_option.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct TreeOptions {
  std::vector<TraceSource> files;
  std::optional<int64_t> step;
  std::string under;
  std::optional<int64_t> depth;
  bool full = false;
  std::string names;
};

// The step selected by --step, or the shown one.
const analysis::StepModel& choose_step(const TreeOptions& options, const TraceInput& input) {
  const analysis::StepGroup& steps = input.models().steps();
  if (!options.step) return steps.steps[steps.shown()];
  const std::string name = trace::step_name(*options.step);
  for (const analysis::StepModel& step : steps.steps) {
    if (step.name == name) return step;
  }
  throw Error(fmt::format("{}: no {}: the trace has {} to {}", input.file, name,
                          steps.steps.front().name, steps.steps.back().name));
}

analysis::TreeRange range_of(const TreeOptions& options, const TraceInput& input) {
  const trace::Trace& trace = input.trace();
  const analysis::StepModel& step = choose_step(options, input);
  analysis::TreeRange range = report::range_of(step);
  if (options.depth) range.depth = static_cast<size_t>(*options.depth);
  if (options.under.empty()) return range;
  for (const trace::EventId id : input.index().links.tree.order) {
    const bool inside = trace.ts_ns[id] >= range.begin_ns && trace.ts_ns[id] < range.end_ns;
    if (inside && trace.name_of(id) == options.under) {
      range.root = id;
      return range;
    }
  }
  throw Error(fmt::format("{}: no annotation or operator \"{}\" in {}", input.file, options.under,
                          step.name));
}

int tree(Call& call, const TreeOptions& options) {
  if (options.depth && *options.depth < 0) {
    fail("tree", "--depth {}: must be at least 0", *options.depth);
  }
  const auto names = parse_name_style("tree", options.names);
  return print_each(call, call.read(options.files), [&](const TraceInput& input) {
    report::TreeResult result(input.index(), range_of(options, input));
    result.full = options.full;
    result.names = names;
    return result;
  });
}

Run add(Options& options) {
  auto given = std::make_shared<TreeOptions>();
  add_files(options, given->files);
  options
      .add("--step", given->step,
           "The N of ProfilerStep#N (default: the step with the median step time)")
      .value_name("N");
  options.add("--under", given->under, "Show the first annotation or operator of this name only")
      .value_name("NAME");
  options.add("--depth", given->depth, "Maximum depth").value_name("D");
  options.add("--full", given->full,
              "Show every line; by default, trees over 200 lines are folded");
  add_names(options, given->names);
  return [given](Call& call) { return tree(call, *given); };
}

std::string schema() { return VerbSchema("tree").of_trace<report::TreeResult>().text(); }

}  // namespace

extern const Verb kTree{.name = "tree",
                        .help =
                            "The operators of one step as a tree, down to the kernels\n"
                            "Example: epilogue tree trace.json --under mlp_fwd",
                        .add = add,
                        .schema = schema,
                        .formats = {.markdown = false}};

}  // namespace epi::verbs
