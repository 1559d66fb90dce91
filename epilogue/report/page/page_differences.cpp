// SPDX-License-Identifier: Apache-2.0
// What differs between the two files of a page, as JSON: new, gone, slower and faster kernels
// first.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "epilogue/analysis/compare/kernel_changes.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/kernels/kernel_class.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/page/page_data.h"
#include "epilogue/report/text/units.h"

namespace epi::report {

struct ChangeWords {
  const char* key;
  const char* text;
};
template <>
struct Words<analysis::KernelChangeKind> {
  static constexpr const char* kName = "kernel_change";
  static std::span<const ChangeWords> rows() {
    static constexpr ChangeWords kRows[] = {{"new", "new in B"},
                                            {"gone", "gone in B"},
                                            {"more_calls", "more calls"},
                                            {"fewer_calls", "fewer calls"},
                                            {"slower", "slower"},
                                            {"faster", "faster"},
                                            {"same", "same"}};
    static_assert(std::size(kRows) == static_cast<size_t>(analysis::KernelChangeKind::kSame) + 1);
    return kRows;
  }
};

namespace {

std::string steps_note(const PageData& data) {
  const auto& a = data.files[0].models.judged();
  const auto& b = data.files[1].models.judged();
  if (a.is_whole_trace() || b.is_whole_trace()) {
    return "Times and calls of the whole traces, because not both mark steps.";
  }
  return fmt::format("Times and calls per step: medians of {} in A and {} in B.",
                     plural(static_cast<double>(a.steps.size()), "step"),
                     plural(static_cast<double>(b.steps.size()), "step"));
}

void kernels_json(JsonWriter& json, const PageData& data, size_t rows) {
  auto changes =
      analysis::kernel_changes(data.files[0].models, data.files[1].models, kernel_sentence);
  changes.resize(std::min(rows, changes.size()));
  Table table({{"kernel", Align::kLeft},
               {"change", Align::kLeft},
               {"B - A", Align::kRight},
               {"time A", Align::kRight},
               {"time B", Align::kRight},
               {"calls A", Align::kRight},
               {"calls B", Align::kRight}});
  for (const analysis::KernelChange& change : changes) {
    const auto& [a, b] = change.sides;
    const auto time = [](const auto& side) { return side.total == 0 ? "-" : time_text(side.ns); };
    const auto calls = [](const auto& side) {
      return side.total == 0 ? "-" : count_text(side.calls);
    };
    table.add_row({change.title, words_of(change.change()).text,
                   difference_text(change.difference_ns()), time(a), time(b), calls(a), calls(b)});
  }
  table.json(json.key("kernels"));
  json.key("kinds").begin_array();
  for (const auto& change : changes) json.string(words_of(kernel_class(change.kind)).key);
  json.end_array().key("changes").begin_array();
  for (const auto& change : changes) json.string(words_of(change.change()).key);
  json.end_array().key("kernels_note").string(steps_note(data));
  json.key("min_change").fixed(analysis::kMinKernelChange, 2);
}

}  // namespace

void differences_json(JsonWriter& json, const PageData& data, size_t rows) {
  const auto misses_launches = [](const PageFile& file) {
    const auto& diagnosis = file.screen.advised.diagnosis;
    return diagnosis && diagnosis->launches_missing;
  };
  const bool is_partial = std::any_of(data.files.begin(), data.files.end(), misses_launches);
  json.key("verdict").string(
      (is_partial ? "NOT CONCLUSIVE: most launches are missing, and only work with a launch is "
                    "compared. "
                  : "") +
      verdict_text(*data.comparison));
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
