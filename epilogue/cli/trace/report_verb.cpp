// SPDX-License-Identifier: Apache-2.0
// `epilogue report FILE... -o F.html`: an HTML page for a trace, or for two side by side.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "epilogue/base/output_file.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/page.h"
#include "epilogue/report/units.h"

namespace epi::cli {
namespace {

struct ReportFlags : ReadingFlags {
  std::vector<std::string> files;
  std::optional<std::string> output;
  bool json = false;
  bool force = false;
};

int report_page(Session& session, const ReportFlags& flags) {
  const std::string output = flags.output.value_or("report.html");
  if (!flags.output) refuse_foreign_file("report", output, Content::kPage, flags.force);
  refuse_input_as_output("report", "-o", output, flags.files);
  const auto inputs = session.read(flags.files, flags);
  refuse_input_as_output("report", "-o", output, files_of(inputs));
  refuse_input_as_output("report", "-o", output, {flags.names_file});
  if (inputs.size() > 2) {
    fail("report", "expected one or two traces, got {}", inputs.size());
  }
  std::vector<report::PageTrace> traces;
  for (const TraceInput& input : inputs) traces.push_back({input.file, input.index()});
  const std::string page = report::page_html(traces);
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
  show_notices(session, inputs, false);
  return kDone;
}

}  // namespace

void add_report(Command& verb, Session& session) {
  auto flags = std::make_shared<ReportFlags>();
  verb.option("FILE", flags->files, "One trace, or two to compare: before and after").required();
  verb.option("-o,--output", flags->output, "Output file (report.html)").value_name("F.html");
  verb.flag("--force", flags->force, "Replace a report.html of another program");
  verb.flag("--json", flags->json, "One JSON value on standard output");
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return report_page(session, *flags); });
}

}  // namespace epi::cli
