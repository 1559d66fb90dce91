// SPDX-License-Identifier: Apache-2.0
// `epilogue compare A B`: whether both traces run the same GPU work, and what changed.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/verbs/names_option.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct CompareOptions {
  TraceSource a;
  TraceSource b;
  std::optional<std::string> under;
  bool fail_if_kernels_differ = false;
  std::string names;
};

// Splits a comma-separated list. An existing path is taken as it is, even if it contains commas.
std::vector<TraceSource> sources_of(const char* which, const TraceSource& given) {
  std::error_code failed;
  if (given.open || std::filesystem::exists(given.path, failed)) return {given};
  std::vector<TraceSource> sources;
  const std::string& paths = given.path;
  for (size_t begin = 0; begin <= paths.size();) {
    const size_t end = std::min(paths.find(',', begin), paths.size());
    if (end > begin) sources.push_back({paths.substr(begin, end - begin), nullptr});
    begin = end + 1;
  }
  if (sources.empty()) fail("compare", "{} is empty: expected a trace", which);
  return sources;
}

// The index in B of the partner of each trace in A. Traces are paired by rank if both sides have
// the same ranks, each once, and otherwise in the given order.
std::vector<size_t> partners(const std::vector<TraceInput>& a, const std::vector<TraceInput>& b) {
  std::map<int64_t, size_t> by_rank;
  for (size_t i = 0; i < b.size(); ++i) by_rank[b[i].rank] = i;
  std::set<int64_t> a_ranks;
  for (const TraceInput& input : a) a_ranks.insert(input.rank);
  bool ranked = a_ranks.size() == a.size() && by_rank.size() == b.size();
  for (const TraceInput& input : a) ranked = ranked && by_rank.count(input.rank) > 0;
  std::vector<size_t> places;
  for (size_t i = 0; i < a.size(); ++i) places.push_back(ranked ? by_rank[a[i].rank] : i);
  return places;
}

void print_json(Call& call, const std::vector<TraceInput>& inputs,
                const std::vector<report::CompareResult>& results) {
  ResultsJson json(call, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    json.begin(inputs[i]);
    json.described().members(results[i]);
    json.end(inputs[i]);
  }
  json.print();
}

// A line for each rank, then the one that differs most.
void print_ranks(Call& call, const std::vector<TraceInput>& inputs,
                 const std::vector<report::CompareResult>& results) {
  std::vector<report::RankComparison> ranks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string file = std::filesystem::path(inputs[i].file).filename().string();
    ranks.push_back({inputs[i].has_rank ? fmt::format("{}", inputs[i].rank)
                                        : visible_text(file, LineBreaks::kReplace),
                     &results[i]});
  }
  call.write(text_of(ranks, call.style()));
}

int compare(Call& call, const CompareOptions& options) {
  const auto names =
      parse_name_style("compare", options.names).value_or(report::NameStyle::kDecoded);
  const auto a_sources = sources_of("A", options.a);
  const auto b_sources = sources_of("B", options.b);
  const auto a = call.read(a_sources);
  const auto b = call.read(b_sources);
  if (a.size() != b.size()) {
    fail("compare", "A has {} traces, B has {}: the numbers must be the same", a.size(), b.size());
  }
  const auto places = partners(a, b);
  std::vector<report::CompareResult> results;
  for (size_t i = 0; i < a.size(); ++i) {
    const TraceInput& partner = b[places[i]];
    results.push_back({analysis::compare(a[i].models(), partner.models(), options.under), a[i].file,
                       partner.file, names});
  }
  if (call.format() == Format::kJson) {
    print_json(call, a, results);
  } else if (a.size() > 1) {
    print_ranks(call, a, results);
  } else {
    call.write(text_of(results[0], call.style()));
  }
  show_notices(call, a);
  show_notices(call, b);
  const bool same = std::all_of(results.begin(), results.end(), [](const auto& result) {
    return result.comparison.same_gpu_work();
  });
  return options.fail_if_kernels_differ && !same ? kBroken : kDone;
}

Run add(Options& options) {
  auto given = std::make_shared<CompareOptions>();
  options.add("A", given->a, "A trace, a folder of ranks, or a comma-separated list").required();
  options.add("B", given->b, "The trace to compare with").required();
  options.add("--under", given->under, "Compare one annotation, step or operator only")
      .value_name("NAME");
  options.add("--fail-if-kernels-differ,--fail_if_kernels_differ", given->fail_if_kernels_differ,
              "Exit with 1 if the GPU work differs");
  add_names(options, given->names);
  return [given](Call& call) { return compare(call, *given); };
}

std::string schema() { return VerbSchema("compare").of_trace<report::CompareResult>().text(); }

}  // namespace

extern const Verb kCompare{.name = "compare",
                           .help =
                               "What changed between two traces, on the GPU and on the CPU\n"
                               "Example: epilogue compare eager.json compiled.json",
                           .add = add,
                           .schema = schema};

}  // namespace epi::verbs
