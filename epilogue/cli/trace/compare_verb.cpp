// SPDX-License-Identifier: Apache-2.0
// `epilogue compare A B`: whether both run the same GPU work, and what changed.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/base/error.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/compare_report.h"

namespace epi::cli {
namespace {

struct CompareFlags : ReadingFlags {
  std::string a;
  std::string b;
  std::optional<std::string> under;
  bool fail_if_kernels_differ = false;
  bool json = false;
  bool markdown = false;
  std::string names;
};

// Splits a comma-separated list. An existing path is taken as it is, even if it contains commas.
std::vector<std::string> paths_of(const char* which, const std::string& given) {
  std::error_code failed;
  if (std::filesystem::exists(given, failed)) return {given};
  std::vector<std::string> paths;
  for (size_t begin = 0; begin <= given.size();) {
    const size_t end = std::min(given.find(',', begin), given.size());
    if (end > begin) paths.push_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  if (paths.empty()) fail("compare", "{} is empty: expected a trace", which);
  return paths;
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

void write_json(Session& session, const std::vector<TraceInput>& a,
                const std::vector<TraceInput>& b, const std::vector<size_t>& places,
                const std::vector<analysis::Comparison>& results) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  if (a.size() > 1) json.key("files").begin_array();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.size() > 1) json.begin_object();
    json.key("file").string(a[i].file).key("against").string(b[places[i]].file);
    json.key("rank").integer(a[i].rank);
    report::compare_json(json, results[i]);
    if (a.size() > 1) json.end_object();
  }
  if (a.size() > 1) json.end_array();
  session.print("{}\n", json.end_object().text());
}

int compare(Session& session, const CompareFlags& flags) {
  const report::CompareTextOptions options{
      flags.markdown, session.width(),
      parse_name_style("compare", flags.names).value_or(report::NameStyle::kDecoded)};
  const auto a_paths = paths_of("A", flags.a);
  const auto b_paths = paths_of("B", flags.b);
  const auto a = session.read(a_paths, flags);
  const auto b = session.read(b_paths, flags);
  if (a.size() != b.size()) {
    fail("compare", "A has {} traces, B has {}: the numbers must be the same", a.size(), b.size());
  }
  const auto places = partners(a, b);
  std::vector<analysis::Comparison> results;
  bool same = true;
  for (size_t i = 0; i < a.size(); ++i) {
    results.push_back(analysis::compare(a[i].index(), b[places[i]].index(), flags.under));
    same = same && results.back().same_gpu_work();
  }
  if (flags.json) {
    write_json(session, a, b, places, results);
  } else if (a.size() > 1) {
    std::vector<report::RankComparison> ranks;
    for (size_t i = 0; i < a.size(); ++i) {
      const std::string file = std::filesystem::path(a[i].file).filename().string();
      ranks.push_back(
          {a[i].has_rank ? fmt::format("{}", a[i].rank) : visible_text(file, LineBreaks::kReplace),
           &results[i]});
    }
    const size_t most = report::most_different(ranks);
    session.print("{}{} against {}\n{}", report::compare_ranks_text(ranks, options), a[most].file,
                  b[places[most]].file, report::compare_text(results[most], options));
  } else {
    session.print("{}", report::compare_text(results[0], options));
  }
  show_notices(session, a);
  show_notices(session, b);
  return flags.fail_if_kernels_differ && !same ? kBroken : kDone;
}

}  // namespace

void add_compare(Command& verb, Session& session) {
  auto flags = std::make_shared<CompareFlags>();
  verb.option("A", flags->a, "A trace, a folder of ranks, or a comma-separated list").required();
  verb.option("B", flags->b, "The trace to compare with").required();
  verb.option("--under", flags->under, "Compare one annotation, step or operator only")
      .value_name("NAME");
  verb.flag("--fail-if-kernels-differ,--fail_if_kernels_differ", flags->fail_if_kernels_differ,
            "Exit with 1 if the GPU work differs");
  const Option json = verb.flag("--json", flags->json, "One JSON value on standard output");
  verb.flag("--md", flags->markdown, "As Markdown, for a pull request").excludes(json);
  add_names(verb, flags->names);
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return compare(session, *flags); });
}

}  // namespace epi::cli
