// SPDX-License-Identifier: Apache-2.0
// `epilogue advise FILE`: what would make a step shorter, and by how much. `--against B` compares
// the estimate with a trace recorded after the change.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/trace/trace_inputs.h"
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

// Compares the estimates for one trace with another trace.
int check(Session& session, const AdviseFlags& flags) {
  const auto inputs = session.read(flags.trace.files, flags.trace);
  const auto after = session.read({*flags.against}, flags.trace);
  if (inputs.size() != 1 || after.size() != 1) {
    fail("advise", "--against compares one trace with one trace, not with a folder");
  }
  const analysis::TraceIndex& before = inputs[0].index();
  const auto estimate = analysis::advise(before, flags.under);
  const auto result = analysis::check_advice(before, after[0].index(), flags.under);
  if (flags.trace.json) {
    print_json(session, inputs, [&](JsonWriter& json, const TraceInput&) {
      json.key("against").string(after[0].file);
      report::advice_check_json(json, result);
    });
  } else {
    session.print("{}\n\n{}", report::wrapped(report::verdict_line(estimate), session.width()),
                  report::advice_check_text(result, flags.trace.markdown));
  }
  show_notices(session, inputs);
  show_notices(session, after);
  return kDone;
}

int advise(Session& session, const AdviseFlags& flags) {
  if (flags.against) return check(session, flags);
  const auto advice_for = [&](const TraceInput& input) {
    return analysis::advise(input.index(), flags.under);
  };
  return print_each(
      session, flags.trace,
      [&](JsonWriter& json, const TraceInput& input) {
        report::advise_json(json, advice_for(input), input.trace(), {.file = input.file});
      },
      [&](const TraceInput& input) {
        return report::advise_text(
            advice_for(input), input.trace(),
            {input.file, flags.trace.markdown, flags.all, session.width(), session.can_run()});
      });
}

}  // namespace

void add_advise(Command& verb, Session& session) {
  auto flags = std::make_shared<AdviseFlags>();
  add_trace_flags(verb, flags->trace);
  verb.option("--under", flags->under, "Analyze one annotation, step or operator only")
      .value_name("NAME");
  verb.option("--against", flags->against, "Compare the estimate with this run after the change")
      .value_name("FILE");
  verb.flag("--all", flags->all, "Show all advice, however small");
  verb.run([flags, &session] { return advise(session, *flags); });
}

}  // namespace epi::cli
