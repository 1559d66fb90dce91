// SPDX-License-Identifier: Apache-2.0
// Translates advice into a change of the step's graph.
#pragma once

#include <unordered_map>
#include <vector>

#include "epilogue/analysis/advise/advice.h"

namespace epi::analysis {

class StepChanges {
 public:
  // All three must outlive it.
  StepChanges(const TraceIndex& index, const Diagnosis& diagnosis,
              const std::vector<Advice>& advice);

  // `share`: how much of its effect the advice has, from 0 to 1. For advice that shortens events,
  // the share of their time that it removes.
  StepChange of(const Advice& advice, double share) const;

  double duration_ns(trace::EventId id) const {
    return static_cast<double>(index_.trace.dur_ns[id]);
  }

 private:
  struct SameName {
    double own_ns = 0;  // in the step that the advice is about
    std::vector<trace::EventId> others;
  };

  void shorten(const std::vector<trace::EventId>& events, double share, StepChange& change) const;
  // Events that do not take place any more.
  void remove(const std::vector<trace::EventId>& events, StepChange& change) const;
  void remove_waits(const std::vector<trace::EventId>& events, StepChange& change) const;
  std::string_view op_of(trace::EventId id) const;

  const TraceIndex& index_;
  // Advice names the events of one step. If the graph spans several, events of the same name in the
  // others change with them.
  std::unordered_map<trace::NameId, SameName> by_name_;
};

// Changes everything that a faster host would do faster.
void set_host(const HostSpeed& host, StepChange& change);
// Applies both changes.
void merge(const StepChange& more, StepChange& all);

}  // namespace epi::analysis
