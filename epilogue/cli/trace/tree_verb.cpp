// SPDX-License-Identifier: Apache-2.0
// `epilogue tree FILE`: one step as a tree, down to the kernels.
#include <algorithm>
#include <memory>
#include <optional>

#include "epilogue/analysis/index/steps.h"
#include "epilogue/base/error.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/tree_report.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/step_name.h"

namespace epi::cli {
namespace {

struct TreeFlags : TraceFlags {
  std::optional<int64_t> step;
  std::string under;
  std::optional<int64_t> depth;
  bool full = false;
  std::string names;
};

// The step selected by --step, or the one with the median duration as a typical step.
analysis::Instance choose_step(const TreeFlags& flags, const TraceInput& input,
                               const analysis::InstanceGroup& steps) {
  if (flags.step) {
    const std::string name = trace::step_name(*flags.step);
    for (const analysis::Instance& step : steps.instances) {
      if (step.name == name) return step;
    }
    throw Error(fmt::format("{}: no {}: the trace has {} to {}", input.file, name,
                            steps.instances.front().name, steps.instances.back().name));
  }
  auto by_time = steps.instances;
  std::sort(by_time.begin(), by_time.end(),
            [](const auto& a, const auto& b) { return a.measures.cpu_ns < b.measures.cpu_ns; });
  return by_time[(by_time.size() - 1) / 2];
}

report::TreeOptions options_for(Session& session, const TreeFlags& flags, const TraceInput& input,
                                const trace::Links& links) {
  const analysis::Ownership ownership(input.trace(), links);
  const auto step = choose_step(flags, input, analysis::steps(input.trace(), ownership));
  report::TreeOptions options{.begin_ns = step.begin_ns, .end_ns = step.end_ns + 1};
  if (step.event != trace::kNoEvent) options.end_ns = step.end_ns;
  if (flags.depth) options.depth = static_cast<size_t>(*flags.depth);
  options.step = step.event;
  options.width = session.width();
  options.full = flags.full;
  options.cpu_kernels = trace::has_cpu_kernels(input.trace());
  options.names = parse_name_style("tree", flags.names);
  if (flags.under.empty()) return options;
  for (const trace::EventId id : links.tree.order) {
    const bool inside =
        input.trace().ts_ns[id] >= options.begin_ns && input.trace().ts_ns[id] < options.end_ns;
    if (inside && input.trace().name_of(id) == flags.under) {
      options.root = id;
      return options;
    }
  }
  throw Error(fmt::format("{}: no annotation or operator \"{}\" in {}", input.file, flags.under,
                          step.name));
}

int tree(Session& session, const TreeFlags& flags) {
  if (flags.depth && *flags.depth < 0) fail("tree", "--depth {}: must be at least 0", *flags.depth);
  return print_each(
      session, flags,
      [&](JsonWriter& json, const TraceInput& input) {
        const trace::Links links = trace::link(input.trace());
        report::tree_json(json, input.trace(), links, options_for(session, flags, input, links));
      },
      [&](const TraceInput& input) {
        const trace::Links links = trace::link(input.trace());
        return report::tree_text(input.trace(), links, options_for(session, flags, input, links));
      });
}

}  // namespace

void add_tree(Command& verb, Session& session) {
  auto flags = std::make_shared<TreeFlags>();
  add_trace_flags(verb, *flags, false);
  verb.option("--step", flags->step,
              "The N of ProfilerStep#N (default: the step of median CPU time)")
      .value_name("N");
  verb.option("--under", flags->under, "Show the first annotation or operator of this name only")
      .value_name("NAME");
  verb.option("--depth", flags->depth, "Maximum depth").value_name("D");
  verb.flag("--full", flags->full, "Show every line; by default, trees over 200 lines are folded");
  add_names(verb, flags->names);
  verb.run([flags, &session] { return tree(session, *flags); });
}

}  // namespace epi::cli
