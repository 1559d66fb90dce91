// SPDX-License-Identifier: Apache-2.0
// Parses any text as a rule. The parser reports an error at a column of the text, or the rule
// round-trips and can be checked against a trace. Also decodes the text as a kernel name, which
// must not crash.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/expect/rule_parser.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "tests/trace/trace_builder.h"

namespace {

using namespace epi;

void require(bool condition) {
  if (!condition) std::abort();
}

const analysis::StepModels& models() {
  static const trace::Trace trace =
      trace::TraceBuilder()
          .annotation("mlp_fwd", 0, 100)
          .op("aten::mm", 10, 50,
              {.external_id = 1,
               .args = R"({"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]})"})
          .kernel("ampere_sgemm_32x32_tn", 20, 30, 5, {.call_dur = 5})
          .trace();
  static const analysis::TraceIndex index(trace);
  static const analysis::StepModels once(index);
  return once;
}

void check(const analysis::Rule& rule) {
  const auto result = analysis::check_rule(
      models(), rule, [](const std::string&) -> const analysis::StepModels& { return models(); });
  require(result.ok || !result.broken.empty() || result.note != analysis::RuleNote::kNone);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  text_of(report::ExplainedNames{{std::string(text)}}, {});
  const auto rule = analysis::parse_rule(text);
  if (!rule) {
    require(rule.error().message.starts_with("column "));
    const long column = std::strtol(rule.error().message.c_str() + 7, nullptr, 10);
    require(column >= 1 && static_cast<size_t>(column) <= size + 1);
    return 0;
  }
  const auto again = analysis::parse_rule(rule->text);
  require(again.has_value() && again->value == rule->value && again->path == rule->path);
  check(*rule);
  return 0;
}
