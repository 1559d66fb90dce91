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
std::string ranks_text(Session& session, const TraceFlags& flags,
                       const std::vector<TraceInput>& inputs) {
  std::vector<const TraceInput*> order;
  for (const TraceInput& input : inputs) order.push_back(&input);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->rank < b->rank; });
  std::vector<report::RankScreen> ranks;
  for (const TraceInput* input : order) {
    const std::string name = input->has_rank
                                 ? fmt::format("{}", input->rank)
                                 : std::filesystem::path(input->file).filename().string();
    ranks.push_back(report::rank_screen(input->index(), name));
  }
  const auto folder = std::filesystem::path(session.title(flags.files[0])).lexically_normal();
  const std::string source = (folder.has_filename() ? folder : folder.parent_path()).string();
  return report::ranks_screen(ranks, source, session.width());
}

// The largest kernels with the names that --names selects, printed below the screen.
std::string named_kernels(Session& session, const trace::Trace& trace, report::NameStyle style) {
  constexpr size_t kShown = 10;
  auto kernels = analysis::kernel_times(trace);
  if (kernels.size() > kShown) kernels.resize(kShown);
  return '\n' + report::kernels_table(kernels, false, session.width(), style);
}

int summary(Session& session, const SummaryFlags& flags) {
  const auto style = parse_name_style("summary", flags.names);
  const auto summary_of = [](const TraceInput& input) {
    return analysis::summarize(input.index());
  };
  const auto inputs = session.read(flags.files, flags);
  if (!flags.json && !flags.markdown && are_ranks_of_one_run(session, flags.files, inputs)) {
    session.print("{}", ranks_text(session, flags, inputs));
    show_notices(session, inputs);
    return kDone;
  }
  return print_each(
      session, flags, inputs,
      [&](JsonWriter& json, const TraceInput& input) {
        const analysis::TraceIndex& index = input.index();
        report::summary_json(json, analysis::summarize(index));
        report::screen_json(json, report::screen_data(index));
      },
      [&](const TraceInput& input) {
        if (flags.markdown) {
          return report::summary_markdown(summary_of(input), input.file,
                                          style.value_or(report::NameStyle::kDecoded));
        }
        const analysis::TraceIndex& index = input.index();
        return report::first_screen(report::screen_data(index), input.trace(), input.file,
                                    session.width(), session.can_run()) +
               (style ? named_kernels(session, input.trace(), *style) : "");
      });
}

}  // namespace

void add_summary(Command& verb, Session& session) {
  auto flags = std::make_shared<SummaryFlags>();
  add_trace_flags(verb, *flags);
  add_names(verb, flags->names);
  verb.run([flags, &session] { return summary(session, *flags); });
}

}  // namespace epi::cli
