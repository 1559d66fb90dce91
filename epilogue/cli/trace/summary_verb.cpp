// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace on one screen.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/trace/rank_inputs.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/first_screen.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/summary_report.h"

namespace epi::cli {
namespace {

struct SummaryFlags : TraceFlags {
  std::string names;
};

// All ranks on one screen.
std::string text_of_ranks(Session& session, const TraceFlags& flags,
                          std::vector<analysis::RankData> ranks) {
  const analysis::Ranks analyzed = analysis::analyze_ranks(std::move(ranks));
  return report::ranks_text(analyzed, job_name(session, flags.files), session.width());
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
  const bool is_screen = !flags.json && !flags.markdown;
  if (is_screen && flags.files.size() == 1 && session.is_folder(flags.files[0])) {
    RankInputs ranks = read_ranks(session, flags.files, flags);
    if (ranks.ranks.size() > 1 && is_one_job(ranks)) {
      note_skipped(session, ranks);
      session.print("{}", text_of_ranks(session, flags, std::move(ranks.ranks)));
      session.refuse_changed_inputs();
      return kDone;
    }
  }
  const auto inputs = session.read(flags.files, flags);
  if (is_screen && are_ranks_of_one_run(session, flags.files, inputs)) {
    RankInputs ranks;
    for (const TraceInput& input : inputs) ranks.ranks.push_back(rank_of(input));
    if (is_one_job(ranks)) {
      session.print("{}", text_of_ranks(session, flags, std::move(ranks.ranks)));
      show_notices(session, inputs);
      return kDone;
    }
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
