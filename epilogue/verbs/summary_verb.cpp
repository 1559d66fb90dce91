// SPDX-License-Identifier: Apache-2.0
// `epilogue summary FILE`, or `epilogue FILE`: a trace on one screen.
#include <memory>
#include <optional>
#include <set>

#include "epilogue/report/screen/first_screen.h"
#include "epilogue/verbs/names_option.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/rank_inputs.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct SummaryOptions {
  std::vector<TraceSource> files;
  std::string names;
};

bool is_one_folder(const std::vector<TraceSource>& sources) {
  return sources.size() == 1 && sources[0].is_folder();
}

// True if the inputs are the ranks of one run: every file has a different rank, or one folder is
// given.
bool are_ranks_of_one_run(const std::vector<TraceSource>& sources,
                          const std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) return false;
  if (is_one_folder(sources)) return true;
  std::set<int64_t> ranks;
  for (const TraceInput& input : inputs) {
    if (!input.has_rank || !ranks.insert(input.rank).second) return false;
  }
  return true;
}

// All ranks on one screen. False if the files of the folder are not of one job.
bool print_folder(Call& call, const SummaryOptions& options) {
  RankInputs ranks = read_ranks(call, options.files);
  if (ranks.ranks.size() < 2 || !is_one_job(ranks)) return false;
  note_skipped(call, ranks);
  print_result(call, job_result(std::move(ranks), options.files));
  call.refuse_changed_inputs();
  return true;
}

// The same for files that are read already.
bool print_ranks(Call& call, const SummaryOptions& options, const std::vector<TraceInput>& inputs) {
  if (!are_ranks_of_one_run(options.files, inputs)) return false;
  RankInputs ranks;
  for (const TraceInput& input : inputs) ranks.ranks.push_back(rank_of(input));
  if (!is_one_job(ranks)) return false;
  print_result(call, job_result(std::move(ranks), options.files));
  show_notices(call, inputs);
  return true;
}

int summary(Call& call, const SummaryOptions& options) {
  const auto names = parse_name_style("summary", options.names);
  const bool is_text = call.format() == Format::kText;
  if (is_text && is_one_folder(options.files) && print_folder(call, options)) return kDone;
  const auto inputs = call.read(options.files);
  if (is_text && print_ranks(call, options, inputs)) return kDone;
  return print_each(call, inputs, [&](const TraceInput& input) {
    report::SummaryResult result(input.models(), input.file);
    result.suggests_run = call.can_run();
    result.names = names;
    return result;
  });
}

Run add(Options& options) {
  auto given = std::make_shared<SummaryOptions>();
  add_files(options, given->files);
  add_names(options, given->names);
  return [given](Call& call) { return summary(call, *given); };
}

std::string schema() { return VerbSchema("summary").of_trace<report::SummaryResult>().text(); }

}  // namespace

extern const Verb kSummary{.name = "summary",
                           .help =
                               "What limits a step, on one screen (the same as epilogue FILE)\n"
                               "Example: epilogue summary trace.json.gz",
                           .add = add,
                           .schema = schema};

}  // namespace epi::verbs
