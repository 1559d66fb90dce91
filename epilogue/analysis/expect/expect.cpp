// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/expect.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/analysis/expect/measurer.h"
#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

using trace::EventId;

// Returns the events behind an instance's value.
using EventsOf = std::function<std::vector<EventId>(size_t)>;

void record_range(const std::vector<Measurement>& found, RuleResult& result) {
  for (const Measurement& one : found) {
    if (!one.value) continue;
    result.found_min = std::min(result.found_min.value_or(*one.value), *one.value);
    result.found_max = std::max(result.found_max.value_or(*one.value), *one.value);
  }
}

// A lower bound can prove that a value is greater, never that it is smaller.
bool is_proven(const Rule& rule, const Measurement& found) {
  if (!found.value || !holds(rule.cmp, *found.value, rule.value)) return false;
  if (!found.at_least || rule.cmp == Cmp::kMore || rule.cmp == Cmp::kMoreOrEqual) return true;
  return rule.cmp == Cmp::kNotEqual && *found.value > rule.value;
}

// If all values hold, the one closest to breaking the rule.
std::optional<double> closest_to_breaking(const Rule& rule, const RuleResult& result) {
  const bool below = rule.cmp == Cmp::kLess || rule.cmp == Cmp::kLessOrEqual;
  return below ? result.found_max : result.found_min;
}

void add_broken(const StepGroup& subject, size_t i, const Measurement& found,
                std::vector<EventId> events, RuleResult& result) {
  const StepModel& step = subject.steps[i];
  result.broken.push_back(
      {std::string(step.name), step.host.begin, found.value, std::move(events)});
}

void check_each(const StepGroup& subject, const std::vector<Measurement>& found,
                const EventsOf& events, const Rule& rule, RuleResult& result) {
  record_range(found, result);
  std::vector<size_t> failing;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!is_proven(rule, found[i])) failing.push_back(i);
  }
  const bool any = rule.quantifier == Quantifier::kAny;
  result.ok = any ? failing.size() < found.size() : failing.empty();
  if (result.ok) {
    result.found = closest_to_breaking(rule, result);
    return;
  }
  result.found = found[failing.front()].value;
  for (const size_t i : failing) {
    if (!found[i].value) result.note = RuleNote::kUnknown;
    const bool unproven =
        found[i].at_least && found[i].value && holds(rule.cmp, *found[i].value, rule.value);
    if (unproven) result.note = RuleNote::kLowerBound;
    add_broken(subject, i, found[i], events(i), result);
  }
}

void check_aggregate(const std::vector<Measurement>& found, const Rule& rule, RuleResult& result) {
  record_range(found, result);
  std::vector<double> values;
  bool at_least = false;
  for (const Measurement& one : found) {
    if (one.value) values.push_back(*one.value);
    at_least |= one.at_least;
  }
  const bool use_median = rule.quantifier == Quantifier::kMedian;
  if (values.size() == found.size()) {
    double sum = 0;
    for (const double value : values) sum += value;
    result.found = use_median ? median(values) : sum / static_cast<double>(values.size());
  }
  result.ok = is_proven(rule, {result.found, at_least});
  if (result.ok) return;
  if (!result.found) {
    result.note = RuleNote::kUnknown;
  } else if (at_least && holds(rule.cmp, *result.found, rule.value)) {
    result.note = RuleNote::kLowerBound;
  }
  result.broken.push_back({"", std::nullopt, result.found, {}});
}

void check_measure(const StepModels& models, const StepGroup& subject, RuleResult& result) {
  const Measurer measurer(models, subject, result.rule);
  std::vector<Measurement> found;
  for (size_t i = 0; i < subject.steps.size(); ++i) found.push_back(measurer.measure(i));
  Rule rule = result.rule;
  if (rule.claim != ClaimKind::kMeasure) {  // "has" and "no" compare a count with 0
    rule.cmp = rule.claim == ClaimKind::kHas ? Cmp::kMore : Cmp::kEqual;
    rule.value = 0;
  }
  if (rule.quantifier == Quantifier::kAvg || rule.quantifier == Quantifier::kMedian) {
    check_aggregate(found, rule, result);
    return;
  }
  const EventsOf events = [&](size_t i) { return measurer.events(i); };
  check_each(subject, found, events, rule, result);
  if (!result.ok && measurer.shows_waits()) result.note = RuleNote::kLongestWaits;
}

void check_same_kernels(const TraceIndex& index, const StepGroup& subject, const LoadTrace& load,
                        RuleResult& result) {
  const StepModels& other = load(result.rule.path);
  const StepGroup wanted = rule_subject(other, result.rule);
  if (wanted.steps.empty()) {
    result.note = RuleNote::kNoOtherSubject;
    return;
  }
  const auto wanted_work = work_items(other.index(), wanted.steps[wanted.shown()].owned.work);
  std::vector<Measurement> found;
  std::vector<std::vector<EventId>> differing(subject.steps.size());
  for (size_t i = 0; i < subject.steps.size(); ++i) {
    const auto difference = match_work(work_items(index, subject.steps[i].owned.work), wanted_work);
    found.push_back(
        {static_cast<double>(difference.only_a.size() + difference.only_b.size()), false});
    for (const WorkItem& item : difference.only_a) differing[i].push_back(item.event);
    if (result.note == RuleNote::kNone && !difference.only_b.empty()) {
      result.note = RuleNote::kMissingKernels;
      for (const WorkItem& item : difference.only_b) result.missing.emplace_back(item.name);
    }
  }
  Rule none = result.rule;
  none.cmp = Cmp::kEqual;
  none.value = 0;
  const EventsOf events = [&](size_t i) { return differing[i]; };
  check_each(subject, found, events, none, result);
}

}  // namespace

StepGroup rule_subject(const StepModels& models, const Rule& rule) {
  switch (rule.subject) {
    case SubjectKind::kStep:
      return models.judged();
    case SubjectKind::kTrace:
      return models.whole_trace();
    case SubjectKind::kRanks:  // check_rank_rule
    case SubjectKind::kNamed:
      break;
  }
  const Pattern& name = rule.subject_name;
  return models.named(name.text(), [&](std::string_view text) { return name.matches(text); });
}

RuleResult check_rule(const StepModels& models, const Rule& rule, const LoadTrace& load) {
  const StepGroup subject = rule_subject(models, rule);
  RuleResult result = check_rule(models, rule, subject, load);
  const bool replaces_steps = rule.subject == SubjectKind::kStep && subject.is_whole_trace() &&
                              !models.steps().is_whole_trace();
  if (replaces_steps && result.note == RuleNote::kNone) result.note = RuleNote::kWholeTrace;
  return result;
}

RuleResult check_rule(const StepModels& models, const Rule& rule, const StepGroup& subject,
                      const LoadTrace& load) {
  RuleResult result;
  result.rule = rule;
  result.instances = std::ssize(subject.steps);
  if (subject.steps.empty()) {
    result.note = RuleNote::kNoSubject;
  } else if (rule.claim == ClaimKind::kSameKernels) {
    check_same_kernels(models.index(), subject, load, result);
  } else {
    check_measure(models, subject, result);
  }
  return result;
}

}  // namespace epi::analysis
