// SPDX-License-Identifier: Apache-2.0
// What differs between the two files of a page, as JSON: new, gone, slower and faster kernels
// first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/kernel_class.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/page_data.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

enum class Change : uint8_t { kNew, kGone, kMoreCalls, kFewerCalls, kSlower, kFaster, kSame };

struct ChangeWords {
  const char* key;  // in JSON
  const char* text;
};
const ChangeWords& words_of(Change change) {
  static constexpr std::array<ChangeWords, 7> kWords{{{"new", "new in B"},
                                                      {"gone", "gone in B"},
                                                      {"more_calls", "more calls"},
                                                      {"fewer_calls", "fewer calls"},
                                                      {"slower", "slower"},
                                                      {"faster", "faster"},
                                                      {"same", "same"}}};
  return kWords[static_cast<size_t>(change)];
}

// Kernels with one decoded name, in one file: medians over the steps.
struct Side {
  int64_t total = 0;  // in all steps
  double ns = 0;
  double calls = 0;
};
struct KernelChange {
  std::string what;
  KernelClass kind = KernelClass::kOther;
  std::array<Side, 2> sides;
};

// Smaller differences are noise.
constexpr double kMinChange = 0.05;

Change change_of(const KernelChange& change) {
  const auto& [a, b] = change.sides;
  if (a.total == 0) return Change::kNew;
  if (b.total == 0) return Change::kGone;
  if (b.calls != a.calls) return b.calls > a.calls ? Change::kMoreCalls : Change::kFewerCalls;
  if (std::abs(b.ns - a.ns) <= kMinChange * std::max(a.ns, b.ns)) return Change::kSame;
  return b.ns > a.ns ? Change::kSlower : Change::kFaster;
}

// Adds the kernels of one file.
void add_side(const PageFile& file, size_t side, std::map<std::string, KernelChange>& changes) {
  const analysis::TraceIndex& index = file.index;
  const analysis::InstanceGroup& steps = file.screen.summary.steps;
  struct Sums {
    std::vector<double> ns;  // by step
    std::vector<double> calls;
  };
  std::unordered_map<trace::NameId, Sums> names;
  for (size_t i = 0; i < steps.instances.size(); ++i) {
    const auto& step = steps.instances[i];
    const analysis::Owned owned = steps.is_whole_trace()
                                      ? index.ownership.everything()
                                      : index.ownership.owned(step.begin_ns, step.end_ns);
    for (const trace::EventId id : owned.work) {
      Sums& sums = names[index.trace.name[id]];
      sums.ns.resize(steps.instances.size());
      sums.calls.resize(steps.instances.size());
      sums.ns[i] += static_cast<double>(index.trace.dur_ns[id]);
      ++sums.calls[i];
    }
  }
  // Several names may have one decoded name.
  std::map<std::string, Sums> sentences;
  for (auto& [name, sums] : names) {
    const std::string raw(index.trace.names[name]);
    const analysis::DecodedName& decoded = index.names[name];
    const std::string what = kernel_sentence(raw, decoded);
    changes.try_emplace(what, KernelChange{what, kernel_class(decoded.kind), {}});
    const auto [place, is_new] = sentences.try_emplace(what, sums);
    if (is_new) continue;
    for (size_t i = 0; i < sums.ns.size(); ++i) {
      place->second.ns[i] += sums.ns[i];
      place->second.calls[i] += sums.calls[i];
    }
  }
  for (auto& [what, sums] : sentences) {
    Side& one = changes.at(what).sides[side];
    for (const double calls : sums.calls) one.total += static_cast<int64_t>(calls);
    one.ns = analysis::median(sums.ns);
    one.calls = analysis::median(sums.calls);
  }
}

// The largest changes first.
std::vector<KernelChange> kernel_changes(const PageData& data) {
  std::map<std::string, KernelChange> by_name;
  for (size_t side = 0; side < 2; ++side) add_side(data.files[side], side, by_name);
  std::vector<KernelChange> changes;
  for (auto& [what, change] : by_name) changes.push_back(std::move(change));
  const auto size = [](const KernelChange& change) {
    return std::abs(change.sides[1].ns - change.sides[0].ns);
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return changes;
}

std::string steps_note(const PageData& data) {
  const auto& a = data.files[0].screen.summary.steps;
  const auto& b = data.files[1].screen.summary.steps;
  if (a.is_whole_trace() || b.is_whole_trace()) {
    return "Times and calls of the whole traces, because not both mark steps.";
  }
  return fmt::format("Times and calls per step: medians of {} in A and {} in B.",
                     plural(static_cast<double>(a.instances.size()), "step"),
                     plural(static_cast<double>(b.instances.size()), "step"));
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
  for (size_t i = 0; i < shown; ++i) {
    const auto& [a, b] = changes[i].sides;
    const auto time = [](const Side& side) { return side.total == 0 ? "-" : time_text(side.ns); };
    const auto calls = [](const Side& side) {
      return side.total == 0 ? "-" : count_text(side.calls);
    };
    table.add_row({changes[i].what, words_of(change_of(changes[i])).text,
                   difference_text(b.ns - a.ns), time(a), time(b), calls(a), calls(b)});
  }
  table.json(json.key("kernels"));
  json.key("kinds").begin_array();
  for (size_t i = 0; i < shown; ++i) json.string(words_of(changes[i].kind).key);
  json.end_array().key("changes").begin_array();
  for (size_t i = 0; i < shown; ++i) json.string(words_of(change_of(changes[i])).key);
  json.end_array().key("kernels_note").string(steps_note(data));
  json.key("min_change").fixed(kMinChange, 2);
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
