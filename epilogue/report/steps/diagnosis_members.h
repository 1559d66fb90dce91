// SPDX-License-Identifier: Apache-2.0
// The members of a diagnosis: the verdict on the steps of a group, and the figures of the one that
// is shown.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/description/words.h"

namespace epi::report {

// The conditions under which a verdict holds, by their keys in docs/measures.md.
std::vector<std::string_view> conditions_of(const analysis::Diagnosis& diagnosis);
std::vector<std::string_view> conditions_of(const analysis::MissingWork& missing);
// What limits the path: a bound or, if none leads, the verdict.
Word bound_by(const analysis::Diagnosis& diagnosis);

template <>
struct Description<analysis::StepVerdict> {
  using Verdict = analysis::StepVerdict;
  static constexpr const char* kName = "step_verdict";
  static constexpr std::tuple kMembers{
      Member{"name", "step", Unit::kNone, "the step", &Verdict::name},
      Member{"regime", "limit", Unit::kNone, "what limits it", &Verdict::limiter}};
};

template <>
struct Description<analysis::SlowStep> {
  using Slow = analysis::SlowStep;
  static constexpr const char* kName = "slow_step";
  static constexpr std::tuple kMembers{
      Member{"name", "step", Unit::kNone, "the step", &Slow::name},
      Member{"step_us", "time", Unit::kNanoseconds, "step time", &Slow::step_ns},
      Member{"reason", "reason", Unit::kNone, "what its critical path has more of",
             [](const Slow& one) { return words_of(one.reason).time; }}};
};

// The time of one bound on the critical path of the shown step.
template <analysis::Bound kBound>
constexpr auto path_member(const char* key, const char* title, const char* meaning) {
  return Member{key, title, Unit::kNanoseconds, meaning, [](const analysis::Diagnosis& diagnosis) {
                  return diagnosis.bounds[static_cast<size_t>(kBound)];
                }};
}

// How much shorter the judged steps are without the time of one limiter.
template <analysis::Limiter kLimiter>
constexpr auto without_member(const char* key, const char* title) {
  return Member{key, title, Unit::kShare, "share of the judged steps that goes away without it",
                [](const analysis::Diagnosis& diagnosis) {
                  return diagnosis.launches_missing
                             ? std::nullopt
                             : std::optional(diagnosis.retimed.saves(kLimiter));
                }};
}

template <>
struct Description<analysis::Diagnosis> {
  using Diagnosis = analysis::Diagnosis;
  using Bound = analysis::Bound;
  using Limiter = analysis::Limiter;
  static constexpr const char* kName = "diagnosis";
  static constexpr std::tuple kGroup{Member{"name", "group", Unit::kNone,
                                            "the steps, an annotation, or the whole trace",
                                            &Diagnosis::name}};
  static constexpr const char* kRegime = "the verdict on all judged steps";
  static constexpr const char* kConditions = "conditions under which the verdict holds";
  static constexpr std::tuple kFigures{
      Member{"bound_by", "bound by", Unit::kNone,
             "what takes most of the verdict's part of the critical path", &bound_by},
      Member{"judged_count", "judged", Unit::kCount, "number of judged steps: the warm ones",
             [](const Diagnosis& one) { return one.judged.size(); }},
      Member{"differing_steps", "differing", Unit::kNone, "judged steps with another limit",
             &Diagnosis::differing},
      Member{"slow_count", "slow", Unit::kCount,
             "steps of more than 1.2 times the time of the shown step", &Diagnosis::slow_count},
      Member{"slow_every", "slow every", Unit::kCount,
             "one step in so many is slow; null if that is not regular",
             [](const Diagnosis& one) { return if_known(one.slow_every); }},
      Member{"slow_steps", "slow steps", Unit::kNone, "the first of them", &Diagnosis::slow},
      without_member<Limiter::kGpu>("without_gpu_work", "without GPU work"),
      without_member<Limiter::kHost>("without_dispatch", "without dispatch"),
      without_member<Limiter::kHostWork>("without_host_work", "without other host work"),
      without_member<Limiter::kInput>("without_data_loading", "without data loading"),
      without_member<Limiter::kSynchronizing>("without_synchronization", "without sync"),
      without_member<Limiter::kCommunication>("without_communication", "without communication"),
      without_member<Limiter::kCopies>("without_copies", "without copies"),
      without_member<Limiter::kAllocating>("without_allocation", "without allocation"),
      without_member<Limiter::kInitializing>("without_start_up", "without start-up"),
      without_member<Limiter::kCompiling>("without_compilation", "without compilation"),
      Member{"shown_step", "shown", Unit::kNone, "the shown step, to which all times refer",
             [](const Diagnosis& one) { return one.step.name; }},
      Member{"step_us", "time", Unit::kNanoseconds, "step time", &Diagnosis::step_ns},
      Member{"clipped_us", "clipped", Unit::kNanoseconds,
             "start of its window that waits for something outside the trace, not on the path",
             &Diagnosis::clipped_ns},
      Member{"busy_us", "GPU busy", Unit::kNanoseconds, "GPU busy time",
             [](const Diagnosis& one) { return one.step.busy_ns; }},
      Member{"others_us", "others", Unit::kNanoseconds, "time of work of others",
             [](const Diagnosis& one) { return one.step.others_ns; }},
      Member{"idle_us", "idle", Unit::kNanoseconds, "GPU idle time",
             [](const Diagnosis& one) { return one.step.idle_ns; }},
      path_member<Bound::kCompute>("path_compute_us", "compute", "compute-bound kernels"),
      path_member<Bound::kMemory>("path_memory_us", "memory", "memory-bound kernels"),
      path_member<Bound::kUnclassified>("path_unclassified_us", "other kernels",
                                        "kernels of unknown kind"),
      path_member<Bound::kCopies>("path_copies_us", "copies", "copies between host and device"),
      path_member<Bound::kCommunication>("path_communication_us", "communication", "collectives"),
      path_member<Bound::kDispatch>("path_dispatch_us", "dispatch", "host dispatch"),
      path_member<Bound::kLaunches>("path_launches_us", "launches", "kernel launches"),
      path_member<Bound::kHostWork>("path_host_work_us", "host work",
                                    "other work of the program on the host"),
      path_member<Bound::kSynchronizing>("path_synchronization_us", "sync",
                                         "calls that wait for the device"),
      path_member<Bound::kInput>("path_data_loading_us", "data loading", "the DataLoader"),
      path_member<Bound::kAllocating>("path_allocation_us", "allocation", "device memory"),
      path_member<Bound::kInitializing>("path_start_up_us", "start-up", "contexts, modules"),
      path_member<Bound::kCompiling>("path_compilation_us", "compilation", "compilation"),
      path_member<Bound::kNotInTrace>("path_not_in_trace_us", "not in the trace",
                                      "waiting for something not in the trace")};
  static constexpr std::tuple kMembers = std::tuple_cat(
      kGroup,
      std::tuple{Member{"regime", "limit", Unit::kNone, kRegime, &Diagnosis::limiter},
                 Member{"conditions", "conditions", Unit::kNone, kConditions,
                        [](const Diagnosis& one) { return conditions_of(one); }}},
      kFigures);
};

// A part of the critical path, with the name of its event.
struct PathRow {
  analysis::PathPart part;
  std::optional<std::string_view> name;
};
template <>
struct Description<PathRow> {
  static constexpr const char* kName = "path_part";
  static constexpr std::tuple kMembers{
      Member{"ts_us", "at", Unit::kNanoseconds, "its start in the trace",
             [](const PathRow& row) { return row.part.begin_ns; }},
      Member{"dur_us", "takes", Unit::kNanoseconds, "how long it takes",
             [](const PathRow& row) { return row.part.end_ns - row.part.begin_ns; }},
      Member{"bound", "bound", Unit::kNone, "what limits it",
             [](const PathRow& row) { return row.part.bound; }},
      Member{"name", "event", Unit::kNone, "the event; null between operators", &PathRow::name}};
};

}  // namespace epi::report
