// SPDX-License-Identifier: Apache-2.0
// What differs between the two files of a page, as JSON: new, gone, slower and faster kernels
// first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/kernel_class.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/page_data.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

// Kernels with one decoded name in both files, per step.
struct KernelChange {
  std::string what;
  KernelClass kind = KernelClass::kOther;
  double ns[2] = {0, 0};
  double count[2] = {0, 0};
};

// 1 if the trace marks no steps: then the whole traces are compared.
double step_count(const PageFile& file) {
  const auto& steps = file.screen.summary.steps;
  return steps.is_whole_trace() ? 1 : static_cast<double>(steps.instances.size());
}

// The largest changes first.
std::vector<KernelChange> kernel_changes(const PageData& data) {
  std::vector<KernelChange> changes;
  std::map<std::string, size_t> places;
  for (size_t side = 0; side < 2; ++side) {
    const double steps = step_count(data.files[side]);
    for (const analysis::NamedTime& kernel : data.files[side].screen.summary.kernels) {
      const analysis::DecodedName decoded = analysis::decode_name(kernel.name);
      const std::string what = kernel_sentence(kernel.name, decoded);
      const auto [place, is_new] = places.try_emplace(what, changes.size());
      if (is_new) changes.push_back({.what = what, .kind = kernel_class(decoded.kind)});
      changes[place->second].ns[side] += static_cast<double>(kernel.ns) / steps;
      changes[place->second].count[side] += static_cast<double>(kernel.count) / steps;
    }
  }
  const auto size = [](const KernelChange& change) {
    return std::abs(change.ns[1] - change.ns[0]);
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return changes;
}

// Smaller differences are noise.
constexpr double kMinChange = 0.05;

const char* change_text(const KernelChange& change) {
  const auto [a, b] = change.ns;
  if (change.count[0] == 0) return "new in B";
  if (change.count[1] == 0) return "gone in B";
  if (std::abs(b - a) <= kMinChange * std::max(a, b)) return "same";
  return b > a ? "slower" : "faster";
}

std::string count_text(double count) {
  return count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.1f}", count);
}

std::string signed_time(double ns) {
  return ns == 0 ? "0 ns" : fmt::format("{}{}", ns < 0 ? "-" : "+", time_text(std::abs(ns)));
}

void kernels_json(JsonWriter& json, const PageData& data, size_t rows) {
  const std::vector<KernelChange> changes = kernel_changes(data);
  Table table({{"kernel", Align::kLeft},
               {"change", Align::kLeft},
               {"B - A", Align::kRight},
               {"time A", Align::kRight},
               {"time B", Align::kRight},
               {"calls A", Align::kRight},
               {"calls B", Align::kRight}});
  const size_t shown = std::min(rows, changes.size());
  const auto dash = [](double count, const std::string& text) { return count == 0 ? "-" : text; };
  for (size_t i = 0; i < shown; ++i) {
    const auto& [what, kind, ns, count] = changes[i];
    table.add_row({what, change_text(changes[i]), signed_time(ns[1] - ns[0]),
                   dash(count[0], time_text(ns[0])), dash(count[1], time_text(ns[1])),
                   dash(count[0], count_text(count[0])), dash(count[1], count_text(count[1]))});
  }
  table.json(json.key("kernels"));
  json.key("kinds").begin_array();
  for (size_t i = 0; i < shown; ++i) json.string(words_of(changes[i].kind).key);
  json.end_array();
  const double a = step_count(data.files[0]);
  const double b = step_count(data.files[1]);
  const bool marked = !data.files[0].screen.summary.steps.is_whole_trace() &&
                      !data.files[1].screen.summary.steps.is_whole_trace();
  json.key("kernels_note")
      .string(marked ? fmt::format("Times and calls per step: means of {} in A and {} in B.",
                                   plural(a, "step"), plural(b, "step"))
                     : "Times and calls of the whole traces, because not both mark steps.");
}

}  // namespace

void differences_json(JsonWriter& json, const PageData& data, size_t rows) {
  json.key("verdict").string(verdict_text(*data.comparison));
  kernels_json(json, data, rows);
  json.key("groups").begin_array();
  for (const ComparePart& part : compare_parts(*data.comparison)) {
    json.begin_object().key("title").string(part.title);
    part.measures.json(json.key("measures"));
    json.key("lines").begin_array();
    for (const CompareLine& line : part.lines) {
      json.begin_array().string(line.title).string(line.text).end_array();
    }
    json.end_array().end_object();
  }
  json.end_array().key("group_count");
  json.integer(static_cast<int64_t>(data.comparison->groups.size()));
}

}  // namespace epi::report
