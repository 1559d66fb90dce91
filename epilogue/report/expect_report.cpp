// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/expect_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/utf8.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/text.h"
#include "epilogue/report/trace_start.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::BrokenInstance;
using analysis::ClaimKind;
using analysis::RuleResult;
using analysis::Unit;

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

// "mlp_fwd", or "median of 3 instances" for a rule about the median.
std::string instance_text(const RuleResult& result, const BrokenInstance& broken) {
  if (!is_aggregate(result)) return broken.instance;
  const bool median = result.rule.quantifier == analysis::Quantifier::kMedian;
  return fmt::format("{} of {} instances", median ? "median" : "average", result.instances);
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

void found_json(JsonWriter& json, const analysis::Rule& rule, const std::optional<double>& found) {
  if (!found) {
    json.null();
  } else if (rule.unit == Unit::kNanoseconds && rule.claim == ClaimKind::kMeasure) {
    json.fixed(*found / 1000, 3);
  } else {
    json.real(*found);
  }
}

void events_json(JsonWriter& json, const trace::Trace& trace, const BrokenInstance& broken) {
  json.key("events").begin_array();
  for (const trace::EventId id : broken.events) {
    json.begin_object().key("name").string(trace.name_of(id));
    json.key("ts_us").fixed(static_cast<double>(trace.ts_ns[id]) / 1000, 3);
    json.key("dur_us").fixed(static_cast<double>(trace.dur_ns[id]) / 1000, 3).end_object();
  }
  json.end_array();
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
    case Unit::kNanoseconds:
      return time_text(value);
    case Unit::kBytes:
      return bytes_text(value);
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::kCount:
      return fmt::format("{:g}", value);
  }
  return {};
}

std::string expect_text(const trace::Trace& trace, const RuleResults& results, bool markdown) {
  const int64_t begin_ns = trace_start_ns(trace);
  std::string out;
  for (const RuleResult& result : results) {
    if (markdown) {
      out += fmt::format("- {} {}: {}\n", result.ok ? "ok" : "**broken**", code(result.rule.text),
                         found_line(result));
      continue;
    }
    out += fmt::format("{:<8}{}\n        {}\n", result.ok ? "ok" : "BROKEN", result.rule.text,
                       found_line(result));
    if (!result.ok) out += broken_text(trace, begin_ns, result);
  }
  const int64_t broken = broken_rules(results);
  const char* rules = results.size() == 1 ? "rule" : "rules";
  return out + (broken == 0 ? fmt::format("\n{} {}, all hold\n", results.size(), rules)
                            : fmt::format("\n{} of {} {} broken\n", broken, results.size(), rules));
}

void expect_json(JsonWriter& json, const trace::Trace& trace, const RuleResults& results) {
  json.key("ok").boolean(broken_rules(results) == 0).key("rules").begin_array();
  for (const RuleResult& result : results) {
    json.begin_object().key("rule").string(result.rule.text).key("ok").boolean(result.ok);
    json.key("found");
    found_json(json, result.rule, result.found);
    json.key("found_min");
    found_json(json, result.rule, result.found_min);
    json.key("found_max");
    found_json(json, result.rule, result.found_max);
    json.key("instances").integer(result.instances).key("note");
    const std::string note = rule_note_text(result);
    note.empty() ? json.null() : json.string(note);
    json.key("broken").begin_array();
    for (const BrokenInstance& broken : result.broken) {
      json.begin_object().key("instance").string(instance_text(result, broken)).key("found");
      found_json(json, result.rule, broken.found);
      events_json(json, trace, broken);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

std::string expect_junit(const std::string& file, const trace::Trace& trace,
                         const RuleResults& results) {
  const int64_t begin_ns = trace_start_ns(trace);
  std::string out = fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
                                xml_text(file), results.size(), broken_rules(results));
  for (const RuleResult& result : results) {
    out += fmt::format("    <testcase classname=\"epilogue.expect\" name=\"{}\"",
                       xml_text(result.rule.text));
    if (result.ok) {
      out += "/>\n";
      continue;
    }
    out +=
        fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    xml_text(found_line(result)), xml_text(broken_text(trace, begin_ns, result)));
  }
  return out + "  </testsuite>\n";
}

}  // namespace epi::report
