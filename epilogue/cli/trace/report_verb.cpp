// SPDX-License-Identifier: Apache-2.0
// `epilogue report FILE... -o F.html`: an HTML page for a trace, for two side by side, or for the
// ranks of a job.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/trace/rank_inputs.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/page.h"
#include "epilogue/report/ranks_page.h"
#include "epilogue/report/units.h"

namespace epi::cli {
namespace {

struct ReportFlags : ReadingFlags {
  std::vector<std::string> files;
  std::optional<std::string> output;
  bool json = false;
  bool force = false;
};

int write_page(Session& session, const ReportFlags& flags, const std::string& output,
               const std::string& page) {
  session.refuse_changed_inputs();
  const auto written = write_file_atomically(output, page);
  throw_if_failed(written);
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1).key("file").string(output);
    json.key("bytes").integer(static_cast<int64_t>(page.size())).end_object();
    session.print("{}\n", json.text());
  } else {
    session.print("{}: {}, opens in a browser without a network\n", output,
                  report::bytes_text(static_cast<double>(page.size())));
  }
  return kDone;
}

// The page of a folder of ranks. None if it is not one job.
std::optional<std::string> page_of_ranks(Session& session, const ReportFlags& flags,
                                         const std::string& output) {
  if (flags.files.size() != 1 || !session.is_folder(flags.files[0])) return std::nullopt;
  RankInputs inputs = read_ranks(session, flags.files, flags);
  if (inputs.ranks.size() < 2 || !is_one_job(inputs)) return std::nullopt;
  note_skipped(session, inputs);
  for (const auto& rank : inputs.ranks) {
    refuse_input_as_output("report", "-o", output, {rank.file});
  }
  return report::ranks_page(analysis::analyze_ranks(std::move(inputs.ranks)),
                            job_name(session, flags.files));
}

int report_page(Session& session, const ReportFlags& flags) {
  const std::string output = flags.output.value_or("report.html");
  if (!flags.output) refuse_foreign_file("report", output, Content::kPage, flags.force);
  refuse_input_as_output("report", "-o", output, flags.files);
  refuse_input_as_output("report", "-o", output, {flags.names_file});
  if (const auto page = page_of_ranks(session, flags, output)) {
    return write_page(session, flags, output, *page);
  }
  const auto inputs = session.read(flags.files, flags);
  refuse_input_as_output("report", "-o", output, files_of(inputs));
  if (inputs.size() > 2) {
    fail("report", "expected one or two traces, or a folder of ranks; got {} traces",
         inputs.size());
  }
  std::vector<report::PageTrace> traces;
  for (const TraceInput& input : inputs) traces.push_back({input.file, input.index()});
  const int code = write_page(session, flags, output, report::page_html(traces));
  show_notices(session, inputs, false);
  return code;
}

}  // namespace

void add_report(Command& verb, Session& session) {
  auto flags = std::make_shared<ReportFlags>();
  verb.option("FILE", flags->files, "One trace, two to compare, or a folder of ranks").required();
  verb.option("-o,--output", flags->output, "Output file (report.html)").value_name("F.html");
  verb.flag("--force", flags->force, "Replace a report.html of another program");
  verb.flag("--json", flags->json, "One JSON value on standard output");
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return report_page(session, *flags); });
}

}  // namespace epi::cli
