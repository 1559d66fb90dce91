// SPDX-License-Identifier: Apache-2.0
// `epilogue expect FILE RULE...`: checks rules on a trace. Exits with 1 if one is broken.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/expect/rank_rules.h"
#include "epilogue/analysis/expect/rule_parser.h"
#include "epilogue/base/error.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/expect/expect_report.h"
#include "epilogue/verbs/output_rules.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/rank_inputs.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

using analysis::Rule;

struct ExpectOptions {
  TraceSource file;
  std::vector<TraceSource> also;
  std::vector<std::string> rules;
  std::string rules_file;
  std::string junit;
  bool init = false;
};

Rule parse(const std::string& where, std::string_view text) {
  auto rule = analysis::parse_rule(text);
  if (!rule) throw Error(fmt::format("{}{}", where, rule.error().message));
  return std::move(*rule);
}

// Reads one rule per line. Lines that start with # are comments. A line that starts with ## is a
// rule if it parses as one, because some of PyTorch's names start with ##. Paths are relative to
// the file.
void read_rules(const std::string& path, std::vector<Rule>& rules) {
  const auto file = MappedFile::open(path);
  throw_if_failed(file);
  const auto bytes = file->bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // UTF-8 byte order mark
  const auto folder = std::filesystem::path(path).parent_path();
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    const bool may_be_rule = line.substr(begin).starts_with("##");
    if (line[begin] == '#' && !(may_be_rule && analysis::parse_rule(line))) continue;
    rules.push_back(parse(fmt::format("{}: line {}, ", path, number), line));
    Rule& rule = rules.back();
    if (!rule.path.empty()) rule.path = (folder / rule.path).string();
  }
}

std::vector<Rule> all_rules(const ExpectOptions& options) {
  std::vector<Rule> rules;
  for (const std::string& text : options.rules) {
    rules.push_back(parse(fmt::format("rule \"{}\": ", text), text));
  }
  if (!options.rules_file.empty()) read_rules(options.rules_file, rules);
  if (rules.empty()) {
    throw Error(options.rules_file.empty()
                    ? "expect: no rule given: expected RULE, --rules FILE or --init"
                    : options.rules_file + ": contains no rules");
  }
  return rules;
}

// The traces of `same kernels as` claims. Each is read once.
class OtherTraces {
 public:
  explicit OtherTraces(Call& call) : call_(call) {}

  const analysis::StepModels& load(const std::string& path) {
    const auto known = traces_.find(path);
    if (known != traces_.end()) return known->second.models();
    auto inputs = call_.read({{path, nullptr}});
    if (inputs.size() != 1) throw Error(fmt::format("{}: expected one trace, not a folder", path));
    return traces_.emplace(path, std::move(inputs.front())).first->second.models();
  }

 private:
  Call& call_;
  std::map<std::string, TraceInput> traces_;
};

// The JUnit XML file. It is created before anything is printed, so that an unwritable path fails
// early.
class JunitFile {
 public:
  explicit JunitFile(const std::string& path) {
    if (path.empty()) return;
    auto file = OutputFile::create(path);
    throw_if_failed(file);
    file_.emplace(std::move(*file));
  }
  void add(const std::string& name, const report::ExpectResult& result) {
    if (file_) suites_ += report::expect_junit(name, result);
  }
  void finish() {
    if (!file_) return;
    const auto written = file_->write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" +
                                      suites_ + "</testsuites>\n");
    throw_if_failed(written);
    throw_if_failed(file_->commit());
  }

 private:
  std::optional<OutputFile> file_;
  std::string suites_;
};

void print_rules_that_hold(Call& call, const std::vector<TraceInput>& inputs) {
  std::vector<const analysis::StepModels*> traces;
  for (const TraceInput& input : inputs) traces.push_back(&input.models());
  call.print("# Rules that hold for {}{}.\n# Check them: epilogue expect FILE --rules THIS\n",
             visible_text(inputs.front().file, LineBreaks::kReplace),
             inputs.size() == 1 ? "" : fmt::format(" and {} more", inputs.size() - 1));
  for (const std::string& rule : analysis::suggest_rules(traces)) call.print("{}\n", rule);
}

// The results of rules about the job, all of which need several ranks.
report::RuleResults check_ranks(Call& call, const std::vector<Rule>& rules,
                                const std::vector<TraceInput>& inputs) {
  if (inputs.size() < 2) {
    fail("expect", "rule \"{}\": needs the traces of several ranks", rules[0].text);
  }
  RankInputs ranks;
  for (const TraceInput& input : inputs) ranks.ranks.push_back(rank_of(input));
  remove_repeated(ranks);
  note_skipped(call, ranks);
  const analysis::Ranks job = analysis::analyze_ranks(std::move(ranks.ranks));
  report::RuleResults results;
  for (const Rule& rule : rules) results.push_back(check_rank_rule(job, rule));
  return results;
}

// The results for each trace, and for the job that they are the ranks of.
struct Results {
  std::vector<report::ExpectResult> of_traces;  // empty if all rules are about the job
  std::optional<report::ExpectResult> of_job;

  bool ok() const {
    return (!of_job || of_job->ok()) && std::all_of(of_traces.begin(), of_traces.end(),
                                                    [](const auto& one) { return one.ok(); });
  }
};

Results check_rules(Call& call, const ExpectOptions& options, std::vector<Rule> rules,
                    const std::vector<TraceInput>& inputs) {
  const auto of_ranks = std::stable_partition(rules.begin(), rules.end(), [](const Rule& rule) {
    return rule.subject != analysis::SubjectKind::kRanks;
  });
  const std::vector<Rule> rank_rules(of_ranks, rules.end());
  rules.erase(of_ranks, rules.end());
  Results results;
  if (!rank_rules.empty()) {
    results.of_job.emplace(inputs[0].trace(), check_ranks(call, rank_rules, inputs));
  }
  OtherTraces others(call);
  const auto load = [&](const std::string& path) -> const analysis::StepModels& {
    refuse_input_as_output("expect", "--junit", options.junit, {path});
    return others.load(path);
  };
  for (const TraceInput& input : inputs) {
    if (rules.empty()) break;
    results.of_traces.push_back({input.trace(), {}});
    for (const Rule& rule : rules) {
      results.of_traces.back().results.push_back(analysis::check_rule(input.models(), rule, load));
    }
  }
  return results;
}

void print_json(Call& call, const std::vector<TraceInput>& inputs, const Results& results) {
  ResultsJson json(call, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    json.begin(inputs[i]);
    const report::ExpectResult none{inputs[i].trace(), {}};
    json.described().members(results.of_traces.empty() ? none : results.of_traces[i]);
    json.end(inputs[i]);
  }
  json.end_files();
  if (results.of_job) json.member("ranks", *results.of_job);
  json.print();
}

void print_text(Call& call, const ExpectOptions& options, const std::vector<TraceInput>& inputs,
                const Results& results) {
  for (size_t i = 0; i < results.of_traces.size(); ++i) {
    print_title(call, inputs, inputs[i]);
    call.write(text_of(results.of_traces[i], call.style()));
  }
  if (!results.of_job) return;
  if (!results.of_traces.empty()) {
    call.print("\nranks of {}\n", visible_text(options.file.title(), LineBreaks::kReplace));
  }
  call.write(text_of(*results.of_job, call.style()));
}

int check(Call& call, const ExpectOptions& options, std::vector<Rule> rules,
          const std::vector<TraceInput>& inputs) {
  refuse_input_as_output("expect", "--junit", options.junit, files_of(inputs));
  refuse_input_as_output("expect", "--junit", options.junit,
                         {call.options().reading.names_file, options.rules_file});
  JunitFile junit(options.junit);
  const Results results = check_rules(call, options, std::move(rules), inputs);
  for (size_t i = 0; i < results.of_traces.size(); ++i) {
    junit.add(inputs[i].file, results.of_traces[i]);
  }
  if (results.of_job) junit.add("ranks of " + options.file.title(), *results.of_job);
  call.refuse_changed_inputs();
  if (call.format() == Format::kJson) {
    print_json(call, inputs, results);
  } else {
    print_text(call, options, inputs, results);
  }
  junit.finish();
  return results.ok() ? kDone : kBroken;
}

int expect(Call& call, const ExpectOptions& options) {
  if (options.init && (!options.rules.empty() || !options.rules_file.empty() ||
                       !options.junit.empty() || call.format() != Format::kText)) {
    fail("expect", "--init cannot be combined with rules, --junit, --json or --md");
  }
  auto rules = options.init ? std::vector<Rule>() : all_rules(options);
  std::vector<TraceSource> sources{options.file};
  sources.insert(sources.end(), options.also.begin(), options.also.end());
  const auto inputs = call.read(sources);
  int code = kDone;
  if (options.init) {
    print_rules_that_hold(call, inputs);
  } else {
    code = check(call, options, std::move(rules), inputs);
  }
  show_notices(call, inputs);
  return code;
}

Run add(Options& options) {
  auto given = std::make_shared<ExpectOptions>();
  options.add("FILE", given->file, "A trace, or a folder of ranks").required();
  options.add("RULE", given->rules, "SUBJECT: CLAIM (docs/expect.md)").key("rules");
  options.add("--also", given->also, "Check another trace as well (repeatable)")
      .value_name("FILE")
      .repeatable();
  options.add("--rules", given->rules_file, "File with one rule per line")
      .value_name("F")
      .key("rules_file");
  options.add("--junit", given->junit, "Also write JUnit XML").value_name("F.xml");
  options.add("--init", given->init, "Print rules that hold for FILE, to start from");
  return [given](Call& call) { return expect(call, *given); };
}

std::string schema() {
  return VerbSchema("expect").of_trace<report::ExpectResult, report::ExpectResult>("ranks").text();
}

}  // namespace

extern const Verb kExpect{.name = "expect",
                          .help =
                              "Checks rules on a trace; exits with 1 if one is broken\n"
                              "Example: epilogue expect trace.json 'mlp_fwd: kernels == 5'",
                          .add = add,
                          .schema = schema};

}  // namespace epi::verbs
