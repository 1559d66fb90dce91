// SPDX-License-Identifier: Apache-2.0
// `epilogue explain NAME...`, `epilogue explain FILE`: decodes kernel names.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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

bool is_file(const std::string& word) {
  std::error_code failed;
  return word.ends_with(".json") || word.ends_with(".gz") || word.ends_with(".zst") ||
         std::filesystem::exists(word, failed);
}

int explain_names(const ExplainFlags& flags) {
  use_names_file(flags.names_file);
  const auto style = flags.style();
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("schema").integer(1).key("kernels").begin_array();
    for (const std::string& name : flags.files) {
      report::kernel_json(json, name, analysis::decode_name(name));
    }
    print_out("{}\n", json.end_array().end_object().text());
    return kDone;
  }
  for (const std::string& name : flags.files) {
    const auto kernel = analysis::decode_name(name);
    if (style) {
      for (const std::string& line : report::name_lines(name, *style)) print_out("{}\n", line);
    } else if (flags.markdown) {
      print_out("- `{}`: {}\n", name, report::kernel_sentence(name, kernel));
    } else {
      print_out("{}{}", &name == &flags.files.front() ? "" : "\n",
                report::kernel_text(name, kernel));
    }
  }
  return kDone;
}

int explain_files(const ExplainFlags& flags) {
  const auto style = flags.style().value_or(report::NameStyle::kDecoded);
  return print_each(
      flags,
      [](JsonWriter& json, const TraceInput& input) {
        json.key("kernels").begin_array();
        for (const auto& time : analysis::kernel_times(input.trace)) {
          report::kernel_json(json, time.name, analysis::decode_name(time.name), &time);
        }
        json.end_array();
      },
      [&](const TraceInput& input) {
        return report::kernels_table(analysis::kernel_times(input.trace), flags.markdown,
                                     screen_width(), style);
      });
}

int explain(const ExplainFlags& flags) {
  const auto files = std::count_if(flags.files.begin(), flags.files.end(), is_file);
  if (files == 0) return explain_names(flags);
  if (files == static_cast<std::ptrdiff_t>(flags.files.size())) return explain_files(flags);
  throw Error("explain: takes kernel names or traces, not both");
}

}  // namespace

void add_explain(Command& verb) {
  auto flags = std::make_shared<ExplainFlags>();
  verb.option("NAME", flags->files, "Kernel names, or traces to decode all kernels of").required();
  const Option json = verb.flag("--json", flags->json, "One JSON value on standard output");
  verb.flag("--md", flags->markdown, "As Markdown").excludes(json);
  add_names(verb, flags->names);
  add_reading_flags(verb, *flags);
  verb.run([flags] { return explain(*flags); });
}

}  // namespace epi::cli
