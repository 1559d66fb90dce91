// SPDX-License-Identifier: Apache-2.0
// `epilogue expect FILE RULE...`: checks rules on a trace. Exits with 1 if one is broken.
#include <fmt/format.h>

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
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/trace/rank_inputs.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/expect_report.h"

namespace epi::cli {
namespace {

struct ExpectFlags : ReadingFlags {
  std::string file;
  std::vector<std::string> rules;
  std::vector<std::string> also;
  std::string rules_file;
  std::string junit;
  bool init = false;
  bool json = false;
  bool markdown = false;
};

analysis::Rule parse(const std::string& where, std::string_view text) {
  auto rule = analysis::parse_rule(text);
  if (!rule) throw Error(fmt::format("{}{}", where, rule.error().message));
  return std::move(*rule);
}

// Reads one rule per line. Lines that start with # are comments. A line that starts with ## is a
// rule if it parses as one, because some of PyTorch's names start with ##. Paths are relative to
// the file.
void read_rules(const std::string& path, std::vector<analysis::Rule>& rules) {
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
    analysis::Rule& rule = rules.back();
    if (!rule.path.empty()) rule.path = (folder / rule.path).string();
  }
}

std::vector<analysis::Rule> all_rules(const ExpectFlags& flags) {
  std::vector<analysis::Rule> rules;
  for (const std::string& text : flags.rules) {
    rules.push_back(parse(fmt::format("rule \"{}\": ", text), text));
  }
  if (!flags.rules_file.empty()) read_rules(flags.rules_file, rules);
  if (rules.empty()) {
    throw Error(flags.rules_file.empty()
                    ? "expect: no rule given: expected RULE, --rules FILE or --init"
                    : flags.rules_file + ": contains no rules");
  }
  return rules;
}

// The traces of `same kernels as` claims. Each is read once.
class OtherTraces {
 public:
  OtherTraces(Session& session, ReadingFlags flags) : session_(session), flags_(std::move(flags)) {}

  const analysis::TraceIndex& load(const std::string& path) {
    const auto known = traces_.find(path);
    if (known != traces_.end()) return known->second.index();
    auto inputs = session_.read({path}, flags_);
    if (inputs.size() != 1) throw Error(fmt::format("{}: expected one trace, not a folder", path));
    return traces_.emplace(path, std::move(inputs.front())).first->second.index();
  }

 private:
  Session& session_;
  ReadingFlags flags_;
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
  void add(const std::string& name, const trace::Trace& trace, const report::RuleResults& results) {
    if (file_) suites_ += report::expect_junit(name, trace, results);
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

void print_rules_that_hold(Session& session, const std::vector<TraceInput>& inputs) {
  std::vector<const analysis::TraceIndex*> traces;
  for (const TraceInput& input : inputs) traces.push_back(&input.index());
  session.print("# Rules that hold for {}{}.\n# Check them: epilogue expect FILE --rules THIS\n",
                visible_text(inputs.front().file, LineBreaks::kReplace),
                inputs.size() == 1 ? "" : fmt::format(" and {} more", inputs.size() - 1));
  for (const std::string& rule : analysis::suggest_rules(traces)) session.print("{}\n", rule);
}

bool is_of_ranks(const analysis::Rule& rule) {
  return rule.subject == analysis::SubjectKind::kRanks;
}

// The results of rules about the job, all of which need several ranks.
report::RuleResults check_ranks(Session& session, const std::vector<analysis::Rule>& rules,
                                const std::vector<TraceInput>& inputs) {
  report::RuleResults results;
  if (rules.empty()) return results;
  if (inputs.size() < 2) {
    fail("expect", "rule \"{}\": needs the traces of several ranks", rules[0].text);
  }
  RankInputs ranks;
  for (const TraceInput& input : inputs) ranks.ranks.push_back(rank_of(input));
  remove_repeated(ranks);
  note_skipped(session, ranks);
  const analysis::Ranks job = analysis::analyze_ranks(std::move(ranks.ranks));
  for (const analysis::Rule& rule : rules) results.push_back(check_rank_rule(job, rule));
  return results;
}

int check(Session& session, const ExpectFlags& flags, const std::vector<analysis::Rule>& all,
          const std::vector<TraceInput>& inputs) {
  std::vector<analysis::Rule> rules = all;
  const auto of_ranks = std::stable_partition(rules.begin(), rules.end(),
                                              [](const auto& rule) { return !is_of_ranks(rule); });
  const report::RuleResults rank_results =
      check_ranks(session, std::vector<analysis::Rule>(of_ranks, rules.end()), inputs);
  rules.erase(of_ranks, rules.end());
  OtherTraces others(session, flags);
  const auto load = [&](const std::string& path) -> const analysis::TraceIndex& {
    refuse_input_as_output("expect", "--junit", flags.junit, {path});
    return others.load(path);
  };
  JsonWriter json;
  begin_json(json, inputs);
  refuse_input_as_output("expect", "--junit", flags.junit, files_of(inputs));
  refuse_input_as_output("expect", "--junit", flags.junit, {flags.names_file, flags.rules_file});
  JunitFile junit(flags.junit);
  bool ok = std::all_of(rank_results.begin(), rank_results.end(),
                        [](const analysis::RuleResult& result) { return result.ok; });
  for (const TraceInput& input : inputs) {
    if (rules.empty() && !flags.json) break;
    report::RuleResults results;
    for (const analysis::Rule& rule : rules) {
      results.push_back(analysis::check_rule(input.index(), rule, load));
      ok = ok && results.back().ok;
    }
    junit.add(input.file, input.trace(), results);
    if (flags.json) {
      begin_input_json(json, inputs, input);
      report::expect_json(json, input.trace(), results);
      end_input_json(json, inputs);
    } else {
      print_title(session, inputs, input);
      session.print("{}", report::expect_text(input.trace(), results, flags.markdown));
    }
  }
  session.refuse_changed_inputs();
  if (!rank_results.empty()) {
    const trace::Trace& any = inputs[0].trace();
    junit.add("ranks of " + flags.file, any, rank_results);
    if (flags.json) {
      json.end_array().key("ranks").begin_object();
      report::expect_json(json, any, rank_results);
      json.end_object().end_object();
      session.print("{}\n", json.text());
    } else {
      if (!rules.empty()) {
        session.print("\nranks of {}\n", visible_text(flags.file, LineBreaks::kReplace));
      }
      session.print("{}", report::expect_text(any, rank_results, flags.markdown));
    }
  } else if (flags.json) {
    end_json(session, json, inputs);
  }
  junit.finish();
  return ok ? 0 : kBroken;
}

int expect(Session& session, const ExpectFlags& flags) {
  const auto rules = flags.init ? std::vector<analysis::Rule>() : all_rules(flags);
  std::vector<std::string> files{flags.file};
  files.insert(files.end(), flags.also.begin(), flags.also.end());
  const auto inputs = session.read(files, flags);
  int code = 0;
  if (flags.init) {
    print_rules_that_hold(session, inputs);
  } else {
    code = check(session, flags, rules, inputs);
  }
  show_notices(session, inputs);
  return code;
}

}  // namespace

void add_expect(Command& verb, Session& session) {
  auto flags = std::make_shared<ExpectFlags>();
  verb.option("FILE", flags->file, "A trace, or a folder of ranks").required();
  const Option rules = verb.option("RULE", flags->rules, "SUBJECT: CLAIM (docs/expect.md)");
  verb.option("--also", flags->also, "Check another trace as well (repeatable)")
      .value_name("FILE")
      .repeatable();
  const Option file =
      verb.option("--rules", flags->rules_file, "File with one rule per line").value_name("F");
  const Option junit =
      verb.option("--junit", flags->junit, "Also write JUnit XML").value_name("F.xml");
  const Option json = verb.flag("--json", flags->json, "One JSON value on standard output");
  const Option markdown = verb.flag("--md", flags->markdown, "As Markdown").excludes(json);
  verb.flag("--init", flags->init, "Print rules that hold for FILE, to start from")
      .excludes(rules)
      .excludes(file)
      .excludes(junit)
      .excludes(json)
      .excludes(markdown);
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return expect(session, *flags); });
}

}  // namespace epi::cli
