// SPDX-License-Identifier: Apache-2.0
// `epilogue explain NAME...`, `epilogue explain FILE`: decodes kernel names.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/error.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/trace/trace_inputs.h"
#include "epilogue/report/kernel_report.h"

namespace epi::cli {
namespace {

struct ExplainFlags : TraceFlags {
  std::string names;

  std::optional<report::NameStyle> style() const { return parse_name_style("explain", names); }
};

int explain_names(Session& session, const ExplainFlags& flags) {
  session.use_names_file(flags.names_file);
  const auto style = flags.style();
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1).key("kernels").begin_array();
    for (const std::string& name : flags.files) {
      report::kernel_json(json, name, analysis::decode_name(name));
    }
    session.print("{}\n", json.end_array().end_object().text());
    return kDone;
  }
  for (const std::string& name : flags.files) {
    const auto kernel = analysis::decode_name(name);
    if (style) {
      for (const std::string& line : report::name_lines(name, *style)) session.print("{}\n", line);
    } else if (flags.markdown) {
      session.print("- `{}`: {}\n", name, report::kernel_sentence(name, kernel));
    } else {
      session.print("{}{}", &name == &flags.files.front() ? "" : "\n",
                    report::kernel_text(name, kernel));
    }
  }
  return kDone;
}

int explain_files(Session& session, const ExplainFlags& flags) {
  const auto style = flags.style().value_or(report::NameStyle::kDecoded);
  return print_each(
      session, flags,
      [](JsonWriter& json, const TraceInput& input) {
        json.key("kernels").begin_array();
        for (const auto& time : analysis::kernel_times(input.trace())) {
          report::kernel_json(json, time.name, analysis::decode_name(time.name), &time);
        }
        json.end_array();
      },
      [&](const TraceInput& input) {
        return report::kernels_table(analysis::kernel_times(input.trace()), flags.markdown,
                                     session.width(), style);
      });
}

int explain(Session& session, const ExplainFlags& flags) {
  const auto files = std::count_if(flags.files.begin(), flags.files.end(),
                                   [&](const std::string& word) { return session.is_trace(word); });
  if (files == 0) return explain_names(session, flags);
  if (files == static_cast<std::ptrdiff_t>(flags.files.size()))
    return explain_files(session, flags);
  throw Error("explain: takes kernel names or traces, not both");
}

}  // namespace

void add_explain(Command& verb, Session& session) {
  auto flags = std::make_shared<ExplainFlags>();
  verb.option("NAME", flags->files, "Kernel names, or traces to decode all kernels of").required();
  const Option json = verb.flag("--json", flags->json, "One JSON value on standard output");
  verb.flag("--md", flags->markdown, "As Markdown").excludes(json);
  add_names(verb, flags->names);
  add_reading_flags(verb, *flags);
  verb.run([flags, &session] { return explain(session, *flags); });
}

}  // namespace epi::cli
