// SPDX-License-Identifier: Apache-2.0
// `epilogue ranks FOLDER`: the ranks of one job, which of them the others wait for, and why.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/rank_inputs.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct RanksOptions {
  std::vector<TraceSource> files;
  std::optional<int64_t> step;
  std::string group;
};

// Throws unless at least one rank has the step.
void select_step(Call& call, std::vector<analysis::RankData>& ranks, int64_t step) {
  std::set<int64_t> numbers;
  for (const auto& rank : ranks) {
    for (const auto& one : rank.steps) numbers.insert(one.number);
  }
  if (numbers.empty()) fail("ranks", "--step {}: no file has GPU work", step);
  if (!numbers.contains(step)) {
    fail("ranks", "--step {}: there are steps {} to {}", step, *numbers.begin(), *numbers.rbegin());
  }
  for (auto& rank : ranks) {
    if (!keep_step(rank, step)) call.note("{}: note: has no step {}", rank.file, step);
  }
}

constexpr const char* kNoName = "(none)";  // for groups that are not recorded

// Throws unless at least one rank has the group.
void select_group(std::vector<analysis::RankData>& ranks, const std::string& name) {
  std::set<std::string> names;
  for (const auto& rank : ranks) {
    for (const auto& group : rank.groups) names.insert(group.name.empty() ? kNoName : group.name);
  }
  if (names.empty()) fail("ranks", "--group {}: the files have no collectives", name);
  if (!names.contains(name)) {
    fail("ranks", "--group {}: the process groups in these files are {}", name,
         join(std::vector<std::string>(names.begin(), names.end()), ", "));
  }
  for (auto& rank : ranks) keep_group(rank, name == kNoName ? "" : name);
}

int ranks(Call& call, const RanksOptions& options) {
  RankInputs inputs = read_ranks(call, options.files);
  remove_repeated(inputs);
  note_skipped(call, inputs);
  if (options.step) select_step(call, inputs.ranks, *options.step);
  if (!options.group.empty()) select_group(inputs.ranks, options.group);
  print_result(call, job_result(std::move(inputs), options.files));
  call.refuse_changed_inputs();
  return kDone;
}

Run add(Options& options) {
  auto given = std::make_shared<RanksOptions>();
  add_files(options, given->files);
  options.add("--step", given->step, "Only this step: the N of ProfilerStep#N").value_name("N");
  options.add("--group", given->group, "Only collectives of this process group").value_name("NAME");
  return [given](Call& call) { return ranks(call, *given); };
}

std::string schema() { return VerbSchema("ranks").of_call<report::RanksResult>().text(); }

}  // namespace

extern const Verb kRanks{.name = "ranks",
                         .help =
                             "The ranks of a job: which one the others wait for, and why\n"
                             "Example: epilogue ranks FOLDER",
                         .add = add,
                         .schema = schema,
                         .formats = {.csv = true}};

}  // namespace epi::verbs
