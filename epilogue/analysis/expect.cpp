// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/compare.h"
#include "epilogue/analysis/op_cost.h"
#include "epilogue/analysis/statistics.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

constexpr const char* kUntold =
    "the trace does not tell: some operator has no recorded shapes and types";
constexpr size_t kShownEvents = 5;  // where the longest are shown, not all

// A value of one instance, and the events that make it.
struct Found {
  std::optional<double> value;
  bool at_least = false;  // bytes: the trace tells a lower bound
  std::vector<EventId> events;
};

bool is_gemm(Kind kind) { return kind == Kind::kGemm || kind == Kind::kGemv; }

// Measures one instance at a time.
class Gauge {
 public:
  Gauge(const Examined& examined, const Subject& subject, const Rule& rule)
      : examined_(examined), subject_(subject), rule_(rule) {
    if (rule.measure == Measure::kCount) counts_work_ = !host_has(rule.thing);
  }

  Found measure(size_t i) const {
    switch (rule_.measure) {
      case Measure::kKernels:
        return work(i, [&](EventId id) { return is(id, Category::kKernel); });
      case Measure::kGemm:
        return work(i, [&](EventId id) { return is_gemm(kind(id)); });
      case Measure::kPointwise:
        return work(i, [&](EventId id) { return kind(id) == Kind::kPointwise; });
      case Measure::kReduction:
        return work(i, [&](EventId id) { return kind(id) == Kind::kReduction; });
      case Measure::kMemcpy:
        return work(i, [&](EventId id) { return is(id, Category::kGpuMemcpy); });
      case Measure::kMemset:
        return work(i, [&](EventId id) { return is(id, Category::kGpuMemset); });
      case Measure::kLaunches:
        return counted(subject_.owned[i].launches);
      case Measure::kSyncs:
        return counted(subject_.owned[i].syncs);
      case Measure::kCount:
        return counts_work_ ? work_named(i) : host_named(i, false);
      case Measure::kCpuTime:
        return {static_cast<double>(measures(i).cpu_ns), false, longest_host(i)};
      case Measure::kGpuTime:
        return {static_cast<double>(measures(i).device_ns), false, longest_work(i)};
      case Measure::kBusy:
        return {measures(i).busy(), false, longest_work(i)};
      case Measure::kIdle:
        return {rule_.unit == Unit::kShare ? measures(i).idle()
                                           : static_cast<double>(measures(i).idle_ns()),
                false, longest_work(i)};
      case Measure::kBytes:
        return bytes(i);
    }
    return {};
  }

  // What `has` and `no` ask for.
  Found search(size_t i) const {
    switch (rule_.what) {
      case What::kKernel:
        return kernels_named(i);
      case What::kOp:
      case What::kCall:
        return host_named(i, true);
      case What::kMemcpy:
        return work(i, [&](EventId id) { return is(id, Category::kGpuMemcpy); });
      case What::kMemset:
        return work(i, [&](EventId id) { return is(id, Category::kGpuMemset); });
      case What::kSync:
        return counted(subject_.owned[i].syncs);
    }
    return {};
  }

 private:
  const Measures& measures(size_t i) const { return subject_.group.instances[i].measures; }
  bool is(EventId id, Category category) const { return examined_.trace.category[id] == category; }
  Kind kind(EventId id) const { return examined_.names[examined_.trace.name[id]].kind; }

  static Found counted(std::vector<EventId> events) {
    return {static_cast<double>(events.size()), false, std::move(events)};
  }

  template <typename Wanted>
  Found work(size_t i, Wanted&& wanted) const {
    std::vector<EventId> events;
    for (const EventId id : subject_.owned[i].work) {
      if (wanted(id)) events.push_back(id);
    }
    return counted(std::move(events));
  }

  Found kernels_named(size_t i) const {
    return work(i, [&](EventId id) {
      return is(id, Category::kKernel) && rule_.thing.matches(examined_.trace.name_of(id));
    });
  }

  Found work_named(size_t i) const {
    return work(i, [&](EventId id) { return rule_.thing.matches(examined_.trace.name_of(id)); });
  }

  bool is_wanted_host(EventId id, bool by_what) const {
    const Category category = examined_.trace.category[id];
    if (by_what && rule_.what == What::kCall && !trace::is_call(category)) return false;
    if (by_what && rule_.what == What::kOp && category != Category::kCpuOp) return false;
    return rule_.thing.matches(examined_.trace.name_of(id));
  }

  Found host_named(size_t i, bool by_what) const {
    std::vector<EventId> events;
    for (const EventId id : host_events(examined_, subject_, i)) {
      const bool itself = id == subject_.group.instances[i].event;
      if (!itself && is_wanted_host(id, by_what)) events.push_back(id);
    }
    return counted(std::move(events));
  }

  // `count` is about operators and calls; about device work where none of those has the name.
  bool host_has(const Pattern& thing) const {
    const auto& order = examined_.links.tree.order;
    return std::any_of(order.begin(), order.end(),
                       [&](EventId id) { return thing.matches(examined_.trace.name_of(id)); });
  }

  template <typename Duration>
  static std::vector<EventId> longest(std::vector<EventId> events, Duration&& duration) {
    std::stable_sort(events.begin(), events.end(),
                     [&](EventId a, EventId b) { return duration(a) > duration(b); });
    if (events.size() > kShownEvents) events.resize(kShownEvents);
    return events;
  }
  std::vector<EventId> longest_work(size_t i) const {
    return longest(subject_.owned[i].work, [&](EventId id) { return examined_.trace.dur_ns[id]; });
  }
  std::vector<EventId> longest_host(size_t i) const {
    return longest(host_events(examined_, subject_, i),
                   [&](EventId id) { return examined_.links.tree.self_ns[id]; });
  }

  Found bytes(size_t i) const {
    if (subject_.owned[i].work.empty()) return {0, false, {}};
    const auto moved = moved_bytes(examined_.trace, examined_.links, subject_.owned[i].work);
    if (!moved) return {std::nullopt, false, longest_work(i)};
    return {moved->bytes, moved->at_least, longest_work(i)};
  }

  const Examined& examined_;
  const Subject& subject_;
  const Rule& rule_;
  bool counts_work_ = false;
};

Subject subject_of(const Examined& examined, const Rule& rule) {
  switch (rule.subject) {
    case SubjectKind::kStep:
      return step_subject(examined);
    case SubjectKind::kTrace:
      return trace_subject(examined);
    case SubjectKind::kNamed:
      break;
  }
  const Pattern& name = rule.subject_name;
  return named_subject(examined, name.text(),
                       [&](std::string_view text) { return name.matches(text); });
}

void add_broken(const Subject& subject, size_t i, Found found, RuleResult& result) {
  const Instance& instance = subject.group.instances[i];
  result.broken.push_back({instance.name, instance.begin_ns, found.value, std::move(found.events)});
}

void note_range(const std::vector<Found>& found, RuleResult& result) {
  bool first = true;
  for (const Found& one : found) {
    if (!one.value) continue;
    result.found_min = first ? *one.value : std::min(result.found_min, *one.value);
    result.found_max = first ? *one.value : std::max(result.found_max, *one.value);
    first = false;
  }
  if (!first && result.found_min == result.found_max) result.found = result.found_min;
}

// A lower bound proves that something is more, and never that it is less.
bool is_proven(const Rule& rule, const Found& found) {
  if (!found.value || !holds(rule.cmp, *found.value, rule.value)) return false;
  if (!found.at_least || rule.cmp == Cmp::kMore || rule.cmp == Cmp::kMoreOrEqual) return true;
  return rule.cmp == Cmp::kNotEqual && *found.value > rule.value;
}

void check_each(const Subject& subject, std::vector<Found> found, const Rule& rule,
                RuleResult& result) {
  std::vector<size_t> failing;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!is_proven(rule, found[i])) failing.push_back(i);
  }
  const bool any = rule.quantifier == Quantifier::kAny;
  result.ok = any ? failing.size() < found.size() : failing.empty();
  if (result.ok) return;
  if (!result.found) result.found = found[failing.front()].value;
  for (const size_t i : failing) {
    if (!found[i].value) result.note = kUntold;
    if (found[i].at_least && holds(rule.cmp, *found[i].value, rule.value)) {
      result.note = "the trace tells only that it is at least so much";
    }
    add_broken(subject, i, std::move(found[i]), result);
  }
}

void check_together(const std::vector<Found>& found, const Rule& rule, RuleResult& result) {
  std::vector<double> values;
  bool at_least = false;
  for (const Found& one : found) {
    if (one.value) values.push_back(*one.value);
    at_least |= one.at_least;
  }
  if (values.size() < found.size()) {
    result.note = kUntold;
    return;
  }
  double sum = 0;
  for (const double value : values) sum += value;
  const bool median_asked = rule.quantifier == Quantifier::kMedian;
  result.found = median_asked ? median(values) : sum / static_cast<double>(values.size());
  result.ok = is_proven(rule, {result.found, at_least, {}});
  if (result.ok) return;
  result.broken.push_back(
      {fmt::format("{} of {} instances", median_asked ? "median" : "average", values.size()),
       std::nullopt,
       result.found,
       {}});
}

void check_measure(const Examined& examined, const Subject& subject, RuleResult& result) {
  const Gauge gauge(examined, subject, result.rule);
  std::vector<Found> found;
  for (size_t i = 0; i < subject.owned.size(); ++i) found.push_back(gauge.measure(i));
  note_range(found, result);
  const Quantifier quantifier = result.rule.quantifier;
  if (quantifier == Quantifier::kEach || quantifier == Quantifier::kAny) {
    check_each(subject, std::move(found), result.rule, result);
  } else {
    check_together(found, result.rule, result);
  }
}

void check_has(const Examined& examined, const Subject& subject, RuleResult& result) {
  const Gauge gauge(examined, subject, result.rule);
  std::vector<Found> found;
  for (size_t i = 0; i < subject.owned.size(); ++i) found.push_back(gauge.search(i));
  note_range(found, result);
  Rule counted = result.rule;
  counted.cmp = result.rule.claim == ClaimKind::kHas ? Cmp::kMore : Cmp::kEqual;
  counted.value = 0;
  check_each(subject, std::move(found), counted, result);
}

void check_same_kernels(const Examined& examined, const Subject& subject, const LoadTrace& load,
                        RuleResult& result) {
  const Examined& other = load(result.rule.path);
  const Subject wanted = subject_of(other, result.rule);
  if (wanted.group.instances.empty()) {
    result.note = fmt::format("nothing in {} is named so", result.rule.path);
    return;
  }
  const auto wanted_work = work_items(other, wanted.owned[typical_instance(wanted.group)].work);
  std::vector<Found> found;
  for (const Owned& owned : subject.owned) {
    const auto difference = match_work(work_items(examined, owned.work), wanted_work);
    Found one{static_cast<double>(difference.only_a.size() + difference.only_b.size()), false, {}};
    for (const WorkItem& item : difference.only_a) one.events.push_back(item.event);
    if (!difference.only_b.empty() && result.note.empty()) {
      result.note = fmt::format("missing: {}", difference.only_b.front().name);
      if (difference.only_b.size() > 1) {
        result.note += fmt::format(" and {} more", difference.only_b.size() - 1);
      }
    }
    found.push_back(std::move(one));
  }
  note_range(found, result);
  Rule none = result.rule;
  none.cmp = Cmp::kEqual;
  none.value = 0;
  check_each(subject, std::move(found), none, result);
}

}  // namespace

RuleResult check_rule(const Examined& examined, const Rule& rule, const LoadTrace& load) {
  RuleResult result;
  result.rule = rule;
  const Subject subject = subject_of(examined, rule);
  result.instances = static_cast<int64_t>(subject.group.instances.size());
  if (subject.group.instances.empty()) {
    result.note = "no annotation and no operator is named so";
    return result;
  }
  switch (rule.claim) {
    case ClaimKind::kMeasure:
      check_measure(examined, subject, result);
      break;
    case ClaimKind::kHas:
    case ClaimKind::kHasNo:
      check_has(examined, subject, result);
      break;
    case ClaimKind::kSameKernels:
      check_same_kernels(examined, subject, load, result);
      break;
  }
  return result;
}

}  // namespace epi::analysis
