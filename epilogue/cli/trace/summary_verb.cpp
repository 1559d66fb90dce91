// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace on one screen.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/first_screen.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/ranks_screen.h"
#include "epilogue/report/summary_report.h"

namespace epi::cli {
namespace {

struct SummaryFlags : TraceFlags {
  std::string names;
};

// All ranks on one screen, in the order of their numbers.
std::string ranks_text(const TraceFlags& flags, const std::vector<TraceInput>& inputs) {
  std::vector<const TraceInput*> order;
  for (const TraceInput& input : inputs) order.push_back(&input);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->rank < b->rank; });
  std::vector<report::RankScreen> ranks;
  for (const TraceInput* input : order) {
    const std::string name = input->has_rank
                                 ? fmt::format("{}", input->rank)
                                 : std::filesystem::path(input->file).filename().string();
    ranks.push_back(report::rank_screen(analysis::TraceIndex(input->trace), name));
  }
  const auto folder = std::filesystem::path(flags.files[0]).lexically_normal();
  const std::string source = (folder.has_filename() ? folder : folder.parent_path()).string();
  return report::ranks_screen(ranks, source, screen_width());
}

// The largest kernels with the names that --names selects, printed below the screen.
std::string named_kernels(const trace::Trace& trace, report::NameStyle style) {
  constexpr size_t kShown = 10;
  auto kernels = analysis::kernel_times(trace);
  if (kernels.size() > kShown) kernels.resize(kShown);
  return '\n' + report::kernels_table(kernels, false, screen_width(), style);
}

int summary(const SummaryFlags& flags) {
  const auto style = parse_name_style("summary", flags.names);
  const auto summary_of = [](const TraceInput& input) {
    return analysis::summarize(analysis::TraceIndex(input.trace));
  };
  const auto inputs = read_inputs(flags.files, flags);
  if (!flags.json && !flags.markdown && are_ranks_of_one_run(flags.files, inputs)) {
    print_out("{}", ranks_text(flags, inputs));
    show_notices(inputs);
    return kDone;
  }
  return print_each(
      flags, inputs,
      [&](JsonWriter& json, const TraceInput& input) {
        const analysis::TraceIndex index(input.trace);
        report::summary_json(json, analysis::summarize(index));
        report::screen_json(json, report::screen_data(index));
      },
      [&](const TraceInput& input) {
        if (flags.markdown) {
          return report::summary_markdown(summary_of(input), input.file,
                                          style.value_or(report::NameStyle::kDecoded));
        }
        const analysis::TraceIndex index(input.trace);
        return report::first_screen(report::screen_data(index), input.trace, input.file,
                                    screen_width()) +
               (style ? named_kernels(input.trace, *style) : "");
      });
}

}  // namespace

void add_summary(Command& verb) {
  auto flags = std::make_shared<SummaryFlags>();
  add_trace_flags(verb, *flags);
  add_names(verb, flags->names);
  verb.run([flags] { return summary(*flags); });
}

}  // namespace epi::cli
