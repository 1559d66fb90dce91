// SPDX-License-Identifier: Apache-2.0
// `epilogue advise FILE`: what would make a step shorter, and by how much; `--against B` holds the
// estimate against the run after the change.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>

#include "epilogue/cli/trace_inputs.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/text.h"

namespace epi::cli {
namespace {

struct AdviseFlags {
  TraceFlags trace;
  std::optional<std::string> under;
  std::optional<std::string> against;
  bool all = false;
};

// One trace against one trace.
int check(const AdviseFlags& flags, const std::vector<TraceInput>& inputs) {
  const auto after = read_inputs({*flags.against});
  if (inputs.size() != 1 || after.size() != 1) {
    fail("advise", "--against: one trace is held against one trace");
  }
  const analysis::Examined before(inputs[0].trace);
  const auto advised = analysis::advise(before, flags.under);
  const auto result =
      analysis::check_advice(advised, analysis::Examined(after[0].trace), flags.under);
  if (flags.trace.json) {
    print_json(inputs, [&](JsonWriter& json, const TraceInput&) {
      json.key("against").string(after[0].file);
      report::advice_check_json(json, result);
    });
  } else {
    fmt::print("{}\n\n{}", report::wrapped(report::verdict_line(advised), screen_width()),
               report::advice_check_text(result, flags.trace.markdown));
  }
  show_notices(inputs);
  show_notices(after);
  return 0;
}

int advise(const AdviseFlags& flags) {
  const auto inputs = read_inputs(flags.trace.files);
  if (flags.against) return check(flags, inputs);
  const auto advised = [&](const TraceInput& input) {
    return analysis::advise(analysis::Examined(input.trace), flags.under);
  };
  if (flags.trace.json) {
    print_json(inputs, [&](JsonWriter& json, const TraceInput& input) {
      report::advise_json(json, advised(input), input.trace, {.file = input.file});
    });
    show_notices(inputs);
    return 0;
  }
  for (const TraceInput& input : inputs) {
    print_title(inputs, input);
    const report::AdviseStyle style{input.file, flags.trace.markdown, flags.all, screen_width()};
    fmt::print("{}", report::advise_text(advised(input), input.trace, style));
  }
  show_notices(inputs);
  return 0;
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* verb = app.add_subcommand("advise",
                                      "What would help, by how much, and why\n"
                                      "Example: epilogue advise trace.json.gz");
  add_trace_flags(*verb, flags->trace);
  verb->add_option("--under", flags->under, "One annotation, step or operator only")
      ->type_name("NAME");
  verb->add_option("--against", flags->against, "The run after the change: did it come true?")
      ->type_name("FILE");
  verb->add_flag("--all", flags->all, "Every piece of advice, however small");
  verb->callback([flags, &action] { action = [flags] { return advise(*flags); }; });
}

}  // namespace epi::cli
