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
#include "epilogue/analysis/names/decode.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/trace/reader.h"

namespace {

using namespace epi;

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::string_view kTrace = R"([
{"ph": "X", "cat": "user_annotation", "name": "mlp_fwd", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50,
 "args": {"External id": 1, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20, "dur": 5,
 "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ampere_sgemm_32x32_tn", "pid": 0, "tid": 7, "ts": 30, "dur": 5,
 "args": {"correlation": 1}}])";

const analysis::TraceIndex& index() {
  static const trace::Trace trace = trace::read_bytes(std::string(kTrace), "fuzz").value();
  static const analysis::TraceIndex once(trace);
  return once;
}

void check(const analysis::Rule& rule) {
  const auto result = analysis::check_rule(
      index(), rule, [](const std::string&) -> const analysis::TraceIndex& { return index(); });
  require(result.ok || !result.broken.empty() || result.note != analysis::RuleNote::kNone);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  report::kernel_text(text, analysis::decode_name(text));
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
