// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/expect/expect_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/utf8.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/trace_start.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::BrokenInstance;
using analysis::ClaimKind;
using analysis::RuleResult;
using analysis::RuleUnit;

constexpr size_t kShownInstances = 3;
constexpr size_t kShownEvents = 8;
constexpr size_t kEventNameWidth = 52;

// One value, or the range over the instances.
std::string found_range_text(const RuleResult& result) {
  if (!result.found_min || !result.found_max) return "unknown";
  const std::string least = found_text(result.rule, *result.found_min);
  const std::string most = found_text(result.rule, *result.found_max);
  return least == most ? "found " + least : fmt::format("found {} to {}", least, most);
}

bool is_aggregate(const RuleResult& result) {
  return result.rule.quantifier == analysis::Quantifier::kAvg ||
         result.rule.quantifier == analysis::Quantifier::kMedian;
}

std::string found_line(const RuleResult& result) {
  std::string note = rule_note_text(result);
  if (result.instances == 0) return note;
  std::string out = found_range_text(result);
  if (result.rule.claim == ClaimKind::kSameKernels) {
    out = result.ok ? "the same kernels" : "other kernels";
  } else if (is_aggregate(result)) {
    out = result.found ? "found " + found_text(result.rule, *result.found) : "unknown";
  }
  const char* plural = result.instances == 1 ? "" : "s";
  if (result.ok || is_aggregate(result) || result.broken.empty()) {
    out += fmt::format(" ({} instance{})", result.instances, plural);
  } else {
    out += fmt::format("; broken in {} of {} instance{}", result.broken.size(), result.instances,
                       plural);
  }
  return note.empty() ? out : out + "; " + note;
}

std::string events_text(const trace::Trace& trace, int64_t begin_ns, const BrokenInstance& broken) {
  std::string out;
  for (size_t i = 0; i < std::min(broken.events.size(), kShownEvents); ++i) {
    const trace::EventId id = broken.events[i];
    const std::string_view name = trace.name_of(id);
    const bool device = trace::is_device_work(trace.category[id]);
    const std::string text =
        device ? kernel_sentence(name, analysis::decode_name(name)) : std::string(name);
    out += fmt::format("            {}, {} at {}\n", shortened(text, kEventNameWidth),
                       time_text(static_cast<double>(trace.dur_ns[id])),
                       time_text(static_cast<double>(trace.ts_ns[id] - begin_ns)));
  }
  if (broken.events.size() > kShownEvents) {
    out += fmt::format("            and {} more\n", broken.events.size() - kShownEvents);
  }
  return out;
}

std::string broken_text(const trace::Trace& trace, int64_t begin_ns, const RuleResult& result) {
  std::string out;
  for (size_t i = 0; i < std::min(result.broken.size(), kShownInstances); ++i) {
    const BrokenInstance& broken = result.broken[i];
    if (is_aggregate(result)) continue;  // the line above already shows the value
    std::string value = broken.found ? found_text(result.rule, *broken.found) : "unknown";
    if (result.rule.claim == ClaimKind::kSameKernels) value += " differ";
    const std::string at =
        broken.begin_ns ? " at " + time_text(static_cast<double>(*broken.begin_ns - begin_ns)) : "";
    out += fmt::format("          {}{}: {}\n", shortened_middle(broken.instance, 44), at, value);
    out += events_text(trace, begin_ns, broken);
  }
  if (result.broken.size() > kShownInstances) {
    out += fmt::format("          and {} more instances\n", result.broken.size() - kShownInstances);
  }
  return out;
}

// False for characters that are replaced in XML 1.0: control characters except newline and tab,
// U+FFFE and U+FFFF.
bool fits_xml(std::string_view character) {
  if (character.size() == 1 && static_cast<unsigned char>(character[0]) < 0x20) {
    return character[0] == '\n' || character[0] == '\t';
  }
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0 || !fits_xml(character)) {
      out += '?';
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "&") {
      out += "&amp;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "\n") {
      out += "&#10;";
    } else {
      out += character;
    }
  }
  return out;
}

// Markdown code. Text that contains a backtick is delimited by two of them.
std::string code(std::string_view text) {
  const char* marks = text.find('`') == std::string_view::npos ? "`" : "``";
  return fmt::format("{0}{1}{0}", marks, text);
}

int64_t broken_rules(const RuleResults& results) {
  return std::count_if(results.begin(), results.end(),
                       [](const RuleResult& result) { return !result.ok; });
}

}  // namespace

std::string found_text(const analysis::Rule& rule, double value) {
  if (rule.claim != ClaimKind::kMeasure) return fmt::format("{:g}", value);
  switch (rule.unit) {
    case RuleUnit::kNanoseconds:
      return time_text(value);
    case RuleUnit::kBytes:
      return bytes_text(value);
    case RuleUnit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case RuleUnit::kCount:
      return fmt::format("{:g}", value);
  }
  return {};
}

std::optional<double> found_number(const analysis::Rule& rule, const std::optional<double>& value) {
  const bool is_time = rule.unit == RuleUnit::kNanoseconds && rule.claim == ClaimKind::kMeasure;
  return value && is_time ? std::optional(*value / 1000) : value;
}

std::string rule_note_text(const RuleResult& result) {
  switch (result.note) {
    case analysis::RuleNote::kNone:
      return "";
    case analysis::RuleNote::kNoSubject:
      return "no annotation or operator has this name";
    case analysis::RuleNote::kNoOtherSubject:
      return fmt::format("{} has no annotation or operator of this name", result.rule.path);
    case analysis::RuleNote::kUnknown:
      return "unknown: the trace lacks shapes or types of some operator";
    case analysis::RuleNote::kLowerBound:
      return "a lower bound: the trace lacks shapes of some operators";
    case analysis::RuleNote::kLongestWaits:
      return "longest GPU waits before:";
    case analysis::RuleNote::kNotCompared:
      return "unknown: no collective is in the files of all ranks of its group";
    case analysis::RuleNote::kWholeTrace:
      return "of the whole trace: the launches of the steps are not in it";
    case analysis::RuleNote::kMissingKernels:
      break;
  }
  const size_t others = result.missing.size() - 1;
  return fmt::format("missing: {}{}", result.missing.front(),
                     others == 0 ? "" : fmt::format(" and {} more", others));
}

bool ExpectResult::ok() const { return broken_rules(results) == 0; }

std::vector<RuleItem> ExpectResult::rules() const {
  std::vector<RuleItem> items;
  for (const RuleResult& result : results) items.push_back({trace, result});
  return items;
}

std::vector<BrokenItem> RuleItem::broken() const {
  std::vector<BrokenItem> items;
  for (const BrokenInstance& one : result.broken) items.push_back({*this, one});
  return items;
}

std::string BrokenItem::instance() const {
  if (!is_aggregate(rule.result)) return broken.instance;
  const bool median = rule.result.rule.quantifier == analysis::Quantifier::kMedian;
  return fmt::format("{} of {} instances", median ? "median" : "average", rule.result.instances);
}

std::string text_of(const ExpectResult& result, const Style& style) {
  const int64_t begin_ns = trace_start_ns(result.trace);
  std::string out;
  for (const RuleResult& one : result.results) {
    if (style.markdown) {
      out += fmt::format("- {} {}: {}\n", one.ok ? "ok" : "**broken**", code(one.rule.text),
                         found_line(one));
      continue;
    }
    out += fmt::format("{:<8}{}\n        {}\n", one.ok ? "ok" : "BROKEN", one.rule.text,
                       found_line(one));
    if (!one.ok) out += broken_text(result.trace, begin_ns, one);
  }
  const int64_t broken = broken_rules(result.results);
  const size_t count = result.results.size();
  const char* rules = count == 1 ? "rule" : "rules";
  return out + (broken == 0 ? fmt::format("\n{} {}, all hold\n", count, rules)
                            : fmt::format("\n{} of {} {} broken\n", broken, count, rules));
}

std::string expect_junit(const std::string& file, const ExpectResult& result) {
  const int64_t begin_ns = trace_start_ns(result.trace);
  std::string out =
      fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", xml_text(file),
                  result.results.size(), broken_rules(result.results));
  for (const RuleResult& one : result.results) {
    out += fmt::format("    <testcase classname=\"epilogue.expect\" name=\"{}\"",
                       xml_text(one.rule.text));
    if (one.ok) {
      out += "/>\n";
      continue;
    }
    out +=
        fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    xml_text(found_line(one)), xml_text(broken_text(result.trace, begin_ns, one)));
  }
  return out + "  </testsuite>\n";
}

}  // namespace epi::report
