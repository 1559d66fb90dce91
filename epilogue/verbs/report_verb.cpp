// SPDX-License-Identifier: Apache-2.0
// `epilogue report FILE... -o F.html`: an HTML page for a trace, for two side by side, or for the
// ranks of a job.
#include <memory>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/report/page/page.h"
#include "epilogue/report/ranks/ranks_page.h"
#include "epilogue/verbs/output_rules.h"
#include "epilogue/verbs/print_results.h"
#include "epilogue/verbs/rank_inputs.h"
#include "epilogue/verbs/verb.h"
#include "epilogue/verbs/verb_schema.h"

namespace epi::verbs {
namespace {

struct ReportOptions {
  std::vector<TraceSource> files;
  std::optional<std::string> output;
  bool force = false;
};

void write_page(Call& call, const std::string& output, const std::string& page) {
  call.refuse_changed_inputs();
  const auto written = write_file_atomically(output, page);
  throw_if_failed(written);
  print_result(call, report::WrittenPage{output, page.size()});
}

// The page of a folder of ranks. None if it is not one job.
std::optional<std::string> page_of_ranks(Call& call, const ReportOptions& options,
                                         const std::string& output) {
  if (options.files.size() != 1 || !options.files[0].is_folder()) return std::nullopt;
  RankInputs inputs = read_ranks(call, options.files);
  if (inputs.ranks.size() < 2 || !is_one_job(inputs)) return std::nullopt;
  note_skipped(call, inputs);
  for (const auto& rank : inputs.ranks) {
    refuse_input_as_output("report", "-o", output, {rank.file});
  }
  const report::RanksResult job = job_result(std::move(inputs), options.files);
  return report::ranks_page(job.ranks, job.source);
}

int report_page(Call& call, const ReportOptions& options) {
  const std::string output = options.output.value_or("report.html");
  if (!options.output) refuse_foreign_file("report", output, Content::kPage, options.force);
  refuse_input_as_output("report", "-o", output, paths_of(options.files));
  refuse_input_as_output("report", "-o", output, {call.options().reading.names_file});
  if (const auto page = page_of_ranks(call, options, output)) {
    write_page(call, output, *page);
    return kDone;
  }
  const auto inputs = call.read(options.files);
  refuse_input_as_output("report", "-o", output, files_of(inputs));
  if (inputs.size() > 2) {
    fail("report", "expected one or two traces, or a folder of ranks; got {} traces",
         inputs.size());
  }
  std::vector<report::PageTrace> traces;
  for (const TraceInput& input : inputs) traces.push_back({input.file, input.models()});
  write_page(call, output, report::page_html(traces));
  show_notices(call, inputs, false);
  return kDone;
}

Run add(Options& options) {
  auto given = std::make_shared<ReportOptions>();
  options.add("FILE", given->files, "One trace, two to compare, or a folder of ranks").required();
  options.add("-o,--output", given->output, "Output file (report.html)").value_name("F.html");
  options.add("--force", given->force, "Replace a report.html of another program");
  return [given](Call& call) { return report_page(call, *given); };
}

std::string schema() { return VerbSchema("report").of_call<report::WrittenPage>().text(); }

}  // namespace

extern const Verb kReport{.name = "report",
                          .help =
                              "An HTML page for a trace, for two side by side, or for ranks\n"
                              "Example: epilogue report eager.json -o eager.html",
                          .add = add,
                          .schema = schema,
                          .formats = {.markdown = false}};

}  // namespace epi::verbs
