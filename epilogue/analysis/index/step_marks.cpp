// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/step_marks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "epilogue/analysis/index/pattern.h"
#include "epilogue/trace/overlap.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

// "execute_32_context_0(sq0sk0)_generation_32(...)": vLLM and engines that follow it.
bool is_execute(std::string_view name) {
  return name.starts_with("execute_") && name.find("_context_") != std::string_view::npos &&
         name.find("_generation_") != std::string_view::npos;
}
// "step[DECODE bs=32]": SGLang.
bool is_bracketed_step(std::string_view name) {
  return name.starts_with("step[") && name.ends_with("]");
}
// "capture_32_FULL": one graph capture per batch size.
bool is_capture(std::string_view name) {
  constexpr std::string_view kBegin = "capture_";
  return name.starts_with(kBegin) && name.size() > kBegin.size() && name[kBegin.size()] >= '0' &&
         name[kBegin.size()] <= '9';
}

struct Family {
  std::string_view name;
  bool (*is_member)(std::string_view);
};
constexpr auto kServing = std::to_array<Family>(
    {{"execute_*", is_execute}, {"step[*]", is_bracketed_step}, {"capture_*", is_capture}});

// Drops events that lie inside another one.
std::vector<EventId> outermost(const trace::Trace& trace, std::vector<EventId> events) {
  std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
    if (trace.ts_ns[a] != trace.ts_ns[b]) return trace.ts_ns[a] < trace.ts_ns[b];
    return trace.dur_ns[a] > trace.dur_ns[b];
  });
  std::vector<EventId> result;
  for (const EventId id : events) {
    const bool inside = !result.empty() && trace.end_ns(id) <= trace.end_ns(result.back());
    if (!inside) result.push_back(id);
  }
  return trace::limit_overlap(trace, std::move(result));
}

int64_t total_ns(const trace::Trace& trace, const std::vector<EventId>& events) {
  int64_t sum = 0;
  for (const EventId id : events) sum += trace.dur_ns[id];
  return sum;
}

}  // namespace

StepMarks step_marks(const trace::Trace& trace) {
  std::vector<std::function<bool(std::string_view)>> tests = {trace::is_step_name};
  std::vector<std::string> names = {std::string(trace::kAllSteps)};
  if (!trace.step_pattern.empty()) {
    auto parsed = Pattern::regex(trace.step_pattern);
    const auto pattern = parsed ? std::optional(*std::move(parsed)) : std::nullopt;
    tests = {[pattern](std::string_view name) { return pattern && pattern->matches(name); }};
    names = {trace.step_pattern};
  } else {
    for (const Family& family : kServing) {
      tests.emplace_back(family.is_member);
      names.emplace_back(family.name);
    }
  }
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> family_of(trace.names.size(), kNone);
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    for (size_t i = 0; i < tests.size() && family_of[name] == kNone; ++i) {
      if (tests[i](trace.names[name])) family_of[name] = i;
    }
  }
  std::vector<std::vector<EventId>> found(tests.size());
  for (EventId id = 0; id < trace.size(); ++id) {
    const size_t family = family_of[trace.name[id]];
    if (family == kNone || !trace.is_span(id)) continue;
    // Before PyTorch 1.13, steps are recorded as operators. Other tools put them in categories of
    // their own.
    const Category category = trace.category[id];
    const bool usual = category == Category::kUserAnnotation || category == Category::kCpuOp;
    const bool own = family == 0 && trace.step_pattern.empty() &&
                     (category == Category::kOther || category == Category::kNone ||
                      category == Category::kPythonFunction);
    if (usual || own) found[family].push_back(id);
  }
  // PyTorch's steps take precedence. Among serving engines' families, the enclosing one wins: it
  // has the longest total.
  size_t best = 0;
  if (found[0].empty()) {
    for (size_t i = 1; i < found.size(); ++i) {
      if (total_ns(trace, found[i]) > total_ns(trace, found[best])) best = i;
    }
  }
  return {names[best], outermost(trace, std::move(found[best]))};
}

}  // namespace epi::analysis
