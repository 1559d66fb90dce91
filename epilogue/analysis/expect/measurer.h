// SPDX-License-Identifier: Apache-2.0
// Measures the instances of a subject for one rule, and finds the events behind a value.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

struct Measurement {
  std::optional<double> value;  // in the rule's unit; none: unknown from the trace
  bool at_least = false;        // bytes: only a lower bound is known
};

class Measurer {
 public:
  // All three must outlive it.
  Measurer(const StepModels& models, const StepGroup& subject, const Rule& rule);

  // The rule's measure, or the number of matches for `has` and `no`.
  Measurement measure(size_t instance) const;
  // The events behind the value: those counted, or a few of the largest for times and bytes.
  std::vector<trace::EventId> events(size_t instance) const;
  // True if `events` returns the work that the device waited for. The rule then limits idle time.
  bool shows_waits() const;

 private:
  using Events = std::vector<trace::EventId>;

  std::optional<Events> counted(size_t instance) const;
  Events searched(size_t instance) const;
  Events work_of(size_t instance, trace::Category category) const;
  Events work_of(size_t instance, Kind kind) const;
  Events work_named(size_t instance, bool kernels_only) const;
  Events host_named(size_t instance, std::optional<What> what) const;
  Events longest_work(size_t instance) const;
  Events longest_children(size_t instance) const;
  Events after_longest_gaps(size_t instance) const;
  Events host_events_of(size_t instance) const;

  const StepModels& models_;
  const TraceIndex& index_;
  const StepGroup& subject_;
  const Rule& rule_;
  bool counts_work_ = false;  // `count` of a name that no host event has
};

}  // namespace epi::analysis
