// SPDX-License-Identifier: Apache-2.0
// `epilogue ranks FOLDER`: the ranks of one job, which of them the others wait for, and why.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/rank_inputs.h"
#include "epilogue/cli/trace/trace_inputs.h"

namespace epi::cli {
namespace {

struct RanksFlags : TraceFlags {
  std::optional<int64_t> step;
  std::string group;
};

// Throws unless at least one rank has the step.
void select_step(Session& session, std::vector<analysis::RankData>& ranks, int64_t step) {
  std::set<int64_t> numbers;
  for (const auto& rank : ranks) {
    for (const auto& one : rank.steps) numbers.insert(one.number);
  }
  if (numbers.empty()) fail("ranks", "--step {}: no file has GPU work", step);
  if (!numbers.contains(step)) {
    fail("ranks", "--step {}: there are steps {} to {}", step, *numbers.begin(), *numbers.rbegin());
  }
  for (auto& rank : ranks) {
    if (!keep_step(rank, step)) session.note("{}: note: has no step {}", rank.file, step);
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

int ranks(Session& session, const RanksFlags& flags) {
  RankInputs inputs = read_ranks(session, flags.files, flags);
  remove_repeated(inputs);
  note_skipped(session, inputs);
  if (flags.step) select_step(session, inputs.ranks, *flags.step);
  if (!flags.group.empty()) select_group(inputs.ranks, flags.group);
  const analysis::Ranks analyzed = analysis::analyze_ranks(std::move(inputs.ranks));
  const std::string name = job_name(session, flags.files);
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1);
    report::ranks_json(json, analyzed, inputs.unreadable);
    json.end_object();
    session.print("{}\n", json.text());
  } else if (flags.markdown) {
    session.print("{}", report::ranks_markdown(analyzed, name));
  } else {
    session.print("{}", report::ranks_text(analyzed, name, session.width()));
  }
  session.refuse_changed_inputs();
  return kDone;
}

}  // namespace

void add_ranks(Command& verb, Session& session) {
  auto flags = std::make_shared<RanksFlags>();
  add_trace_flags(verb, *flags);
  verb.option("--step", flags->step, "Only this step: the N of ProfilerStep#N").value_name("N");
  verb.option("--group", flags->group, "Only collectives of this process group").value_name("NAME");
  verb.run([flags, &session] { return ranks(session, *flags); });
}

}  // namespace epi::cli
